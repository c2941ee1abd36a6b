// A source of layers: pictures on which nothing is drawn yet, to draw on, and to put over others by a compositor.
#pragma once

#include "actors/video/pixels/image.hpp"
#include "kernels/pixels/overlay/kernels.hpp"
#include "kernels/streams/stage.hpp"

namespace rondo::video {

/// Several teams work on a layer.
struct layer {
  using ports = streams::ports<streams::optional_in<"like", image>, streams::out<"video", image>>;
  enum class kind { rgba_f16, i420a };
  struct options {
    std::int32_t width = 0, height = 0;
    kind format = kind::rgba_f16;
    void describe(auto& option) {
      option("width", width, "of the layer, in pixels; 0: as that of the pictures of `like`", 0, 16384);
      option("height", height, "likewise", 0, 16384);
      option.choice(
          "format", format,
          "its samples: 16-bit floats in red, green and blue; or, faster, 8 bits as those of `like`",
          {"rgba_f16", "i420a"});
    }
  };
  static constexpr auto width = rondo::width::whole_team;
  static constexpr std::uint32_t phases = 1;
  static void spec(options const& o, streams::spec_of<layer>& s);
  static bool takes(image const&) { return true; }

  /// What it makes. `like`: null if that is not connected.
  RONDO_HD static image made(options const& o, image const* like) noexcept {
    image i;
    if (like != nullptr) i = *like;
    i.format = o.format == kind::i420a ? pixel_format::i420a : pixel_format::rgba_f16;
    if (o.width != 0) i.width = o.width;
    if (o.height != 0) i.height = o.height;
    i.light = 0;
    return i;
  }

  bool kernels(streams::stage_context<layer>& ctx, streams::tick const&, std::uint32_t, kernel_list& list) {
    if (!begin(ctx)) return false;
    list.add(pixels::clear_kernel,
             {static_cast<pixels::u32>(first_byte()), static_cast<pixels::i32>(row_bytes)}, {{to_.data}},
             rows(), row_bytes);
    return true;
  }
  RONDO_HD std::uint32_t tiles(streams::stage_context<layer>& ctx, streams::tick const&, std::uint32_t) {
    return begin(ctx) ? (rows() + rows_at_once - 1) / rows_at_once : 0;
  }
  RONDO_HD void tile(streams::stage_context<layer>& ctx, streams::tick const&, std::uint32_t,
                     std::uint32_t number) {
    auto const from = number * rows_at_once, left = rows() - from;
    auto const bytes = (left < rows_at_once ? left : rows_at_once) * row_bytes;
    auto* const to = to_.data + first_byte() + std::size_t{from} * row_bytes;
#if !defined(__CUDA_ARCH__)
    if (ctx.team().lanes() == 1) return static_cast<void>(__builtin_memset(to, 0, bytes));
#endif
    auto* const words = reinterpret_cast<std::uint64_t*>(to);
    for (auto const n : ctx.lanes(bytes / 8)) words[n] = 0;
  }
  RONDO_HD void process(streams::stage_context<layer>&, streams::tick const&) {}

 private:
  // Whole frames are multiples of this: rows of all planes are.
  static constexpr std::uint32_t row_bytes = 64, rows_at_once = 16'384;

  /// What is to be cleared, up to the end of the frame. Of floats, the marks: no tile has samples yet.
  RONDO_HD std::uint64_t first_byte() const noexcept {
    auto const& i = to_.about;
    return i.is_layer() ? i.bytes() - mark_bytes(i.width, i.height) : 0;
  }
  RONDO_HD std::uint32_t rows() const noexcept {
    return static_cast<std::uint32_t>((to_.about.bytes() - first_byte()) / row_bytes);
  }
  RONDO_HD bool begin(streams::stage_context<layer>& ctx) {
    auto const like = ctx.input<"like">();
    auto const to = ctx.output<"video">(made(ctx.options(), like ? &like.about : nullptr));
    if (ctx.team().leader()) to_ = to;
    ctx.team().sync();
    return static_cast<bool>(to);
  }

  streams::frame_out<image> to_;  // in hand
};

}  // namespace rondo::video
