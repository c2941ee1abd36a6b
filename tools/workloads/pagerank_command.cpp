// `rondo run pagerank`.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <iterator>
#include <memory>
#include <numeric>

#include "actors/workloads/rank_graph.hpp"
#include "tools/workloads/canvas.hpp"
#include "tools/workloads/workload_options.hpp"
#include "tools/workloads_module/workloads_module.hpp"

namespace rondo::tools {

namespace {

using namespace workloads;
using service::command_error;

struct pagerank_options {
  workload_options run;
  workload_data data;
  std::string output;
  ranking_options how;
  std::uint32_t top = 10;
  bool by_vertices = false;
};

constexpr char const *pagerank_name = "run pagerank", *pagerank_example = "scale=20,factor=16,seed=1";

link_graph graph_of(pagerank_options const& o) {
  return o.data.load(pagerank_name, pagerank_example, o.run.is_quiet, parse_graph,
                     [](std::string const& text) {
                       auto const shape = parse_rmat(text);
                       require_memory(fmt::format("{}: generating the graph", pagerank_name),
                                      sizeof(graph_link) * shape.links());
                       return generate(shape);
                     });
}

/// Vertices by rank, the first ones.
std::vector<std::uint32_t> first_of(graph_ranks const& ranks, std::size_t most) {
  std::vector<std::uint32_t> all(ranks.of.size());
  std::iota(all.begin(), all.end(), 0u);
  auto const end = all.begin() + static_cast<std::ptrdiff_t>(std::min(most, all.size()));
  std::partial_sort(all.begin(), end, all.end(), [&](auto a, auto b) {
    return ranks.of[a] != ranks.of[b] ? ranks.of[a] > ranks.of[b] : a < b;
  });
  all.erase(end, all.end());
  return all;
}

std::string to_csv(link_graph const& graph, graph_ranks const& ranks) {
  std::string text = "vertex,rank\n";
  for (std::uint32_t v = 0; v < graph.vertices; ++v)
    fmt::format_to(std::back_inserter(text), "{},{:.17g}\n", graph.name_of(v), ranks.of[v]);
  return text;
}

/// Ranks from the highest to the lowest; both directions are logarithmic.
void draw_ranks(std::string const& file, link_graph const& graph, graph_ranks const& ranks) {
  constexpr video::rgb background{16, 20, 28}, grid{48, 56, 70}, ink{200, 210, 225}, curve{64, 196, 255};
  constexpr float left = 110, right = 60, top = 60, bottom = 70;
  canvas c(1280, 720, background);
  auto sorted = ranks.of;
  std::ranges::sort(sorted, std::greater{});
  auto const low = std::floor(std::log10(std::max(sorted.back(), 1e-300))),
             high = std::max(std::ceil(std::log10(sorted.front())), low + 1);
  auto const wide = std::max(std::ceil(std::log10(static_cast<double>(sorted.size()))), 1.0);
  auto const at = [&](double x, double y) {  // logarithms
    auto const across = static_cast<float>(x / wide), up = static_cast<float>((y - low) / (high - low));
    return canvas::place{
        left + across * (static_cast<float>(c.width()) - left - right),
        static_cast<float>(c.height()) - bottom - up * (static_cast<float>(c.height()) - top - bottom)};
  };
  for (double y = low; y <= high; ++y) {
    canvas::place const ends[] = {at(0, y), at(wide, y)};
    c.line(ends, 1, grid);
    c.text({left - 12, ends[0].y - canvas::capital / 2}, fmt::format("1e{:.0f}", y), ink, 1);
  }
  for (double x = 0; x <= wide; ++x) {
    canvas::place const ends[] = {at(x, low), at(x, high)};
    c.line(ends, 1, grid);
    c.text({ends[0].x, ends[0].y + 14}, fmt::format("{:.0f}", std::pow(10, x)), ink, 0.5F);
  }
  // As many places as there are to see: a million vertices have as many.
  std::vector<canvas::place> through;
  double const steps = 2 * c.width();
  for (double s = 0; s <= steps; ++s) {
    auto const n = std::pow(static_cast<double>(sorted.size()), s / steps) - 1;
    auto const i = std::min(static_cast<std::size_t>(n), sorted.size() - 1);
    through.push_back(at(std::log10(static_cast<double>(i + 1)), std::log10(std::max(sorted[i], 1e-300))));
  }
  c.line(through, 3, curve);
  c.text({left, 24},
         fmt::format("PageRank of {} vertices and {} links, by place", graph.vertices, graph.links.size()),
         ink);
  c.write(file);
}

std::string to_json(link_graph const& graph, graph_ranks const& ranks, std::size_t top) {
  std::string first;
  for (auto const v : first_of(ranks, top))
    first += fmt::format("{}{{\"vertex\": {}, \"rank\": {:.12g}}}", first.empty() ? "" : ", ",
                         graph.name_of(v), ranks.of[v]);
  auto const done = static_cast<double>(graph.links.size()) * ranks.rounds;
  return fmt::format(
      "{{\"vertices\": {}, \"links\": {}, \"rounds\": {}, \"change\": {:.6g}, \"seconds\": {:.6f}, "
      "\"links_per_s\": {:.6g}, \"top\": [{}]}}\n",
      graph.vertices, graph.links.size(), ranks.rounds, ranks.change, ranks.seconds, done / ranks.seconds,
      first);
}

void print(link_graph const& graph, graph_ranks const& ranks, ranking_options const& how, std::size_t top) {
  auto const done = static_cast<double>(graph.links.size()) * ranks.rounds;
  fmt::print("{} vertices, {} links: {} rounds in {:.3f} s, {:.1f} M links/s\n", graph.vertices,
             graph.links.size(), ranks.rounds, ranks.seconds, done / ranks.seconds * 1e-6);
  if (ranks.change >= how.tolerance)
    fmt::print("the ranks still changed by {:.2g} in the last round: raise --rounds\n", ranks.change);
  fmt::print("{:>12}  rank\n", "vertex");
  for (auto const v : first_of(ranks, top)) fmt::print("{:>12}  {:.6g}\n", graph.name_of(v), ranks.of[v]);
}

void run_pagerank(pagerank_options const& o) {
  file_uses uses;
  uses.reads("the graph", o.data.file);
  uses.writes("--output", o.output);
  uses.writes("--picture", o.run.picture);
  service::require_own_files(uses);
  require_writable(pagerank_name, o.output);
  require_writable(pagerank_name, o.run.picture);
  auto const graph = graph_of(o);
  auto const bytes = ranking_bytes(graph);
  require_memory(fmt::format("{}: the graph", pagerank_name), bytes);
  auto settings = o.run.settings(bytes);
  if (o.by_vertices) {
    make_room_for_vertices(settings, graph);
    constexpr std::uint64_t actor_bytes = 1024, block_bytes = 8192;
    require_memory(fmt::format("{}: an actor for each vertex", pagerank_name),
                   settings.actors * actor_bytes + settings.mail_blocks * block_bytes + settings.state_bytes);
  }
  runtime rt{use<workloads_module>, settings};
  progress_lines progress(o.run.is_quiet);
  auto const report = [&](ranked const& so_far) {
    if (progress.is_due())
      progress.show(
          fmt::format("rondo: round {}, the ranks changed by {:.2g}", so_far.rounds, so_far.change));
  };
  auto const ranks =
      o.by_vertices ? rank_by_vertices(rt, graph, o.how, report) : rank(rt, graph, o.how, report);
  if (!o.output.empty()) write_result(pagerank_name, o.output, to_csv(graph, ranks));
  if (!o.run.picture.empty()) draw_ranks(o.run.picture, graph, ranks);
  if (o.run.is_json)
    fmt::print("{}", to_json(graph, ranks, o.top));
  else
    print(graph, ranks, o.how, o.top);
}

}  // namespace

void add_pagerank_command(CLI::App& run, int& exit_status) {
  auto const o = std::make_shared<pagerank_options>();
  auto& c =
      service::add_command(run, "pagerank", "Rank the vertices of a graph by the links that lead to them",
                           exit_status, [o] { run_pagerank(*o); });
  o->data.add_to(c, "file with two numbers a line, from and to, or in Matrix Market's format",
                 fmt::format("{} (RMAT)", pagerank_example));
  service::add_number(c, "--damping", o->how.damping, "the part of a rank that links pass on (0.85)", 0, 1);
  service::add_number(c, "--tolerance", o->how.tolerance,
                      "end when all ranks together change by less than this in a round (1e-6)", 0, 1);
  service::add_number(c, "--rounds", o->how.most_rounds, "end after so many rounds (100)", 1, 1'000'000);
  c.add_flag("--by-vertices", o->by_vertices,
             "make each vertex an actor, which sends a message along each of its links: slower");
  service::add_number(c, "--top", o->top, "how many of the highest ranks to print (10)", 0, 1'000'000);
  c.add_option("--output", o->output, "write the rank of each vertex: a CSV file");
  o->run.add_to(c, "the ranks by place");
  c.footer(std::string("Examples:\n  rondo run pagerank links.txt\n"
                       "  rondo run pagerank --generate scale=20,factor=16 --picture ranks.png\n\n") +
           service::exit_status_help());
}

}  // namespace rondo::tools
