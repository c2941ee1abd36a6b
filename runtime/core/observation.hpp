// Observation of a runtime: its counters, the hops of traced messages, and its reports of dead letters, failures, and
// handlers that run for too long.
//
// Threads: any, including those of reporting devices. Not on the message path.
#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "runtime/core/name_book.hpp"
#include "runtime/messaging/completions.hpp"
#include "runtime/messaging/trace_log.hpp"
#include "runtime/observe/events.hpp"
#include "runtime/observe/graph_reports.hpp"
#include "runtime/observe/hub.hpp"
#include "runtime/observe/log.hpp"
#include "runtime/observe/telemetry.hpp"

namespace rondo {

class observation {
 public:
  /// Subscribers are called on `context`. All arguments must outlive this object.
  observation(device_set& devices, directory const& actors, name_book const& names, completions const& asks,
              trace_log& traces, boost::asio::io_context& context)
      : devices_(devices),
        actors_(actors),
        names_(names),
        asks_(asks),
        traces_(traces),
        dead_letters_(context.get_executor(),
                      [this](char const* text) { on_thrown("a subscriber of dead letters", text); }),
        reports_(context.get_executor(), [this](char const* text) { on_thrown_report(text); }),
        log_(context.get_executor(),
             [this](char const* text) { on_thrown("a subscriber of log lines", text); }),
        watch_timer_(context) {}

  telemetry snapshot();
  std::vector<actor_snapshot> snapshot_of(std::uint32_t first, std::uint32_t last);
  graph_reports& graphs() noexcept { return graphs_; }
  subscription on_dead_letter(std::function<void(dead_letter const&)> handler) {
    return dead_letters_.subscribe(std::move(handler));
  }
  subscription on_failure_report(std::function<void(std::string const&)> handler) {
    return reports_.subscribe(std::move(handler));
  }
  subscription on_log(std::function<void(log_line const&)> handler) {
    return log_.subscribe(std::move(handler));
  }
  /// Reports teams that run one handler for longer than `limit`, on the context's thread, until stop_watching.
  void watch(std::chrono::milliseconds limit);
  void stop_watching() { watch_timer_.cancel(); }

  // -- events

  void report(std::string failure) { reports_.publish(std::move(failure)); }
  /// Code of the program threw an exception with this text on a thread of the runtime. `whose`: as in "a completion
  /// handler".
  void on_thrown(char const* whose, char const* text);
  void on_failure(device_event const& r);
  /// Code of an actor threw an exception. Its failure follows.
  void on_threw(device_event const& r);
  /// A handler has logged a line.
  void on_logged(device_event const& r);
  /// The same for code of the program beside an actor.
  void log(log_line line) { log_.take(std::move(line)); }
  void on_undelivered(actor_id to, std::uint32_t type, void const* payload, std::uint32_t bytes, errc why);
  /// A traced message has completed.
  void on_hop(device_event const& r);
  /// An actor has terminated. It must stay in the directory until this returns.
  void on_terminated(actor_id actor, actor_totals const& totals);

  /// The counters of terminated actors that a checkpoint keeps.
  struct past {
    actor_totals retired{};
    std::uint64_t dead_letters = 0;
  };
  past read_past() const;
  void set_past(past const& p);

 private:
  struct look;

  void on_thrown_report(char const* text);
  std::string take_thrown(actor_id actor);
  std::uint64_t count_crossing() const;
  std::optional<actor_failure> last_failure_of(actor_snapshot const& actor) const;

  device_set& devices_;
  directory const& actors_;
  name_book const& names_;
  completions const& asks_;
  trace_log& traces_;
  hub<dead_letter> dead_letters_;
  hub<std::string> reports_;
  log_hub log_;
  graph_reports graphs_;
  boost::asio::steady_timer watch_timer_;
  mutable std::mutex mutex_;  // guards the members below
  past past_;
  // Of living actors, by index and generation: an actor takes memory only after a failure, until it is gone.
  std::map<std::pair<std::uint32_t, std::uint32_t>, actor_failure> last_failures_;
  // Texts of exceptions, until the failures that follow them.
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::string> thrown_;
  bool report_has_thrown_ = false;  // only the context's thread uses it
};

}  // namespace rondo
