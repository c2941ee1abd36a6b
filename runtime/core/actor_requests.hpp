// Requests of actors to their host (kernels/link/host_request.hpp): timers, asks with a time limit, children, and
// notice of ends.
//
// A device's report only queues a request. The runtime's own thread carries the requests out one after the other, so
// the requests of an actor, its failures, and its end take effect in the order in which they happened.
// Threads: any. Lock order: runtime_core::launching, then mutex_, then those of the messengers, then arrivals_, for
// which a device's report never waits long.
#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <deque>
#include <list>
#include <map>
#include <mutex>
#include <set>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "kernels/link/device_event.hpp"
#include "runtime/messaging/answer.hpp"

namespace rondo {

class runtime_core;

class actor_requests {
 public:
  /// `core` must outlive this object.
  explicit actor_requests(runtime_core& core);

  /// An actor's request.
  void take(device_event const& request);
  /// An actor has failed. Call this for each such report.
  void on_failed(device_event const& report);
  /// An actor has terminated. Call this when it is no longer in the directory: a watch that begins then finds it gone.
  void on_terminated(actor_id actor);
  /// Carries out nothing more.
  void stop();

  /// For a checkpoint: from `hold` to `release`, a message whose time has come waits in its receiver's line
  /// (mail_lines.hpp). In a ring of submissions, no checkpoint would find it.
  void hold();
  void release();

  /// Everything that is pending, as requests to be made again by `take`: times count from now, and an ask that waits
  /// for its answer becomes one that ended with outcome_unknown. Stays so while `held` holds its lock. Precondition:
  /// the caller holds runtime_core::launching, and is at a safepoint. Defined in checkpoint.cpp.
  std::vector<device_event> kept(std::unique_lock<std::mutex>& held) const;

 private:
  /// What one actor is to another one. Each bond is entered at both, in its two roles.
  enum class role : std::uint32_t { watches, is_watched_by, is_parent_of, is_child_of, is_linked_to };
  using bond = std::tuple<actor_id, role, actor_id>;
  struct set_timer {
    actor_id owner;
    std::uint32_t key;
    bool has_key;  // false: of tell_later, which nobody can cancel
    bool repeats;
    actor_id to;
    message body;
    std::chrono::nanoseconds period;
    boost::asio::steady_timer clock;
  };
  struct open_ask {
    actor_id asker;
    std::uint32_t correlation, type;
  };

  void queue(device_event const& r);
  void drain();
  void on_due(std::uint64_t number);

  // Precondition of all functions below: the caller holds mutex_.
  void carry_out(device_event const& r);
  void start_timer(device_event const& r);
  void arm(std::uint64_t number, set_timer& t);
  void cancel(actor_id owner, std::uint32_t key);
  void ask_within(device_event const& r);
  void change_bond(device_event const& r);
  void launch_child(device_event const& r);
  void restart(actor_id child, device_event const& request);
  void end(actor_id actor, errc why, control_bits how = control_discard);
  void end_timers_of(actor_id actor);
  void fresh_start_of(actor_id actor);
  void retry(device_event const& r);
  std::vector<bond> bonds_of(actor_id actor) const;
  std::vector<actor_id> others_of(actor_id actor, role of) const;
  void has_failed(device_event const& r);
  void has_ended(actor_id actor, errc why);

  bool is_alive(actor_id actor) const;
  bool takes(actor_id actor, std::uint32_t type) const;
  bool is_ending(actor_id actor) const;
  static constexpr role other_side(role of) noexcept {
    return of == role::is_linked_to ? of : role{static_cast<std::uint32_t>(of) ^ 1};
  }
  void tie(actor_id one, role of, actor_id other);
  void untie(actor_id one, role of, actor_id other);
  template <class Body>
  void tell(actor_id to, Body const& body, std::uint32_t correlation = 0, bool is_reply = false);

  runtime_core& core_;

  mutable std::mutex mutex_;
  std::unordered_map<std::uint64_t, set_timer> timers_;                   // by number
  std::map<std::pair<actor_id, std::uint32_t>, std::uint64_t> by_owner_;  // their numbers, by owner and key
  std::uint64_t last_number_ = 0;
  std::list<open_ask> asks_;
  std::set<bond> bonds_;
  std::map<actor_id, std::uint32_t> children_;  // how many an actor has launched, for their names
  boost::asio::steady_timer pause_;
  bool held_ = false;

  mutable std::mutex arrivals_;  // guards the members below
  std::deque<device_event> waiting_;
  std::set<actor_id> ending_;             // whose ends are waiting
  std::map<actor_id, errc> stopped_for_;  // why an actor is about to end
  bool ends_matter_ =
      false;  // a request has made them matter; until then an end costs little more than a lock
  bool draining_ = false, stopped_ = false;
};

}  // namespace rondo
