// Pending lifecycle operations and inspections, which complete when the actor has answered.
//
// A device reports the state that an actor has reached, or its depths, but not for which request. So a report completes
// all requests that wait for it. Threads: any. Not on the message path.
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
    control_bits awaited;
    inspection_handler handler;
  };
  using requests = std::list<request>;  // a list, because its elements never move; see completions.cpp
  /// What an actor is asked for. Its activations and deactivations are of one kind: only the first of them is in
  /// flight, because its event says which state was reached, but not for which request. A second signal could be taken
  /// for completed, and then change the actor later.
  using kind = std::pair<actor_id, control_bits>;

  static kind kind_of(actor_id actor, control_bits bits) noexcept;
  void send(actor_id actor, control_bits bits);
  void send_next(kind changes);
  void refuse(inspection_handler handler, errc reason);
  requests take_all(kind of);

  device_set& devices_;
  directory const& actors_;
  boost::asio::io_context& context_;
  std::mutex mutex_;  // guards the members below
  // In the order of their calls; no list is empty. An event finds its requests without a look at others: device threads
  // wait for the mutex.
  std::map<kind, requests> requests_;
  std::map<std::uint32_t, std::vector<depth_page::entry>> depths_so_far_;  // by cell: the pages so far
  errc ended_ = errc::ok;  // the reason why later requests are refused
};

}  // namespace rondo
