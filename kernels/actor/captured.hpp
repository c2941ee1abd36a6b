// Captured actors: an actor whose handler is a captured graph of device work that the host replays.
//
//   struct blur : rondo::captured<blur_frame, blurred> {};      // in the module
//   rondo::capture_graph<blur>(rt, "blur", 1, [](rondo::stream& s, blur_frame const* in, blurred* out) { ... });
//   auto b = rt.launch<blur>("blur");                           // on a device `cpu`; the work runs on device 1
//
// For work that library kernels do better than a handler. A captured actor is an actor like any other, with a mailbox,
// priorities, deadlines, supervision, and telemetry. runtime/capture_graph.hpp captures.
#pragma once

#include "kernels/actor/module.hpp"

namespace rondo {

/// Base of a behaviour that takes only `Request` and answers with `Reply`. Both are copied to and from the graph as
/// bytes. If the replay fails, the handler fails with its reason: no_graph, device_lost.
template <class Request, class Reply>
struct captured {
  /// What it takes.
  using request_type = Request;
  /// What it answers.
  using reply_type = Reply;
  /// Only the request.
  using messages = rondo::messages<rondo::ask<Request, Reply>>;

  /// Replays the graph.
  RONDO_HD void on(context& ctx, Request const& request) {
    Reply reply{};
    auto const outcome = ctx.replay(&request, sizeof request, &reply, sizeof reply);
    if (outcome != errc::ok) return ctx.fail(outcome);
    static_cast<void>(ctx.reply(reply));  // fails for a tell, which has no asker
  }
};

/// A behaviour with the base `captured`.
template <class Behaviour>
concept captured_behaviour = requires {
  typename Behaviour::request_type;
  typename Behaviour::reply_type;
}
&&std::is_base_of_v<captured<typename Behaviour::request_type, typename Behaviour::reply_type>, Behaviour>;

}  // namespace rondo
