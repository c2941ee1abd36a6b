// The specs of the video stages: their pictures, and their scratch memory.
#include <string>

#include "actors/video/stages/blur.hpp"
#include "actors/video/stages/compositor.hpp"
#include "actors/video/stages/frame_rate.hpp"
#include "actors/video/stages/movement.hpp"
#include "actors/video/stages/sinks.hpp"
#include "actors/video/stages/test_pattern.hpp"
#include "actors/video/stages/waveform.hpp"
#include "runtime/streams/kinds/stage_spec.hpp"

namespace rondo::video {

namespace {

std::string size_of(image const& i) { return std::to_string(i.width) + "x" + std::to_string(i.height); }

}  // namespace

void test_pattern::spec(options const& o, streams::spec_of<test_pattern>& s) {
  image const made{o.width, o.height};
  if (auto const* const why = made.error()) return s.refuse(size_of(made) + ": " + why);
  s.out<"video">(made);
}

void blur::spec(options const&, streams::spec_of<blur>& s) {
  s.scratch(static_cast<std::uint64_t>(s.in<"video">()->width) + 64);
}

void compositor::spec(options const& o, streams::spec_of<compositor>& s) {
  if (s.in<"video">()->format != pixel_format::i420)
    return s.refuse("the lowest picture has opacities: give it to a layer");
  for (auto const& at : o.at)
    if (at.x % 2 != 0 || at.y % 2 != 0)
      return s.refuse("a layer is at an odd place: colours have half as many samples, so places are even");
}

void waveform::spec(options const&, streams::spec_of<waveform>& s) {
  s.scratch(static_cast<std::uint64_t>(s.in<"video">()->width) * 2 * sizeof(u16));
}

void find_movement::spec(options const&, streams::spec_of<find_movement>& s) {
  auto const in = *s.in<"video">();
  s.out<"drawing">({in.width, in.height});
  s.scratch(overlay_bytes(in.width, in.height, 1, overlay_params{}));
}
void draw_movement::spec(options const&, streams::spec_of<draw_movement>& s) {
  auto const of = *s.in<"drawing">();
  auto const in = *s.in<"video">();
  if (of.width != in.width || of.height != in.height)
    s.refuse("the drawing is for pictures of " + size_of({of.width, of.height}) + ", but these have " +
             size_of(in));
}

void frame_rate::spec(options const& o, streams::spec_of<frame_rate>& s) {
  s.scratch(
      static_cast<std::uint64_t>(letters * glyph_advance * scale_for(o, *s.in<"video">())) * glyph_rows + 64);
}

}  // namespace rondo::video
