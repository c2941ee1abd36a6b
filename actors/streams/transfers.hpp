// Stages that pass frames on as they are, on one side of the bus: they place a transfer by hand.
//
//   using picture_to_device = streams::to_device<video::image, "video">;
//
// A graph copies frames by itself where an output is read on another device, once for all readers there, and with the
// strictest of their deliveries. With one of these in between, a program says where the copy is made, and what it does
// if the other side is slow: the delivery of the connection to a `to_device` is that of the transfer. The graph does
// not warn of such a transfer, and `strict` allows it.
#pragma once

#include "kernels/streams/stage.hpp"

namespace rondo::streams {

namespace detail {

template <frame_type Frame, port_name Port, works Where>
struct passes_on {
  using ports = streams::ports<in<Port, Frame>, out<Port, Frame, Port>>;
  static constexpr auto where = Where;
  static constexpr bool is_transfer = true;
  RONDO_HD void process(auto& ctx, tick const&) { ctx.template pass<Port>(); }
};

}  // namespace detail

/// What follows gets its frames on a device with its own memory.
template <frame_type Frame, port_name Port>
struct to_device : detail::passes_on<Frame, Port, works::on_accelerator> {};
/// What follows gets its frames on the host.
template <frame_type Frame, port_name Port>
struct to_host : detail::passes_on<Frame, Port, works::on_host> {};

}  // namespace rondo::streams
