// Where a plane of a picture is, for portable kernels.
#pragma once

#include "actors/video/pixels/image_view.hpp"
#include "kernels/pixels/kernels.hpp"

namespace rondo::video {

/// In the frame that begins at `data`.
template <class Sample>
pixels::plane_place place_of(image_view<Sample> const& plane, std::byte const* data) {
  return {static_cast<pixels::u32>(reinterpret_cast<std::byte const*>(plane.data) - data), plane.stride};
}

}  // namespace rondo::video
