#include "tools/top/top_screen.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "tools/top/top_graphs.hpp"
#include "tools/top/top_panels.hpp"

namespace rondo::tools {

namespace {

constexpr int most_heat = 26;  // rows of the heat map
constexpr int head_rows = 3, foot_rows = 1, least_table = 4;
constexpr int wide = 120;  // from this width on, heat map and machine are side by side

/// Where each part is.
struct layout {
  int table_rows = 0;  // without its heading
  int machine_row = 0, machine_width = 0, machine_height = 0;
  int curve_height = 0;                                                // of the rate, below the machine
  int heat_row = 0, heat_column = 0, heat_width = 0, heat_height = 0;  // height 0: no room
};

layout plan(top_model const& model, top_look const& look) {
  int const body = look.height - head_rows - foot_rows;
  int const machine = std::min(machine_lines(model), std::max(body - least_table - 1, 0));
  bool const beside = look.interactive && look.width >= wide;
  layout l{.machine_width = look.width, .machine_height = machine, .heat_width = look.width};
  int bottom = machine;  // rows below the table
  if (beside) {
    // The space that the actors leave, but not less than the machine needs.
    int const left = body - 2 - static_cast<int>(model.actors().size());
    int const most = std::max(body - least_table - 1, 0);
    bottom = std::min(std::max({machine, body / 3, std::min(left, most_heat)}), most);
    l.machine_width = look.width / 2 + 4;
    l.machine_height = std::min(machine, bottom);
    l.curve_height = bottom - l.machine_height;
    l.heat_height = bottom >= 6 ? bottom : 0;
    l.heat_column = l.machine_width + 2;
    l.heat_width = look.width - l.heat_column;
  } else if (look.interactive) {
    int const heat = look.height >= 34 ? std::min(12, body - 1 - machine - 10) : 0;
    l.heat_height = heat >= 6 ? heat : 0;
    bottom += l.heat_height;
  }
  l.table_rows = body - 1 - bottom;
  l.machine_row = head_rows + 1 + l.table_rows;
  l.heat_row = l.machine_row + (beside ? 0 : machine);
  return l;
}

/// Writes a number and its label, if there is room for both. Returns the column after them.
int put_number(text_grid& to, int row, int column, std::string const& number, std::string const& word,
               style look = style::strong) {
  if (column + width_of(number) + 1 + width_of(word) > to.width()) return column;
  column = to.put(row, column, number, look);
  return to.put(row, column + 1, word, style::dim) + 2;
}

void draw_head(text_grid& to, top_model const& model, top_state const& state, top_look const& look,
               top_news const& news, glyphs const& g) {
  auto const& r = model.now();
  auto const& t = model.totals();
  int column = to.put(0, 1, "rondo top", style::title) + 2;
  column = to.put(0, column, r.service, style::chosen) + 2;
  auto const up = fmt::format("up {}", time_text(r.uptime_ns, g));
  int end = to.width() - 1;
  auto const put_before = [&](std::string const& text, style meaning) {
    if (end - width_of(text) < column) return;
    to.put_right(0, end, width_of(text), text, meaning);
    end -= width_of(text) + 2;
  };
  put_before(up, style::dim);
  if (!look.interactive)
    ;
  else if (!news.trouble.empty())
    put_before(fmt::format("{} no answer", to_utf8(g.cross)), style::bad);
  else if (state.paused)
    put_before("paused", style::warning);
  else
    put_before(fmt::format("{} live", to_utf8(g.dot)), style::good);
  if (column + width_of(news.source) <= end) to.put(0, column, news.source, style::dim);

  bool const rates = model.has_interval();
  auto const rate = [&](double n) { return rates ? count_text(n) : to_utf8(g.dash); };
  column = put_number(to, 1, 1, rate(t.handled), "msg/s");
  column = put_number(to, 1, column, time_text(t.p50_ns, g), "p50");
  column = put_number(to, 1, column, time_text(t.p99_ns, g), "p99");
  column = put_number(to, 1, column, count_text(r.waiting), "waiting");
  column =
      put_number(to, 1, column, rate(t.failures), "failures/s", t.failures > 0 ? style::bad : style::strong);
  column = put_number(to, 1, column, rate(t.dead), "dead/s", t.dead > 0 ? style::warning : style::strong);
  if (int const room = to.width() - 1 - column; room >= 8)
    put_spark(to, 1, to.width() - 1 - std::min(room, 60), std::min(room, 60), model.rates(), style::spark, g);

  column =
      put_number(to, 2, 1, fmt::format("{}", r.actors.size()), fmt::format("of {} actors", r.actor_limit));
  column = put_number(to, 2, column, count_text(r.asks_waiting), "asks");
  if (r.crossing != 0) column = put_number(to, 2, column, count_text(r.crossing), "crossing");
  if (r.connections) {
    column = put_number(to, 2, column, count_text(r.connections->open), "clients");
    column = put_number(to, 2, column, rate(t.requests), "req/s");
    column = put_number(to, 2, column,
                        fmt::format("{}{} {}{}", to_utf8(g.arrow_down), bytes_text(t.received_bytes),
                                    to_utf8(g.arrow_up), bytes_text(t.sent_bytes)),
                        "/s");
  }
  // The sums must agree only at rest: what a team has taken out of a mailbox is counted when it releases the actor.
  auto const [text, meaning] = r.conserved ? std::pair{"conserved", style::good}
                               : t.at_rest ? std::pair{"NOT CONSERVED", style::bad}
                                           : std::pair{"in flight", style::dim};
  to.put_right(2, to.width() - 1, 16, text, meaning);
}

struct cell_place;
struct column {
  char const* title;
  int width;
  int from;  // shown from this screen width on
  bool right;
  std::optional<top_order> order;
  void (*draw)(cell_place const& p, top_actor const& a);
};

struct cell_place {
  text_grid& to;
  int row, at, width;
  double most;  // the highest rate
  bool rates;   // the rates are known
  glyphs const& g;

