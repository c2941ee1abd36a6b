// The frames of video stages: pictures with one plane for brightness and two of half the size for colour (I420),
// perhaps with opacities; layers in red, green and blue; and what a picture is besides its samples: what they mean,
// how fast pictures follow each other, and how they are to be shown. Each stage passes that on, or says what it has
// changed.
#pragma once

#include <iterator>
#include <string>

#include "actors/video/pixels/image_view.hpp"
#include "kernels/pixels/planes.hpp"
#include "kernels/streams/frame.hpp"

namespace rondo::video {

enum class pixel_format : std::uint32_t {
  i420,     // 8 bits a sample
  i420a,    // the same with a plane of opacities, with which the other planes are premultiplied
  i420_10,  // 10 bits a sample, in 16; only for stages that say that they take it
  rgba_f16,  // a layer: red, green, blue and opacity from 0 to 1, premultiplied, 16-bit floats; only for stages that say
             // that they take it
};

/// As options have it.
constexpr char const* name_of(pixel_format f) noexcept {
  constexpr char const* names[] = {"i420", "i420a", "i420_10", "rgba_f16"};
  return static_cast<std::uint32_t>(f) < std::size(names) ? names[static_cast<std::uint32_t>(f)] : "unknown";
}

/// What samples mean, by the numbers of ITU-T H.273, which FFmpeg has, too; 2: not said.
struct colour_description {
  std::uint8_t primaries = 2, transfer = 2, matrix = 2;
  std::uint8_t is_full = 0;  // 1: 0 to 255; 0: brightness from 16 to 235, colours from 16 to 240
  friend bool operator==(colour_description const&, colour_description const&) = default;
};

/// Whether a picture is two fields, of odd and of even rows, and which one is earlier.
enum class field_order : std::uint8_t { progressive, top_first, bottom_first };

/// Samples from row to row of a layer: whole tiles.
RONDO_HD constexpr std::int32_t layer_stride(std::int32_t width) noexcept { return (width + 63) / 64 * 64; }
/// Bytes of the marks of its tiles.
RONDO_HD constexpr std::uint64_t mark_bytes(std::int32_t width, std::int32_t height) noexcept {
  auto const tiles = std::uint64_t(layer_stride(width) / 64) * (std::uint64_t(height + 63) / 64);
  return (tiles + 63) / 64 * 64;
}

/// A picture of `width` by `height` pixels. Its planes follow each other, with rows padded to 64 bytes (carve_frame).
struct image {
  std::int32_t width = 0, height = 0;
  pixel_format format = pixel_format::i420;
  colour_description colours{};
  std::uint16_t aspect_num = 1, aspect_den = 1;  // width of a pixel to its height
  std::uint32_t rate_num = 0, rate_den = 1;      // pictures per second; 0/1: it varies, or is not known
  field_order fields = field_order::progressive;
  std::uint8_t turned =
      0;  // quarter turns clockwise that it still needs to be upright; 4 more: it is mirrored, too
  std::uint16_t light =
      0;  // where this process has what it says of HDR (ffmpeg/light_metadata.hpp); 0: nothing

  RONDO_HD std::uint64_t bytes() const noexcept {
    if (format == pixel_format::i420_10) return frame_bytes(2 * width, height);
    if (format == pixel_format::rgba_f16)
      return 4 * sizeof(std::uint16_t) * std::uint64_t(layer_stride(width)) * std::uint64_t(height) +
             mark_bytes(width, height);
    auto const opacities =
        format == pixel_format::i420a ? std::uint64_t(width + 63) / 64 * 64 * std::uint64_t(height) : 0;
    return frame_bytes(width, height) + opacities;
  }
  /// Whether it is what every stage takes.
  RONDO_HD bool is_plain() const noexcept {
    return format == pixel_format::i420 || format == pixel_format::i420a;
  }
  RONDO_HD bool is_layer() const noexcept { return format == pixel_format::rgba_f16; }
  /// Whether pictures of the other kind have their samples where those of this kind have them.
  RONDO_HD bool fits(image const& other) const noexcept {
    return other.width == width && other.height == height && other.format == format;
  }
  /// It has come from another process, whose numbers mean nothing here.
  RONDO_HD void from_elsewhere() noexcept { light = 0; }
  /// Pictures per second; 0: that varies, or is not known.
  double rate() const noexcept { return rate_den != 0 ? double(rate_num) / rate_den : 0; }
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
    option.choice("format", format, "planes of a picture", {"i420", "i420a", "i420_10", "rgba_f16"});
  }
  friend bool operator==(image const&, image const&) = default;
};

/// The width at which a picture has its shape when pixels are square.
inline std::int32_t shown_width(image const& i) noexcept {
  if (i.aspect_num == 0 || i.aspect_den == 0) return i.width;
  auto const width = std::int64_t{i.width} * i.aspect_num / i.aspect_den;
  return width < 16 ? 16 : width > 16'384 ? 16'384 : static_cast<std::int32_t>(width);
}

static_assert(sizeof(image) == 32 && std::is_trivially_copyable_v<image>);

/// "1920x1080 i420, 30000/1001 a second, BT.709, pixels 4:3", for people.
std::string to_text(image const& about);

/// The planes of a picture, which lie at `data`; the opacities are the last ones.
struct planes {
  image_view<std::uint8_t> of[4];
};
RONDO_HD inline planes planes_at(image const& about, std::byte const* data) {
  carver memory(const_cast<std::byte*>(data));
  auto const f = carve_frame(memory, about.format == pixel_format::i420_10 ? 2 * about.width : about.width,
                             about.height);
  planes p{{f.y, f.u, f.v, {}}};
  if (about.format == pixel_format::i420a)
    p.of[3] = {memory.take<std::uint8_t>(static_cast<std::size_t>(f.y.stride) *
                                         static_cast<std::size_t>(about.height)),
               about.width, about.height, f.y.stride};
  return p;
}

/// As what is drawn on (kernels/pixels/overlay/block.hpp).
RONDO_HD inline pixels::drawn_planes drawn_planes_at(image const& about, std::byte const* data) {
  auto const p = planes_at(about, data);
  return {p.of[0].data,   p.of[1].data, p.of[2].data, p.of[0].stride,
          p.of[1].stride, about.width,  about.height, p.of[3].data};
}
/// Of a layer (rgba_f16). Who draws on it without a stage of actors/video writes all samples of each tile that it
/// touches, and marks it (kernels/pixels/planes.hpp).
RONDO_HD inline pixels::layer_planes layer_planes_at(image const& about, std::byte const* data) {
  auto const stride = layer_stride(about.width);
  auto const plane = static_cast<std::size_t>(stride) * static_cast<std::size_t>(about.height);
  auto* const first = reinterpret_cast<pixels::u16*>(const_cast<std::byte*>(data));
  auto* const marks = reinterpret_cast<pixels::u8*>(first + 4 * plane);
  return {first,  first + plane, first + 2 * plane, first + 3 * plane,
          stride, about.width,   about.height,      {marks, stride / pixels::tile_side, 0, 0}};
}

/// The same without the opacities, as the functions of movement take it.
RONDO_HD inline frame_view view_at(image const& about, std::byte const* data) {
  carver memory(const_cast<std::byte*>(data));
  return carve_frame(memory, about.width, about.height);
}

}  // namespace rondo::video
