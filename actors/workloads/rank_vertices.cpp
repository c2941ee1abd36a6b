// PageRank with an actor for each vertex: the host launches them, begins each round, and reads their ranks.
#include <boost/asio/detached.hpp>
#include <boost/asio/use_future.hpp>
#include <chrono>
#include <future>
#include <memory>
#include <mutex>
#include <utility>

#include "actors/workloads/raise.hpp"
#include "actors/workloads/rank_graph.hpp"
#include "actors/workloads/rank_vertex.hpp"
#include "runtime/lifecycle.hpp"
#include "runtime/memory/unified_buffer.hpp"
#include "runtime/population/read_states.hpp"
#include "runtime/population/tell_all.hpp"

namespace rondo::workloads {

namespace {

using namespace std::chrono_literals;
using clock = std::chrono::steady_clock;
using boost::asio::use_future;

constexpr std::uint32_t collectors = 16;
constexpr std::uint32_t hub = 256;  // so many links lead to it: it has a larger mailbox, of its own

/// Of a vertex's mailbox.
std::uint32_t capacity_for(std::uint32_t links_to_it) {
  return links_to_it >= hub ? hub : std::min(links_to_it + 1, 32u);
}
std::vector<std::uint32_t> links_to_each(link_graph const& graph) {
  std::vector<std::uint32_t> of(graph.vertices);
  for (auto const& l : graph.links) ++of[l.to];
  return of;
}
std::uint64_t target_bytes(link_graph const& graph) {
  return sizeof(address<rank_vertex>) * std::uint64_t{graph.links.size()};
}

/// What the collectors answer at the end of a round. Threads: any.
class round_ends {
 public:
  explicit round_ends(std::size_t collectors) : left_(collectors) {}

  void add(error_code why, round_sums const& sums) {
    std::lock_guard const lock(mutex_);
    if (!why && sums.failure != errc::ok) why = sums.failure;
    if (left_ == 0) return;  // one has failed: the others may never end
    all_.change += sums.change, all_.lost += sums.lost;
    left_ = why ? 0 : left_ - 1;
    if (left_ != 0) return;
    if (why)
      end_.set_exception(
          std::make_exception_ptr(boost::system::system_error(why, "a vertex of a graph cannot go on")));
    else
      end_.set_value(all_);
  }
  /// Blocks. Throws boost::system::system_error.
  round_sums all() { return end_.get_future().get(); }

 private:
  std::mutex mutex_;
  std::size_t left_;
  round_sums all_;
  std::promise<round_sums> end_;
};

class vertex_ranking {
 public:
  vertex_ranking(runtime& rt, link_graph const& graph, ranking_options const& options)
      : rt_(rt),
        graph_(graph),
        options_(options),
        links_(rt.memory(options.device), {std::max(graph.links.size(), std::size_t{1})}) {
    launch();
    write_links();
  }
  ~vertex_ranking() {
    for (auto const& v : vertices_) terminate(v, termination::discard, boost::asio::detached);
    for (auto const& c : collectors_) terminate(c, termination::discard, boost::asio::detached);
  }

  graph_ranks run(std::function<void(ranked const&)> const& report) {
    double const n = graph_.vertices, damping = options_.damping;
    graph_ranks r;
    auto const targets = links_.device().value();
    auto const began = clock::now();
    auto sums = round({targets, 1 / n, damping, 0, false});
    do {
      auto const from_all = (1 - damping) / n + damping * sums.lost / n;
      sums = round({targets, from_all, damping, ++r.rounds, r.rounds == options_.most_rounds});
      r.change = sums.change;
      if (report) report({errc::ok, r.rounds, r.change});
    } while (r.rounds < options_.most_rounds && r.change >= options_.tolerance);
    r.seconds = std::chrono::duration<double>(clock::now() - began).count();
    std::vector<rank_vertex> states(vertices_.size());
    read_states(rt_, vertices_, states);
    for (auto const& s : states) r.of.push_back(s.rank());
    return r;
  }

 private:
  void launch() {
    auto const led_to = links_to_each(graph_);
    std::vector<std::uint32_t> first(graph_.vertices + 1);
    for (auto const& l : graph_.links) ++first[l.from + 1];
    for (std::uint32_t v = 0; v < graph_.vertices; ++v) first[v + 1] += first[v];
    std::vector<rank_collector::arguments> parts(std::min(collectors, graph_.vertices));
    for (std::uint32_t v = 0; v < graph_.vertices; ++v) ++parts[v % parts.size()].vertices;
    collectors_ = rt_.launch_many<rank_collector>(parts, {.device = options_.device, .capacity = 1024});
    std::vector<rank_vertex::arguments> arguments;
    std::vector<std::uint32_t> capacities;
    for (std::uint32_t v = 0; v < graph_.vertices; ++v) {
      arguments.push_back(
          {collectors_[v % parts.size()].where(), first[v], first[v + 1] - first[v], led_to[v]});
      capacities.push_back(capacity_for(led_to[v]));
    }
    vertices_ =
        rt_.launch_many<rank_vertex>(arguments, each_capacity{capacities}, {.device = options_.device});
    next_ = std::move(first);
  }
  void write_links() {
    auto const to = links_.overwrite().value();
    for (auto const& l : graph_.links) to[next_[l.from]++] = vertices_[l.to].where();
  }
  round_sums round(rank_round_begins const& m) {
    auto const ends = std::make_shared<round_ends>(collectors_.size());
    for (auto const& c : collectors_)
      c.ask(end_of_round{}, 24h, [ends](error_code why, round_sums const& sums) { ends->add(why, sums); });
    auto const t = tell_all(rt_, vertices_, m, {}, use_future).get();
    if (t.gone != 0) throw boost::system::system_error(errc::actor_gone, "a vertex of a graph");
    return ends->all();
  }

  runtime& rt_;
  link_graph const& graph_;
  ranking_options const& options_;
  unified_buffer<address<rank_vertex>> links_;  // to where they lead, by the vertex where they begin
  std::vector<std::uint32_t> next_;             // while they are written
  std::vector<actor_ref<rank_collector>> collectors_;
  std::vector<actor_ref<rank_vertex>> vertices_;
};

}  // namespace

graph_ranks rank_by_vertices(runtime& rt, link_graph const& graph, ranking_options const& options,
                             std::function<void(ranked const&)> const& report) {
  return vertex_ranking(rt, graph, options).run(report);
}

void make_room_for_vertices(config& settings, link_graph const& graph) {
  constexpr std::uint32_t others = 64, blocks_of_all = 16'000;
  raise(settings.actors, graph.vertices + others);
  // Enough that vertices seldom wait for a block, and no more: each has some 7 KB.
  raise(settings.mail_blocks, std::min(graph.vertices + others, blocks_of_all));
  auto bytes = std::uint64_t{settings.actors} * 512 + (std::uint64_t{256} << 20);
  for (auto const links : links_to_each(graph))
    if (links >= hub) bytes += mail_ring_ref::bytes_for(hub) + 128;
  raise(settings.state_bytes, bytes);
  raise(settings.buffer_bytes_cap, 2 * target_bytes(graph));
}

}  // namespace rondo::workloads
