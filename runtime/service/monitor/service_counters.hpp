// Counters of a service's connections: the server adds to them, a report reads them.
//
// Threads: any. Relaxed throughout: statistics, in no order with anything.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace rondo::service {

/// Why a service ended a connection, or did not take it.
enum class drop_reason : std::uint8_t {
  too_large,             // a frame longer than the limit
  malformed,             // a frame that is not a request
  unauthorised,          // no token, or another one
  slow_reader,           // it did not take its responses in time
  idle,                  // it said nothing for too long
  too_many_connections,  // no room for one more
  shutdown,              // the service has ended
};
inline constexpr std::size_t drop_reasons = 7;  // how many reasons there are

/// As in the source.
constexpr char const* name_of(drop_reason why) noexcept {
  constexpr char const* names[drop_reasons] = {
      "too_large", "malformed", "unauthorised", "slow_reader", "idle", "too_many_connections", "shutdown"};
  return names[static_cast<std::size_t>(why)];
}

struct service_counters {
  std::atomic<std::uint64_t> connections_open{0};   // now
  std::atomic<std::uint64_t> connections_total{0};  // ever
  std::atomic<std::uint64_t> requests{0};           // read
  std::atomic<std::uint64_t> responses{0};          // sent
  std::atomic<std::uint64_t> bytes_in{0};           // of frames from clients
  std::atomic<std::uint64_t> bytes_out{0};          // of frames to clients
  std::atomic<std::uint64_t> frames_refused{0};     // that the verifier or a limit did not let through
  std::array<std::atomic<std::uint64_t>, drop_reasons> dropped{};  // connections, by reason
  std::atomic<std::int64_t> certificate_expires{0};  // seconds since 1970; 0: the service has no certificate
  std::atomic<std::uint64_t> checkpoints{0};         // written
  std::atomic<std::uint64_t> checkpoints_failed{0};  // not written
  std::atomic<std::uint64_t> recordings_failed{0};   // not written
  std::atomic<bool> checkpoint_failing{false};       // the last one could not be written

  /// Adds to a counter.
  static void add(std::atomic<std::uint64_t>& to, std::uint64_t n = 1) noexcept {
    to.fetch_add(n, std::memory_order_relaxed);
  }
  /// Counts a connection that was dropped.
  void count_drop(drop_reason why) noexcept { add(dropped[static_cast<std::size_t>(why)]); }
};

}  // namespace rondo::service
