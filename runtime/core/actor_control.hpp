// Changes of actors' lifecycles and inspections that wait until the actor has answered.
//
// A device reports the state that an actor has reached, or its depths, not for whom: whoever waits for that is answered.
// Threads: any. Not on the message path.
#pragma once

#include <boost/asio/io_context.hpp>
#include <list>
#include <map>
#include <mutex>
#include <vector>

#include "kernels/link/host_record.hpp"
#include "runtime/core/device_set.hpp"
#include "runtime/core/directory.hpp"
#include "runtime/observe/inspection.hpp"

namespace rondo {

class actor_control {
 public:
  /// `context` is the runtime's own; all three outlive it.
  actor_control(device_set& devices, directory const& actors, boost::asio::io_context& context)
      : devices_(devices), actors_(actors), context_(context) {}

  /// `handler` gets ok when the actor has obeyed, actor_gone when it ended otherwise.
  void start(actor_id actor, control_bits bits, answer_handler handler);
  void inspect(actor_id actor, inspection_handler handler);

  // -- what devices report

  void on_state(actor_id actor, lifecycle reached);
  void on_depths(host_record const& r);
  /// All who wait for the actor are answered. Precondition: it is not in the directory any more.
  void on_terminated(actor_id actor);

  /// Answers all who wait with `reason`, and refuses what follows; the first reason stays.
  void end(errc reason);

 private:
  struct pending_control {
    actor_id actor;
    control_bits awaited;
    answer_handler handler;
    bool sent;  // false: it is an actor's turn to sleep or wake after another such operation
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
  std::mutex mutex_;  // guards what follows
  // Lists, for elements that never move: Boost 1.81's completion handlers must not be move-assigned.
  std::list<pending_control> controls_;
  std::list<pending_inspection> inspections_;
  std::map<std::uint32_t, std::vector<depth_page::entry>> depths_so_far_;  // by cell: pages that have come
  errc ended_ = errc::ok;                                                  // why later operations are refused
};

}  // namespace rondo
