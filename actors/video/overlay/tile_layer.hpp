// Shapes over a picture, tile by tile: only tiles that a shape touches are read and written.
//
//   1. begin   once
//   2. count   each part of the shapes: makes them, and counts them in the tiles that they touch
//   3. join    once: adds the counts up
//   4. put     each part: puts its shapes into the bins of these tiles (kernels/pixels/overlay/bins.hpp)
//   5. draw    each of the `touched` tiles
//
// A picture may have any number of shapes in any place: if the bins cannot hold all of them, the last ones are looked
// for in every tile. All memory is flat, and in one block. Threads: within a step, parts and tiles may run at the same
// time.
//
// A `Shape` is a plain struct as of kernels/pixels/overlay/draw_shapes.hpp, with tile_columns_of(shape, grid, row).
#pragma once

#include "actors/video/overlay/whole_tiles.hpp"
#include "actors/video/pixels/image_view.hpp"
#include "kernels/base/team.hpp"
#include "kernels/pixels/overlay/kernels.hpp"

namespace rondo::video {

/// Draws a tile's shapes: whole on a host's thread, otherwise a lane's share, in blocks of 2x2 pixels. `is_new`: it has
/// no samples yet.
template <class Planes, class Shape, class How>
RONDO_HD void draw_tile(team const& t, Planes const& to, pixels::shape_list<Shape> const& list,
                        How const& how, std::int32_t x, std::int32_t y, bool is_new) {
#if !defined(__CUDA_ARCH__)
  if (t.lanes() == 1) {
    if (is_new) whole_tiles::empty(to, x, y);
    return whole_tiles::draw(to, list, how, x, y);
  }
#endif
  for (auto row = y; row < y + pixels::tile_side && row < to.height; row += 2) {
    for (auto const block : lane_range{pixels::tile_side / 2, t.lane(), t.lanes()})
      if (auto const column = x + 2 * static_cast<std::int32_t>(block); column < to.width) {
        if (is_new) pixels::empty_block(to, column, row);
        pixels::draw_shapes<2, 1>(to, list, how, column, row);
      }
#if defined(__CUDA_ARCH__)
    t.sync();  // a lane with nothing to draw does not run ahead: a warp's loads and stores are of one row
#endif
  }
}

template <class Shape>
class tile_layer {
 public:
  static constexpr std::int32_t most_parts = 16;
  static constexpr std::uint32_t most_shapes = pixels::most_binned_shapes;

  RONDO_HD tile_layer() noexcept {}
  /// For at most `most` shapes, on pictures of this size.
  RONDO_HD tile_layer(carver& memory, std::uint32_t most, std::int32_t width, std::int32_t height) noexcept
      : grid_(pixels::tiles_of(width, height)) {
    auto const tiles = static_cast<std::size_t>(grid_.columns) * static_cast<std::size_t>(grid_.rows);
    capacity_ = pixels::bin_places(most, static_cast<std::uint32_t>(tiles));
    shapes_ = memory.take<Shape>(most);
    bins_.counts = memory.take<std::uint32_t>(tiles * most_parts);
    bins_.begins = memory.take<std::uint32_t>(tiles + 1);
    bins_.touched = memory.take<std::uint32_t>(tiles);
    bins_.shapes = memory.take<std::uint32_t>(capacity_);
    bins_.tiles = static_cast<std::int32_t>(tiles);
    counted_ = memory.take<std::uint64_t>(most_parts);
  }

