// The shape of the frames of a source whose frames come from another process: its options give it, as the other process
// has it.
#pragma once

#include "runtime/streams/kinds/stage_spec.hpp"

namespace rondo::streams {

/// Lists it among the options, if frames of this type describe themselves.
template <frame_type Frame>
void describe_shape(Frame& shape, auto& option) {
  if constexpr (requires { shape.describe(option); }) shape.describe(option);
}

/// Says that the output has it. Refuses one without a size, and one that frames of this type refuse
/// (`char const* error() const`).
template <port_name Port, frame_type Frame>
void make_shape(auto& spec, Frame const& shape) {
  if (shape.bytes() == 0)
    return spec.refuse("its frames have no size: set `shape`, or in a file the options for it");
  if constexpr (requires { shape.error(); })
    if (auto const* const why = shape.error(); why != nullptr) return spec.refuse(why);
  spec.template out<Port>(shape);
}

}  // namespace rondo::streams
