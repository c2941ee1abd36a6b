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
    {"ask", 2.2, "at most 2.2 us, p99 3.5 us"},
    {"spread", 0.1, "10 M/s from one thread: 0.1 us"},
    {"batch", 0.05, "20 M/s in batches: 0.05 us"},
    {"fan_in", 0.02, "50 M/s to one mailbox: 0.02 us"},
    {"hop", 0.8, "at most 0.8 us"},
    {"hop_pooled", 1.6, "at most 1.6 us"},
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