  void right(std::string const& text, style look) const { to.put_right(row, at + width, width, text, look); }
};

void draw_name(cell_place const& p, top_actor const& a) {
  auto const name = a.now->name.empty() ? fmt::format("#{}", a.now->index) : a.now->name;
  p.to.put_cut(p.row, p.at, p.width, name, style::plain, p.g.ellipsis);
}
void draw_behaviour(cell_place const& p, top_actor const& a) {
  p.to.put_cut(p.row, p.at, p.width, a.now->behaviour, style::dim, p.g.ellipsis);
}
void draw_load(cell_place const& p, top_actor const& a) {
  put_bar(p.to, p.row, p.at, p.width, p.most == 0 ? 0 : a.rate / p.most, style::bar, p.g);
}
void draw_rate(cell_place const& p, top_actor const& a) {
  p.right(p.rates ? count_text(a.rate) : to_utf8(p.g.dash), a.rate > 0 ? style::strong : style::dim);
}
void draw_depth(cell_place const& p, top_actor const& a) {
  auto const look = fill_style(a.fill());
  p.right(count_text(a.now->waiting), a.now->waiting == 0  ? style::dim
                                      : look == style::bar ? style::plain
                                                           : look);
}
void draw_mailbox(cell_place const& p, top_actor const& a) {
  put_bar(p.to, p.row, p.at, p.width, a.fill(), fill_style(a.fill()), p.g);
}
void draw_peak(cell_place const& p, top_actor const& a) {
  p.right(count_text(a.now->peak_depth), style::dim);
}
void draw_p50(cell_place const& p, top_actor const& a) {
  p.right(time_text(a.p50_ns, p.g), a.p50_ns == 0 ? style::dim : style::plain);
}
void draw_p99(cell_place const& p, top_actor const& a) {
  p.right(time_text(a.p99_ns, p.g), a.p99_ns == 0     ? style::dim
                                    : a.p99_ns > 50e6 ? style::warning
                                                      : style::plain);
}
void draw_errors(cell_place const& p, top_actor const& a) {
  auto const n = a.errors();
  p.right(n == 0 ? to_utf8(p.g.dash) : count_text(n), a.new_errors != 0 ? style::bad
                                                      : n != 0          ? style::warning
                                                                        : style::dim);
}
void draw_state(cell_place const& p, top_actor const& a) {
  p.to.put_cut(p.row, p.at, p.width, state_text(a, p.g), state_style(a), p.g.ellipsis);
}
void draw_past(cell_place const& p, top_actor const& a) {
  if (a.rates != nullptr) put_spark(p.to, p.row, p.at, p.width, *a.rates, style::spark, p.g);
}

/// The columns for a screen of this width. The name and the past take the remaining space.
std::vector<column> columns_for(int width) {
  std::vector<column> all = {{"ACTOR", 14, 0, false, top_order::name, draw_name},
                             {"BEHAVIOUR", 22, 130, false, {}, draw_behaviour},
                             {"LOAD", width >= 100 ? 12 : 7, 0, false, top_order::load, draw_load},
                             {"MSG/S", 5, 0, true, top_order::load, draw_rate},
                             {"DEPTH", 5, 0, true, top_order::depth, draw_depth},
                             {"MAILBOX", 8, 100, false, {}, draw_mailbox},
                             {"PEAK", 5, 110, true, {}, draw_peak},
                             {"P50", 6, 0, true, {}, draw_p50},
                             {"P99", 6, 0, true, top_order::p99, draw_p99},
                             {"ERR", 5, 0, true, top_order::errors, draw_errors},
                             {"STATE", width >= 100 ? 22 : 12, 0, false, {}, draw_state},
                             {"PAST", 6, 0, false, {}, draw_past}};
  std::erase_if(all, [width](column const& c) { return c.from > width; });
  int left = width - 1;
  for (auto const& c : all) left -= c.width + 1;
  int const to_name = std::clamp(left / 2, 0, 16);
  all.front().width += to_name;
  all.back().width += std::max(left - to_name, 0);
  return all;
}

void draw_table(text_grid& to, int row, int rows, top_model const& model, top_state const& state,
                bool selects, glyphs const& g) {
  auto const columns = columns_for(to.width());
  int at = 1;
  for (auto const& c : columns) {
    bool const chosen = c.order && *c.order == state.order && std::string_view(c.title) != "LOAD";
    auto const arrow = chosen ? to_utf8(g.arrow_down) : std::string();
    auto const look = chosen ? style::chosen : style::heading;
    // The arrow of a right-aligned heading goes into the gap before it.
    if (c.right)
      to.put_right(row, at + c.width, c.width + 1, arrow + c.title, look);
    else
      to.put(row, at, c.title + arrow, look, c.width);
    at += c.width + 1;
  }
  auto const all = state.shown(model);
  if (all.empty()) {
    to.put(row + 2, 3,
           model.actors().empty() ? "no actors" : "no actor's name or behaviour contains the filter",
           style::dim);
    return;
  }
  double most = 0;
  for (auto const& a : model.actors()) most = std::max(most, a.rate);
  int const selected = state.selected(all);
  int const first = rows <= 0 ? 0 : selected / rows * rows;
  for (int i = 0; i < rows && first + i < static_cast<int>(all.size()); ++i) {
    auto const& a = *all[static_cast<std::size_t>(first + i)];
    at = 1;
    for (auto const& c : columns) {
      c.draw({to, row + 1 + i, at, c.width, most, model.has_interval(), g}, a);
      at += c.width + 1;
    }
    if (!selects || first + i != selected) continue;
    to.put_glyph(row + 1 + i, 0, g.mark, style::chosen);
    to.select_row(row + 1 + i);
  }
}

void draw_graph_table(top_area const& area, top_model const& model, top_state const& state) {
  auto const all = graph_rows(model, state.filter);
  if (all.empty()) {
    area.to.put(area.row + 2, 3,
                model.now().graphs.empty() ? "no graphs" : "no stage's name or type contains the filter",
                style::dim);
    return;
  }
  int const rows = std::max(area.height - 1, 1);
  int const selected = std::min(state.graph_row, static_cast<int>(all.size()) - 1);
  int const first = selected / rows * rows;
  draw_graphs(area, model, all, first);
  area.to.put_glyph(area.row + 1 + selected - first, 0, area.g.mark, style::chosen);
  area.to.select_row(area.row + 1 + selected - first);
}

void draw_foot(text_grid& to, top_state const& state, top_news const& news, std::size_t shown,
               bool has_graphs, glyphs const& g) {
  int const row = to.height() - 1;
  if (state.typing) {
    int const after = to.put(row, to.put(row, 1, "filter: ", style::key), state.filter, style::strong);
    to.put_glyph(row, after, U'_', style::strong);
    to.put_right(row, to.width() - 1, 30, "Enter keeps it, Esc clears it", style::dim);
    return;
  }
  if (!news.trouble.empty() || !news.message.empty()) {
    bool const ill = !news.trouble.empty();
    to.put_cut(row, 1, to.width() - 2, ill ? news.trouble : news.message, ill ? style::bad : style::good,
               g.ellipsis);
    return;
  }
  int at = 1;
  auto const hint = [&](char const* key, std::string_view what) {
    at = to.put(row, at, key, style::key);
    at = to.put(row, at + 1, what, style::dim) + 2;
  };
  hint("q", "quit");
  hint("?", "help");
  if (state.details) {
    hint("Esc", "all actors");
  } else {
    if (!state.graphs) {
      hint("Enter", "details");
      hint("o", "order");
    }
    hint("/", state.filter.empty() ? "filter" : fmt::format("{} ({} found)", state.filter, shown));
  }
  hint("p", state.paused ? "resume" : "pause");
  hint("s", "save");
  if (state.graphs)
    hint("Tab", "actors");
  else if (has_graphs)
    hint("Tab", "graphs");
}

}  // namespace

/// With their heading; printed once, they are below the actors.
int lines_of_graphs(top_model const& model) {
  auto const rows = static_cast<int>(graph_rows(model, {}).size());
  return rows == 0 ? 0 : rows + 1;
}

int height_for_all(top_model const& model) {
  return head_rows + 1 + static_cast<int>(model.actors().size()) + lines_of_graphs(model) +
         machine_lines(model) + foot_rows;
}

int rows_of_table(top_model const& model, top_look const& look) {
  return std::max(plan(model, look).table_rows, 1);
}

text_grid draw_top(top_model const& model, top_state const& state, top_look const& look,
                   top_news const& news) {
  auto const& g = look.ascii ? ascii_glyphs() : unicode_glyphs();
  text_grid to(std::max(look.width, 40), std::max(look.height, 10));
  if (!model.has_report()) {
    to.put(0, 1, "rondo top", style::title);
    to.put(0, 12, news.source, style::dim);
    to.put_cut(2, 1, to.width() - 2, news.trouble.empty() ? "waiting for the first report" : news.trouble,
               news.trouble.empty() ? style::dim : style::bad, g.ellipsis);
    draw_foot(to, state, {}, 0, false, g);
    return to;
  }
  draw_head(to, model, state, look, news, g);
  auto const shown = state.shown(model);
  if (state.details && !shown.empty()) {
    auto const& actor = *shown[static_cast<std::size_t>(state.selected(shown))];
    draw_details({to, head_rows, 0, to.width(), to.height() - head_rows - foot_rows, g, look.colours}, actor,
                 model, news);
  } else {
    auto const l = plan(model, look);
    int const below = look.interactive ? 0 : lines_of_graphs(model);
    if (state.graphs)
      draw_graph_table({to, head_rows, 0, to.width(), l.table_rows + 1, g, look.colours}, model, state);
    else
      draw_table(to, head_rows, l.table_rows - below, model, state, look.interactive, g);
    if (below != 0)
      draw_graphs({to, l.machine_row - below, 0, to.width(), below, g, look.colours}, model,
                  graph_rows(model, {}), 0);
    draw_machine({to, l.machine_row, 0, l.machine_width, l.machine_height, g, look.colours}, model);
    if (l.curve_height >= 4) {
      int const row = l.machine_row + l.machine_height;
      put_section(to, row, 0, l.machine_width, "messages handled per second", g);
      put_curve(to, row + 1, 0, l.machine_width, l.curve_height - 1, model.rates(), style::spark, g);
    }
    if (l.heat_height != 0)
      draw_heat({to, l.heat_row, l.heat_column, l.heat_width, l.heat_height, g, look.colours},
                "latency of all messages", model.latencies(), model.now().latency_floors_ns);
  }
  if (look.interactive)
    draw_foot(to, state, news, state.graphs ? graph_rows(model, state.filter).size() : shown.size(),
              !model.now().graphs.empty(), g);
  if (state.help) draw_help(to, g);
  return to;
}

}  // namespace rondo::tools
