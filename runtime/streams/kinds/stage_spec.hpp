// The spec of a stage, said before its graph begins: the frames that it makes of those that come, its memory, and
// what a tick costs.
//
//   static void spec(options const& o, streams::spec_of<waveform>& s) {
//     auto const picture = *s.in<"video">();
//     if (picture.width > o.most) return s.refuse("the picture is too wide");
//     s.out<"video">(picture);
//     s.scratch(4 * picture.width);
//   }
//
// Called on the host, for the stage's options, when all that comes to it is known; perhaps several times. An output of
// which it says nothing has the shape of the first connected input with the same type of frames, as has each of a stage
// without `spec`.
#pragma once

#include <array>
#include <memory>
#include <string>
#include <vector>

#include "kernels/streams/ports.hpp"

namespace rondo::streams {

/// A value of any frame_type, or none.
struct any_about {
  // -- for the runtime
  bool is_known = false;
  alignas(8) std::byte bytes[max_about_bytes] = {};

  template <class T>
  T const* get() const noexcept {
    return is_known ? reinterpret_cast<T const*>(bytes) : nullptr;
  }
  template <class T>
  void set(T const& about) noexcept {
    __builtin_memcpy(bytes, &about, sizeof about);
    is_known = true;
  }
};

inline constexpr std::uint32_t most_ports = 16;  // of each kind that a stage has

/// What a stage is told of its graph, and what it has said, by the numbers of its ports.
struct stage_spec {
  // -- for the runtime
  std::array<any_about, most_ports> inputs, outputs;
  /// Of each output: whether each connected input takes such frames.
  std::array<std::vector<bool (*)(any_about const&)>, most_ports> readers{};
  double rate = 0;            // of the graph's clock
  std::uint32_t sources = 1;  // of the graph
  std::shared_ptr<void>* opened = nullptr;
  std::uint64_t scratch_bytes = 0;
  std::uint32_t kept_frames = 0;
  bool has_cost = false;
  std::uint64_t host_ns = 0, accelerator_ns = 0;  // of a tick, if it has said so
  std::string refusal{};                          // empty: none
};

/// The same for `spec` and for the stage's `host`, by the names of its ports.
template <class Stage>
class spec_of {
  template <bool IsInput, port_name Name>
  using frame_of = typename Stage::ports::template port<IsInput, Name>::frame;

 public:
  // -- for the runtime
  explicit spec_of(stage_spec& all) : all_(all) {}
  // -- for stages

  /// What comes in there; null: it is not connected.
  template <port_name Name>
  frame_of<true, Name> const* in() const {
    return all_.inputs[Stage::ports::template number_of<true, Name>()].template get<frame_of<true, Name>>();
  }
  /// Whether a stage reads that output.
  template <port_name Name>
  bool is_read() const {
    return !all_.readers[Stage::ports::template number_of<false, Name>()].empty();
  }
  /// Whether all that read it take such frames (`takes`, see stage_kind.hpp): a stage that can make frames of several
  /// kinds asks before it says which.
  template <port_name Name>
  bool readers_take(frame_of<false, Name> const& frame) const {
    any_about about;
    about.set(frame);
    for (auto const takes : all_.readers[Stage::ports::template number_of<false, Name>()])
      if (!takes(about)) return false;
    return true;
  }
  /// Ticks per second of the graph; 0: as fast as its sinks take them.
  double rate() const noexcept { return all_.rate; }
  /// How many sources the graph has.
  std::uint32_t sources() const noexcept { return all_.sources; }
  /// What `spec` has opened to look at it, such as a file that can be read only once: kept for its next call, and for
  /// the stage's `host`, which takes it out. Null at first.
  std::shared_ptr<void>& opened() const noexcept { return *all_.opened; }
  /// What the stage has said that it makes there; null: nothing yet.
  template <port_name Name>
  frame_of<false, Name> const* out() const {
    return all_.outputs[Stage::ports::template number_of<false, Name>()]
        .template get<frame_of<false, Name>>();
  }
  /// Frames of the output have at most as many bytes as this one, and fit it if their type says what fits: pictures
  /// have this size (stage_context::output).
  template <port_name Name>
  void out(frame_of<false, Name> const& about) {
    all_.outputs[Stage::ports::template number_of<false, Name>()].set(about);
  }
  /// How much memory it needs beside its frames: stage_context::scratch.
  void scratch(std::uint64_t bytes) { all_.scratch_bytes = bytes; }
  /// How many frames of its inputs it keeps beyond their ticks: stage_context::keep.
  void keeps(std::uint32_t frames) { all_.kept_frames = frames; }
  /// How long a tick takes, for negotiation. Without it, the stage is measured where that can be done.
  void cost(std::uint64_t host_ns, std::uint64_t accelerator_ns) {
    all_.has_cost = true;
    all_.host_ns = host_ns;
    all_.accelerator_ns = accelerator_ns;
  }
  /// It cannot work so: the graph does not begin, and its error has this text. The first one counts.
  void refuse(std::string why) {
    if (all_.refusal.empty()) all_.refusal = std::move(why);
  }

 private:
  stage_spec& all_;
};

}  // namespace rondo::streams
