#include "actors/workloads/rank_graph.hpp"

#include <boost/asio/use_future.hpp>
#include <chrono>
#include <cmath>
#include <utility>

#include "runtime/lifecycle.hpp"
#include "runtime/memory/unified_buffer.hpp"

namespace rondo::workloads {

namespace {

using namespace std::chrono_literals;
using clock = std::chrono::steady_clock;

/// Enough for all teams, and few enough that a part's sums do not count.
std::uint32_t parts_of(link_graph const& graph) {
  constexpr std::uint64_t links_of_part = 16'384, most = 1024;
  auto const parts = std::min<std::uint64_t>(most, 1 + graph.links.size() / links_of_part);
  return static_cast<std::uint32_t>(std::min<std::uint64_t>(parts, graph.vertices));
}

double seconds_since(clock::time_point began) {
  return std::chrono::duration<double>(clock::now() - began).count();
}

void require(errc status, char const* what) {
  if (status != errc::ok) throw boost::system::system_error(status, what);
}

}  // namespace

std::uint64_t ranking_bytes(link_graph const& graph) {
  auto const parts = parts_of(graph);
  return table_bytes(graph, parts) + rank_table::bytes(graph.vertices, parts);
}

graph_ranks rank(runtime& rt, link_graph const& graph, ranking_options const& options,
                 std::function<void(ranked const&)> const& report) {
  auto const parts = parts_of(graph);
  auto const memory = rt.memory(options.device);
  unified_buffer<std::byte> links(memory, {table_bytes(graph, parts)});
  write_table(graph, parts, links.overwrite().value().span());
  unified_buffer<std::byte> ranks(memory, {rank_table::bytes(graph.vertices, parts)});
  rank_vertices const request{links.device().value(), ranks.device_for_overwriting().value(), options.damping,
                              options.tolerance, options.most_rounds};

  auto const ranker = rt.launch<page_ranker>({}, {.device = options.device});
  auto const began = clock::now();
  auto end = ranker.ask(request, 24h, boost::asio::use_future);
  while (end.wait_for(200ms) != std::future_status::ready) {
    auto const seen = ranker.ask(how_far{}, {.timeout = 10s, .priority = 255}, block);
    if (seen && report) report(*seen);
  }
  auto const made = end.get();
  require(made.status, "the ranks of a graph");

  graph_ranks r;
  r.seconds = seconds_since(began);
  r.rounds = made.rounds;
  r.change = made.change;
  auto const seen = ranks.host().value();
  auto const* const first = reinterpret_cast<double const*>(seen.begin());
  r.of.assign(first, first + graph.vertices);
  rondo::terminate(ranker, termination::discard, boost::asio::use_future).get();
  return r;
}

graph_ranks rank_plainly(link_graph const& graph, ranking_options const& options) {
  std::vector<std::byte> bytes(table_bytes(graph, 1) + alignof(link_table));
  auto* at = static_cast<void*>(bytes.data());
  auto space = bytes.size();
  std::align(alignof(link_table), table_bytes(graph, 1), at, space);
  write_table(graph, 1, {static_cast<std::byte*>(at), table_bytes(graph, 1)});
  auto const& table = *static_cast<link_table const*>(at);
  auto const n = graph.vertices;
  graph_ranks r;
  r.of.assign(n, 1.0 / n);
  std::vector<double> gives(n), next(n);
  auto const began = clock::now();
  double lost = 0;
  auto const share = [&](std::uint32_t v, std::vector<double>& to) {
    auto const degree = table.degrees()[v];
    to[v] = degree != 0 ? r.of[v] / degree : 0;
    if (degree == 0) lost += r.of[v];
  };
  for (std::uint32_t v = 0; v < n; ++v) share(v, gives);
  do {
    auto const from_all = (1 - options.damping) / n + options.damping * std::exchange(lost, 0) / n;
    r.change = 0;
    for (std::uint32_t v = 0; v < n; ++v) {
      double sum = 0;
      for (auto l = table.offsets()[v]; l < table.offsets()[v + 1]; ++l) sum += gives[table.sources()[l]];
      auto const rank = from_all + options.damping * sum;
      r.change += std::abs(rank - r.of[v]);
      r.of[v] = rank;
      share(v, next);
    }
    gives.swap(next);
  } while (++r.rounds < options.most_rounds && r.change >= options.tolerance);
  r.seconds = seconds_since(began);
  return r;
}

}  // namespace rondo::workloads
