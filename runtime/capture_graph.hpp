// Records the graph that a captured actor replays for each message: see kernels/actor/captured.hpp.
//
//   rondo::capture_graph<blur>(rt, "blur", 1, [](rondo::stream& s, blur_frame const* in, blurred* out) { ... });
//
// It may come before the actor is launched or restored; captured again it takes effect between two messages.
#pragma once

#include <functional>
#include <string>

#include "kernels/actor/captured.hpp"
#include "runtime/runtime.hpp"

namespace rondo {

class stream;  // runtime/graph/stream.hpp

namespace detail {
void capture_graph(runtime& rt, std::string actor, std::uint32_t device, std::size_t request_bytes,
                   std::size_t reply_bytes,
                   std::function<void(stream&, std::byte const*, std::byte*)> const& work);
}

/// `work` is called with a rondo::stream and the addresses of request and reply as the device sees them; its steps run on
/// `device`. Throws boost::system::system_error when there is no memory for those, std::runtime_error when the machine refuses,
/// std::invalid_argument for a device that the runtime does not have.
template <captured_behaviour Behaviour, class Work>
void capture_graph(runtime& rt, std::string actor, std::uint32_t device, Work work) {
  using request = typename Behaviour::request_type;
  using reply = typename Behaviour::reply_type;
  detail::capture_graph(rt, std::move(actor), device, sizeof(request), sizeof(reply),
                        [&work](stream& s, std::byte const* in, std::byte* out) {
                          work(s, reinterpret_cast<request const*>(in), reinterpret_cast<reply*>(out));
                        });
}

}  // namespace rondo
