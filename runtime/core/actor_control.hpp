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

  /// `handler` gets ok when the actor has carried out the operation; actor_gone if it terminated instead. Only
  /// control_inspect finds anything.
  void start(actor_id actor, control_bits bits, inspection_handler handler);

  // -- reports of devices

  /// `terminated` completes all requests for the actor. Precondition: it is then no longer in the directory.
  void on_state(actor_id actor, lifecycle reached);
  void on_depths(device_event const& r);

  /// Completes all pending requests with `reason` and refuses later ones; the first reason stays.
  void end(errc reason);

 private:
  struct request {
    actor_id actor;
    control_bits awaited;
    inspection_handler handler;
    bool sent;  // false: waits for an earlier activation or deactivation of the actor
  };
  using requests = std::list<request>;  // a list, because its elements never move; see completions.cpp

  void send(actor_id actor, control_bits bits);
  void send_next(actor_id actor);
  void refuse(inspection_handler handler, errc reason);
  template <class Which>
  requests take(Which which);

  device_set& devices_;
  directory const& actors_;
  boost::asio::io_context& context_;
  std::mutex mutex_;  // guards the members below
  requests requests_;
  std::map<std::uint32_t, std::vector<depth_page::entry>> depths_so_far_;  // by cell: the pages so far
  errc ended_ = errc::ok;  // the reason why later requests are refused
};

}  // namespace rondo
