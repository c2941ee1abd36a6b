// The nearest neighbours of points, exactly, by a grid of cells with some two points each: a point looks at the cells
// around it, ring by ring, until no nearer point can be in the next ring.
//
// All memory is flat, and in one block. Threads: `build` on one; then `search` for different points on any.
#pragma once

#include "actors/video/overlay/lists.hpp"
#include "actors/video/pixels/image_view.hpp"

namespace rondo::video {

/// A point's neighbour: which one, and the square of its distance.
struct neighbour {
  float square = 0;
  std::uint32_t index = 0;

  /// Nearest first; of several that are as near, the first in the list of points.
  RONDO_HD bool is_before(neighbour const& o) const noexcept {
    return square < o.square || (square == o.square && index < o.index);
  }
};

/// The nearest of those that were offered, in order; a list of at most `most`.
class nearest_few {
 public:
  static constexpr std::uint32_t limit = 32;

  RONDO_HD explicit nearest_few(std::uint32_t most) noexcept : most_(most) {}

  RONDO_HD std::uint32_t size() const noexcept { return size_; }
  RONDO_HD neighbour const& operator[](std::uint32_t i) const noexcept { return items_[i]; }
  RONDO_HD bool is_full() const noexcept { return size_ == most_; }
  RONDO_HD void offer(neighbour const& one) noexcept {
    if (is_full() && !one.is_before(items_[size_ - 1])) return;
    auto i = is_full() ? size_ - 1 : size_++;
    for (; i > 0 && one.is_before(items_[i - 1]); --i) items_[i] = items_[i - 1];
    items_[i] = one;
  }
  RONDO_HD bool has(std::uint32_t index) const noexcept {
    bool found = false;
    for (std::uint32_t i = 0; i < size_; ++i) found |= items_[i].index == index;
    return found;
  }

 private:
  std::uint32_t most_, size_ = 0;
  neighbour items_[limit];
};

class point_grid {
 public:
  /// Points farther out are left out, as are those that are no numbers: squares of distances stay finite.
  static constexpr float farthest = 1e6f;
  RONDO_HD static bool is_usable(point const& p) noexcept {
    return p.x >= -farthest && p.x <= farthest && p.y >= -farthest && p.y <= farthest;
  }

  RONDO_HD point_grid() noexcept {}
  /// For at most `most` points.
  RONDO_HD point_grid(carver& memory, std::uint32_t most) noexcept
      : x_(memory.take<float>(most)),
        y_(memory.take<float>(most)),
        index_(memory.take<std::uint32_t>(most)),
        cell_(memory.take<std::uint32_t>(most)),
        begin_(memory.take<std::uint32_t>(most + 2)) {}

  /// Sorts the points by cells. Returns how many are usable.
  RONDO_HD std::uint32_t build(list_view<point> const& all) noexcept {
    auto const n = all.size();
    float x1 = 0, y1 = 0;
    count_ = 0;
    for (auto const& p : all) {
      if (!is_usable(p)) continue;
      if (count_ == 0) x0_ = x1 = p.x, y0_ = y1 = p.y;
      x0_ = p.x < x0_ ? p.x : x0_, x1 = p.x > x1 ? p.x : x1;
      y0_ = p.y < y0_ ? p.y : y0_, y1 = p.y > y1 ? p.y : y1;
      ++count_;
    }
    choose_cells(x1 - x0_, y1 - y0_);
    auto const cells = columns_ * rows_;
    for (std::uint32_t c = 0; c <= cells; ++c) begin_[c] = 0;
    for (std::uint32_t i = 0; i < n; ++i) {
      if (!is_usable(all[i])) continue;
      cell_[i] = column_of(all[i].x) + columns_ * row_of(all[i].y);
      ++begin_[cell_[i] + 1];
    }
    for (std::uint32_t c = 0; c < cells; ++c) begin_[c + 1] += begin_[c];
    // From the last to the first, so that each cell has its points in their order, and its beginning in the end.
    for (auto i = n; i-- > 0;) {
      if (!is_usable(all[i])) continue;
      auto const at = --begin_[cell_[i] + 1];
      x_[at] = all[i].x, y_[at] = all[i].y, index_[at] = i;
    }
    // Where the next cell's points begin, which is now where this one's do.
    for (std::uint32_t c = 0; c < cells; ++c) begin_[c] = begin_[c + 1];
    begin_[cells] = count_;
    return count_;
  }

