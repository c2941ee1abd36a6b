// Counters of messages from NATS: the bridge adds to them, a report reads them.
//
// Threads: any. Relaxed throughout: statistics, not ordered with anything.
#pragma once

#include <atomic>
#include <cstdint>

namespace rondo::service {

struct nats_counters {
  std::atomic<bool> connected{false};              // to its server
  std::atomic<bool> login_refused{false};          // by its server, which is there
  std::atomic<bool> has_durable{false};            // there are durable actors
  std::atomic<bool> durable_ready{false};          // stored messages are taken
  std::atomic<std::uint64_t> requests{0};          // taken
  std::atomic<std::uint64_t> requests_refused{0};  // not taken
  std::atomic<std::uint64_t> durable{0};           // deliveries of stored messages
  std::atomic<std::uint64_t> durable_refused{0};   // of these, not taken
  std::atomic<std::uint64_t> redelivered{0};       // of these, deliveries after the first
  std::atomic<std::uint64_t> acknowledged{0};      // stored messages that need not come again

  /// Counts one more.
  static void add(std::atomic<std::uint64_t>& to) noexcept { to.fetch_add(1, std::memory_order_relaxed); }
};

}  // namespace rondo::service
