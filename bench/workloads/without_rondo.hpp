// The workloads without Rondo: as plain loops on several threads, and as actors of CAF.
#pragma once

#include <cmath>

#include "actors/workloads/find_anomalies.hpp"
#include "actors/workloads/rank_graph.hpp"

namespace workloads_bench {

/// The links of a graph by the vertex to which they go.
struct links_in {
  std::vector<std::uint64_t> first;  // by vertex; behind the last one, all
  std::vector<std::uint32_t> from;
  std::vector<std::uint32_t> out;  // links that leave a vertex

  /// The first vertex of a part, if all parts have as many links.
  std::uint32_t begin_of(std::uint32_t part, std::uint32_t parts) const;
};
links_in links_of(rondo::workloads::link_graph const& graph);

/// What each vertex from `begin` to `end` passes on along each of its links. Returns the ranks of those without any.
inline double pass_shares(links_in const& links, std::vector<double> const& ranks,
                          std::vector<double>& shares, std::uint32_t begin, std::uint32_t end) {
  double nowhere = 0;
  for (auto v = begin; v < end; ++v) {
    shares[v] = links.out[v] != 0 ? ranks[v] / links.out[v] : 0;
    if (links.out[v] == 0) nowhere += ranks[v];
  }
  return nowhere;
}
/// The ranks of the vertices from `begin` to `end`. Returns by how much they have changed.
inline double take_shares(links_in const& links, std::vector<double>& ranks,
                          std::vector<double> const& shares, double base, std::uint32_t begin,
                          std::uint32_t end) {
  double const damping = rondo::workloads::ranking_options{}.damping;
  double change = 0;
  for (auto v = begin; v < end; ++v) {
    double sum = 0;
    for (auto i = links.first[v]; i < links.first[v + 1]; ++i) sum += shares[links.from[i]];
    double const rank = base + damping * sum;
    change += std::abs(rank - ranks[v]);
    ranks[v] = rank;
  }
  return change;
}

/// Each thread has a part of the vertices; all meet after each step.
rondo::workloads::graph_ranks rank_by_loops(rondo::workloads::link_graph const& graph, std::uint32_t threads);
rondo::workloads::graph_ranks rank_in_caf(rondo::workloads::link_graph const& graph, std::uint32_t threads);
/// Each thread has a part of the sensors.
rondo::workloads::found_anomalies find_by_loops(rondo::workloads::sensor_readings const& readings,
                                                std::uint32_t threads);
rondo::workloads::found_anomalies find_in_caf(rondo::workloads::sensor_readings const& readings,
                                              std::uint32_t threads, std::uint32_t batch);

}  // namespace workloads_bench
