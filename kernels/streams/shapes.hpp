// The shapes of the frames of a stage's ports, for the functions that the stage has for the host (runtime/streams/stage_kind.hpp).
#pragma once

#include <array>
#include <optional>
#include <vector>

#include "kernels/streams/ports.hpp"

namespace rondo::streams {

/// A value of any frame_type.
using any_about = std::array<std::byte, max_about_bytes>;

/// The frames of a stage's ports, by number.
struct stage_shapes {
  // -- for the runtime
  std::vector<std::optional<any_about>> inputs, outputs;
};

/// The same for the functions of a stage, by name.
template <class Stage>
class shapes_of {
  template <bool IsInput, port_name Name>
  using frame_of = typename Stage::ports::template port<IsInput, Name>::frame;
  template <class T>
  static std::optional<T> get(std::optional<any_about> const& from) {
    if (!from) return std::nullopt;
    T about;
    __builtin_memcpy(&about, from->data(), sizeof about);
    return about;
  }

 public:
  // -- for the runtime
  explicit shapes_of(stage_shapes& all) : all_(all) {}

  // -- for stages

  /// What comes in there; empty: it is not connected.
  template <port_name Name>
  std::optional<frame_of<true, Name>> in() const {
    return get<frame_of<true, Name>>(all_.inputs[Stage::ports::template number_of<true, Name>()]);
  }
  /// What the stage has said that it makes there.
  template <port_name Name>
  std::optional<frame_of<false, Name>> out() const {
    return get<frame_of<false, Name>>(all_.outputs[Stage::ports::template number_of<false, Name>()]);
  }
  /// Frames of the output have at most as many bytes as this one.
  template <port_name Name>
  void out(frame_of<false, Name> const& about) {
    auto& to = all_.outputs[Stage::ports::template number_of<false, Name>()].emplace();
    __builtin_memcpy(to.data(), &about, sizeof about);
  }

 private:
  stage_shapes& all_;
};

}  // namespace rondo::streams
