#include "runtime/observe/telemetry.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "runtime/text/clean_text.hpp"

namespace rondo {

double actor_report::latency_ns(double q) const {
  std::uint64_t samples = 0;
  for (auto const count : now.latency_counts) samples += count;
  if (samples == 0) return 0;
  double const wanted = q * static_cast<double>(samples);
  double seen = 0;
  for (int b = 0; b < latency_histogram::buckets; ++b) {
    double const count = now.latency_counts[b];
    if (count != 0 && seen + count >= wanted) {
      auto const low = static_cast<double>(latency_histogram::floor_ns(b));
      auto const high = static_cast<double>(latency_histogram::floor_ns(b + 1));
      return low + (high - low) * (wanted - seen) / count;
    }
    seen += count;
  }
  return static_cast<double>(latency_histogram::floor_ns(latency_histogram::buckets));
}

double actor_report::mean_latency_ns() const {
  return now.totals.latency_samples == 0
             ? 0
             : static_cast<double>(now.totals.latency_sum_ns) / now.totals.latency_samples;
}

double actor_report::min_latency_ns() const {
  for (int b = 0; b < latency_histogram::buckets; ++b)
    if (now.latency_counts[b] != 0) return static_cast<double>(latency_histogram::floor_ns(b));
  return 0;
}

double actor_report::max_latency_ns() const {
  for (int b = latency_histogram::buckets; b-- > 0;)
    if (now.latency_counts[b] != 0) return static_cast<double>(latency_histogram::floor_ns(b + 1));
  return 0;
}

double actor_report::mean_rate() const {
  auto const handled = now.totals.handled - std::min(now.totals.handled, handled_before);
  return uptime_ns == 0 ? 0 : static_cast<double>(handled) * 1e9 / static_cast<double>(uptime_ns);
}

bool telemetry::conserved() const {
  return live.accepted + retired.accepted == live.ended() + retired.ended() + waiting;
}

char const* name_of(lifecycle state) noexcept {
  static constexpr char const* names[] = {"free",        "launched",   "active",     "deactivated",
                                          "terminating", "discarding", "terminated", "failed"};
  auto const n = static_cast<std::uint32_t>(state);
  return n < std::size(names) ? names[n] : "unknown";
}

std::string to_table(telemetry const& t) {
  auto rows = t.actors;
  std::ranges::stable_sort(
      rows, [](auto const& a, auto const& b) { return a.now.totals.handled > b.now.totals.handled; });
  std::size_t width = 5;
  for (auto& r : rows) r.name = clean_text(r.name);
  for (auto const& r : rows) width = std::max(width, r.name.size());
  auto text = fmt::format("{:<{}}  {:>10} {:>9} {:>6} {:>9} {:>11} {:>11} {:>6}\n", "actor", width, "handled",
                          "rejected", "dead", "failures", "mean", "p99", "peak");
  for (auto const& r : rows) {
    auto const& n = r.now.totals;
    text += fmt::format("{:<{}}  {:>10} {:>9} {:>6} {:>9} {:>8.1f} us {:>8.1f} us {:>6}\n", r.name, width,
                        n.handled, n.rejected, n.dead, n.failures, r.mean_latency_ns() / 1e3,
                        r.latency_ns(0.99) / 1e3, n.peak_depth);
  }
  return text;
}

}  // namespace rondo
