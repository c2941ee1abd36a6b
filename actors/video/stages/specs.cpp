// The specs of the video stages: their pictures, and their scratch memory.
#include <string>

#include "actors/video/stages/blur.hpp"
#include "actors/video/stages/compositor.hpp"
#include "actors/video/stages/draw_boxes.hpp"
#include "actors/video/stages/draw_edges.hpp"
#include "actors/video/stages/draw_particles.hpp"
#include "actors/video/stages/drawing_spec.hpp"
#include "actors/video/stages/frame_rate.hpp"
#include "actors/video/stages/knn_graph.hpp"
#include "actors/video/stages/layer.hpp"
#include "actors/video/stages/movement.hpp"
#include "actors/video/stages/sinks.hpp"
#include "actors/video/stages/test_pattern.hpp"
#include "actors/video/stages/waveform.hpp"
#include "runtime/streams/kinds/stage_spec.hpp"

namespace rondo::video {

namespace {

std::string size_of(image const& i) { return std::to_string(i.width) + "x" + std::to_string(i.height); }

std::string matrix_of(image const& i) {
  switch (i.colours.matrix) {
    case 0:
      return "RGB";
    case 1:
      return "BT.709";
    case 2:
      return "";
    case 5:
    case 6:
      return "BT.601";
    case 9:
    case 10:
      return "BT.2020";
    default:
      return "matrix " + std::to_string(i.colours.matrix);
  }
}

}  // namespace

std::string to_text(image const& i) {
  auto text = size_of(i);
  text.append(" ").append(name_of(i.format));
  auto const add = [&text](std::string const& part, char const* after = "") {
    if (!part.empty()) text.append(", ").append(part).append(after);
  };
  auto rate = std::to_string(i.rate_num);
  if (i.rate_den != 1) rate.append("/").append(std::to_string(i.rate_den));
  if (i.rate_num != 0) add(rate, " a second");
  add(matrix_of(i));
  if (i.colours.transfer == 16) add("PQ");
  if (i.colours.transfer == 18) add("HLG");
  if (i.colours.is_full != 0) add("full range");
  auto aspect = std::string("pixels ").append(std::to_string(i.aspect_num)).append(":");
  if (i.aspect_num != i.aspect_den) add(aspect.append(std::to_string(i.aspect_den)));
  if (i.fields != field_order::progressive) add("interlaced");
  if (i.turned != 0) add("turned");
  return text;
}

std::string to_text(sound const& s) {
  if (s.channels == 0) return "no sound";
  return std::to_string(s.rate)
      .append(" Hz, ")
      .append(std::to_string(s.channels))
      .append(s.codec == 0 ? " channels, samples" : " channels, packets as they are");
}

void test_pattern::spec(options const& o, streams::spec_of<test_pattern>& s) {
  image const made{o.width, o.height};
  if (auto const* const why = made.error()) return s.refuse(size_of(made) + ": " + why);
  s.out<"video">(made);
}

void blur::spec(options const&, streams::spec_of<blur>& s) {
  auto const in = *s.in<"video">();
  s.scratch(static_cast<std::uint64_t>((in.width + 63) / 64 * 64) * static_cast<std::uint64_t>(in.height) +
            64);
}

void compositor::spec(options const& o, streams::spec_of<compositor>& s) {
  if (s.in<"video">()->format != pixel_format::i420)
    return s.refuse("the lowest picture has opacities: give it to a layer, over a picture without them");
  auto const below = *s.in<"video">();
  image const* const layers[] = {s.in<"layer1">(), s.in<"layer2">(), s.in<"layer3">(), s.in<"layer4">()};
  for (auto const* const layer : layers) {
    if (layer == nullptr || layer->is_layer()) continue;  // red, green and blue mean the same everywhere
    bool const both_said = layer->colours.matrix != 2 && below.colours.matrix != 2;
    if (layer->colours.is_full != below.colours.is_full ||
        (both_said && matrix_of(*layer) != matrix_of(below)))
      return s.refuse(std::string("a layer's colours mean something else than the picture's (")
                          .append(to_text(*layer))
                          .append("; ")
                          .append(to_text(below))
                          .append("): set `matrix` and `range` of one source as the other has them"));
  }
  for (auto const& at : o.at)
    if (at.x % 2 != 0 || at.y % 2 != 0)
      return s.refuse("a layer is at an odd place: colours have half as many samples, so places are even");
}

void layer::spec(options const& o, streams::spec_of<layer>& s) {
  auto const* const like = s.in<"like">();
  auto const about = made(o, like);
  if (like == nullptr && (o.width == 0 || o.height == 0))
    return s.refuse("it needs a width and a height, or a picture at its input 'like'");
  if (auto const* const why = about.error()) return s.refuse(size_of(about) + ": " + why);
  s.out<"video">(about);
}

void waveform::spec(options const&, streams::spec_of<waveform>& s) {
  s.scratch(static_cast<std::uint64_t>(s.in<"video">()->width) * 2 * sizeof(u16));
}

void find_movement::spec(options const& o, streams::spec_of<find_movement>& s) {
  auto const in = *s.in<"video">();
  s.out<"drawing">({in.width, in.height});
  s.out<"points">({tracker_state::capacity});
  s.out<"boxes">({tracker_state::capacity});
  s.scratch(movement_bytes(in.width, in.height, tiles_of(o, in.height), movement_params{}));
}
void draw_movement::spec(options const&, streams::spec_of<draw_movement>& s) {
  auto const of = *s.in<"drawing">();
  auto const in = *s.in<"video">();
  if (of.width != in.width || of.height != in.height)
    return s.refuse("the drawing is for pictures of " + size_of({of.width, of.height}) + ", but these have " +
                    size_of(in));
  s.scratch(book_bytes(drawing_letters(in.height)));
}

void knn_graph::spec(options const& o, streams::spec_of<knn_graph>& s) {
  auto const most = s.in<"points">()->most;
  if (std::uint64_t{most} * o.links.k > edges::limit)
    return s.refuse("lists of " + std::to_string(most) + " points with k = " + std::to_string(o.links.k) +
                    " may have more than " + std::to_string(edges::limit) +
                    " edges: make one of them smaller");
  s.out<"edges">({most * o.links.k});
  s.scratch(knn_links::bytes(most, o.links.k));
}

void draw_lines::spec(options const& o, streams::spec_of<draw_lines>& s) {
  specify_drawing<pixels::segment>(o, s.in<"edges">()->most, s, {o.stroke.colour});
}
void draw_curves::spec(options const& o, streams::spec_of<draw_curves>& s) {
  specify_drawing<pixels::segment>(o, s.in<"edges">()->most, s, {o.stroke.colour});
}
void draw_sparks::spec(options const& o, streams::spec_of<draw_sparks>& s) {
  specify_drawing<pixels::segment>(o, s.in<"edges">()->most, s, {o.stroke.colour});
}
void draw_particles::spec(options const& o, streams::spec_of<draw_particles>& s) {
  specify_drawing<pixels::dot_shape>(o, s.in<"points">()->most, s, {o.colour});
}
void draw_boxes::spec(options const& o, streams::spec_of<draw_boxes>& s) {
  specify_drawing<pixels::box_shape>(o, s.in<"boxes">()->most, s,
                                     {o.colour, o.fill.empty() ? o.colour : o.fill});
}

void frame_rate::spec(options const& o, streams::spec_of<frame_rate>& s) {
  s.scratch(sizeof(draw_list) + book_bytes(sizes_for(o, *s.in<"video">())));
}

}  // namespace rondo::video
