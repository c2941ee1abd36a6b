#include "actors/workloads/link_graph.hpp"

#include <algorithm>
#include <map>
#include <random>

#include "tests/catch.hpp"

using namespace rondo::workloads;
using Catch::Matchers::Contains;
using Catch::Matchers::StartsWith;

namespace {

/// Links as the text calls their ends.
std::vector<std::pair<std::uint64_t, std::uint64_t>> links_of(link_graph const& g) {
  std::vector<std::pair<std::uint64_t, std::uint64_t>> all;
  for (auto const& l : g.links) all.emplace_back(g.name_of(l.from), g.name_of(l.to));
  return all;
}
using pairs = std::vector<std::pair<std::uint64_t, std::uint64_t>>;

/// Memory for a table, aligned.
struct table_memory {
  explicit table_memory(std::size_t size) : bytes(size / 16 + 1) {}
  struct alignas(16) piece {
    std::byte of[16];
  };
  std::vector<piece> bytes;
  std::span<std::byte> span() { return std::as_writable_bytes(std::span(bytes)); }
};

}  // namespace

TEST_CASE("a list of edges is read with comments, any spaces, and any numbers as names", "[workloads]") {
  auto const g = parse_graph("# from to\r\n1 2\r\n2\t3 0.5 later\n\n  % no link\n3, 1\n", "x");
  CHECK(g.vertices == 3);
  CHECK(links_of(g) == pairs{{1, 2}, {2, 3}, {3, 1}});
  auto const sparse = parse_graph("7 18446744073709551615\n18446744073709551615 1000000\n", "x");
  CHECK(sparse.vertices == 3);
  CHECK(links_of(sparse) == pairs{{7, ~0ull}, {~0ull, 1'000'000}});
  CHECK(links_of(parse_graph("5 5\n5 5", "x")) == pairs{{5, 5}, {5, 5}});
}

TEST_CASE("a matrix in Matrix Market's format is read, symmetric ones both ways", "[workloads]") {
  auto const g =
      parse_graph("%%MatrixMarket matrix coordinate pattern general\n% text\n4 4 2\n1 2\n4 1\n", "x");
  CHECK(g.vertices == 4);
  CHECK(links_of(g) == pairs{{1, 2}, {4, 1}});
  auto const both =
      parse_graph("%%MatrixMarket MATRIX Coordinate real symmetric\n3 3 3\n2 1 0.5\n3 3 1\n3 1 2e3\n", "x");
  CHECK(links_of(both) == pairs{{2, 1}, {1, 2}, {3, 3}, {3, 1}, {1, 3}});
}

TEST_CASE("a graph that cannot be read is refused with its line, and what is wrong", "[workloads]") {
  std::string const matrix = "%%MatrixMarket matrix coordinate pattern general\n";
  std::pair<std::string, std::string> const refused[] = {
      {"", "x: there is no link in it"},
      {"# nothing\n", "x: there is no link in it"},
      {"1 2\n3\n", "x:2: '3' is not a link"},
      {"1 2\n3 -4\n", "x:2: '3 -4' is not a link"},
      {"1 2x\n", "x:1: '1 2x' is not a link"},
      {"1 18446744073709551616\n", "x:1: '1 18446744073709551616' is not a link"},
      {"1 2\n\x1b[31mred\n", "x:2: '?[31mred' is not a link"},
      {std::string(100, 'a') + "\n", "x:1: '" + std::string(40, 'a') + "...' is not a link"},
      {"%%MatrixMarket matrix array real general\n2 2\n", "x:1: only 'matrix coordinate' is read"},
      {matrix, "x:1: the line with rows, columns and entries is missing"},
      {matrix + "3 4 1\n1 1\n", "x:2: 3 rows and 4 columns"},
      {matrix + "3 three 1\n", "x:2: '3 three 1' is not the number"},
      {matrix + "0 0 0\n", "x:2: 0 rows"},
      {matrix + "4000000000 4000000000 1\n1 1\n",
       "x:2: 4000000000 rows; with 1 entries, a graph has from 1 to"},
      {matrix + "3 3 2\n1 1\n", "x:3: it ends after 1 entries of 2"},
      {matrix + "3 3 1\n1 4\n", "x:3: '1 4' is not an entry: two whole numbers from 1 to 3"},
      {matrix + "3 3 1\n0 1\n", "x:3: '0 1' is not an entry"},
      {matrix + "3 3 1\n1 1\n2 2\n", "x:4: there are more than the 1 entries"},
  };
  for (auto const& [text, why] : refused) CHECK_THROWS_WITH(parse_graph(text, "x"), StartsWith(why));
}

