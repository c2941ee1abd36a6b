// Non-owning views of pixels: one plane, and a 4:2:0 frame of one luma and two chroma planes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "kernels/base/portable.hpp"

namespace rondo::video {

/// A plane of `height` rows of `width` items; row r starts at `data + r * stride` (stride in items).
template <class T>
struct image_view {
  T* data = nullptr;
  std::int32_t width = 0;
  std::int32_t height = 0;
  std::int32_t stride = 0;

  RONDO_HD T* row(std::int32_t r) const { return data + static_cast<std::ptrdiff_t>(r) * stride; }
  RONDO_HD T& at(std::int32_t x, std::int32_t y) const { return row(y)[x]; }
};

/// A band of rows [first, last) of one image: the unit of work of a stage.
struct band {
  std::int32_t first = 0;
  std::int32_t last = 0;
};

/// Band `index` when `rows` rows are split into `count` bands; inner borders are multiples of `align` rows.
RONDO_HD constexpr band band_of(std::int32_t rows, std::int32_t count, std::int32_t index,
                                std::int32_t align = 1) {
  std::int64_t const units = (rows + align - 1) / align;
  auto const first = static_cast<std::int32_t>(units * index / count) * align;
  auto const last = static_cast<std::int32_t>(units * (index + 1) / count) * align;
  return {first < rows ? first : rows, last < rows ? last : rows};
}

/// A YUV 4:2:0 frame: 8 bits per sample, chroma planes of (width + 1) / 2 by (height + 1) / 2.
struct frame_view {
  image_view<std::uint8_t> y;
  image_view<std::uint8_t> u;
  image_view<std::uint8_t> v;
};

/// Hands out aligned pieces of one block of memory, so that a stage's state is flat and can be anywhere.
/// With a null base it only measures: `used()` is then the size to allocate.
class carver {
 public:
  static constexpr std::size_t alignment = 64;

  RONDO_HD explicit carver(void* base) : base_(static_cast<std::byte*>(base)) {}

  template <class T>
  RONDO_HD T* take(std::size_t count) {
    static_assert(std::is_trivially_copyable_v<T>);
    std::size_t const at = used_;
    used_ += (count * sizeof(T) + alignment - 1) / alignment * alignment;
    return base_ == nullptr ? nullptr : reinterpret_cast<T*>(base_ + at);
  }
  RONDO_HD std::size_t used() const { return used_; }

 private:
  std::byte* base_;
  std::size_t used_ = 0;
};

/// Carves a frame of `width` by `height` pixels from `memory`; rows are padded to 64 bytes.
RONDO_HD inline frame_view carve_frame(carver& memory, std::int32_t width, std::int32_t height) {
  auto const plane = [&](std::int32_t w, std::int32_t h) {
    std::int32_t const stride = (w + 63) / 64 * 64;
    auto const bytes = static_cast<std::size_t>(stride) * static_cast<std::size_t>(h);
    return image_view<std::uint8_t>{memory.take<std::uint8_t>(bytes), w, h, stride};
  };
  frame_view frame;
  frame.y = plane(width, height);
  frame.u = plane((width + 1) / 2, (height + 1) / 2);
  frame.v = plane((width + 1) / 2, (height + 1) / 2);
  return frame;
}

/// Bytes that `carve_frame` takes for a frame of this size.
RONDO_HD inline std::size_t frame_bytes(std::int32_t width, std::int32_t height) {
  carver measure(nullptr);
  carve_frame(measure, width, height);
  return measure.used();
}

static_assert(std::is_trivially_copyable_v<frame_view>);

}  // namespace rondo::video
