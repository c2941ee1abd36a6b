// The same actors in CAF: messages carry pointers into the readings, and the parts of a graph share its tables, as
// handles to buffers do in Rondo.
#include <caf/all.hpp>
#include <chrono>
#include <cmath>
#include <memory>

#include "bench/peers/caf_system.hpp"
#include "bench/workloads/without_rondo.hpp"

namespace workloads_bench {

namespace {

using namespace rondo::workloads;
using rondo::bench::caf_system;
using clock = std::chrono::steady_clock;

double seconds_since(clock::time_point begun) {
  return std::chrono::duration<double>(clock::now() - begun).count();
}

struct some_readings {
  float const* values;
  std::uint32_t first, count;
};
struct end_of_readings {};
struct all_alerts {
  std::vector<alert> of_all;
};
struct pass_on {};
struct take_in {
  double base;
};
/// What comes back: the rank of vertices without links, or how much the ranks have changed.
struct part_done {
  double sum;
};

}  // namespace

}  // namespace workloads_bench

CAF_ALLOW_UNSAFE_MESSAGE_TYPE(workloads_bench::some_readings)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(workloads_bench::end_of_readings)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(workloads_bench::all_alerts)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(workloads_bench::pass_on)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(workloads_bench::take_in)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(workloads_bench::part_done)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(rondo::workloads::alert)

namespace workloads_bench {

namespace {

using await_atom = caf::atom_constant<caf::atom("await")>;

caf::behavior sensor_in_caf(caf::stateful_actor<std::unique_ptr<sliding_window>>* self, std::uint32_t number,
                            caf::actor const& collector) {
  self->state = std::make_unique<sliding_window>();
  self->state->begin(sliding_window::most, 3);
  return {[=](some_readings const& m) {
            auto& window = *self->state;
            for (std::uint32_t i = 0; i < m.count; ++i) {
              auto const x = m.values[i];
              if (window.is_far(x)) [[unlikely]]
                self->send<caf::message_priority::high>(
                    collector, alert{number, m.first + i, x, static_cast<float>(window.mean()),
                                     static_cast<float>(window.deviation())});
              window.add(x);
            }
          },
          [=](end_of_readings m) { self->send(collector, m); }};
}

struct collection {
  std::vector<alert> alerts;
  std::uint32_t sensors = 0;
  caf::response_promise asker;
};
caf::behavior collector_in_caf(caf::stateful_actor<collection>* self) {
  return {[=](await_atom, std::uint32_t sensors) {
            self->state.sensors = sensors;
            return self->state.asker = self->make_response_promise();
          },
          [=](alert const& a) { self->state.alerts.push_back(a); },
          [=](end_of_readings) {
            if (--self->state.sensors == 0) self->state.asker.deliver(all_alerts{self->state.alerts});
          }};
}

struct shared_graph {
  links_in links;
  std::vector<double> ranks, shares;
};
caf::behavior part_in_caf(caf::event_based_actor*, shared_graph* g, std::uint32_t begin, std::uint32_t end) {
  return {
      [=](pass_on) { return part_done{pass_shares(g->links, g->ranks, g->shares, begin, end)}; },
      [=](take_in m) { return part_done{take_shares(g->links, g->ranks, g->shares, m.base, begin, end)}; }};
}

}  // namespace

found_anomalies find_in_caf(sensor_readings const& readings, std::uint32_t threads, std::uint32_t batch) {
  caf_system caf(threads);
  auto const collector = caf.spawn(collector_in_caf);
  std::vector<caf::actor> sensors;
  for (std::uint32_t s = 0; s < readings.sensors(); ++s)
    sensors.push_back(caf.spawn(sensor_in_caf, s, collector));
  caf::scoped_actor self(caf.system());
  found_anomalies found;
  auto const begun = clock::now();
  auto const asked = self->request(collector, caf::infinite, await_atom::value, readings.sensors());
  std::uint64_t longest = 0;
  for (std::uint32_t s = 0; s < readings.sensors(); ++s)
    longest = std::max<std::uint64_t>(longest, readings.of(s).size());
  for (std::uint64_t at = 0; at < longest; at += batch)
    for (std::uint32_t s = 0; s < readings.sensors(); ++s) {
      auto const values = readings.of(s);
      if (at >= values.size()) continue;
      auto const count = std::min<std::uint64_t>(batch, values.size() - at);
      caf::anon_send(sensors[s], some_readings{values.data() + at, static_cast<std::uint32_t>(at),
                                               static_cast<std::uint32_t>(count)});
    }
  for (auto const& s : sensors) caf::anon_send(s, end_of_readings{});
  auto handle = asked;
  handle.receive([&](all_alerts& m) { found.alerts = std::move(m.of_all); },
                 [](caf::error const&) { throw std::runtime_error("CAF's collector has failed"); });
  found.seconds = seconds_since(begun);
  found.readings = readings.values.size();
  return found;
}

graph_ranks rank_in_caf(link_graph const& graph, std::uint32_t threads) {
  ranking_options const how;
  shared_graph g{links_of(graph), std::vector<double>(graph.vertices, 1.0 / graph.vertices),
                 std::vector<double>(graph.vertices)};
  caf_system caf(threads);
  std::uint32_t const parts = 8 * threads;
  std::vector<caf::actor> all;
  for (std::uint32_t p = 0; p < parts; ++p)
    all.push_back(caf.spawn(part_in_caf, &g, g.links.begin_of(p, parts), g.links.begin_of(p + 1, parts)));
  caf::scoped_actor self(caf.system());
  auto const of_all = [&](auto const& request) {
    std::vector<decltype(self->request(all[0], caf::infinite, request))> asked;
    for (auto const& a : all) asked.push_back(self->request(a, caf::infinite, request));
    double sum = 0;
    for (auto& a : asked)
      a.receive([&](part_done const& m) { sum += m.sum; },
                [](caf::error const&) { throw std::runtime_error("an actor of CAF has failed"); });
    return sum;
  };
  graph_ranks r;
  auto const begun = clock::now();
  do {
    auto const nowhere = of_all(pass_on{});
    r.change = of_all(take_in{(1 - how.damping + how.damping * nowhere) / graph.vertices});
    ++r.rounds;
  } while (r.change > how.tolerance && r.rounds < how.most_rounds);
  r.seconds = seconds_since(begun);
  r.of = std::move(g.ranks);
  return r;
}

}  // namespace workloads_bench
