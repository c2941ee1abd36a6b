// The shapes of the frames of a stage's ports, for the functions that the stage has for the host (runtime/streams/kinds/stage_kind.hpp).
#pragma once

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

/// The frames of a stage's ports, by number.
struct stage_shapes {
  // -- for the runtime
  any_about inputs[most_ports], outputs[most_ports];
};

/// The same for the functions of a stage, by name.
template <class Stage>
class shapes_of {
  template <bool IsInput, port_name Name>
  using frame_of = typename Stage::ports::template port<IsInput, Name>::frame;

 public:
  // -- for the runtime
  explicit shapes_of(stage_shapes& all) : all_(all) {}
  // -- for stages

  /// What comes in there; null: it is not connected.
  template <port_name Name>
  frame_of<true, Name> const* in() const {
    return all_.inputs[Stage::ports::template number_of<true, Name>()].template get<frame_of<true, Name>>();
  }
  /// What the stage has said that it makes there; null: nothing yet.
  template <port_name Name>
  frame_of<false, Name> const* out() const {
    return all_.outputs[Stage::ports::template number_of<false, Name>()]
        .template get<frame_of<false, Name>>();
  }
  /// Frames of the output have at most as many bytes as this one.
  template <port_name Name>
  void out(frame_of<false, Name> const& about) {
    all_.outputs[Stage::ports::template number_of<false, Name>()].set(about);
  }

 private:
  stage_shapes& all_;
};

}  // namespace rondo::streams
