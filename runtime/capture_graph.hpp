// Capture of the graph that a captured actor replays for each message (kernels/actor/captured.hpp).
//
//   rondo::capture_graph<blur>(rt, "blur", 1, [](rondo::stream& s, blur_frame const* in, blurred* out) { ... });
//
// It may be called before the actor is launched or restored. Called again, it takes effect between two messages.
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

/// Calls `work` with a rondo::stream and the device addresses of request and reply; its steps will run on `device`.
/// Throws boost::system::system_error if there is no memory for request and reply, std::runtime_error if the machine
/// fails, and std::invalid_argument for a device that does not exist.
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
