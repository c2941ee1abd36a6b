// rondo_ptx_cost PTX [CASE...]: predicts what messages cost on a GPU, by executing a module's PTX in virtual time.
#include <algorithm>
#include <cstdio>
#include <exception>

#include "tests/ptx/cost/cases.hpp"

int main(int argc, char** argv) try {
  using namespace ptx_cost;
  auto const code = ptx::read_module_file(argv[1]);
  costs const c;
  for (auto const& one : cost_cases()) {
    if (argc > 2 &&
        std::find_if(argv + 2, argv + argc, [&](char const* a) { return a == one.name; }) == argv + argc)
      continue;
    auto all = one.run(*code, c, 100, 1);
    std::sort(all.begin(), all.end(), [](auto const& a, auto const& b) { return a.ps < b.ps; });
    auto const& mid = all[all.size() / 2];
    std::printf("%s: p50 %lu p99 %lu ns, path of the median:", one.name.data(),
                mid.ps / 1000 / one.per_sample, all[all.size() * 99 / 100].ps / 1000 / one.per_sample);
    for (std::size_t k = 0; k < step_kinds; ++k)
      std::printf(" %s %u (%lu ns)", step_names[k], mid.path.counts[k], mid.path.ps[k] / 1000);
    std::printf(" segments %u\n", mid.path.hops);
  }
  return 0;
} catch (std::exception const& e) {
  std::fprintf(stderr, "rondo_ptx_cost: %s\n", e.what());
  return 1;
}
