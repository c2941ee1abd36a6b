#include "tests/ptx/cost/path.hpp"

#include <algorithm>

namespace ptx_cost {

path_costs trace_path(std::vector<warp_log> const& logs, mark last, std::uint64_t since_ps) {
  path_costs sum;
  while (last.warp != the_host) {
    auto const& log = logs.at(last.warp);
    auto const* const source = log.source_before(last.index);
    auto const begin = std::max(log.first(), source == nullptr ? 0 : source->index);
    bool reached = false;
    for (auto n = last.index; n-- > begin && !reached;) {
      auto const& e = log.at(n);
      reached = e.at_ps < since_ps;
      if (reached) break;
      auto const kind = static_cast<std::size_t>(e.kind);
      sum.counts[kind] += e.counts;
      sum.ps[kind] += e.ps;
      sum.ps_by_place[e.place] += e.ps;
      if (e.kind != step::issue && e.kind != step::near_wait) sum.steps.push_back({e, last.warp});
    }
    ++sum.warps;
    if (reached || source == nullptr) break;
    sum.unseen_ps += source->unseen_ps;
    last = source->from;
  }
  std::reverse(sum.steps.begin(), sum.steps.end());
  return sum;
}

}  // namespace ptx_cost
