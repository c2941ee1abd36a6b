#include <boost/asio/use_future.hpp>
#include <cmath>
#include <numeric>
#include <random>

#include "actors/workloads/rank_graph.hpp"
#include "actors/workloads/rank_vertex.hpp"
#include "runtime/device/emulated/emulated_module.hpp"
#include "runtime/lifecycle.hpp"
#include "runtime/memory/buffer_pool.hpp"
#include "runtime/memory/unified_buffer.hpp"
#include "tests/catch.hpp"
#include "tests/eventually.hpp"
#include "tools/workloads_module/workloads_module.hpp"
#ifdef RONDO_PTX_WORKLOADS
#include "tests/workloads/ptx_runtime.hpp"
#endif

RONDO_EMULATED_MODULE(rondo::tools::workloads_module)

using namespace rondo;
using namespace rondo::workloads;
using namespace std::chrono_literals;
using Catch::Matchers::Contains;
using rondo_test::eventually;

namespace {

using module_used = tools::workloads_module;

link_graph random_graph(std::uint32_t seed, std::uint32_t most_vertices) {
  std::mt19937 random{seed};
  link_graph g;
  g.vertices = 2 + static_cast<std::uint32_t>(random() % most_vertices);
  for (std::size_t i = 0, links = random() % (6 * g.vertices); i < links; ++i)
    g.links.push_back({static_cast<std::uint32_t>(random() % g.vertices),
                       static_cast<std::uint32_t>(random() % (1 + random() % g.vertices))});
  return g;
}

/// By the definition, with a matrix of all vertices.
std::vector<double> by_definition(link_graph const& g, double damping, std::uint32_t rounds) {
  auto const n = g.vertices;
  std::vector<double> matrix(std::size_t{n} * n), degrees(n), ranks(n, 1.0 / n), next(n);
  for (auto const& l : g.links) ++degrees[l.from];
  for (auto const& l : g.links) matrix[std::size_t{l.to} * n + l.from] += 1 / degrees[l.from];
  for (std::uint32_t v = 0; v < n; ++v)
    for (std::uint32_t to = 0; degrees[v] == 0 && to < n; ++to) matrix[std::size_t{to} * n + v] = 1.0 / n;
  for (std::uint32_t round = 0; round < rounds; ++round, ranks.swap(next))
    for (std::uint32_t v = 0; v < n; ++v)
      next[v] = (1 - damping) / n +
                damping * std::inner_product(ranks.begin(), ranks.end(), &matrix[std::size_t{v} * n], 0.0);
  return ranks;
}

double largest_difference(std::vector<double> const& a, std::vector<double> const& b) {
  double most = 0;
  for (std::size_t i = 0; i < a.size(); ++i) most = std::max(most, std::abs(a[i] - b[i]));
  return most;
}

void ranks_as_defined(runtime& rt, std::uint32_t seeds, std::uint32_t most_vertices, double allowed) {
  ranking_options const how{.damping = 0.85, .tolerance = 0, .most_rounds = 30};
  for (std::uint32_t seed = 0; seed < seeds; ++seed) {
    auto const g = random_graph(seed, most_vertices);
    INFO("seed " << seed << ": " << g.vertices << " vertices, " << g.links.size() << " links");
    auto const found = rank(rt, g, how);
    REQUIRE(found.rounds == 30);
    REQUIRE(largest_difference(found.of, by_definition(g, 0.85, 30)) < allowed);
    REQUIRE(std::accumulate(found.of.begin(), found.of.end(), 0.0) == Approx(1));
  }
}

}  // namespace

TEST_CASE("ranks are those of the definition, on every device", "[workloads]") {
  auto const* const device = GENERATE("cpu", "emulated");
  auto const lanes = device[0] == 'c' ? 1u : 4u;
  runtime rt{use<module_used>, {.device = device, .teams = 2, .lanes = lanes}};
  ranks_as_defined(rt, 12, 200, 1e-12);
}

TEST_CASE("ranks of many links are those of a plain loop, and end when they change little", "[workloads]") {
  runtime rt{use<module_used>, {.device = "cpu", .teams = 2}};
  auto const g = generate({14, 16, 1});
  auto const plain = rank_plainly(g);
  std::uint32_t reports = 0;
  auto const found = rank(rt, g, {}, [&](ranked const&) { ++reports; });
  CHECK(found.rounds == plain.rounds);
  CHECK(found.rounds < 100);
  CHECK(found.change < 1e-6);
  CHECK(largest_difference(found.of, plain.of) < 1e-9);
  auto const short_way = rank(rt, g, {.most_rounds = 3});
  CHECK(short_way.rounds == 3);
  CHECK(short_way.change > 1e-6);
  CHECK(rt.snapshot().dead_letters == 0);
}

