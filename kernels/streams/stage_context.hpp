// The context of a stage while it processes a tick: its options, the frames of its inputs, and blocks for its outputs.
//
// In a stage of the whole team all lanes call each function, with the same arguments and in the same order.
#pragma once

#include "kernels/actor/context.hpp"
#include "kernels/streams/ports.hpp"
#include "kernels/streams/stage_memory.hpp"

namespace rondo::streams {

/// A frame to read, for as long as the tick is processed.
template <frame_type T>
struct frame_in {
  T about{};                        // what its port says of it
  std::byte const* data = nullptr;  // on the stage's device
  std::uint64_t number = 0;         // of its tick
  bool is_new = false;              // false: the stage has processed it before (an input with `latest`)

  /// Whether there is a frame. An input with `latest` may have none yet, and an optional one may not be connected.
  RONDO_HD explicit operator bool() const noexcept { return data != nullptr; }
};

/// A frame to write. It is passed on when the tick has been processed without a failure.
template <frame_type T>
struct frame_out {
  T about{};                  // what its port says of it
  std::byte* data = nullptr;  // on the stage's device

  /// Whether there is a block.
  RONDO_HD explicit operator bool() const noexcept { return data != nullptr; }
};

template <class Stage>
class stage_context {
  using list = typename Stage::ports;
  template <bool IsInput, port_name Name>
  static consteval std::uint32_t number_of() {
    constexpr auto number = list::template number_of<IsInput, Name>();
    static_assert(number != ~0u, "the stage has no such port");
    return number;
  }
  template <bool IsInput, port_name Name>
  using frame_of = typename list::template port<IsInput, Name>::frame;

 public:
  // -- for the runtime
  RONDO_HD stage_context(context& ctx, stage_memory& memory) noexcept : ctx_(ctx), memory_(memory) {}

  // -- for stages

  /// As given to graph::add.
  RONDO_HD options_of<Stage> const& options() const noexcept {
    return *static_cast<options_of<Stage> const*>(memory_.options);
  }
  /// The stage's half on the host (runtime/streams/kinds/stage_kind.hpp).
  template <class S = Stage>
  typename S::host& host() const noexcept {
    return *static_cast<typename S::host*>(memory_.host);
  }
  /// Memory for this stage alone, as much as `Stage::spec` has asked for. It is zero at the start, and keeps its
  /// contents.
  RONDO_HD std::byte* scratch() const noexcept { return memory_.scratch; }
  /// Index of its device in the runtime's list: where the stage was placed.
  RONDO_HD std::uint32_t device() const noexcept { return memory_.device; }

  /// The present frame of an input.
  template <port_name Name>
  RONDO_HD frame_in<frame_of<true, Name>> input() const noexcept {
    input_state const& in = memory_.inputs[number_of<true, Name>()];
    frame_in<frame_of<true, Name>> f;
    if (!in.has) return f;
    __builtin_memcpy(&f.about, in.now.about, sizeof f.about);
    f.data = in.now.data;
    f.number = in.now.number;
    f.is_new = in.is_new;
    return f;
  }
  /// A block for the frame of an output: a new one at each tick, with unspecified contents. If `about` is larger than
  /// what the stage has announced (Stage::spec), the stage fails with payload_too_large, and there is no block. It
  /// also fails, with wrong_size, if its type has a function `fits`, and it does not fit: a picture of another size,
  /// say. Later stages, whose memory is for what was announced, need not look.
  template <port_name Name>
  RONDO_HD frame_out<frame_of<false, Name>> output(frame_of<false, Name> const& about) noexcept {
    constexpr auto number = number_of<false, Name>();
    if (ctx_.team().leader() && is_as_announced(number, about))
      prepare(number, about.bytes(), &about, sizeof about);
    return {about, data_of(number)};
  }
  /// The present frame of the input that the output edits (see `out`), to be changed and passed on. It is changed in
  /// place if nobody else reads it, otherwise in a copy, which is counted. What a failed attempt has changed in place
  /// stays changed.
  template <port_name Name>
  RONDO_HD frame_out<frame_of<false, Name>> edit() noexcept {
    using port = typename list::template port<false, Name>;
    static_assert(sizeof port::edit_of.text > 1, "declare it: out<name, frame, input>");
    constexpr auto number = number_of<false, Name>(), from = number_of<true, port::edit_of>();
    static_assert(std::is_same_v<typename port::frame, frame_of<true, port::edit_of>>,
                  "an edited frame has the input's type");
    input_state const& in = memory_.inputs[from];
    if (!in.has) return {};
    auto const f = in.now;  // on all lanes
    bool const in_place = ctx_.team().broadcast(ctx_.team().leader() && edit_in_place(number, from));
    if (!in_place) {
      if (ctx_.team().leader()) prepare(number, f.bytes, f.about, max_about_bytes), ++memory_.counts.copied;
      if (std::byte* const to = data_of(number); to != nullptr) copy(to, f.data, f.bytes);
    }
    frame_out<typename port::frame> result;
    __builtin_memcpy(&result.about, f.about, sizeof result.about);
    result.data = data_of(number);
    return result;
  }
  /// Passes the present frame of the input on as it is, without a copy.
  template <port_name Name>
  RONDO_HD void pass() noexcept {
    using port = typename list::template port<false, Name>;
    static_assert(sizeof port::edit_of.text > 1, "declare it: out<name, frame, input>");
    constexpr auto number = number_of<false, Name>(), from = number_of<true, port::edit_of>();
    if (!ctx_.team().leader() || !memory_.inputs[from].has) return;
    drop(number);
    output_state& o = memory_.outputs[number];
    o.next = memory_.inputs[from].now;
    o.next.pool->add_uses(o.next.block, 1);
    o.has = true;
    o.edits = 0;
  }

