#include "actors/workloads/link_graph.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>

#include "actors/routing/policies.hpp"

namespace rondo::workloads {

namespace {

constexpr std::string_view matrix_market = "%%MatrixMarket";

/// Whether there is nothing in a line, or a comment.
bool says_nothing(std::string_view line) {
  auto const at = line.find_first_not_of(" \t");
  return at == line.npos || line[at] == '#' || line[at] == '%';
}

bool is_space(char c) { return c == ' ' || c == '\t' || c == ',' || c == ';'; }

/// Takes a number from the front of a line. False if there is none.
bool take(std::string_view& line, std::uint64_t& number) {
  while (!line.empty() && is_space(line.front())) line.remove_prefix(1);
  auto const [end, error] = std::from_chars(line.data(), line.data() + line.size(), number);
  auto const taken = static_cast<std::size_t>(end - line.data());
  if (error != std::errc{} || (taken < line.size() && !is_space(line[taken]))) return false;
  line.remove_prefix(taken);
  return true;
}

void require_few(input_lines const& lines, std::size_t links) {
  if (links >= link_graph::most_links)
    lines.refuse(fmt::format("a graph has at most {} links", link_graph::most_links));
}

/// Numbers of a file may be any: vertices are numbered in their order.
link_graph with_numbers(std::vector<std::uint64_t> const& ends, std::string const& origin) {
  link_graph g;
  g.names = ends;
  std::ranges::sort(g.names);
  g.names.erase(std::unique(g.names.begin(), g.names.end()), g.names.end());
  if (g.names.size() > link_graph::most_vertices)
    throw input_error(fmt::format("{}: a graph has at most {} vertices", origin, link_graph::most_vertices));
  g.vertices = static_cast<std::uint32_t>(g.names.size());
  bool const is_dense = g.names.back() - g.names.front() + 1 == g.names.size();
  auto const number_of = [&](std::uint64_t name) {
    auto const first = is_dense ? g.names.begin() + static_cast<std::ptrdiff_t>(name - g.names.front())
                                : std::ranges::lower_bound(g.names, name);
    return static_cast<std::uint32_t>(first - g.names.begin());
  };
  g.links.reserve(ends.size() / 2);
  for (std::size_t i = 0; i < ends.size(); i += 2)
    g.links.push_back({number_of(ends[i]), number_of(ends[i + 1])});
  if (is_dense) g.first_name = g.names.front(), g.names.clear();
  return g;
}

link_graph parse_edges(std::string_view text, std::string const& origin, progress_report const& report) {
  input_lines lines(text, origin, report);
  std::vector<std::uint64_t> ends;
  for (std::string_view line; lines.next(line);) {
    if (says_nothing(line)) continue;
    auto rest = line;
    std::uint64_t from = 0, to = 0;
    if (!take(rest, from) || !take(rest, to))
      lines.refuse(fmt::format("'{}' is not a link: two whole numbers, such as '17 42'", beginning_of(line)));
    require_few(lines, ends.size() / 2);
    ends.push_back(from);
    ends.push_back(to);
  }
  if (ends.empty()) throw input_error(fmt::format("{}: there is no link in it", origin));
  return with_numbers(ends, origin);
}

link_graph parse_matrix(std::string_view text, std::string const& origin, progress_report const& report) {
  input_lines lines(text, origin, report);
  std::string_view line;
  lines.next(line);
  std::string kind(line);
  std::ranges::transform(kind, kind.begin(),
                         [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  bool const is_both_ways =
      kind.find("symmetric") != kind.npos || kind.find("hermitian") != kind.npos;  // skew ones, too
  if (kind.find(" matrix ") == kind.npos || kind.find(" coordinate ") == kind.npos)
    lines.refuse("only 'matrix coordinate' is read: a matrix of all numbers is no list of links");
  std::uint64_t rows = 0, columns = 0, entries = 0;
  for (bool has_sizes = false; !has_sizes;) {
    if (!lines.next(line)) lines.refuse("the line with rows, columns and entries is missing");
    if (says_nothing(line)) continue;
    auto rest = line;
    has_sizes = take(rest, rows) && take(rest, columns) && take(rest, entries);
    if (!has_sizes)
      lines.refuse(fmt::format("'{}' is not the number of rows, columns and entries", beginning_of(line)));
  }
  if (rows != columns)
    lines.refuse(
        fmt::format("{} rows and {} columns: the matrix of a graph has as many of both", rows, columns));
  // A vertex takes memory, even one without links: what a small file may ask for is limited.
  auto const most = std::min<std::uint64_t>(link_graph::most_vertices, 1'000'000 + 64 * entries);
  if (rows == 0 || rows > most)
    lines.refuse(fmt::format("{} rows; with {} entries, a graph has from 1 to {}", rows, entries, most));
  link_graph g;
  g.vertices = static_cast<std::uint32_t>(rows);
  g.first_name = 1;
  for (std::uint64_t seen = 0; seen < entries;) {
    if (!lines.next(line))
      lines.refuse(fmt::format("it ends after {} entries of {}: is it complete?", seen, entries));
    if (says_nothing(line)) continue;
    auto rest = line;
    std::uint64_t from = 0, to = 0;
    if (!take(rest, from) || !take(rest, to) || from == 0 || from > rows || to == 0 || to > rows)
      lines.refuse(
          fmt::format("'{}' is not an entry: two whole numbers from 1 to {}", beginning_of(line), rows));
    require_few(lines, g.links.size() + 1);
    graph_link const l{static_cast<std::uint32_t>(from - 1), static_cast<std::uint32_t>(to - 1)};
    g.links.push_back(l);
    if (is_both_ways && l.from != l.to) g.links.push_back({l.to, l.from});
    ++seen;
  }
  while (lines.next(line))
    if (!says_nothing(line))
      lines.refuse(fmt::format("there are more than the {} entries that it announces", entries));
  return g;
}

}  // namespace

link_graph parse_graph(std::string_view text, std::string const& origin, progress_report const& report) {
  return text.starts_with(matrix_market) ? parse_matrix(text, origin, report)
                                         : parse_edges(text, origin, report);
}

rmat parse_rmat(std::string_view text) {
  rmat r;
  named_number const numbers[] = {
      {"scale", r.scale, 1, 28}, {"factor", r.factor, 1, 1024}, {"seed", r.seed, 0, 0xffff'ffff}};
  read_numbers(text, numbers, "scale=20,factor=16,seed=1");
  if (r.links() > link_graph::most_links)
    throw input_error(fmt::format("'{}': that is more than {} links", text, link_graph::most_links));
  return r;
}

link_graph generate(rmat const& shape) {
  link_graph g;
  g.vertices = 1u << shape.scale;
  g.links.resize(shape.links());
  // The quarters of a matrix, and of each quarter, as Graph500 has them: 57, 19, 19 and 5 of 100.
  constexpr std::uint32_t first = 0x10000 * 57 / 100, second = 0x10000 * 76 / 100, third = 0x10000 * 95 / 100;
  auto const seed = scatter_bits(shape.seed + std::uint64_t{1});
  for (std::size_t i = 0; i < g.links.size(); ++i) {
    std::uint64_t chance = 0;
    auto& l = g.links[i];
    l = {0, 0};
    for (std::uint32_t level = 0; level < shape.scale; ++level) {
      chance = level % 4 == 0 ? scatter_bits(seed ^ scatter_bits(i * 8 + level / 4 + 1)) : chance >> 16;
      auto const at = static_cast<std::uint32_t>(chance & 0xffff);
      l.from = 2 * l.from + (at >= second);
      l.to = 2 * l.to + ((at >= first && at < second) || at >= third);
    }
  }
  return g;
}

std::uint64_t table_bytes(link_graph const& graph, std::uint32_t parts) {
  return link_table{graph.vertices, static_cast<std::uint32_t>(graph.links.size()), parts, 0}.bytes();
}

void write_table(link_graph const& graph, std::uint32_t parts, std::span<std::byte> to) {
  auto& table =
      *new (to.data()) link_table{graph.vertices, static_cast<std::uint32_t>(graph.links.size()), parts, 0};
  auto* const offsets = const_cast<std::uint32_t*>(table.offsets());
  auto* const degrees = const_cast<std::uint32_t*>(table.degrees());
  auto* const firsts = const_cast<std::uint32_t*>(table.firsts());
  auto* const sources = const_cast<std::uint32_t*>(table.sources());
  std::fill(offsets, firsts, 0);
  for (auto const& l : graph.links) ++offsets[l.to + 1], ++degrees[l.from];
  for (std::uint32_t v = 0; v < graph.vertices; ++v) offsets[v + 1] += offsets[v];
  // A part has as much to do as the others: a vertex counts like a few links.
  constexpr std::uint64_t of_vertex = 4;
  auto const all = graph.links.size() + of_vertex * graph.vertices;
  for (std::uint32_t v = 0, part = 0; part <= parts; ++part) {
    while (v < graph.vertices && (offsets[v] + of_vertex * v) * parts < all * part) ++v;
    firsts[part] = v;
  }
  // Each vertex's links lie from where it begins, in the order of the graph; `offsets` moves up meanwhile, and back.
  for (auto const& l : graph.links) sources[offsets[l.to]++] = l.from;
  for (auto v = graph.vertices; v > 0; --v) offsets[v] = offsets[v - 1];
  offsets[0] = 0;
}

}  // namespace rondo::workloads