  /// The nearest usable points around point `self` of the list, without it.
  RONDO_HD void search(point const& p, std::uint32_t self, nearest_few& found) const noexcept {
    auto const column = static_cast<std::int32_t>(column_of(p.x)),
               row = static_cast<std::int32_t>(row_of(p.y));
    auto const columns = static_cast<std::int32_t>(columns_), rows = static_cast<std::int32_t>(rows_);
    for (std::int32_t ring = 0;; ++ring) {
      auto const left = column - ring, right = column + ring, top = row - ring, bottom = row + ring;
      for (auto r = top < 0 ? 0 : top; r <= bottom && r < rows; ++r) {
        if (r == top || r == bottom) {
          look_at(p, self, r, left, right, found);
        } else {
          look_at(p, self, r, left, left, found);
          look_at(p, self, r, right, right, found);
        }
      }
      bool const is_all = left <= 0 && top <= 0 && right >= columns - 1 && bottom >= rows - 1;
      if (is_all) return;
      // How far it is to the edge of what was looked at, where something is beyond it.
      auto reach = 4 * farthest;
      if (left > 0) reach = nearer(reach, p.x - edge_of(left, x0_));
      if (right < columns - 1) reach = nearer(reach, edge_of(right + 1, x0_) - p.x);
      if (top > 0) reach = nearer(reach, p.y - edge_of(top, y0_));
      if (bottom < rows - 1) reach = nearer(reach, edge_of(bottom + 1, y0_) - p.y);
      // A little less: an edge and the cell of a point near it are rounded.
      reach -= slack_;
      if (found.is_full() && reach > 0 && found[found.size() - 1].square < reach * reach) return;
    }
  }

 private:
  static constexpr std::uint32_t points_of_cell = 2;

  RONDO_HD static float nearer(float a, float b) noexcept { return a < b ? a : b; }

  /// About `points_of_cell` points a cell, and no more cells than points, however the points lie.
  RONDO_HD void choose_cells(float width, float height) noexcept {
    columns_ = rows_ = 1;
    cell_size_ = 0;
    slack_ = 0;
    if (count_ < 2 || (width <= 0 && height <= 0)) return;
    auto const wanted = static_cast<float>(count_) / points_of_cell;
    // The side of a square cell: width / side * height / side cells are wanted; and of a line, length / side.
    auto side = width < height ? height / wanted : width / wanted;
    while (width / side * (height / side) > wanted) side *= 1.25f;
    cell_size_ = side;
    columns_ = static_cast<std::uint32_t>(width / side) + 1;
    rows_ = static_cast<std::uint32_t>(height / side) + 1;
    while (columns_ * rows_ > count_) {
      cell_size_ *= 1.25f;
      columns_ = static_cast<std::uint32_t>(width / cell_size_) + 1;
      rows_ = static_cast<std::uint32_t>(height / cell_size_) + 1;
    }
    auto const largest = (x0_ < 0 ? -x0_ : x0_) + (y0_ < 0 ? -y0_ : y0_) + width + height;
    slack_ = largest * 1e-6f;
  }
  RONDO_HD std::uint32_t column_of(float x) const noexcept { return number_of(x - x0_, columns_); }
  RONDO_HD std::uint32_t row_of(float y) const noexcept { return number_of(y - y0_, rows_); }
  RONDO_HD std::uint32_t number_of(float from, std::uint32_t most) const noexcept {
    if (most == 1) return 0;
    auto const n = static_cast<std::uint32_t>(from / cell_size_);
    return n < most ? n : most - 1;
  }
  RONDO_HD float edge_of(std::int32_t cell, float from) const noexcept {
    return from + static_cast<float>(cell) * cell_size_;
  }
  /// Cells [left, right] of a row, as far as they exist: their points lie one behind the other.
  RONDO_HD void look_at(point const& p, std::uint32_t self, std::int32_t row, std::int32_t left,
                        std::int32_t right, nearest_few& found) const noexcept {
    auto const columns = static_cast<std::int32_t>(columns_);
    if (right < 0 || left >= columns) return;
    auto const first = (left < 0 ? 0 : left) + row * columns,
               last = (right >= columns ? columns - 1 : right) + row * columns;
    for (auto i = begin_[first]; i < begin_[last + 1]; ++i) {
      auto const dx = x_[i] - p.x, dy = y_[i] - p.y;
      if (index_[i] != self) found.offer({dx * dx + dy * dy, index_[i]});
    }
  }

  // Of the usable points, by cells: where they are, and their places in the list.
  float *x_ = nullptr, *y_ = nullptr;
  std::uint32_t* index_ = nullptr;
  std::uint32_t* cell_ = nullptr;   // of each point in the list
  std::uint32_t* begin_ = nullptr;  // of each cell's points
  std::uint32_t count_ = 0, columns_ = 1, rows_ = 1;
  float x0_ = 0, y0_ = 0, cell_size_ = 0, slack_ = 0;
};

}  // namespace rondo::video