  /// Of a stage on the host: the present frame of an input with a use of its own, which host_link::give_up ends. A gap
  /// if there is none.
  template <port_name Name>
  frame keep() noexcept {
    input_state const& in = memory_.inputs[number_of<true, Name>()];
    if (!in.has) return {};
    in.now.pool->add_uses(in.now.block, 1);
    return in.now;
  }
  /// Of a stage whose `host` is a `lender` (runtime/streams/kinds/stage_kind.hpp): writes a frame that refers to data
  /// of somebody else. Returns the number under which the lender gets them back; `none`, and the stage fails, as for
  /// `output`.
  template <port_name Name>
  std::uint32_t lend(frame_of<false, Name> const& about, std::byte const* data) noexcept {
    constexpr auto number = number_of<false, Name>();
    if (!is_as_announced(number, about)) return frame_pool::none;
    prepare(number, about.bytes(), &about, sizeof about);
    output_state& o = memory_.outputs[number];
    if (!o.has) return frame_pool::none;
    o.pool->lend(o.next.block, data);
    o.next.data = o.pool->data(o.next.block);
    return o.next.block;
  }
  /// Counts a copy that the stage has made by itself.
  RONDO_HD void count_copy() noexcept { ++memory_.counts.copied; }
  /// Counts frames that a slow reader outside the graph did not get, as an edge with `every` (dropped) or `latest`
  /// (replaced) does.
  RONDO_HD void count_unread(std::uint64_t dropped, std::uint64_t replaced) noexcept {
    memory_.counts.dropped += dropped;
    memory_.counts.replaced += replaced;
  }

  /// There is nothing after this tick. A source has come to its end. A stage with inputs needs no more: then the graph
  /// stops, and what still comes to this stage is given up. What it has written at this tick is still passed on; a
  /// source that also calls `wait` has ended before this tick.
  RONDO_CALL RONDO_HD void end() noexcept {
    if (!ctx_.team().leader()) return;
    memory_.is_done = true;
    memory_.due_number = memory_.next_number;
    for (std::uint32_t i = 0; i < memory_.input_count; ++i)
      if (memory_.inputs[i].count != 0) memory_.tells = stage_memory::ending::graph;
  }
  /// The stage cannot go on, and no restart would help: it ends, as by `end`, and so does the graph, with a failure.
  /// What it has written at this tick is not passed on. graph::why_failed has the text of the host's `why_failed`
  /// (runtime/streams/kinds/stage_kind.hpp).
  RONDO_CALL RONDO_HD void fail_graph() noexcept {
    if (!ctx_.team().leader()) return;
    end();
    for (std::uint32_t i = 0; i < memory_.output_count; ++i) drop(i);
    memory_.tells = stage_memory::ending::graph;
    memory_.counts.gave_up = 1;
  }
  /// Not yet: the stage has nothing to pass on for this tick, or cannot take its frames. What it wrote is discarded,
  /// its inputs keep their frames, and it is called with the same tick again, as soon as it is woken: see
  /// kernels/streams/host_link.hpp. So a stage that waits for something outside its graph occupies no team. A source
  /// that waits when the graph stops has ended.
  RONDO_HD void wait() noexcept {
    if (ctx_.team().leader()) memory_.waits = true;
  }
  /// Whether the graph is to stop: a stage that waits for something outside it does not wait for ever.
  RONDO_HD bool is_stopping() const noexcept { return memory_.is_stopping; }
  /// Of a source: the frames of this tick were made by another process.
  RONDO_HD void comes_from(frame_origin const& origin) noexcept {
    if (ctx_.team().leader()) memory_.origin = origin;
  }
  /// Of a source with times of its own: when the frames of this tick are to be shown, and for how long (0: until the
  /// next ones). Later stages find it in `tick::origin`.
  RONDO_HD void shown_at(std::uint64_t time_ns, std::uint64_t lasts_ns) noexcept {
    if (!ctx_.team().leader()) return;
    memory_.origin.time_ns = time_ns;
    memory_.origin.lasts_ns = lasts_ns;
  }
  /// Counts frames that were lost outside the graph, on the way to or from another process.
  RONDO_HD void count_lost(std::uint64_t frames) noexcept {
    if (ctx_.team().leader()) memory_.counts.lost += frames;
  }
  /// The handler fails: the actor restarts with a fresh state, and sees the same frames once more; after 3 attempts
  /// they are given up.
  RONDO_HD void fail(errc reason = errc::handler_failed) noexcept { ctx_.fail(reason); }
  /// Nanoseconds on the device's clock.
  RONDO_HD std::uint64_t now_ns() const noexcept { return ctx_.now_ns(); }
  /// As context::log.
  template <std::uint32_t Bytes, class... Numbers>
  RONDO_HD void log(log_level level, char const (&text)[Bytes], Numbers... numbers) noexcept {
    ctx_.log(level, text, numbers...);
  }
  /// The team that runs the stage; more than one lane only if the stage is the whole team's.
  RONDO_HD rondo::team const& team() const noexcept { return ctx_.team(); }
  /// This lane's share of 0..n.
  RONDO_HD lane_range lanes(std::uint32_t n) const noexcept { return ctx_.lanes(n); }