  /// `groups` groups of `each` shapes; a group is not divided between parts. Returns how many parts there are.
  RONDO_HD std::uint32_t begin(std::uint32_t groups, std::uint32_t each = 1) noexcept {
    groups_ = groups;
    each_ = each;
    auto const parts = std::uint64_t{groups} * each / 512 + 1;
    return parts_ = static_cast<std::uint32_t>(parts < most_parts ? parts : most_parts);
  }
  /// make(group, shapes) fills in the shapes of a group.
  template <class Make>
  RONDO_HD void count(std::uint32_t part, Make const& make) const noexcept {
    auto const p = static_cast<std::int32_t>(part);
    pixels::clear_counts(bins_, p);
    std::uint64_t all = 0;
    for (auto group = first_of(part); group < first_of(part + 1); ++group) {
      make(group, shapes_ + std::size_t{group} * each_);
      each_row(group, [&](std::uint32_t, std::int32_t first_tile, pixels::tile_range columns) {
        pixels::count_in(bins_, p, first_tile, columns);
        all += static_cast<std::uint32_t>(columns.last - columns.first);
      });
    }
    counted_[part] = all;
  }
  /// Returns how many parts go into the bins.
  RONDO_HD std::uint32_t join() noexcept {
    std::uint64_t all = 0;
    std::uint32_t binned = 0;
    while (binned < parts_ && (all += counted_[binned]) <= capacity_) ++binned;
    unbinned_ = first_of(binned) * each_;
    bins_.parts = static_cast<std::int32_t>(binned);
    touched_ = static_cast<std::uint32_t>(pixels::sum_counts(bins_).touched);
    if (binned == parts_) return binned;
    // What is in no bin may be anywhere.
    touched_ = static_cast<std::uint32_t>(bins_.tiles);
    for (std::uint32_t t = 0; t < touched_; ++t) bins_.touched[t] = t;
    return binned;
  }
  RONDO_HD void put(std::uint32_t part) const noexcept {
    for (auto group = first_of(part); group < first_of(part + 1); ++group)
      each_row(group, [&](std::uint32_t shape, std::int32_t first_tile, pixels::tile_range columns) {
        pixels::put_into(bins_, static_cast<std::int32_t>(part), first_tile, columns, shape);
      });
  }
  /// How many tiles there are to draw.
  RONDO_HD std::uint32_t touched() const noexcept { return touched_; }
  /// Draws the n-th of them. `how`: what its shapes have in common. Lanes share it; one of them then calls `mark`.
  template <class Planes, class How>
  RONDO_HD void draw(team const& t, Planes const& to, How const& how, std::uint32_t n) const {
    auto const tile = bins_.touched[n];
    auto const begin = bins_.begins[tile], end = bins_.begins[tile + 1];
    auto const x = static_cast<std::int32_t>(tile) % grid_.columns * pixels::tile_side,
               y = static_cast<std::int32_t>(tile) / grid_.columns * pixels::tile_side;
    using list = pixels::shape_list<Shape>;
    bool const is_new = pixels::lacks_samples(to, x, y);
    if (begin != end)
      draw_tile(t, to, list{bins_.shapes + begin, shapes_, static_cast<std::int32_t>(end - begin)}, how, x, y,
                is_new);
    if (auto const rest = groups_ * each_ - unbinned_; rest != 0)
      draw_tile(t, to, list{nullptr, shapes_ + unbinned_, static_cast<std::int32_t>(rest)}, how, x, y,
                is_new && begin == end);
  }
  /// Marks the n-th of them, which has samples now.
  RONDO_HD void mark(pixels::drawn_planes const&, std::uint32_t) const noexcept {}
  RONDO_HD void mark(pixels::layer_planes const& on, std::uint32_t n) const noexcept {
    on.marks.of[bins_.touched[n]] = 1;
  }
  /// Where the tables are that drawing reads, for a player. `memory`: the block.
  void say_where(std::byte const* memory, pixels::tiles_work& w) const noexcept {
    auto const at = [&](void const* table) {
      return static_cast<pixels::u32>(static_cast<std::byte const*>(table) - memory);
    };
    w.tile_columns = grid_.columns;
    w.touched = at(bins_.touched), w.begins = at(bins_.begins), w.numbers = at(bins_.shapes);
    w.shapes = at(shapes_);
    w.first_unbinned = unbinned_;
    w.unbinned = static_cast<pixels::i32>(groups_ * each_ - unbinned_);
  }

 private:
  RONDO_HD std::uint32_t first_of(std::uint32_t part) const noexcept {
    return static_cast<std::uint32_t>(std::uint64_t{groups_} * part / parts_);
  }
  /// Calls f(shape, first tile, columns) for each row of tiles that a shape of the group touches.
  template <class F>
  RONDO_HD void each_row(std::uint32_t group, F const& f) const noexcept {
    for (auto n = group * each_; n < (group + 1) * each_; ++n) {
      auto const& s = shapes_[n];
      if (!is_drawn(s)) continue;
      auto const rows = tile_rows_of(s, grid_);
      for (auto row = rows.first; row < rows.last; ++row)
        f(n, row * grid_.columns, tile_columns_of(s, grid_, row));
    }
  }

  std::uint32_t groups_ = 0, each_ = 1, parts_ = 1, capacity_ = 0, unbinned_ = 0, touched_ = 0;
  pixels::tile_grid grid_{};
  Shape* shapes_ = nullptr;
  pixels::bin_tables bins_{};
  std::uint64_t* counted_ = nullptr;  // of each part
};

}  // namespace rondo::video
