// The layout of a frame's buffer: the pixels, followed by the drawing for the frame.
//
// The drawing travels with its frame, so that the painter can draw while the camera analyses the next frame.
#pragma once

#include "actors/video/movement/shapes.hpp"
#include "actors/video/pixels/image_view.hpp"
#include "generated/overlay_messages.hpp"
#include "kernels/base/message.hpp"
#include "kernels/buffers/buffer_ref.hpp"

namespace rondo::overlay {

using namespace video;  // what the actors are made of

struct frame_parts {
  frame_view pixels;
  draw_list* drawing = nullptr;
};

RONDO_HD inline frame_parts carve_frame_buffer(carver& memory, std::int32_t width, std::int32_t height) {
  frame_parts parts;
  parts.pixels = carve_frame(memory, width, height);
  parts.drawing = memory.take<draw_list>(1);
  return parts;
}

/// Bytes of a buffer for frames of this size. It must be aligned to `carver::alignment`, as every buffer is.
RONDO_HD inline std::size_t frame_buffer_bytes(std::int32_t width, std::int32_t height) {
  carver measure(nullptr);
  carve_frame_buffer(measure, width, height);
  return measure.used();
}

static_assert(sizeof(buffer_handle) == sizeof(buffer_ref) && sizeof(actor_handle) == sizeof(actor_id));

RONDO_HD constexpr buffer_ref ref_of(buffer_handle const& h) {
  return {h.slot, h.generation, h.offset, h.bytes};
}
RONDO_HD constexpr buffer_handle handle_of(buffer_ref const& r) {
  return {r.slot, r.generation, r.offset, r.bytes};
}
RONDO_HD constexpr actor_id id_of(actor_handle const& h) { return {h.index, h.generation}; }
RONDO_HD constexpr actor_handle handle_of(actor_id const& a) { return {a.index, a.generation}; }

}  // namespace rondo::overlay
