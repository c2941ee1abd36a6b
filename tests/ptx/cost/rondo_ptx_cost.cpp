// rondo_ptx_cost [OPTIONS] [CASE...]: predicts what messages cost on a GPU, by executing a module's PTX in virtual
// time. The options are those of tools/ptx, but --page takes the file to write. With --budget, fails if a count on a
// critical path exceeds that file's limit.
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <exception>
#include <stdexcept>

#include "tests/ptx/cost/budget_file.hpp"
#include "tests/ptx/cost/page.hpp"

namespace {

using namespace ptx_cost;

struct command_line {
  std::string costs_path, budget_path, page_path, ptx_path = RONDO_PTX_COST_MODULE;
  bool path = false, steps = false;
  std::uint32_t samples = 200;
  std::uint64_t seed = 1;
  std::vector<cost_case> cases;
};

command_line read_command_line(int argc, char** argv) {
  command_line line;
  auto const all = cost_cases();
  for (int n = 1; n < argc; ++n) {
    std::string const word = argv[n];
    auto const value = [&]() -> std::string {
      if (++n == argc) throw std::runtime_error(word + ": expected a value");
      return argv[n];
    };
    if (word == "--costs")
      line.costs_path = value();
    else if (word == "--budget")
      line.budget_path = value();
    else if (word == "--page")
      line.page_path = value();
    else if (word == "--ptx")
      line.ptx_path = value();
    else if (word == "--path")
      line.path = true;
    else if (word == "--steps")
      line.steps = true;
    else if (word == "--samples")
      line.samples = static_cast<std::uint32_t>(std::max(1ul, std::stoul(value())));
    else if (word == "--seed")
      line.seed = std::stoul(value());
    else if (auto const c =
                 std::find_if(all.begin(), all.end(), [&](auto const& one) { return one.name == word; });
             c != all.end())
      line.cases.push_back(*c);
    else {
      std::string names;
      for (auto const& one : all) names += (names.empty() ? "" : ", ") + std::string(one.name);
      throw std::runtime_error("unknown case '" + word + "'; the cases are " + names);
    }
  }
  if (!line.cases.empty()) return line;
  line.cases.assign(all.begin(), all.end());
  if (!line.budget_path.empty()) {  // those that it is about
    budget_file const budget(line.budget_path);
    std::erase_if(line.cases, [&](cost_case const& c) { return !budget.has(c.name); });
  }
  return line;
}

/// What nvcc has made of the modules, each read when it is needed.
class modules {
 public:
  explicit modules(std::string of_teams) : of_teams_(std::move(of_teams)) {}
  ptx::module const& of(cost_case const& c) const {
    bool const lanes = c.of == cost_case::module_kind::lanes;
    auto& read = read_[lanes];
    if (!read) read = ptx::read_module_file(lanes ? RONDO_PTX_LANES_MODULE : of_teams_);
    return *read;
  }

