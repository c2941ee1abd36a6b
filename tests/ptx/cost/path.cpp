#include "tests/ptx/cost/path.hpp"

#include <algorithm>

namespace ptx_cost {

path_costs trace_path(std::vector<warp_log> const& logs, mark last, mark from) {
  path_costs sum;
  while (last.warp != the_host) {
    auto const& log = logs.at(last.warp);
    auto const* const source = log.source_before(last.index);
    auto begin = std::max(log.first(), source == nullptr ? 0 : source->index);
    bool const ends = from.warp == last.warp && from.index >= begin && from.index <= last.index;
    if (ends) begin = from.index;
    for (auto n = begin; n < last.index; ++n) {
      auto const& e = log.at(n);
      auto const kind = static_cast<std::size_t>(e.kind);
      sum.counts[kind] += e.counts;
      sum.ps[kind] += e.ps;
      sum.ps_by_place[e.place] += e.ps;
    }
    ++sum.hops;
    if (ends || source == nullptr) break;
    last = source->from;
  }
  return sum;
}

}  // namespace ptx_cost
