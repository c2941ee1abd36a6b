// Stages that pass frames between graphs of two processes on one machine, by reference: `to_process` listens at a Unix
// socket, and `from_process` of other processes of this user connects to it.
//
//   using picture_sink = streams::to_process<video::image, "video">;
//   using picture_source = streams::from_process<video::image, "video">;
//   g.add<picture_sink>("out", {.listen = "/run/user/1000/frames"});
//   g.add<picture_source>("in", {.connect = "/run/user/1000/frames", .shape = {1920, 1080}});
//
// A frame is not copied if the writing runtime has `share_buffers`; otherwise once, into shared memory, which `copied`
// counts. The reading graph has it in place, and may not change it: `edit` makes a copy. It keeps the number and the
// time of its tick. Each reader chooses its delivery. A reader that dies gives back what it had; if the writer dies or
// ends, the reader's source ends after what has arrived.
#pragma once

#include <memory>
#include <string>

#include "actors/streams/given_shape.hpp"
#include "actors/streams/process/process_reader.hpp"
#include "actors/streams/process/process_writer.hpp"
#include "kernels/streams/option_text.hpp"
#include "kernels/streams/stage.hpp"

namespace rondo::streams {

/// Passes frames to other processes. With `lossless` at a reader it keeps frames that this one has no room for, until
/// the stages before it wait; `counts` says how many frames slow readers with the other deliveries did not get: dropped
/// and replaced here, replaced at the source.
template <frame_type Frame, port_name Port>
struct to_process {
  using ports = streams::ports<in<Port, Frame>>;
  static bool takes(Frame const&) { return true; }
  static constexpr auto where = works::on_host;
  struct options {
    option_text<108> listen{};  // path of the Unix socket
    /// Frames that other processes may have at once, before stages here wait for one. So that nobody ever waits for
    /// readers with `latest` or `every`: the sum of their capacities, and one more for each.
    std::uint32_t blocks = 8;
    /// Keeps frames until so many have connected. 0: those that nobody reads are dropped.
    std::uint32_t readers = 1;
    /// How long the graph's end waits for the first reader, unless the graph was stopped, and for readers to give
    /// frames back.
    std::uint32_t linger_ms = 5000;
    void describe(auto& option) {
      option.writes("listen", listen, "path of the Unix socket to listen at");
      option("blocks", blocks, "frames that other processes may have at once", 1, 1024);
      option("readers", readers, "processes to wait for", 0, 64);
      option("linger_ms", linger_ms, "milliseconds to wait at the end", 0, 600'000);
    }
  };
  static void spec(options const& o, auto& s) {
    if (o.listen.empty()) s.refuse("it has no path to listen at: set `listen`");
    s.keeps(o.blocks);
  }
  struct host : process_writer {
    host(options const& o, auto const& spec, host_link& link)
        : process_writer({.path = o.listen.c_str(),
                          .most_bytes = spec.template in<Port>()->bytes(),
                          .blocks = o.blocks,
                          .readers = o.readers,
                          .linger_ms = o.linger_ms},
                         link) {}
  };
  void process(auto& ctx, tick const&) {
    auto& writer = ctx.host();
    if (ctx.is_stopping()) writer.give_up_unread();  // else a graph without readers would not stop
    if (!writer.has_room()) return ctx.wait();
    if (writer.pass(ctx.template keep<Port>(), type_id<Frame>)) ctx.count_copy();
    count_unread(ctx);
  }
  void on_stop(auto& ctx) {
    if (ctx.is_stopping()) ctx.host().give_up_unread();
    count_unread(ctx);
  }

 private:
  static void count_unread(auto& ctx) {
    auto const lost = ctx.host().lost();
    ctx.count_unread(lost.dropped, lost.replaced);
  }
};

/// A source of the frames of another process. Its ticks are those of the frames, whatever the graph's clock does.
template <frame_type Frame, port_name Port>
struct from_process {
  using ports = streams::ports<out<Port, Frame>>;
  static constexpr auto where = works::on_host;
  static constexpr bool has_own_ticks = true;
  struct options {
    option_text<108> connect{};                       // path of the Unix socket
    Frame shape{};                                    // of all its frames
    streams::delivery delivery = delivery::lossless;  // what happens if this process is slow
    std::uint32_t capacity = 4;                       // frames that this process has at the same time
    std::uint32_t wait_ms = 5000;  // how long the graph's start waits for the other process
    void describe(auto& option) {
      option("connect", connect, "path of the Unix socket to connect to");
      describe_shape(shape, option);
      option.choice("delivery", delivery, "what happens if this process is slow",
                    {"latest", "every", "lossless"});
      option("capacity", capacity, "frames that this process has at the same time", 1, 1024);
      option("wait_ms", wait_ms, "milliseconds to wait for the other process", 0, 600'000);
    }
  };
  static void spec(options const& o, auto& s) {
    if (o.connect.empty()) return s.refuse("it has no path to connect to: set `connect`");
    make_shape<Port>(s, o.shape);
  }
  struct host : process_reader {
    host(options const& o, auto const&, host_link& link)
        : process_reader({o.connect.c_str(), o.delivery, o.capacity, o.wait_ms}, link) {}
  };
  /// The tick of the next frame that has arrived.
  bool due(auto& ctx, tick_due& t) {
    auto& reader = ctx.host();
    bool ended = false;
    bool const is_there = reader.next(ended);
    auto const lost = reader.lost();
    ctx.count_unread(lost.dropped, lost.replaced);
    if (!is_there) {
      if (ended) ctx.end();
      return false;
    }
    t = {reader.current().number, reader.current().time_ns};
    return true;
  }
  void process(auto& ctx, tick const&) {
    auto& reader = ctx.host();
    auto const& f = reader.current();
    auto const& shape = ctx.options().shape;
    // Another process may say anything.
    Frame found;
    __builtin_memcpy(&found, f.about, sizeof found);
    if (f.type != type_id<Frame> || !fits(shape, found) || f.bytes < shape.bytes() ||
        reinterpret_cast<std::uintptr_t>(f.data) % 64 != 0) {
      say_what_is_wrong(ctx, f, shape);
      return ctx.fail(errc::wrong_size);
    }
    if constexpr (requires { found.from_elsewhere(); }) found.from_elsewhere();
    ctx.comes_from(f.origin);
    if (auto const block = ctx.template lend<Port>(found, f.data); block != frame_pool::none)
      reader.lend(block);
  }

 private:
  /// Whether frames with that `about` lie as those of the shape that the options give.
  static bool fits(Frame const& shape, Frame const& found) {
    if constexpr (requires { shape.fits(found); })
      return shape.fits(found);
    else
      return __builtin_memcmp(&shape, &found, sizeof shape) == 0;
  }
  static void say_what_is_wrong(auto& ctx, process_frame const& f, Frame const& shape) {
    if (f.type != type_id<Frame>)
      return ctx.log(log_level::warning,
                     "a frame is of another type than those here: connect ports of one type");
    if constexpr (requires { shape.width, shape.height; }) {
      Frame found;
      __builtin_memcpy(&found, f.about, sizeof found);
      if (found.width != shape.width || found.height != shape.height)
        return ctx.log(log_level::warning, "a frame of {}x{} does not fit {}x{} here: set both alike",
                       found.width, found.height, shape.width, shape.height);
    }
    ctx.log(log_level::warning, "a frame of {} bytes is not of the shape here, of {}: set both alike",
            f.bytes, shape.bytes());
  }
};

}  // namespace rondo::streams
