// The state that all connections of a service share. Private to the library; users include service.hpp.
//
// Threads: the network thread, except where noted.
#pragma once

#include <array>
#include <atomic>
#include <boost/asio/io_context.hpp>
#include <chrono>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_set>
#include <vector>

#include "runtime/runtime.hpp"
#include "runtime/service/dedup_cache.hpp"
#include "runtime/service/monitor/service_counters.hpp"
#include "runtime/service/net/access.hpp"
#include "runtime/service/net/epoll_reactor.hpp"
#include "runtime/service/net/log_throttle.hpp"
#include "runtime/service/quotas.hpp"
#include "runtime/service/service_config.hpp"

namespace rondo::service {

class session;

struct service_core {
  /// The service whose network thread this is; null on other threads.
  static inline constinit thread_local service_core* of_this_thread = nullptr;

  using clock = std::chrono::steady_clock;

  explicit service_core(rondo::runtime& runtime) : rt(runtime) {}

  /// Gives each readable or unfinished connection a turn. False if there was none.
  bool take_turns();
  /// Drops connections that take too long, and forgets old keys and their asks. Called a few times a second.
  void look_at_clock(clock::time_point time);
  /// Counts a connection that is dropped or not accepted, and logs it, unless too many were for the same reason.
  void log_drop(drop_reason why, std::string const& line);
  /// Sets `log`. `write` may be empty; what it throws goes to stderr.
  void log_to(std::function<void(std::string const&)> write);
  /// Relaxed: the number is only compared with a limit.
  static std::uint32_t relaxed_add(std::atomic<std::uint32_t>& to, int n) noexcept {
    return to.fetch_add(static_cast<std::uint32_t>(n), std::memory_order_relaxed);
  }
  /// Whether clients leave so many response bytes unread that clients with unread ones get no more.
  bool short_of_room() const noexcept {
    return untaken_bytes.load(std::memory_order_relaxed) >
           limits.response_bytes;  // relaxed: a limit, not exact
  }
  /// Closes all connections at once. Returns how many requests were open.
  std::uint64_t abandon_all();

  rondo::runtime& rt;
  boost::asio::io_context network{1};
  epoll_reactor readable{network};
  clock::time_point (*now)() noexcept = &clock::now;  // the sessions' clock; any thread
  std::string name;
  client_limits limits;
  std::vector<token> tokens;  // none: clients need no token
  quotas launched;
  std::uint64_t incarnation = 0;
  std::vector<std::vector<std::uint8_t>> schemas;
  std::filesystem::path checkpoint_file;
  std::mutex checkpoint_mutex;
  std::vector<std::pair<std::shared_ptr<session>, std::uint64_t>> want_checkpoint;  // requests; guarded by it
  std::function<void()> write_checkpoint;             // blocks and throws; any thread
  std::atomic<std::uint64_t> untaken_bytes{0};        // of responses that clients have not read; any thread
  std::atomic<std::uint32_t> waiting_tells{0};        // for room in mailboxes; any thread
  dedup_cache keys;                                   // any thread
  service_counters counters;                          // any thread
  std::function<std::vector<std::uint8_t>()> report;  // the telemetry report, as a FlatBuffer; any thread
  std::function<void(std::string const&)> log;        // any thread
  std::array<log_throttle, drop_reasons> drops_logged{};
  boost::asio::any_io_executor slow_work;  // for work that blocks: checkpoints, reports
  std::unordered_set<std::shared_ptr<session>> sessions;
  std::deque<std::weak_ptr<session>> strangers;  // have not said hello; oldest first, with some stale entries
  int others_ask = 0;  // clock ticks until the last client that does not flood is forgotten
  std::vector<std::shared_ptr<session>>
      unfinished;                                  // have more requests; their next turn is after the others'
  bool handling = false;                           // the network thread is running handlers
  std::vector<std::shared_ptr<session>> answered;  // by these handlers; to be flushed
};

}  // namespace rondo::service
