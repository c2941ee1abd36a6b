// Pending lifecycle operations and inspections, which complete when the actor has answered.
//
// A device reports the state that an actor has reached, or its depths, but not for which request. So a report completes all
// requests that wait for it. Threads: any. Not on the message path.
#pragma once

#include <boost/asio/io_context.hpp>
#include <list>
#include <map>
#include <mutex>
#include <vector>

#include "kernels/link/device_event.hpp"
#include "runtime/core/device_set.hpp"
#include "runtime/core/directory.hpp"
#include "runtime/observe/inspection.hpp"

namespace rondo {

class actor_control {
 public:
  /// `context` is the runtime's own. All three must outlive this object.
  actor_control(device_set& devices, directory const& actors, boost::asio::io_context& context)
      : devices_(devices), actors_(actors), context_(context) {}

  /// `handler` gets ok when the actor has carried out the operation; actor_gone if it terminated instead.
  void start(actor_id actor, control_bits bits, answer_handler handler);
  void inspect(actor_id actor, inspection_handler handler);

  // -- reports of devices

  void on_state(actor_id actor, lifecycle reached);
  void on_depths(device_event const& r);
  /// Completes all requests for the actor. Precondition: it is no longer in the directory.
  void on_terminated(actor_id actor);

  /// Completes all pending requests with `reason` and refuses later ones; the first reason stays.
  void end(errc reason);

 private:
  struct pending_control {
    actor_id actor;
    control_bits awaited;
    answer_handler handler;
    bool sent;  // false: waits for an earlier activation or deactivation of the actor
  };
  struct pending_inspection {
    actor_id actor;
    inspection_handler handler;
  };

  errc signal(actor_id actor, control_bits bits);
  void send(actor_id actor, control_bits bits);
  void send_next(actor_id actor);
  std::vector<inspection_handler> take_inspections(actor_id actor);

  device_set& devices_;
  directory const& actors_;
  boost::asio::io_context& context_;
  std::mutex mutex_;  // guards the members below
  // Lists, because their elements never move: Boost 1.81's completion handlers must not be move-assigned.
  std::list<pending_control> controls_;
  std::list<pending_inspection> inspections_;
  std::map<std::uint32_t, std::vector<depth_page::entry>> depths_so_far_;  // by cell: the pages so far
  errc ended_ = errc::ok;  // the reason why later requests are refused
};

}  // namespace rondo
