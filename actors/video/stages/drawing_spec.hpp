// What the specs of stages have in common that draw over pictures (actors/video/stages/drawn_items.hpp).
#pragma once

#include <initializer_list>
#include <string>

#include "actors/video/stages/drawn_items.hpp"
#include "runtime/streams/kinds/stage_spec.hpp"

namespace rondo::video {

/// Of a stage that draws `most` items over pictures, in these colours.
template <class Shape, class Stage>
void specify_drawing(typename Stage::options const& o, std::uint64_t most, streams::spec_of<Stage>& s,
                     std::initializer_list<colour_text> colours) {
  auto const picture = *s.template in<"video">();
  for (auto const& text : colours)
    if (rgb colour{}; !read_colour(text.c_str(), colour))
      return s.refuse(std::string("the colour is '") + text.c_str() +
                      "'; it must be red, green and blue, such as #ff8000");
  if (auto const* const why = picture.error()) return s.refuse(to_text(picture) + ": " + why);
  auto const each = Stage::shapes_of_item(o);
  constexpr auto limit = tile_layer<Shape>::most_shapes;
  if (most * each > limit)
    return s.refuse("a list of up to " + std::to_string(most) +
                    " items (pieces of each: " + std::to_string(each) + ") may have " +
                    std::to_string(most * each) + " pieces; at most " + std::to_string(limit) +
                    " are drawn: make the list shorter, where it is made, or draw fewer pieces of an item "
                    "(`samples`, `count`, or no glow)");
  carver measure(nullptr);
  Stage{}.carve(measure);
  tile_layer<Shape>(measure, static_cast<std::uint32_t>(most * each), picture.width, picture.height);
  s.scratch(measure.used());
}

}  // namespace rondo::video
