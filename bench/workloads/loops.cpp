#include "bench/workloads/without_rondo.hpp"

#include <algorithm>
#include <barrier>
#include <chrono>
#include <numeric>
#include <thread>

namespace workloads_bench {

namespace {

using namespace rondo::workloads;

/// f(thread) on each thread. Returns how long it took, in seconds.
template <class F>
double on_threads(std::uint32_t threads, F const& f) {
  auto const begun = std::chrono::steady_clock::now();
  {
    std::vector<std::jthread> all;
    for (std::uint32_t t = 1; t < threads; ++t) all.emplace_back([&f, t] { f(t); });
    f(0);
  }
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begun).count();
}

}  // namespace

links_in links_of(link_graph const& g) {
  links_in l{std::vector<std::uint64_t>(g.vertices + 1), std::vector<std::uint32_t>(g.links.size()),
             std::vector<std::uint32_t>(g.vertices)};
  for (auto const& e : g.links) ++l.first[e.to + 1], ++l.out[e.from];
  for (std::uint32_t v = 0; v < g.vertices; ++v) l.first[v + 1] += l.first[v];
  auto next = l.first;
  for (auto const& e : g.links) l.from[next[e.to]++] = e.from;
  return l;
}

std::uint32_t links_in::begin_of(std::uint32_t part, std::uint32_t parts) const {
  if (part == parts) return static_cast<std::uint32_t>(out.size());
  auto const at = std::lower_bound(first.begin(), first.end(), from.size() * part / parts);
  return std::min(static_cast<std::uint32_t>(at - first.begin()), static_cast<std::uint32_t>(out.size()));
}

graph_ranks rank_by_loops(link_graph const& g, std::uint32_t threads) {
  auto const links = links_of(g);
  ranking_options const how;
  graph_ranks r;
  std::vector<double> ranks(g.vertices, 1.0 / g.vertices), shares(g.vertices), sums(threads);
  double base = 0;
  bool goes_on = true;
  std::barrier meet(threads, [] {});
  auto const sum_of_all = [&] { return std::accumulate(sums.begin(), sums.end(), 0.0); };
  r.seconds = on_threads(threads, [&](std::uint32_t t) {
    auto const begin = links.begin_of(t, threads), end = links.begin_of(t + 1, threads);
    while (goes_on) {
      sums[t] = pass_shares(links, ranks, shares, begin, end);
      meet.arrive_and_wait();
      if (t == 0) base = (1 - how.damping + how.damping * sum_of_all()) / g.vertices;
      meet.arrive_and_wait();
      sums[t] = take_shares(links, ranks, shares, base, begin, end);
      meet.arrive_and_wait();
      if (t == 0) {
        r.change = sum_of_all();
        ++r.rounds;
        goes_on = r.change > how.tolerance && r.rounds < how.most_rounds;
      }
      meet.arrive_and_wait();
    }
  });
  r.of = std::move(ranks);
  return r;
}

found_anomalies find_by_loops(sensor_readings const& readings, std::uint32_t threads) {
  std::vector<sensor_readings> parts(threads);
  for (std::uint32_t t = 0; t < threads; ++t)
    for (auto s = std::uint64_t{readings.sensors()} * t / threads;
         s < std::uint64_t{readings.sensors()} * (t + 1) / threads; ++s) {
      auto const values = readings.of(static_cast<std::uint32_t>(s));
      parts[t].values.insert(parts[t].values.end(), values.begin(), values.end());
      parts[t].firsts.push_back(parts[t].values.size());
    }
  std::vector<found_anomalies> found(threads);
  found_anomalies all;
  all.seconds =
      on_threads(threads, [&](std::uint32_t t) { found[t] = find_anomalies_plainly(parts[t], {}); });
  for (auto const& f : found) {
    all.readings += f.readings;
    all.alerts.insert(all.alerts.end(), f.alerts.begin(), f.alerts.end());
  }
  return all;
}

}  // namespace workloads_bench
