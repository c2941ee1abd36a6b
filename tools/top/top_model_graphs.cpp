// The graphs of two reports, as `rondo top` shows them.
#include <algorithm>

#include "tools/top/top_counts.hpp"

namespace rondo::tools {

namespace {

template <class T, class Same>
T const* found_in(std::vector<std::unique_ptr<T>> const& all, Same const& same) {
  auto const at = std::ranges::find_if(all, [&](auto const& one) { return same(*one); });
  return at == all.end() ? nullptr : at->get();
}

reports::graphT const* graph_in(service::report const* before, reports::graphT const& g) {
  if (before == nullptr) return nullptr;
  return found_in(before->graphs, [&](auto const& b) { return b.name == g.name; });
}

bool is_actor_of(std::string_view actor, reports::graphT const& g, reports::stageT const& s) {
  if (!actor.starts_with(g.name)) return false;
  actor.remove_prefix(g.name.size());
  if (!actor.starts_with('/') || !actor.substr(1).starts_with(s.name)) return false;
  actor.remove_prefix(1 + s.name.size());
  if (s.replicas == 1) return actor.empty();
  if (!actor.starts_with('-') || actor.size() == 1) return false;
  return actor.find_first_not_of("0123456789", 1) == actor.npos;
}

std::uint64_t running_ns(service::report const& r, reports::graphT const& g, reports::stageT const& s) {
  std::uint64_t longest = 0;
  for (auto const& a : r.actors)
    if (a->running && is_actor_of(a->name, g, s)) longest = std::max(longest, a->running->for_ns);
  return longest;
}

/// Of the counts of two moments. A stage that has not been counted since the last report was on one tick all the time.
void compare(top_stage& line, reports::stageT const& then) {
  auto const& now = *line.now;
  if (then.counted_ns == 0 || now.counted_ns == 0) return;
  if (now.counted_ns <= then.counted_ns) {
    line.busy = line.graph->state == "running" ? 1 : 0;
    return;
  }
  auto const ns = static_cast<double>(now.counted_ns - then.counted_ns);
  auto const ticks = static_cast<double>(grown(now.processed, then.processed));
  auto const busy_ns = static_cast<double>(grown(now.busy_ns, then.busy_ns));
  line.rate = ticks * 1e9 / ns;
  line.busy = std::min(busy_ns / ns / std::max(now.replicas, 1u), 1.0);
  line.mean_ns = ticks == 0 ? 0 : busy_ns / ticks;
  line.loses = grown(now.dropped + now.skipped, then.dropped + then.skipped) != 0;
  line.is_late = grown(now.late, then.late) != 0;
}

}  // namespace

void top_model::count_graphs(service::report const* before) {
  stages_.clear();
  transfers_.clear();
  decltype(stage_rates_) pasts;
  for (auto const& g : now_.graphs) {
    auto const* const then = graph_in(before, *g);
    for (auto const& s : g->stages) {
      top_stage line{.graph = g.get(), .now = s.get(), .running_ns = running_ns(now_, *g, *s)};
      auto const* const old = then == nullptr
                                  ? nullptr
                                  : found_in(then->stages, [&](auto const& b) { return b.name == s->name; });
      if (old != nullptr) compare(line, *old);
      if (auto const k = std::pair(g->name, s->name); !pasts.contains(k) && pasts.size() < top_followed) {
        auto& rates = pasts[k] = std::move(stage_rates_[k]);
        if (old != nullptr && line.has_counts()) keep(rates, static_cast<float>(line.rate));
      }
      stages_.push_back(line);
    }
    for (auto const& t : g->transfers) {
      top_transfer line{.graph = g.get(), .now = t.get()};
      auto const* const old = then == nullptr ? nullptr : found_in(then->transfers, [&](auto const& b) {
        return b.from == t->from && b.to_device == t->to_device;
      });
      if (auto const copies = old == nullptr ? 0 : grown(t->copies, old->copies); copies != 0) {
        line.rate = static_cast<double>(copies) / seconds_;
        line.mean_ns = static_cast<double>(grown(t->copy_ns, old->copy_ns)) / static_cast<double>(copies);
      }
      transfers_.push_back(line);
    }
  }
  stage_rates_ = std::move(pasts);
  for (auto& line : stages_)
    if (auto const at = stage_rates_.find({line.graph->name, line.now->name}); at != stage_rates_.end())
      line.rates = &at->second;
}

}  // namespace rondo::tools
