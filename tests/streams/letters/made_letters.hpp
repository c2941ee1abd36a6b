// Letters for tests that draw text.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "actors/video/movement/lanes.hpp"
#include "actors/video/pixels/lettering.hpp"

namespace rondo::test {

/// A book with letters of these sizes, and its memory.
class made_letters {
 public:
  explicit made_letters(video::letter_sizes const& sizes) : memory_(memory_for(sizes)) {
    video::provide_letters(video::one_lane{}, *reinterpret_cast<pixels::letter_book*>(memory_.data()), sizes);
  }
  pixels::letter_book const& book() const {
    return *reinterpret_cast<pixels::letter_book const*>(memory_.data());
  }
  /// How much of a pixel a letter covers, of 256; (x, y) is from where the letter is written.
  std::int32_t coverage(std::int32_t face, char c, std::int32_t x, std::int32_t y) const {
    auto const& g = book().face[face].of[pixels::letter_index(c)];
    if (x < g.left || y < g.top || x >= g.left + g.width || y >= g.top + g.height) return 0;
    return reinterpret_cast<std::int16_t const*>(&book() + 1)[g.at + (y - g.top) * g.width + x - g.left];
  }
  /// Zeros, for a book with letters of these sizes.
  static std::vector<std::uint32_t> memory_for(video::letter_sizes const& sizes) {
    return std::vector<std::uint32_t>((video::book_bytes(sizes) + 3) / 4);
  }

 private:
  std::vector<std::uint32_t> memory_;
};

}  // namespace rondo::test
