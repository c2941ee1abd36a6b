#include "tests/ptx/cost/page.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <stdexcept>

namespace ptx_cost {

namespace {

struct goal {
  std::string_view name;
  double p50_us;
  std::string_view what;
};

/// Those without a goal of their own are missing.
constexpr goal goals[] = {
    {"ask", 3.0, "at most 3.0 us"},
    {"hop", 1.2, "at most 1.2 us"},
    {"hop_pooled", 2.0, "at most 2.0 us"},
    {"stream_long", 0.1, "10 M/s to one actor: 0.1 us"},
    {"stream_batches", 0.05, "20 M/s to one actor: 0.05 us"},
    {"spread", 0.05, "20 M/s to eight actors: 0.05 us"},
    {"spread_batches", 0.025, "40 M/s to eight actors: 0.025 us"},
    {"fan_in_64", 0.067, "15 M/s to one mailbox: 0.067 us"},
    {"all_to_all", 0.08, "200 M/s on 132 multiprocessors: 0.08 us on 8"},
    {"wander", 0.0165, "1000 M/s on 132 multiprocessors: 0.0165 us on 8"},
};

std::string goal_of(cost_case const& c, summary const& s) {
  for (auto const& g : goals)
    if (g.name == c.name) return fmt::format("{}, {}", g.what, s.p50_us <= g.p50_us ? "met" : "**missed**");
  return "";
}

/// The kinds of steps that take the most time, with their times.
std::string bounds_of(summary const& s) {
  struct part {
    char const* name;
    double us;
  };
  std::vector<part> parts = {
      {"PCIe reads", s.time(step::pcie_trip)},
      {"L2 trips", s.time(step::l2_trip)},
      {"fences", s.time(step::fence_acquire) + s.time(step::fence_cta) + s.time(step::fence_gpu) +
                     s.time(step::fence_sys)},
      {"instructions", s.time(step::issue)},
      {"L1 and shared memory", s.time(step::near_wait)},
      {"until the next look", s.unseen_us + s.time(step::sleep)},
  };
  std::sort(parts.begin(), parts.end(), [](auto const& a, auto const& b) { return a.us > b.us; });
  return fmt::format("{} {:.2f}, {} {:.2f}, {} {:.2f}", parts[0].name, parts[0].us, parts[1].name,
                     parts[1].us, parts[2].name, parts[2].us);
}

/// What bytes alone would allow a million actors in lanes.
void write_bytes(std::back_insert_iterator<fmt::memory_buffer> to, results const& all) {
  constexpr double bytes_per_s = 3e12, sector = 32;
  for (auto const& [one, s] : all)
    if (s.sectors > 0)
      fmt::format_to(
          to,
          "\n`{}` touches {:.1f} sectors of 32 bytes a message. If actors are so many that each sector comes "
          "from memory and goes back there, 3 TB/s are {:.0f} M messages/s.\n",
          one.name, s.sectors, bytes_per_s / (2 * sector * s.sectors) / 1e6);
}

void write_file(std::string const& path, fmt::memory_buffer const& text) {
  std::ofstream out(path);
  out.write(text.data(), static_cast<std::streamsize>(text.size()));
  if (!out.flush()) throw std::runtime_error(path + ": cannot be written");
}

}  // namespace

void write_page(std::string const& path, results const& all, ask_steps_summary const& steps,
                sourced_costs const& c) {
  fmt::memory_buffer text;
  auto const to = std::back_inserter(text);
  fmt::format_to(to, R"(### Predicted, not measured

`tools/ptx --page` executes the PTX that nvcc makes of a ring kernel for sm_90 in virtual time, without a GPU (`tests/ptx/cost`), and
follows each message back along its critical path. Counts are exact for that PTX; times are as good as the costs below. Submissions
lie in pinned host memory. Local accesses are loads and stores of a lane's stack, which interleaves the lanes of a warp: a word for each line. Not modelled: contention for the bus, and what ptxas changes. `tests/ptx/cost/budget` holds the counts in CI.

| way | p50, us | p99, us | goal | PCIe reads in series | L2 trips in series | fences, GPU / system | local accesses | warp instructions | most of the time, us |
| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |
)");
  for (auto const& [one, s] : all)
    fmt::format_to(
        to, "| {}: {} | {:.2f} | {:.2f} | {} | {:.3g} | {:.3g} | {:.3g} / {:.3g} | {:.3g} | {:.0f} | {} |\n",
        one.name, one.what, s.p50_us, s.p99_us, goal_of(one, s), s.count(step::pcie_trip),
        s.count(step::l2_trip), s.count(step::fence_gpu), s.count(step::fence_sys),
        s.count(step::local_access), s.count(step::issue), bounds_of(s));
  write_bytes(to, all);
  fmt::format_to(
      to,
      "\nThe steps of an ask by the clock of its multiprocessor, in ns: {}. On a GPU, `bench_gpu` takes the "
      "time at the same points (`gpu_ask_steps`).\n",
      steps.text());
  fmt::format_to(to, "\nCosts:\n\n| cost | ns | source |\n| --- | --- | --- |\n");
  for (auto const& row : cost_rows()) {
    auto const given = c.sources.find(row.name);
    fmt::format_to(to, "| {} | {:.4g} | {} |\n",
                   std::string_view(row.name).substr(0, std::string_view(row.name).size() - 3),
                   static_cast<double>(c.values.*row.value) / 1000,
                   given == c.sources.end() ? row.source : given->second);
  }
  write_file(path, text);
  fmt::memory_buffer lines;
  for (auto const& [one, s] : all)
    fmt::format_to(std::back_inserter(lines),
                   "{{\"case\": \"{}\", \"p50_us\": {:.4g}, \"p99_us\": {:.4g}}}\n", one.name, s.p50_us,
                   s.p99_us);
  write_file(std::filesystem::path(path).replace_extension(".jsonl").string(), lines);
}

}  // namespace ptx_cost
