#include "tests/ptx/cost/summary.hpp"

#include <algorithm>

namespace ptx_cost {

namespace {

template <class Value>
double percentile(std::vector<sample> const& samples, std::size_t percent, Value value) {
  std::vector<double> all;
  for (auto const& s : samples) all.push_back(static_cast<double>(value(s)));
  std::sort(all.begin(), all.end());
  return all[std::min(all.size() - 1, all.size() * percent / 100)];
}

}  // namespace

std::string line_of(ptx::module const& code, std::uint32_t place) {
  std::string const root = RONDO_ROOT "/", atomics = "kernels/base/atomic.hpp";
  for (; place != 0; place = code.places[place].caller) {
    auto const& p = code.places[place];
    auto const found = code.source_files.find(p.file);
    if (found == code.source_files.end() || !found->second.starts_with(root)) continue;
    if (auto const name = found->second.substr(root.size()); name != atomics)
      return name + ":" + std::to_string(p.line);
  }
  return "(no line of the tree)";
}

summary summarise(ptx::module const& code, cost_case const& of, std::vector<sample> const& samples) {
  summary s;
  double const ways = of.per_sample, us = 1e-6 / ways, mean_us = us / static_cast<double>(samples.size());
  s.p50_us = us * percentile(samples, 50, [](auto const& one) { return one.ps; });
  s.p99_us = us * percentile(samples, 99, [](auto const& one) { return one.ps; });
  for (std::size_t k = 0; k < step_kinds; ++k)
    s.counts[k] = percentile(samples, 50, [k](auto const& one) { return one.path.counts[k]; }) / ways;
  std::map<std::string, double> lines;
  for (auto const& one : samples) {
    for (std::size_t k = 0; k < step_kinds; ++k) s.us[k] += mean_us * static_cast<double>(one.path.ps[k]);
    for (auto const& [place, ps] : one.path.ps_by_place)
      lines[line_of(code, place)] += mean_us * static_cast<double>(ps);
    s.unseen_us += mean_us * static_cast<double>(one.path.unseen_ps);
    s.mean_us += mean_us * static_cast<double>(one.ps);
    s.sectors += static_cast<double>(one.sectors) / ways / static_cast<double>(samples.size());
  }
  auto by_time = samples;
  auto const middle = by_time.begin() + static_cast<long>(by_time.size() / 2);
  std::nth_element(by_time.begin(), middle, by_time.end(),
                   [](auto const& a, auto const& b) { return a.ps < b.ps; });
  s.middle = std::move(*middle);
  s.lines.assign(lines.begin(), lines.end());
  std::stable_sort(s.lines.begin(), s.lines.end(),
                   [](auto const& a, auto const& b) { return a.second > b.second; });
  return s;
}

}  // namespace ptx_cost
