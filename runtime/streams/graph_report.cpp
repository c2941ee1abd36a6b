#include "runtime/streams/graph_report.hpp"

#include <algorithm>
#include <limits>

#include "kernels/base/clock.hpp"

namespace rondo::streams {

void add_to(stage_counts& sum, stage_counts const& c) {
  sum.processed += c.processed;
  sum.failed += c.failed;
  sum.skipped += c.skipped;
  sum.dropped += c.dropped;
  sum.replaced += c.replaced;
  sum.copied += c.copied;
  sum.busy_ns += c.busy_ns;
  sum.longest_ns = std::max(sum.longest_ns, c.longest_ns);
  sum.last_number = std::max(sum.last_number, c.last_number);
  sum.late += c.late;
  sum.lost += c.lost;
  if (c.failure != 0) sum.failure = c.failure;
  sum.ended = static_cast<std::uint16_t>(sum.ended + c.ended);
  sum.gave_up = static_cast<std::uint16_t>(sum.gave_up + c.gave_up);
}

void graph_reporter::ask(std::set<std::string> const& open_names) {
  for (auto const& s : built_.instances()) {
    if (s.transfer != nullptr || !open_names.contains(s.name)) continue;
    {
      std::lock_guard const lock(answers_->mutex);
      auto& a = answers_->of[s.name];
      if (std::exchange(a.is_asked, true)) continue;
      ++answers_->open;
    }
    s.actor.ask(read_counts{}, {.wait_for_room = true},
                [shared = answers_, name = s.name](error_code ec, stage_counts const& counts) {
                  std::lock_guard const lock(shared->mutex);
                  auto& a = shared->of[name];
                  a.is_asked = false;
                  if (!ec) a.counts = counts, a.at_ns = now_ns();
                  if (--shared->open == 0) shared->changed.notify_all();
                });
  }
  std::unique_lock lock(answers_->mutex);
  answers_->changed.wait_for(lock, patience, [&] { return answers_->open == 0; });
}

stage_report graph_reporter::report_stage(std::uint32_t stage, graph_standing const& standing) const {
  auto const& planned = plan_.stages[stage];
  stage_report r{.name = planned.name,
                 .type = std::string(planned.kind->name),
                 .device = plan_.places()[stage],
                 .replicas = planned.how.replicas,
                 .counts = standing.last[stage],
                 .counted_at_ns = now_ns()};
  std::lock_guard const lock(answers_->mutex);
  for (auto const* const s : built_.instances_of(stage)) {
    if (!standing.open_names.contains(s->name)) continue;
    auto const& a = answers_->of[s->name];
    add_to(r.counts, a.counts);
    r.counted_at_ns = std::min(r.counted_at_ns, a.at_ns);
  }
  return r;
}

graph_report graph_reporter::report(graph_standing const& standing,
                                    std::vector<edge_report> const& edges) const {
  graph_report r{.name = options_.name,
                 .state = standing.state,
                 .why_failed = standing.why_failed,
                 .rate = options_.rate,
                 .stages = {},
                 .edges = {},
                 .transfers = {}};
  for (auto const s : plan_.order()) r.stages.push_back(report_stage(s, standing));
  for (auto const& e : edges) {
    if (e.is_transfer)
      r.transfers.push_back({e.from, e.device, e.bytes, e.copies, e.copy_ns});
    else
      r.edges.push_back({e.from, e.to, name_of(e.how)});
  }
  return r;
}

}  // namespace rondo::streams