TEST_CASE("an actor for each vertex comes to the same ranks, on every device", "[workloads]") {
  auto const* const device = GENERATE("cpu", "emulated");
  auto const lanes = device[0] == 'c' ? 1u : 4u;
  for (std::uint32_t seed = 0; seed < 6; ++seed) {
    auto const g = random_graph(seed, 200);
    INFO(device << ", seed " << seed << ": " << g.vertices << " vertices, " << g.links.size() << " links");
    config settings{.device = device, .teams = 2, .lanes = lanes};
    make_room_for_vertices(settings, g);
    if (seed % 2 == 1) settings.mail_blocks = 8;  // they wait for blocks
    runtime rt{use<module_used>, settings};
    ranking_options const how{.damping = 0.85, .tolerance = 0, .most_rounds = 5 + seed};
    auto const found = rank_by_vertices(rt, g, how);
    CHECK(found.rounds == how.most_rounds);
    CHECK(largest_difference(found.of, by_definition(g, 0.85, how.most_rounds)) < 1e-12);
    CHECK(eventually([&] { return rt.list().empty(); }));
    CHECK(rt.snapshot().dead_letters == 0);
  }
}

TEST_CASE("a vertex that is gone, or cannot read its links, ends the ranking with an error", "[workloads]") {
  auto const g = generate({8, 16, 1});
  config settings{.device = "cpu", .teams = 2};
  make_room_for_vertices(settings, g);
  runtime rt{use<module_used>, settings};
  auto const kill_one = [&](ranked const& so_far) {
    for (auto const& a : rt.list())
      if (so_far.rounds == 2 && a.behaviour == module_used::index_of<rank_vertex>())
        return static_cast<void>(terminate(rt.at(a.id).value(), termination::discard, rondo::block));
  };
  CHECK_THROWS_WITH(rank_by_vertices(rt, g, {.tolerance = 0}, kill_one), Contains("a vertex of a graph"));
  CHECK(eventually([&] { return rt.list().empty(); }));

  auto const collector = rt.launch<rank_collector>("", {}, rank_collector::arguments{2});
  rank_vertex::arguments const about{collector.where(), 0, 1, 0};
  auto const vertex = rt.launch<rank_vertex>("", {}, about);
  REQUIRE_FALSE(vertex.try_tell(rank_round_begins{{}, 0.5, 0.85, 0, false}));
  auto const sums =
      collector.ask(end_of_round{}, 10s, rondo::block).value();  // though the other one is not done
  CHECK(sums.failure == errc::stale_buffer);
}

TEST_CASE("a vertex that cannot go on tells its collector as soon as that has room", "[workloads]") {
  runtime rt{use<module_used>, {.device = "cpu", .teams = 1}};
  auto const collector =
      rt.launch<rank_collector>("", {.capacity = 1, .active = false}, rank_collector::arguments{9});
  REQUIRE_FALSE(collector.try_tell(vertex_done{1, 0}));
  auto const vertex = rt.launch<rank_vertex>("", {}, rank_vertex::arguments{collector.where(), 0, 1, 0});
  REQUIRE_FALSE(vertex.try_tell(rank_round_begins{{}, 0.5, 0.85, 0, false}));
  REQUIRE(eventually([&] { return inspect(vertex, rondo::block).value().now.totals.handled == 1; }));
  REQUIRE_FALSE(activate(collector, rondo::block));
  CHECK(collector.ask(end_of_round{}, 10s, rondo::block).value().failure == errc::stale_buffer);
}

TEST_CASE("vertices with many links are ranked as by a plain loop", "[workloads]") {
  auto const g = generate({12, 16, 1});  // thousands of links lead to its hubs
  config settings{.device = "cpu", .teams = 2};
  make_room_for_vertices(settings, g);
  runtime rt{use<module_used>, settings};
  std::uint32_t reports = 0;
  auto const plain = rank_plainly(g);
  auto const found =
      rank_by_vertices(rt, g, {}, [&](ranked const& so_far) { CHECK(so_far.rounds == ++reports); });
  CHECK(found.rounds == plain.rounds);
  CHECK(reports == plain.rounds);
  CHECK(largest_difference(found.of, plain.of) < 1e-9);
}

