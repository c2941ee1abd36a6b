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

#include "runtime/net/log_throttle.hpp"
#include "runtime/runtime.hpp"
#include "runtime/service/dedup_cache.hpp"
#include "runtime/service/launched_actors.hpp"
#include "runtime/service/monitor/service_counters.hpp"
#include "runtime/service/net/access.hpp"
#include "runtime/service/net/epoll_reactor.hpp"
#include "runtime/service/net/quotas.hpp"
#include "runtime/service/service_config.hpp"
#include "runtime/service/slow_work.hpp"

namespace rondo::service {

class session;

struct service_core {
  /// The service whose network thread this is; null on other threads.
  static inline constinit thread_local service_core* of_this_thread = nullptr;

  using clock = std::chrono::steady_clock;

  explicit service_core(rondo::runtime& runtime) : rt(runtime) { set_limits(limits); }

  /// Sets `limits`, and those of the tables.
  void set_limits(client_limits const& wanted);

  /// Gives each readable or unfinished connection a turn. False if there was none.
  bool take_turns();
  /// Drops connections that take too long, and forgets old keys and their asks. Called a few times a second.
  void look_at_clock(clock::time_point time);
  /// Counts a connection that is dropped or not accepted, and logs it, unless too many were for the same reason.
  void log_drop(drop_reason why, std::string const& line);
  /// Sets `log`. `write` may be empty; what it throws goes to stderr.
  void log_to(std::function<void(std::string const&)> write);
  /// Closes all connections at once. Returns how many requests were open.
  std::uint64_t abandon_all();

  rondo::runtime& rt;
  boost::asio::io_context network{1};
  epoll_reactor readable{network};
  clock::time_point (*now)() noexcept = &clock::now;  // the sessions' clock; any thread
  std::string name;
  client_limits limits;
  std::vector<token_ptr> tokens;  // none: clients need no token
  quotas tables;                  // any thread
  launched_actors launched;       // any thread
  std::uint64_t incarnation = 0;
  std::vector<std::vector<std::uint8_t>> schemas;
  std::filesystem::path checkpoint_file;
  std::mutex checkpoint_mutex;
  std::vector<std::pair<std::shared_ptr<session>, std::uint64_t>> want_checkpoint;  // requests; guarded by it
  std::function<void()> write_checkpoint;             // blocks and throws; any thread
  dedup_cache keys;                                   // any thread
  service_counters counters;                          // any thread
  std::function<std::vector<std::uint8_t>()> report;  // the telemetry report, as a FlatBuffer; any thread
  struct {
    std::uint64_t began = 0;  // slow_work::turn
    std::vector<std::uint8_t> bytes;
  } last_report;  // for clients that asked before it began; only the thread of reads uses it
  std::function<void(std::string const&)> log;  // any thread
  std::array<log_throttle, drop_reasons> drops_logged{};
  slow_work* slow = nullptr;  // set before the first connection; any thread
  std::unordered_set<std::shared_ptr<session>> sessions;
  std::deque<std::weak_ptr<session>> strangers;  // have not said hello; oldest first, with some stale entries
  int others_ask = 0;                  // clock ticks until the last client that does not flood is forgotten
  clock::time_point traces_cleared{};  // table::traces holds those since then
  std::vector<std::shared_ptr<session>>
      unfinished;                                  // have more requests; their next turn is after the others'
  bool handling = false;                           // the network thread is running handlers
  std::vector<std::shared_ptr<session>> answered;  // by these handlers; to be flushed
};

}  // namespace rondo::service
