// Stages that pass frames to graphs in other processes, on the same machine or another one, over Unix sockets or TCP.
//
//   streams::to_network<measurement>     the end of one graph: listens, and serves any number of readers
//   streams::from_network<measurement>   the beginning of another: connects, and connects again when the connection
//                                        breaks
//
// They work on the host. Frames of an accelerator come to them by a transfer, which the graph inserts and counts, as
// for any such stage. Both sides compare the type and the shape of the frames when they connect (network/wire.hpp).
// Frames keep their origin (streams::frame_origin) through any number of processes, so the last reader knows how many
// frames of the first sender it did not get. network_frame<Frame> describes a type of frames; specialize it if more
// than the size of a frame matters.
#pragma once

#include "actors/streams/given_shape.hpp"
#include "actors/streams/network/frame_receiver.hpp"
#include "actors/streams/network/frame_sender.hpp"
#include "kernels/streams/option_text.hpp"
#include "kernels/streams/stage.hpp"

namespace rondo::streams {

/// How frames of a type are described to the other process.
template <frame_type Frame>
struct network_frame {
  /// Must be the same on both sides.
  static std::string text(Frame const&) { return {}; }
  /// Whether a frame with this `about`, which has come from outside, is one of those that were agreed on.
  static bool fits(Frame const& agreed, Frame const& about) { return about.bytes() <= agreed.bytes(); }
};

namespace detail {

template <class Frame>
frame_terms terms_of(Frame const& about) {
  return {std::string(type_name<Frame>), network_frame<Frame>::text(about), about.bytes(), sizeof(Frame)};
}
inline constexpr std::uint32_t longest_patience_ms = 24 * 3600 * 1000;

}  // namespace detail

/// Sends its frames to the readers that have connected. A frame that a reader does not get is counted in
/// stage_counts::lost.
template <frame_type Frame, port_name Port = "frames">
struct to_network {
  // -- for the runtime
  using ports = streams::ports<in<Port, Frame>>;
  static bool takes(Frame const&) { return true; }
  static constexpr auto where = works::on_host;
  // -- for programs

  /// How it connects.
  struct options {
    option_text<128> listen{};   // unix:PATH or tcp:ADDRESS:PORT
    std::uint32_t capacity = 4;  // frames that wait for each reader with `every` or `lossless`
    std::uint32_t readers = 1;   // waits while fewer read; 0: frames that nobody reads are lost, and counted
    std::uint32_t most_readers = 16;   // at the same time
    std::uint32_t patience_ms = 5000;  // with a reader that takes nothing; 0: for ever

    /// Lists them for files.
    void describe(auto& option) {
      option("listen", listen, "where readers connect: unix:PATH or tcp:ADDRESS:PORT");
      option("capacity", capacity, "frames that wait for each reader", 1, 1024);
      option("readers", readers, "waits while fewer read; 0: loses frames that nobody reads", 0, 1024);
      option("most_readers", most_readers, "readers at the same time", 1, 1024);
      option("patience_ms", patience_ms, "a reader that takes nothing for so long is disconnected; 0: never",
             0, detail::longest_patience_ms);
    }
  };

  // -- for the runtime
  static void spec(options const& o, auto& s) {
    if (o.listen.empty()) s.refuse("it has no address to listen at: set `listen`");
  }
  struct host : frame_sender {
    host(options const& o, auto const& spec, host_link& link)
        : frame_sender(
              {.listen = endpoint::parse(o.listen.c_str(), "listen"),
               .terms = detail::terms_of(*spec.template in<Port>()),
               .capacity = o.capacity,
               .readers = o.readers,
               .most_readers = o.most_readers,
               .patience = std::chrono::milliseconds(o.patience_ms),
               .wake = [&link] { link.wake(); },
               .log = [&link](std::string const& line) { link.log(log_level::info, line.c_str()); }}) {}
  };

  void process(auto& ctx, tick const& t) {
    auto& sender = ctx.host();
    auto const in = ctx.template input<Port>();
    if (ctx.is_stopping()) sender.needs_no_readers();  // else a graph without readers would not stop
    if (!sender.try_send(t.origin, &in.about, {in.data, in.about.bytes()})) return ctx.wait();
    ctx.count_lost(sender.take_lost());
  }
  void on_stop(auto& ctx) {
    auto& sender = ctx.host();
    sender.end();
    ctx.count_lost(sender.take_lost());
  }
};

/// Makes frames of those that another process sends. stage_counts::lost counts the frames of their source that it did
/// not get.
template <frame_type Frame, port_name Port = "frames">
struct from_network {
  // -- for the runtime
  using ports = streams::ports<out<Port, Frame>>;
  static constexpr auto where = works::on_host;
  // -- for programs

  /// How it connects.
  struct options {
    option_text<128> connect{};                       // unix:PATH or tcp:ADDRESS:PORT
    Frame shape{};                                    // of all its frames
    streams::delivery delivery = delivery::lossless;  // what happens if this graph is slow
    std::uint32_t capacity = 4;                       // frames that wait, with `every` or `lossless`
    bool follow_end = false;  // ends when the sender's graph has ended; otherwise waits for the next one
    std::uint32_t patience_ms = 5000;  // with a sender that says nothing; 0: for ever

    /// Lists them for files.
    void describe(auto& option) {
      option("connect", connect, "where the frames come from: unix:PATH or tcp:ADDRESS:PORT");
      describe_shape(shape, option);
      option.choice("delivery", delivery, "what happens if this graph is slow",
                    {"latest", "every", "lossless"});
      option("capacity", capacity, "frames that wait", 1, 1024);
      option("follow_end", follow_end, "ends when the sender's graph has ended");
      option("patience_ms", patience_ms, "a sender that says nothing for so long is taken for dead; 0: never",
             0, detail::longest_patience_ms);
    }
  };

  // -- for the runtime
  static void spec(options const& o, auto& s) {
    if (o.connect.empty()) return s.refuse("it has no address to connect to: set `connect`");
    make_shape<Port>(s, o.shape);
  }
  struct host : frame_receiver {
    host(options const& o, auto const&, host_link& link)
        : frame_receiver(
              {.connect = endpoint::parse(o.connect.c_str(), "connect"),
               .terms = detail::terms_of(o.shape),
               .how = o.delivery,
               .capacity = o.capacity,
               .follows_end = o.follow_end,
               .patience = std::chrono::milliseconds(o.patience_ms),
               .fits =
                   [agreed = o.shape](void const* about, std::uint64_t bytes) {
                     Frame found;
                     std::memcpy(&found, about, sizeof found);
                     return network_frame<Frame>::fits(agreed, found) && found.bytes() == bytes;
                   },
               .wake = [&link] { link.wake(); },
               .log = [&link](std::string const& line) { link.log(log_level::info, line.c_str()); }}) {}
  };

  void process(auto& ctx, tick const&) {
    auto& receiver = ctx.host();
    auto const* const f = receiver.front();
    ctx.count_lost(receiver.take_lost());
    if (f == nullptr) {
      if (receiver.is_over()) ctx.end();
      return ctx.wait();
    }
    Frame about;
    std::memcpy(&about, f->about, sizeof about);
    if constexpr (requires { about.from_elsewhere(); }) about.from_elsewhere();
    auto const to = ctx.template output<Port>(about);
    if (!to) return;
    std::memcpy(to.data, f->data.get(), f->bytes);
    ctx.comes_from(f->origin);
    receiver.pop();
  }
};

}  // namespace rondo::streams
