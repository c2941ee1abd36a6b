// Panels: details of one actor, and the help page.
#include <fmt/format.h>

#include <algorithm>

#include "tools/top/top_panels.hpp"

namespace rondo::tools {

namespace {

constexpr int label_width = 11;

/// Writes lines of a label and a value, from the top down.
class facts {
 public:
  explicit facts(top_area const& area) : area_(area), row_(area.row) {}
  int row() const { return row_; }
  top_area const& area() const { return area_; }

  void add(std::string_view what, std::string const& text, style look = style::plain) {
    label(what);
    area_.to.put_cut(row_++, column(), area_.width - label_width - 3, text, look, area_.g.ellipsis);
  }
  void label(std::string_view what) { area_.to.put(row_, area_.column + 2, what, style::dim, label_width); }
  int column() const { return area_.column + 2 + label_width; }
  void next() { ++row_; }

 private:
  top_area const& area_;
  int row_;
};

void add_facts(facts& f, top_actor const& actor, top_model const& model) {
  auto const& a = *actor.now;
  auto const& g = f.area().g;
  auto& to = f.area().to;
  f.add("state", state_text(actor, g), state_style(actor));
  f.add("handles",
        a.running ? fmt::format("{} in team {}, for {} at least", a.running->message, a.running->team,
                                time_text(std::max<std::uint64_t>(a.running->for_ns, 1), g))
                  : "nothing at present",
        a.running ? style::strong : style::dim);
  f.label("rate");
  int const after =
      to.put(f.row(), f.column(),
             model.has_interval() ? fmt::format("{} msg/s", count_text(actor.rate)) : to_utf8(g.dash),
             style::strong) +
      2;
  if (actor.rates != nullptr)
    put_spark(to, f.row(), after, std::clamp(f.area().width - (after - f.area().column) - 2, 0, 60),
              *actor.rates, style::spark, g);
  f.next();
  auto const& floors = model.now().latency_floors_ns;
  auto const ever = [&](double q) { return time_text(service::latency_at(a.latency_counts, floors, q), g); };
  f.add("latency",
        fmt::format("p50 {}  p99 {}  of this interval;  p50 {}  p99 {}  ever", time_text(actor.p50_ns, g),
                    time_text(actor.p99_ns, g), ever(0.5), ever(0.99)));
  f.label("mailbox");
  put_bar(to, f.row(), f.column(), 12, actor.fill(), fill_style(actor.fill()), g);
  to.put(f.row(), f.column() + 14,
         fmt::format("{} of {}, peak {}", count_text(a.waiting), count_text(a.capacity),
                     count_text(a.peak_depth)));
  f.next();
  f.add("counted", fmt::format("{} accepted = {} handled + {} rejected + {} dead + {} waiting",
                               count_text(a.accepted), count_text(a.handled), count_text(a.rejected),
                               count_text(a.dead), count_text(a.waiting)));
  if (a.failures == 0) {
    f.add("failures", "none", style::dim);
  } else if (!a.last_failure) {
    f.add("failures", count_text(a.failures), style::warning);
  } else {
    auto const& l = *a.last_failure;
    f.add("failures",
          fmt::format("{}, the last {} ago: {} in {}, {}", count_text(a.failures),
                      time_text(std::max<std::uint64_t>(l.age_ns, 1), g), l.reason,
                      l.message.empty() ? "its start" : l.message, l.action),
          actor.new_errors != 0 ? style::bad : style::warning);
    f.add("", l.text, style::dim);
  }
}

void draw_depths(top_area const& a, top_news const& news) {
  put_section(a.to, a.row, a.column, a.width, "waiting, by priority", a.g);
  if (!news.depths || news.depths->empty()) {
    a.to.put_cut(a.row + 1, a.column + 2, a.width - 3, news.depths ? "nothing waits" : "not known",
                 style::dim, a.g.ellipsis);
    return;
  }
  std::uint32_t most = 1;
  for (auto const& [priority, messages] : *news.depths) most = std::max(most, messages);
  int row = a.row + 1;
  for (auto const& [priority, messages] : *news.depths) {
    if (row == a.row + a.height) return;
    a.to.put_right(row, a.column + 6, 4, std::to_string(priority), style::strong);
    put_bar(a.to, row, a.column + 8, std::max(a.width - 8 - 8, 4), static_cast<double>(messages) / most,
            style::bar, a.g);
    a.to.put_right(row, a.column + a.width - 1, 6, count_text(messages));
    ++row;
  }
}

/// One bar per octave.
void draw_histogram(top_area const& a, latency_counts const& counts,
                    std::vector<std::uint64_t> const& floors) {
  put_section(a.to, a.row, a.column, a.width, "latency since the actor began", a.g);
  std::vector<std::pair<std::uint64_t, std::uint64_t>> octaves;  // floor, samples
  for (std::size_t b = 0; b < std::min(counts.size(), floors.size()); ++b) {
    if (b % 2 == 0) octaves.emplace_back(floors[b], 0);
    octaves.back().second += counts[b];
  }
  while (!octaves.empty() && octaves.back().second == 0) octaves.pop_back();
  auto const some = std::ranges::find_if(octaves, [](auto const& o) { return o.second != 0; });
  octaves.erase(octaves.begin(), some);
  if (octaves.empty()) {
    a.to.put(a.row + 1, a.column + 2, "no samples yet", style::dim);
    return;
  }
  // Too many for the area: merge the shortest ones.
  auto const rows = static_cast<std::size_t>(std::max(a.height - 1, 1));
  while (octaves.size() > rows) {
    octaves[1] = {octaves[0].first, octaves[0].second + octaves[1].second};
    octaves.erase(octaves.begin());
  }
  std::uint64_t most = 1;
  for (auto const& o : octaves) most = std::max(most, o.second);
  int row = a.row + 1;
  for (auto const& [floor, samples] : octaves) {
    a.to.put_right(row, a.column + 7, 6, floor == 0 ? "0" : time_text(floor, a.g), style::dim);
    put_bar(a.to, row, a.column + 8, std::max(a.width - 8 - 8, 4),
            static_cast<double>(samples) / static_cast<double>(most), style::bar, a.g);
    a.to.put_right(row, a.column + a.width - 1, 6, count_text(samples));
    ++row;
  }
}

}  // namespace

void draw_details(top_area const& area, top_actor const& actor, top_model const& model,
                  top_news const& news) {
  auto const& a = *actor.now;
  auto const& floors = model.now().latency_floors_ns;
  put_section(area.to, area.row, area.column, area.width,
              a.name.empty() ? fmt::format("#{}", a.index) : a.name, area.g);
  auto const& devices = model.now().devices;
  auto const head = area.at(area.row + 1, area.column, area.width, area.height - 1);
  facts f(head);
  f.add("behaviour", fmt::format("{}  on {} {}  index {}, life {}{}", a.behaviour, a.device,
                                 a.device < devices.size() ? devices[a.device]->name : "", a.index,
                                 a.generation, a.pinned ? ", pinned" : ""));
  add_facts(f, actor, model);
  int const top = f.row() + (area.height > 24 ? 1 : 0);
  int const rest = area.row + area.height - top;
  if (rest < 3) return;
  bool const wide = area.width >= 100;
  int const left = wide ? area.width / 2 - 1 : area.width;
  int const waiting = static_cast<int>(news.depths ? news.depths->size() : 0);
  int const depth_rows = std::clamp(waiting + 1, 2, std::max(rest / 3, 2));
  draw_depths(area.at(top, area.column, left, depth_rows), news);
  int const below = rest - depth_rows;
  bool const stacked = !wide && below >= 20;
  if (below >= 3)
    draw_histogram(area.at(top + depth_rows, area.column, left, stacked ? below / 2 : below),
                   a.latency_counts, floors);
  if (actor.latencies == nullptr || (!wide && !stacked)) return;
  draw_heat(wide ? area.at(top, area.column + left + 2, area.width - left - 2, rest)
                 : area.at(top + depth_rows + below / 2, area.column, area.width, below - below / 2),
            "latency over time", *actor.latencies, floors);
}

void draw_help(text_grid& to, glyphs const& g) {
  struct line {
    char const *key, *what;
  };
  static constexpr line lines[] = {{"arrows, j k, space", "select an actor, turn pages"},
                                   {"Enter, Esc", "show only the selected actor, and back"},
                                   {"/", "filter by a part of the name or behaviour"},
                                   {"l d t e n", "sort by load, depth, p99, errors, name"},
                                   {"o", "next sort order"},
                                   {"Tab", "graphs of stages, and back"},
                                   {"p", "pause, resume"},
                                   {"s", "save the report as JSON"},
                                   {"q", "quit"},
                                   {"", ""},
                                   {"LOAD", "messages handled, compared to the busiest"},
                                   {"DEPTH, MAILBOX", "waiting messages, and share of the capacity"},
                                   {"P50 P99", "from sending to handled, last interval"},
                                   {"ERR", "failed, rejected and dead; bright: new ones"},
                                   {"BUSY, MEAN, MAX", "time in ticks: share, average, longest ever"},
                                   {"LOST", "frames dropped or lost, ticks skipped"},
                                   {"REPL, LATE", "replaced by newer frames; after the deadline"}};
  int const width = 70, height = static_cast<int>(std::size(lines)) + 4;
  text_grid box(width, height);
  put_section(box, 0, 0, width, "help: press any key to close", g);
  for (int i = 0; i < static_cast<int>(std::size(lines)); ++i) {
    box.put(i + 2, 3, lines[i].key, style::key);
    box.put(i + 2, 24, lines[i].what);
  }
  box.fill(height - 1, 0, width, g.line, style::track);
  to.overlay(std::max((to.height() - height) / 2, 0), std::max((to.width() - width) / 2, 0), box);
}

}  // namespace rondo::tools