TEST_CASE("known graphs have their known ranks", "[workloads]") {
  runtime rt{use<module_used>, {.device = "cpu", .teams = 2}};
  ranking_options const exact{.tolerance = 1e-14, .most_rounds = 1000};
  // Two that link to each other; a star, whose middle links to nothing; one vertex alone.
  CHECK(largest_difference(rank(rt, {.vertices = 2, .links = {{0, 1}, {1, 0}}}, exact).of, {0.5, 0.5}) <
        1e-12);
  auto const star = rank(rt, {.vertices = 4, .links = {{1, 0}, {2, 0}, {3, 0}}}, exact).of;
  // Leaf: x = 0.0375 + 0.2125 m, middle: m = x + 3 * 0.85 x.
  auto const leaf = 0.0375 / (1 - 0.2125 * 3.55);
  CHECK(largest_difference(star, {3.55 * leaf, leaf, leaf, leaf}) < 1e-12);
  CHECK(largest_difference(rank(rt, {.vertices = 1}, exact).of, {1}) < 1e-12);
}

TEST_CASE("buffers that are no graph, or are too small, are refused, and given back", "[workloads]") {
  runtime rt{use<module_used>, {.device = "cpu", .teams = 1}};
  auto const g = random_graph(1, 50);
  unified_buffer<std::byte> links(rt.memory(), {table_bytes(g, 1)}),
      ranks(rt.memory(), {rank_table::bytes(g.vertices, 1)});
  write_table(g, 1, links.overwrite().value().span());
  auto const ranker = rt.launch<page_ranker>("ranker");
  auto const status_of = [&](buffer_ref a, buffer_ref b) {
    return ranker.ask(rank_vertices{a, b}, 1min, block).value().status;
  };
  auto const whole = links.device().value(), to = ranks.device_for_overwriting().value();
  CHECK(status_of(whole.slice(0, whole.bytes - 4), to) == errc::buffer_out_of_bounds);
  CHECK(status_of(whole.slice(0, 8), to) == errc::buffer_out_of_bounds);
  CHECK(status_of(whole, to.slice(0, to.bytes - 64)) == errc::buffer_out_of_bounds);
  CHECK(status_of(whole, {}) == errc::stale_buffer);
  CHECK(status_of({}, to) == errc::stale_buffer);
  CHECK(status_of(whole, to) == errc::ok);
  CHECK(links.overwrite().has_value());  // no lease is left
  CHECK(ranks.overwrite().has_value());
}

TEST_CASE("an actor that ranks a graph refuses another one, and says how far it is", "[workloads]") {
  runtime rt{use<module_used>, {.device = "cpu", .teams = 2}};
  auto const g = generate({14, 16, 2});
  unified_buffer<std::byte> links(rt.memory(), {table_bytes(g, 4)}),
      ranks(rt.memory(), {rank_table::bytes(g.vertices, 4)});
  write_table(g, 4, links.overwrite().value().span());
  auto const ranker = rt.launch<page_ranker>("ranker", {.capacity = 4});
  rank_vertices const request{links.device().value(), ranks.device_for_overwriting().value(), 0.85, 0, 2000};
  auto end = ranker.ask(request, 5min, boost::asio::use_future);
  std::uint32_t last = 0;
  for (int n = 0; n < 5; ++n) {
    auto const seen =
        ranker.ask(how_far{}, {.timeout = 1min, .priority = 255, .wait_for_room = true}, block).value();
    CHECK(seen.rounds >= last);
    last = seen.rounds;
  }
  CHECK(ranker.ask(request, {.timeout = 1min, .priority = 255, .wait_for_room = true}, block).error() ==
        errc::wrong_state);
  CHECK(end.get().rounds == 2000);
}

#ifdef RONDO_PTX_WORKLOADS
TEST_CASE("ranks are those of the definition where nvcc's code is executed", "[workloads][ptx]") {
  auto const rt = workloads_test::start_ptx();
  ranks_as_defined(*rt, 2, 60, 1e-5);
  auto const g = random_graph(3, 30);
  auto const found = rank_by_vertices(*rt, g, {.tolerance = 0, .most_rounds = 4});
  CHECK(largest_difference(found.of, by_definition(g, 0.85, 4)) < 1e-5);
}
#endif
