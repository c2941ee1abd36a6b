// The frames of video stages: pictures with one plane for brightness and two of half the size for colour (I420),
// perhaps with opacities.
#pragma once

#include "actors/video/pixels/image_view.hpp"
#include "kernels/streams/frame.hpp"

namespace rondo::video {

enum class pixel_format : std::uint32_t {
  i420,   // 8 bits a sample, brightness 16 to 235
  i420a,  // the same with a plane of opacities, with which the other planes are premultiplied
};

/// A picture of `width` by `height` pixels. Its planes follow each other, with rows padded to 64 bytes (carve_frame).
struct image {
  std::int32_t width = 0, height = 0;
  pixel_format format = pixel_format::i420;

  RONDO_HD std::uint64_t bytes() const noexcept {
    auto const opacities =
        format == pixel_format::i420a ? std::uint64_t(width + 63) / 64 * 64 * std::uint64_t(height) : 0;
    return frame_bytes(width, height) + opacities;
  }
  /// Why stages cannot work on pictures of this size, for people; null: they can.
  char const* error() const noexcept {
    if (width < 16 || height < 16) return "a picture has at least 16 pixels in each direction";
    if (width > 16384 || height > 16384) return "a picture has at most 16384 pixels in each direction";
    if (width % 2 != 0 || height % 2 != 0) return "the width and the height of a picture are even";
    return nullptr;
  }
  /// For options that hold a shape.
  void describe(auto& option) {
    option("width", width, "of the pictures, in pixels; to be given", 0, 16384);
    option("height", height, "of the pictures, in pixels; to be given", 0, 16384);
    option.choice("format", format, "planes of a picture", {"i420", "i420a"});
  }
  friend bool operator==(image const&, image const&) = default;
};

/// The planes of a picture, which lie at `data`; the opacities are the last ones.
struct planes {
  image_view<std::uint8_t> of[4];
};
RONDO_HD inline planes planes_at(image const& about, std::byte const* data) {
  carver memory(const_cast<std::byte*>(data));
  auto const f = carve_frame(memory, about.width, about.height);
  planes p{{f.y, f.u, f.v, {}}};
  if (about.format == pixel_format::i420a)
    p.of[3] = {memory.take<std::uint8_t>(static_cast<std::size_t>(f.y.stride) *
                                         static_cast<std::size_t>(about.height)),
               about.width, about.height, f.y.stride};
  return p;
}

/// The same without the opacities, as the overlay's functions take it.
RONDO_HD inline frame_view view_at(image const& about, std::byte const* data) {
  carver memory(const_cast<std::byte*>(data));
  return carve_frame(memory, about.width, about.height);
}

}  // namespace rondo::video
