// What a graph shows, for tests that compare pictures.
#pragma once

#include <cstddef>
#include <vector>

#include "actors/video/pixels/image_view.hpp"
#include "actors/video/stages/sinks.hpp"

namespace rondo::test {

/// The samples of each picture, without what lies between its rows.
using pictures = std::vector<std::vector<std::byte>>;

/// The options of a sink that adds what it is given.
inline video::callback_sink::options kept_in(pictures& all) {
  return {[](void* with, video::image const& i, std::byte const* data, streams::tick const&) {
            auto const p = video::planes_at(i, data);
            auto& picture = static_cast<pictures*>(with)->emplace_back();
            for (int plane = 0; plane < 3; ++plane)
              for (std::int32_t y = 0; y < p.of[plane].height; ++y) {
                auto const* const row = reinterpret_cast<std::byte const*>(p.of[plane].row(y));
                picture.insert(picture.end(), row, row + p.of[plane].width);
              }
          },
          &all};
}

}  // namespace rondo::test
