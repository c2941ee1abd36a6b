// The graphs of stages in a report.
#include "runtime/observe/graph_reports.hpp"
#include "runtime/runtime.hpp"
#include "runtime/service/monitor/report.hpp"
#include "runtime/text/clean_text.hpp"

namespace rondo::service {

namespace {

std::unique_ptr<reports::stageT> to_report(stage_report const& s) {
  auto out = std::make_unique<reports::stageT>();
  auto const& c = s.counts;
  out->name = clean_text(s.name);
  out->type = s.type;
  out->device = s.device;
  out->replicas = s.replicas;
  out->ended = c.ended;
  out->processed = c.processed;
  out->failed = c.failed;
  out->skipped = c.skipped;
  out->dropped = c.dropped;
  out->replaced = c.replaced;
  out->copied = c.copied;
  out->late = c.late;
  out->lost = c.lost;
  out->busy_ns = c.busy_ns;
  out->longest_ns = c.longest_ns;
  out->counted_ns = s.counted_at_ns;
  return out;
}

std::unique_ptr<reports::stage_edgeT> to_report(stage_edge_report const& e) {
  auto out = std::make_unique<reports::stage_edgeT>();
  out->from = clean_text(e.from);
  out->to = clean_text(e.to);
  out->delivery = e.delivery;
  return out;
}

std::unique_ptr<reports::stage_transferT> to_report(stage_transfer_report const& t) {
  auto out = std::make_unique<reports::stage_transferT>();
  out->from = clean_text(t.from);
  out->to_device = t.to_device;
  out->bytes = t.bytes;
  out->copies = t.copies;
  out->copy_ns = t.copy_ns;
  return out;
}

}  // namespace

void reporter::add_graphs(report& to) const {
  for (auto const& g : runtime_.graphs().read()) {
    auto out = std::make_unique<reports::graphT>();
    out->name = clean_text(g.name);
    out->state = rondo::name_of(g.state);
    out->why_failed = clean_text(g.why_failed);
    out->rate = g.rate;
    for (auto const& s : g.stages) out->stages.push_back(to_report(s));
    for (auto const& e : g.edges) out->edges.push_back(to_report(e));
    for (auto const& t : g.transfers) out->transfers.push_back(to_report(t));
    to.graphs.push_back(std::move(out));
  }
}

}  // namespace rondo::service