 private:
  /// Gives up what was written for the output at this tick.
  RONDO_CALL RONDO_HD void drop(std::uint32_t number) noexcept {
    output_state& o = memory_.outputs[number];
    if (!o.has) return;
    o.has = false;
    // Its owner is awake, or an input of this stage holds a use, too.
    if (o.edits == 0) static_cast<void>(o.next.pool->end_use(o.next.block));
  }
  /// If not, the stage fails, and has no frame for the output.
  template <class Frame>
  RONDO_HD bool is_as_announced(std::uint32_t number, Frame const& about) noexcept {
    if constexpr (requires {
                    { about.fits(about) } -> std::same_as<bool>;
                  }) {
      Frame announced;
      __builtin_memcpy(&announced, memory_.outputs[number].announced, sizeof announced);
      if (!announced.fits(about)) {
        drop(number);
        say_shapes(announced, about);
        ctx_.fail(errc::wrong_size);
        return false;
      }
    }
    return true;
  }
  template <class Frame>
  RONDO_HD void say_shapes(Frame const& announced, Frame const& about) noexcept {
    if (memory_.counts.failure == static_cast<std::uint32_t>(errc::wrong_size))
      return;  // once, if it goes on
    if constexpr (requires { about.width, about.height; })
      if (about.width != announced.width || about.height != announced.height)
        return ctx_.log(log_level::warning, "a frame of {}x{} does not fit {}x{}, as announced in `spec`",
                        about.width, about.height, announced.width, announced.height);
    ctx_.log(log_level::warning, "a frame is not of the shape that the stage has announced in `spec`");
  }
  RONDO_CALL RONDO_HD void prepare(std::uint32_t number, std::uint64_t bytes, void const* about,
                                   std::uint32_t about_bytes) noexcept {
    drop(number);
    output_state& o = memory_.outputs[number];
    auto const block = bytes <= o.pool->block_bytes() ? o.pool->take() : frame_pool::none;
    if (block == frame_pool::none)
      return ctx_.fail(bytes <= o.pool->block_bytes() ? errc::pool_exhausted : errc::payload_too_large);
    o.has = true;
    o.edits = 0;
    o.next = {.data = o.pool->data(block),
              .pool = o.pool,
              .block = block,
              .bytes = static_cast<std::uint32_t>(bytes)};
    __builtin_memcpy(o.next.about, about, about_bytes);
  }
  RONDO_CALL RONDO_HD bool edit_in_place(std::uint32_t number, std::uint32_t from) noexcept {
    input_state const& in = memory_.inputs[from];
    if (!in.now.pool->is_only_use(in.now.block)) return false;
    for (std::uint32_t i = 0; i < memory_.output_count; ++i)
      if (i != number && memory_.outputs[i].has && memory_.outputs[i].edits == from + 1) return false;
    drop(number);
    output_state& o = memory_.outputs[number];
    o.next = in.now;
    o.has = true;
    o.edits = from + 1;
    return true;
  }
  /// On all lanes.
  RONDO_CALL RONDO_HD std::byte* data_of(std::uint32_t number) const noexcept {
    ctx_.team().sync();
    output_state const& o = memory_.outputs[number];
    std::byte* const data = o.has ? o.next.data : nullptr;
    ctx_.team().sync();
    return data;
  }
  RONDO_CALL RONDO_HD void copy(std::byte* to, std::byte const* from, std::uint32_t bytes) const noexcept {
    if (ctx_.team().lanes() == 1) {
      __builtin_memcpy(to, from, bytes);
      return;
    }
    for (auto const i : ctx_.lanes((bytes + 15) / 16))
      copy_words(to + 16 * i, from + 16 * i, bytes - 16 * i < 16 ? bytes - 16 * i : 16);
    ctx_.team().sync();
  }

  context& ctx_;
  stage_memory& memory_;
};

}  // namespace rondo::streams
