// PageRank of a graph on a runtime whose module has a page_ranker.
#pragma once

#include <functional>
#include <vector>

#include "actors/workloads/link_graph.hpp"
#include "runtime/runtime.hpp"

namespace rondo::workloads {

struct ranking_options {
  double damping = 0.85, tolerance = 1e-6;
  std::uint32_t most_rounds = 100;
  std::uint32_t device = 0;
};
struct graph_ranks {
  std::vector<double> of;  // by vertex; 1 together
  std::uint32_t rounds = 0;
  double change = 0;   // of the last round, all ranks together
  double seconds = 0;  // of the rounds alone
};
/// Bytes of buffers that this takes, on the device, and on the host beside it.
std::uint64_t ranking_bytes(link_graph const& graph);
/// Blocks. `report`: called five times a second, with the rounds so far. Throws boost::system::system_error, with
/// out_of_memory if the runtime's buffers may not be as large as ranking_bytes.
graph_ranks rank(runtime& rt, link_graph const& graph, ranking_options const& options = {},
                 std::function<void(ranked const&)> const& report = {});

/// The same with an actor for each vertex (rank_vertex.hpp), and a message for each link in each round. The runtime's
/// module has a rank_vertex and a rank_collector, and there is room for all of them (make_room_for_vertices). It sums
/// in another order. `report`: after each round.
graph_ranks rank_by_vertices(runtime& rt, link_graph const& graph, ranking_options const& options = {},
                             std::function<void(ranked const&)> const& report = {});
/// Raises what a configuration says of actors, their memory and their mail, so that the vertices of this graph are
/// among them.
void make_room_for_vertices(config& settings, link_graph const& graph);

/// The same by a plain loop on one thread, as a reference.
graph_ranks rank_plainly(link_graph const& graph, ranking_options const& options = {});

}  // namespace rondo::workloads
