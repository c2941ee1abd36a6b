// The host's half of the video stages: the shapes of their frames, and their scratch memory.
#include <string>

#include "actors/video/stages/blur.hpp"
#include "actors/video/stages/compositor.hpp"
#include "actors/video/stages/frame_rate.hpp"
#include "actors/video/stages/movement.hpp"
#include "actors/video/stages/sinks.hpp"
#include "actors/video/stages/test_pattern.hpp"
#include "actors/video/stages/waveform.hpp"
#include "kernels/streams/shapes.hpp"

namespace rondo::video {

namespace {

std::string size_of(image const& i) { return std::to_string(i.width) + "x" + std::to_string(i.height); }

}  // namespace

std::string test_pattern::shapes(options const& o, streams::shapes_of<test_pattern>& s) {
  if (auto const* const why = size_error(o.width, o.height)) return size_of({o.width, o.height}) + ": " + why;
  s.out<"video">({o.width, o.height});
  return {};
}

std::string blur::shapes(options const& o, streams::shapes_of<blur>& s) {
  if (!(o.sigma > 0 && o.sigma <= 4))
    return "sigma is " + std::to_string(o.sigma) + "; it must be above 0 and at most 4";
  s.out<"video">(*s.in<"video">());
  return {};
}
std::uint64_t blur::scratch_bytes(options const&, streams::shapes_of<blur> const& s) {
  return static_cast<std::uint64_t>(s.in<"video">()->width) + 64;
}

std::string compositor::shapes(options const& o, streams::shapes_of<compositor>& s) {
  auto const below = *s.in<"video">();
  if (below.format != pixel_format::i420) return "the lowest picture has opacities: give it to a layer";
  for (auto const& at : o.at)
    if (at.x % 2 != 0 || at.y % 2 != 0)
      return "a layer is at an odd place: colours have half as many samples, so places are even";
  s.out<"video">(below);
  return {};
}

std::string waveform::shapes(options const& o, streams::shapes_of<waveform>& s) {
  if (!(o.height > 0 && o.height <= 1))
    return "height is " + std::to_string(o.height) + "; it must be above 0 and at most 1";
  s.out<"video">(*s.in<"video">());
  return {};
}
std::uint64_t waveform::scratch_bytes(options const&, streams::shapes_of<waveform> const& s) {
  return static_cast<std::uint64_t>(s.in<"video">()->width) * 2 * sizeof(u16);
}

std::string find_movement::shapes(options const&, streams::shapes_of<find_movement>& s) {
  auto const in = *s.in<"video">();
  s.out<"video">(in);
  s.out<"drawing">({in.width, in.height});
  return {};
}
std::uint64_t find_movement::scratch_bytes(options const&, streams::shapes_of<find_movement> const& s) {
  auto const in = *s.in<"video">();
  return overlay_bytes(in.width, in.height, 1, overlay_params{});
}
std::string draw_movement::shapes(options const&, streams::shapes_of<draw_movement>& s) {
  auto const of = *s.in<"drawing">();
  auto const in = *s.in<"video">();
  if (of.width != in.width || of.height != in.height)
    return "the drawing is for pictures of " + size_of({of.width, of.height}) + ", but these have " +
           size_of(in);
  s.out<"video">(in);
  return {};
}

std::uint64_t frame_rate::scratch_bytes(options const& o, streams::shapes_of<frame_rate> const& s) {
  return static_cast<std::uint64_t>(letters * glyph_advance * scale_for(o, *s.in<"video">())) * glyph_rows +
         64;
}

}  // namespace rondo::video