TEST_CASE("a random graph is the same for the same seed, and has few vertices with many links",
          "[workloads]") {
  rmat const shape{12, 8, 5};
  auto const g = generate(shape);
  CHECK(g.vertices == 4096);
  CHECK(g.links.size() == 32'768);
  auto const same = [](graph_link const& a, graph_link const& b) { return a.from == b.from && a.to == b.to; };
  CHECK(std::ranges::equal(g.links, generate(shape).links, same));
  CHECK_FALSE(std::ranges::equal(g.links, generate({12, 8, 6}).links, same));
  std::vector<std::size_t> degrees(g.vertices);
  for (auto const& l : g.links) {
    REQUIRE((l.from < g.vertices && l.to < g.vertices));
    ++degrees[l.from];
  }
  std::ranges::sort(degrees, std::greater{});
  std::size_t of_first = 0;
  for (std::size_t i = 0; i < degrees.size() / 100; ++i) of_first += degrees[i];
  CHECK(of_first > g.links.size() / 10);  // evenly, they would have a hundredth
  CHECK(std::ranges::count(degrees, 0u) > 100);
  // Of all links, so many go from the upper half of the vertices to the upper half: 5 of 100.
  auto const is_upper = [&](graph_link const& l) { return l.from >= 2048 && l.to >= 2048; };
  auto const upper = static_cast<double>(std::ranges::count_if(g.links, is_upper)) / 32'768;
  CHECK(upper == Approx(0.05).margin(0.006));
}

TEST_CASE("the shape of a random graph is read from text", "[workloads]") {
  auto const r = parse_rmat("factor=4,scale=20");
  CHECK((r.scale == 20 && r.factor == 4 && r.seed == 1));
  CHECK(parse_rmat("seed=7").seed == 7);
  CHECK_THROWS_WITH(parse_rmat("size=20"), Contains("'size' is none of scale, factor and seed"));
  CHECK_THROWS_WITH(parse_rmat("scale=99"), Contains("scale is a whole number from 1 to 28"));
  CHECK_THROWS_WITH(parse_rmat("scale"), Contains("scale is a whole number"));
  CHECK_THROWS_WITH(parse_rmat("scale=2x"), Contains("scale is a whole number"));
  CHECK_THROWS_WITH(parse_rmat("scale=28,factor=1024"), Contains("more than"));
}

TEST_CASE("the table of a graph has each link once, at its vertex, and parts that follow each other",
          "[workloads]") {
  std::mt19937 random{3};
  for (int round = 0; round < 30; ++round) {
    link_graph g;
    g.vertices = 1 + static_cast<std::uint32_t>(random() % 300);
    std::vector<std::vector<std::uint32_t>> to(g.vertices);
    std::vector<std::uint32_t> degrees(g.vertices);
    for (std::size_t i = 0, links = random() % 2000; i < links; ++i) {
      graph_link const l{static_cast<std::uint32_t>(random() % g.vertices),
                         static_cast<std::uint32_t>(random() % (1 + random() % g.vertices))};
      g.links.push_back(l);
      to[l.to].push_back(l.from);
      ++degrees[l.from];
    }
    auto const parts = 1 + static_cast<std::uint32_t>(random() % std::min(g.vertices, 20u));
    table_memory memory(table_bytes(g, parts));
    write_table(g, parts, memory.span());
    auto const& table = *reinterpret_cast<link_table const*>(memory.span().data());
    REQUIRE(table.bytes() == table_bytes(g, parts));
    for (std::uint32_t v = 0; v < g.vertices; ++v) {
      std::vector<std::uint32_t> const found(table.sources() + table.offsets()[v],
                                             table.sources() + table.offsets()[v + 1]);
      REQUIRE(found == to[v]);
      REQUIRE(table.degrees()[v] == degrees[v]);
    }
    REQUIRE(table.firsts()[0] == 0);
    REQUIRE(table.firsts()[parts] == g.vertices);
    for (std::uint32_t p = 0; p < parts; ++p) REQUIRE(table.firsts()[p] <= table.firsts()[p + 1]);
  }
}
