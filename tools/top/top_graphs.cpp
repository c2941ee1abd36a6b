#include "tools/top/top_graphs.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace rondo::tools {

namespace {

struct stage_cell {
  text_grid& to;
  int row, at, width;
  top_model const& model;
  glyphs const& g;

  void right(std::string const& text, style look) const { to.put_right(row, at + width, width, text, look); }
  void left(std::string_view text, style look) const { to.put_cut(row, at, width, text, look, g.ellipsis); }
};

struct stage_column {
  char const* title;
  int width;
  int from;  // shown from this width on
  bool right;
  void (*draw)(stage_cell const& p, top_stage const& s);
};

std::string device_name(top_model const& model, std::uint32_t device) {
  auto const& all = model.now().devices;
  return device < all.size() ? all[device]->name : std::to_string(device);
}

/// Nothing is known about a stage that has never answered.
void put_count(stage_cell const& p, top_stage const& s, std::uint64_t n, style look) {
  bool const none = n == 0 || !s.has_counts();
  p.right(none ? to_utf8(p.g.dash) : count_text(n), none ? style::dim : look);
}
void put_time(stage_cell const& p, double ns) {
  p.right(time_text(ns, p.g), ns == 0 ? style::dim : style::plain);
}

void draw_name(stage_cell const& p, top_stage const& s) {
  p.left(s.now->replicas == 1 ? s.now->name : fmt::format("{} x{}", s.now->name, s.now->replicas),
         style::plain);
}
void draw_type(stage_cell const& p, top_stage const& s) { p.left(s.now->type, style::dim); }
void draw_place(stage_cell const& p, top_stage const& s) {
  p.left(device_name(p.model, s.now->device), style::plain);
}
void draw_busy(stage_cell const& p, top_stage const& s) {
  put_bar(p.to, p.row, p.at, p.width, s.busy, s.busy > 0.9 ? style::warning : style::bar, p.g);
}
void draw_rate(stage_cell const& p, top_stage const& s) {
  p.right(p.model.has_interval() && s.has_counts() ? count_text(s.rate) : to_utf8(p.g.dash),
          s.rate > 0 ? style::strong : style::dim);
}
void draw_mean(stage_cell const& p, top_stage const& s) { put_time(p, s.mean_ns); }
void draw_longest(stage_cell const& p, top_stage const& s) {
  put_time(p, s.has_counts() ? static_cast<double>(s.now->longest_ns) : 0);
}
void draw_ticks(stage_cell const& p, top_stage const& s) { put_count(p, s, s.now->processed, style::plain); }
void draw_lost(stage_cell const& p, top_stage const& s) {
  put_count(p, s, s.lost(), s.loses ? style::bad : style::warning);
}
void draw_replaced(stage_cell const& p, top_stage const& s) {
  put_count(p, s, s.now->replaced, style::plain);
}
void draw_late(stage_cell const& p, top_stage const& s) {
  put_count(p, s, s.now->late, s.is_late ? style::bad : style::warning);
}
void draw_failed(stage_cell const& p, top_stage const& s) { put_count(p, s, s.now->failed, style::warning); }
void draw_copied(stage_cell const& p, top_stage const& s) { put_count(p, s, s.now->copied, style::plain); }
void draw_state(stage_cell const& p, top_stage const& s) {
  if (s.now->ended == s.now->replicas)
    return p.left(fmt::format("{} ended", to_utf8(p.g.circle)), style::dim);
  if (s.running_ns >= 1'000'000'000)
    return p.left(fmt::format("{} {}", to_utf8(p.g.half), time_text(s.running_ns, p.g)),
                  s.running_ns >= 5'000'000'000 ? style::bad : style::warning);
  if (s.graph->state == "failed") return p.left(fmt::format("{} gone", to_utf8(p.g.circle)), style::dim);
  p.left(fmt::format("{} active", to_utf8(p.g.dot)), style::good);
}
void draw_past(stage_cell const& p, top_stage const& s) {
  if (s.rates != nullptr) put_spark(p.to, p.row, p.at, p.width, *s.rates, style::spark, p.g);
}
/// What its inputs read, and how.
void draw_reads(stage_cell const& p, top_stage const& s) {
  std::string text;
  for (auto const& e : s.graph->edges) {
    if (!e->to.starts_with(s.now->name + ".")) continue;
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", e->from, e->delivery);
  }
  p.left(text, style::dim);
}

/// The columns for a table of this width. The name and the past take the remaining space.
std::vector<stage_column> stage_columns_for(int width) {
  std::vector<stage_column> all = {{"STAGE", 14, 0, false, draw_name},
                                   {"TYPE", 26, 140, false, draw_type},
                                   {"PLACE", width >= 100 ? 8 : 6, 0, false, draw_place},
                                   {"BUSY", width >= 100 ? 12 : 6, 0, false, draw_busy},
                                   {"TICKS/S", 7, 0, true, draw_rate},
                                   {"MEAN", 6, 0, true, draw_mean},
                                   {"MAX", 6, 0, true, draw_longest},
                                   {"TICKS", 5, 100, true, draw_ticks},
                                   {"LOST", 5, 0, true, draw_lost},
                                   {"REPL", 5, 0, true, draw_replaced},
                                   {"LATE", 5, 0, true, draw_late},
                                   {"FAIL", 5, 110, true, draw_failed},
                                   {"COPY", 5, 120, true, draw_copied},
                                   {"STATE", 8, 0, false, draw_state},
                                   {"READS", 34, 180, false, draw_reads},
                                   {"PAST", 6, 100, false, draw_past}};
  std::erase_if(all, [width](stage_column const& c) { return c.from > width; });
  int left = width - 1;
  for (auto const& c : all) left -= c.width + 1;
  bool const has_past = width >= 100;
  int const to_name = has_past ? std::clamp(left / 2, 0, 16) : std::max(left, 0);
  all.front().width += to_name;
  if (has_past) all.back().width += std::max(left - to_name, 0);
  return all;
}

void draw_title(top_area const& a, int row, reports::graphT const& graph, bool is_failure) {
  if (is_failure) {
    a.to.put_cut(row, a.column + 1, a.width - 2, graph.why_failed, style::bad, a.g.ellipsis);
    return;
  }
  auto const look = graph.state == "failed"    ? style::bad
                    : graph.state == "running" ? style::good
                    : graph.state == "paused"  ? style::warning
                                               : style::dim;
  put_section(a.to, row, a.column, a.width, graph.name, a.g);
  auto const rate = graph.rate == 0 ? std::string("as fast as it can")
                                    : fmt::format("{} ticks/s asked for", count_text(graph.rate));
  auto const text = fmt::format(" {} ", rate);
  int const end = a.column + a.width - 2;
  a.to.put_right(row, end, width_of(text), text, style::dim);
  auto const state = fmt::format(" {} ", graph.state);
  a.to.put_right(row, end - width_of(text) - 1, width_of(state), state, look);
}

void draw_transfer(top_area const& a, int row, top_transfer const& t, top_model const& model) {
  auto const each =
      t.now->copies == 0 ? 0.0 : static_cast<double>(t.now->copy_ns) / static_cast<double>(t.now->copies);
  a.to.put_cut(row, a.column + 1, a.width - 2,
               fmt::format("{} copied to {}: {} a frame, {} copies, {}/s, {} each", t.now->from,
                           device_name(model, t.now->to_device), bytes_text(t.now->bytes),
                           count_text(t.now->copies), model.has_interval() ? count_text(t.rate) : "-",
                           time_text(t.mean_ns != 0 ? t.mean_ns : each, a.g)),
               style::dim, a.g.ellipsis);
}

}  // namespace

std::vector<graph_row> graph_rows(top_model const& model, std::string_view filter) {
  std::vector<graph_row> rows;
  for (auto const& g : model.now().graphs) {
    std::vector<graph_row> found;
    auto const has = [&](std::string const& text) { return filter.empty() || contains(text, filter); };
    for (auto const& s : model.stages())
      if (s.graph == g.get() && (has(g->name) || has(s.now->name) || has(s.now->type)))
        found.push_back({.graph = g.get(), .stage = &s});
    for (auto const& t : model.transfers())
      if (t.graph == g.get() && (has(g->name) || has(t.now->from)))
        found.push_back({.graph = g.get(), .transfer = &t});
    if (found.empty()) continue;
    rows.push_back({.graph = g.get()});
    if (!g->why_failed.empty()) rows.push_back({.graph = g.get(), .is_failure = true});
    rows.insert(rows.end(), found.begin(), found.end());
  }
  return rows;
}

void draw_graphs(top_area const& area, top_model const& model, std::vector<graph_row> const& rows,
                 int first) {
  auto const columns = stage_columns_for(area.width);
  int at = area.column + 1;
  for (auto const& c : columns) {
    if (c.right)
      area.to.put_right(area.row, at + c.width, c.width, c.title, style::heading);
    else
      area.to.put(area.row, at, c.title, style::heading, c.width);
    at += c.width + 1;
  }
  for (int i = 0; i + 1 < area.height && first + i < static_cast<int>(rows.size()); ++i) {
    auto const& r = rows[static_cast<std::size_t>(first + i)];
    int const row = area.row + 1 + i;
    if (r.transfer != nullptr) {
      draw_transfer(area, row, *r.transfer, model);
    } else if (r.stage == nullptr) {
      draw_title(area, row, *r.graph, r.is_failure);
    } else {
      at = area.column + 1;
      for (auto const& c : columns) {
        c.draw({area.to, row, at, c.width, model, area.g}, *r.stage);
        at += c.width + 1;
      }
    }
  }
}

}  // namespace rondo::tools
