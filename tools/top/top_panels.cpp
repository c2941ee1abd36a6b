#include "tools/top/top_panels.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>

namespace rondo::tools {

namespace {

/// One line of the machine's panel.
using machine_line = std::function<void(top_area const&, int row)>;

constexpr int label_column = 3, bar_column = 12, bar_width = 12, text_column = 26;

/// A bar, and its value in words.
void put_measure(top_area const& a, int row, std::string_view label, double share, style look,
                 std::string const& text) {
  a.to.put(row, a.column + label_column, label, style::dim, bar_column - label_column - 1);
  put_bar(a.to, row, a.column + bar_column, bar_width, share, look, a.g);
  a.to.put_cut(row, a.column + text_column, a.width - text_column - 1, text, style::plain, a.g.ellipsis);
}

double share_of(auto part, auto whole) {
  return whole == 0 ? 0 : static_cast<double>(part) / static_cast<double>(whole);
}

machine_line section(std::string title) {
  return [title = std::move(title)](top_area const& a, int row) {
    put_section(a.to, row, a.column, a.width, title, a.g);
  };
}

void add_device(std::vector<machine_line>& lines, std::size_t place, reports::deviceT const& d) {
  lines.push_back([&d, place](top_area const& a, int row) {
    auto const busy = std::ranges::count_if(d.teams, [](auto const& t) { return t->busy; });
    auto const pinned = std::ranges::count_if(d.teams, [](auto const& t) { return t->pinned; });
    auto const all = d.pool_teams + pinned;
    a.to.put_cut(row, a.column + label_column - 2, 10, fmt::format("{} {}", place, d.name), style::strong,
                 a.g.ellipsis);
    put_bar(a.to, row, a.column + bar_column, bar_width, share_of(busy, all), style::bar, a.g);
    a.to.put_cut(row, a.column + text_column, a.width - text_column - 1,
                 fmt::format("{} of {} teams busy  {}", busy, all, d.description), style::plain,
                 a.g.ellipsis);
  });
  if (d.queues)
    lines.push_back([&l = *d.queues](top_area const& a, int row) {
      auto const share = share_of(l.submissions_waiting, l.submission_slots);
      put_measure(a, row, "queue", share, fill_style(share),
                  fmt::format("{} of {} submissions wait  {} down  {} up", l.submissions_waiting,
                              l.submission_slots, count_text(l.submitted), count_text(l.completed)));
    });
  if (d.transfers && d.transfers->bytes != 0)
    lines.push_back([&t = *d.transfers](top_area const& a, int row) {
      a.to.put(row, a.column + label_column, "copies", style::dim);
      a.to.put_cut(row, a.column + bar_column, a.width - bar_column - 1,
                   fmt::format("{} to it, {} back, {} in {} batches", count_text(t.to_device),
                               count_text(t.to_host), bytes_text(t.bytes), count_text(t.batches)),
                   style::plain, a.g.ellipsis);
    });
}

void add_pool(std::vector<machine_line>& lines, reports::poolT const& p) {
  lines.push_back([&p](top_area const& a, int row) {
    auto const share = share_of(p.in_use_bytes, p.cap_bytes);
    auto text = fmt::format("{} of {}  +{} kept  peak {}", bytes_text(p.in_use_bytes),
                            bytes_text(p.cap_bytes), bytes_text(p.cached_bytes), bytes_text(p.peak_bytes));
    if (p.hits + p.misses != 0)
      text += fmt::format("  {:.0f}% hits", 100 * share_of(p.hits, p.hits + p.misses));
    if (p.refusals != 0) text += fmt::format("  {} refused", count_text(p.refusals));
    put_measure(a, row, p.place == "host" ? "host" : fmt::format("{} {}", p.device, p.place), share,
                p.refusals != 0 ? style::warning : fill_style(share), text);
  });
}

void add_gpu(std::vector<machine_line>& lines, reports::gpuT const& gpu) {
  lines.push_back([&gpu](top_area const& a, int row) {
    std::string text =
        gpu.utilization_percent < 0 ? std::string() : fmt::format("{}%  ", gpu.utilization_percent);
    if (gpu.memory_total_bytes >= 0)
      text +=
          fmt::format("{} of {}  ", bytes_text(gpu.memory_used_bytes), bytes_text(gpu.memory_total_bytes));
    if (gpu.temperature_celsius >= 0) text += fmt::format("{} C  ", gpu.temperature_celsius);
    if (gpu.power_watts >= 0) text += fmt::format("{:.0f} W  ", gpu.power_watts);
    if (gpu.pcie_rx_bytes_per_second >= 0 && gpu.pcie_tx_bytes_per_second >= 0)
      text +=
          fmt::format("{}{}/s {}{}/s  ", to_utf8(a.g.arrow_down), bytes_text(gpu.pcie_rx_bytes_per_second),
                      to_utf8(a.g.arrow_up), bytes_text(gpu.pcie_tx_bytes_per_second));
    put_measure(a, row, fmt::format("{}", gpu.index), std::max(gpu.utilization_percent, 0) / 100.0,
                gpu.temperature_celsius > 85 ? style::bad : style::bar, text + gpu.name);
  });
}

/// Valid as long as the report.
std::vector<machine_line> lines_of(service::report const& r) {
  std::vector<machine_line> lines;
  lines.push_back(section("devices"));
  for (std::size_t d = 0; d < r.devices.size(); ++d) add_device(lines, d, *r.devices[d]);
  lines.push_back(section("memory"));
  for (auto const& p : r.pools) add_pool(lines, *p);
  if (r.gpus.empty() && r.gpus_unavailable.empty()) return lines;
  lines.push_back(section("GPUs"));
  for (auto const& gpu : r.gpus) add_gpu(lines, *gpu);
  if (r.gpus.empty())
    lines.push_back([&why = r.gpus_unavailable](top_area const& a, int row) {
      a.to.put_cut(row, a.column + label_column, a.width - label_column - 1,
                   fmt::format("unavailable: {}", why), style::dim, a.g.ellipsis);
    });
  return lines;
}

/// Finds the first and last bucket that has samples in the newest `columns` intervals. False: none.
bool find_range(std::deque<latency_counts> const& history, int columns, std::size_t& first,
                std::size_t& last) {
  first = ~std::size_t{0}, last = 0;
  auto const shown = std::min<std::size_t>(history.size(), static_cast<std::size_t>(columns));
  for (auto at = history.end() - static_cast<std::ptrdiff_t>(shown); at != history.end(); ++at)
    for (std::size_t b = 0; b < at->size(); ++b)
      if ((*at)[b] != 0) first = std::min(first, b), last = std::max(last, b);
  return first <= last;
}

}  // namespace

int machine_lines(top_model const& model) { return static_cast<int>(lines_of(model.now()).size()); }

void draw_machine(top_area const& area, top_model const& model) {
  auto const lines = lines_of(model.now());
  for (int i = 0; i < area.height && i < static_cast<int>(lines.size()); ++i)
    lines[static_cast<std::size_t>(i)](area, area.row + i);
}

void draw_heat(top_area const& a, std::string_view title, std::deque<latency_counts> const& history,
               std::vector<std::uint64_t> const& floors) {
  static constexpr int axis = 8;
  put_section(a.to, a.row, a.column, a.width, title, a.g);
  int const columns = a.width - axis - 1;
  int const rows = a.height - 1;
  std::size_t first = 0, last = 0;
  if (columns < 4 || rows < 2 || !find_range(history, columns, first, last) || last >= floors.size()) {
    a.to.put(a.row + 1, a.column + 3, "no samples yet", style::dim);
    return;
  }
  auto const per_row = (last - first) / static_cast<std::size_t>(rows) + 1;
  auto const used = static_cast<int>((last - first) / per_row) + 1;
  int const shown = std::min(columns, static_cast<int>(history.size()));
  auto const sum_at = [&](int row, int column) {
    auto const& counts = history[history.size() - static_cast<std::size_t>(shown - column)];
    std::uint64_t sum = 0;
    auto const from = first + static_cast<std::size_t>(row) * per_row;
    for (auto b = from; b < std::min(from + per_row, counts.size()); ++b) sum += counts[b];
    return sum;
  };
  std::uint64_t most = 1;
  for (int r = 0; r < used; ++r)
    for (int c = 0; c < shown; ++c) most = std::max(most, sum_at(r, c));
  int const tall = std::min(rows / used, 2);
  for (int r = 0; r < used; ++r) {
    int const row = a.row + 1 + (used - 1 - r) * tall;
    auto const floor = floors[first + static_cast<std::size_t>(r) * per_row];
    a.to.put_right(row, a.column + axis - 1, axis - 1, floor == 0 ? "0" : time_text(floor, a.g), style::dim);
    for (int c = 0; c < shown; ++c) {
      auto const n = sum_at(r, c);
      if (n == 0) continue;
      int const column = a.column + a.width - 1 - shown + c;
      // Logarithmic: one slow message among thousands must be seen.
      auto const share = std::log1p(static_cast<double>(n)) / std::log1p(static_cast<double>(most));
      auto const level = std::clamp(static_cast<int>(share * heats), 0, heats - 1);
      for (int t = 0; t < tall; ++t)
        a.to.put_glyph(row + t, column, a.colours ? a.g.shades[heats] : a.g.shades[level + 1], heat(level));
    }
  }
}

std::string state_text(top_actor const& a, glyphs const& g) {
  auto const& s = a.now->state;
  if (a.running_seconds() >= 1) {
    auto const colons = a.now->running->message.rfind("::");
    return fmt::format("{} {} {}", to_utf8(g.half), time_text(a.running_seconds() * 1e9, g),
                       a.now->running->message.substr(colons == std::string::npos ? 0 : colons + 2));
  }
  if (s == "active") return fmt::format("{} active", to_utf8(g.dot));
  if (s == "launched" || s == "deactivated") return fmt::format("{} asleep", to_utf8(g.circle));
  if (s == "failed") return fmt::format("{} failed", to_utf8(g.cross));
  return fmt::format("{} {}", to_utf8(g.half), s);
}

style state_style(top_actor const& a) {
  if (a.running_seconds() >= 5 || a.now->state == "failed") return style::bad;
  if (a.running_seconds() >= 1) return style::warning;
  return a.now->state == "active" ? style::good : style::dim;
}

}  // namespace rondo::tools