 private:
  std::string of_teams_;
  mutable decltype(ptx::read_module_file({})) read_[2];
};

void print_counts(results const& all) {
  std::printf("\nOn the critical path, per way (medians):\n\n");
  std::printf("%-17s %7s %7s %6s %6s %7s %8s %6s %7s %7s %7s %7s %7s\n", "", "p50", "p99", "PCIe", "PCIe",
              "posted", "local", "L2", "", "fences", "fences", "fences", "warp");
  std::printf("%-17s %7s %7s %6s %6s %7s %8s %6s %7s %7s %7s %7s %7s\n", "case", "us", "us", "trips", "reads",
              "writes", "accesses", "trips", "atomics", "acquire", "gpu", "sys", "instrs");
  for (auto const& [c, s] : all)
    std::printf("%-17s %7.2f %7.2f %6.4g %6.4g %7.4g %8.4g %6.4g %7.4g %7.4g %7.4g %7.4g %7.4g\n",
                c.name.data(), s.p50_us, s.p99_us, s.count(step::pcie_trip), s.count(step::pcie_read),
                s.count(step::posted_write), s.count(step::local_access), s.count(step::l2_trip),
                s.count(step::atomic), s.count(step::fence_acquire), s.count(step::fence_gpu),
                s.count(step::fence_sys), s.count(step::issue));
}

void print_times(results const& all) {
  std::printf("\nWhere the time goes, per way (means, us):\n\n");
  std::printf("%-17s %7s %7s %7s %9s %7s %7s %7s %9s\n", "case", "total", "PCIe", "L2", "L1,shared", "fences",
              "instrs", "unseen", "bus,host");
  for (auto const& [c, s] : all) {
    auto const fences = s.time(step::fence_acquire) + s.time(step::fence_cta) + s.time(step::fence_gpu) +
                        s.time(step::fence_sys);
    auto const known = s.time(step::pcie_trip) + s.time(step::l2_trip) + s.time(step::near_wait) + fences +
                       s.time(step::issue) + s.time(step::sleep) + s.unseen_us;
    std::printf("%-17s %7.2f %7.2f %7.2f %9.2f %7.2f %7.2f %7.2f %9.2f\n", c.name.data(), s.mean_us,
                s.time(step::pcie_trip), s.time(step::l2_trip), s.time(step::near_wait), fences,
                s.time(step::issue), s.unseen_us + s.time(step::sleep), s.mean_us - known);
  }
}

void print_lines(results const& all) {
  for (auto const& [c, s] : all) {
    std::printf("\nThe lines that cost most in %s (%s), us per way:\n\n", c.name.data(), c.what.data());
    for (std::size_t n = 0; n < std::min<std::size_t>(10, s.lines.size()); ++n)
      std::printf("%7.2f  %s\n", s.lines[n].second, s.lines[n].first.c_str());
  }
}

/// The message with the median of time, step by step. Stores of bytes are put together, without the posted writes that
/// they are.
void print_paths(modules const& code, results const& all) {
  for (auto const& [c, s] : all) {
    std::printf("\nThe critical path of %s:\n\n%10s %6s %5s  %-13s %s\n", c.name.data(), "at ns", "ns",
                "warp", "step", "line");
    std::vector<path_step> steps;
    for (auto const& one : s.middle.path.steps) {
      bool const same_store = one.what.kind == step::posted_write && !steps.empty() &&
                              steps.back().what.kind == step::byte_store &&
                              steps.back().what.at_ps == one.what.at_ps;
      if (!same_store) steps.push_back(one);
    }
    auto const same = [](path_step const& a, path_step const& b) {
      return a.what.ps == 0 && a.what.kind == b.what.kind && a.what.place == b.what.place && a.warp == b.warp;
    };
    for (std::size_t n = 0; n < steps.size();) {
      auto const& one = steps[n];
      std::size_t times = 0;
      while (n < steps.size() && same(steps[n], one)) ++n, ++times;
      if (times == 0) ++n, times = 1;
      std::printf("%10.0f %6.0f %5u  %-13s %s",
                  static_cast<double>(one.what.at_ps - steps[0].what.at_ps) / 1e3, one.what.ps / 1e3,
                  one.warp, step_names[static_cast<std::size_t>(one.what.kind)],
                  line_of(code.of(c), one.what.place).c_str());
      if (times != 1) std::printf(" (%zu times)", times);
      std::printf("\n");
    }
  }
}

/// False if the budget is exceeded.
bool check_budget(std::string const& path, results const& all) {
  if (path.empty()) return true;
  budget_file const budget(path);
  bool well = true;
  std::printf("\n");
  for (auto const& [c, s] : all) {
    for (auto const& line : budget.check(c.name, s)) std::printf("%s\n", line.c_str()), well = false;
    for (auto const& line : budget.slack(c.name, s)) std::printf("%s\n", line.c_str());
  }
  std::printf("%s\n", well ? "Within the budget." : "The budget is exceeded.");
  return well;
}

}  // namespace

int main(int argc, char** argv) try {
  auto const line = read_command_line(argc, argv);
  auto const c = line.costs_path.empty() ? sourced_costs{} : read_costs(line.costs_path);
  auto const steps_of_ask = [&] {
    return predict_ask_steps(*ptx::read_module_file(RONDO_PTX_STEPS_MODULE), c.values, line.samples,
                             line.seed);
  };
  if (line.steps) {
    std::printf("The steps of an ask, predicted, in ns: %s.\n", steps_of_ask().text().c_str());
    return 0;
  }
  modules const code(line.ptx_path);
  results all;
  for (auto const& one : line.cases) {
    auto const samples = std::min(line.samples, one.most_samples);
    all.emplace_back(one, summarise(code.of(one), one, one.run(code.of(one), c.values, samples, line.seed)));
  }
  std::printf(
      "Predicted, not measured: PTX for sm_90 in virtual time, %u samples, seed %llu, costs from %s.\n",
      line.samples, static_cast<unsigned long long>(line.seed),
      line.costs_path.empty() ? "tests/ptx/cost/costs.hpp" : line.costs_path.c_str());
  print_counts(all);
  print_times(all);
  print_lines(all);
  if (line.path) print_paths(code, all);
  if (!line.page_path.empty()) write_page(line.page_path, all, steps_of_ask(), c);
  return check_budget(line.budget_path, all) ? 0 : 1;
} catch (std::exception const& e) {
  std::fprintf(stderr, "rondo_ptx_cost: %s\n", e.what());
  return 2;
}
