// The graph of the nearest neighbours of tracked points: who is linked to whom, without flicker.
//
//   1. Each point chooses its k nearest neighbours. Two points are linked if one of them has chosen the other.
//   2. Links that go too far up or down are left out (`delta_y_cap`).
//   3. The nearest links come first: one that would give a point more than `degree_cap` links is left out.
// Hysteresis: in all of this a link that was there in the last picture counts as shorter, by that part of its length.
// So points that move a little keep their links, and what changes does so once. Links are known by the points' ids.
//
// All memory is flat, and in one block, which keeps the last picture's links. Threads: `begin` and `finish` on one;
// between them `choose` for different points on any.
#pragma once

#include "actors/video/overlay/nearest.hpp"

namespace rondo::video {

struct knn_params {
  std::uint32_t k = 5;           ///< neighbours that a point chooses, at most nearest_few::limit
  float delta_y_cap = 0;         ///< pixels; 0: none
  std::uint32_t degree_cap = 0;  ///< links of a point; 0: none
  float hysteresis = 0.2f;       ///< of a length, from 0 to below 1
};

class knn_links {
 public:
  RONDO_HD knn_links() noexcept {}
  /// For lists of at most `most` points.
  RONDO_HD knn_links(carver& memory, std::uint32_t most, std::uint32_t k) noexcept
      : most_(most),
        k_(k),
        grid_(memory, most),
        chosen_(memory.take<neighbour>(std::size_t{most} * k)),
        chosen_count_(memory.take<std::uint32_t>(most)),
        links_(memory.take<link>(std::size_t{most} * k)),
        order_(memory.take<std::uint32_t>(std::size_t{most} * k)),
        spare_(memory.take<std::uint32_t>(std::size_t{most} * k)),
        degree_(memory.take<std::uint32_t>(most + 1)),
        kept_(memory.take<std::uint32_t>(2 * std::size_t{most} * k)),
        table_(memory.take<std::uint32_t>(table_size(most))),
        before_(memory.take<id_pair>(std::size_t{most} * k)),
        before_count_(memory.take<std::uint32_t>(1)) {}

  RONDO_HD static std::size_t bytes(std::uint32_t most, std::uint32_t k) noexcept {
    carver measure(nullptr);
    knn_links(measure, most, k);
    return measure.used();
  }

  /// Sorts the points, and finds the last picture's links among them. Returns how many points are usable.
  RONDO_HD std::uint32_t begin(list_view<point> const& all) noexcept {
    auto const usable = grid_.build(all);
    find_kept(all);
    return usable;
  }

  /// Of points [first, last) of the list.
  RONDO_HD void choose(list_view<point> const& all, knn_params const& p, std::uint32_t first,
                       std::uint32_t last) const noexcept {
    auto const shorter = (1 - p.hysteresis) * (1 - p.hysteresis);
    for (auto i = first; i < last; ++i) {
      chosen_count_[i] = 0;
      if (!point_grid::is_usable(all[i])) continue;
      nearest_few near{k_}, few{k_};
      grid_.search(all[i], i, near);
      for (std::uint32_t n = 0; n < near.size(); ++n)
        if (!was_linked(i, near[n].index)) few.offer(near[n]);
      for (auto n = degree_[i]; n < degree_[i + 1]; ++n)
        few.offer({square_of(all[i], all[kept_[n]]) * shorter, kept_[n]});
      for (std::uint32_t n = 0; n < few.size(); ++n) chosen_[std::size_t{i} * k_ + n] = few[n];
      chosen_count_[i] = few.size();
    }
  }

  /// Writes the links, in an order that does not depend on their lengths, and remembers them.
  RONDO_HD void finish(list_view<point> const& all, knn_params const& p, list_view<edge> to) noexcept {
    auto const n = list_links(all, p);
    if (p.degree_cap != 0) keep_shortest(n, all.size(), p.degree_cap);
    to.clear();
    std::uint32_t kept = 0, left_out = 0;
    for (std::uint32_t i = 0; i < n; ++i) {
      auto const& l = links_[i];
      auto const &a = all[l.from], &b = all[l.to];
      if (l.drawn == 0) continue;
      to.add({a.id, b.id, a.x, a.y, b.x, b.y});
      before_[kept++] = {a.id, b.id};
    }
    for (std::uint32_t i = 0; i < all.size(); ++i) left_out += !point_grid::is_usable(all[i]);
    to.leave_out(left_out);
    *before_count_ = kept;
  }

 private:
  struct link {
    std::uint32_t from, to;  // places in the list of points; from < to
    float square;            // of the length, as it counts
    std::uint32_t drawn;
  };
  struct id_pair {
    std::uint32_t from, to;
  };

  RONDO_HD static float square_of(point const& a, point const& b) noexcept {
    auto const dx = a.x - b.x, dy = a.y - b.y;
    return dx * dx + dy * dy;
  }

  // -- the last picture's links

  RONDO_HD static std::uint32_t table_size(std::uint32_t most) noexcept {
    return 2 * ceil_power_of_two(most);
  }
  RONDO_HD std::uint32_t place_of(std::uint32_t id) const noexcept {
    return (id * 2654435761u) >> 7 & (table_size(most_) - 1);
  }
  /// The place of the first usable point with this id; `most_`: there is none.
  RONDO_HD std::uint32_t find(list_view<point> const& all, std::uint32_t id) const noexcept {
    for (auto at = place_of(id);; at = (at + 1) & (table_size(most_) - 1)) {
      if (table_[at] == 0) return most_;
      if (all[table_[at] - 1].id == id) return table_[at] - 1;
    }
  }
  /// Lists for each point the points that it was linked to: kept_[degree_[i]] to kept_[degree_[i + 1]].
  RONDO_HD void find_kept(list_view<point> const& all) noexcept {
    for (std::uint32_t i = 0; i <= all.size(); ++i) degree_[i] = 0;
    auto const before = *before_count_;
    if (before == 0) return;
    for (std::uint32_t i = 0; i < table_size(most_); ++i) table_[i] = 0;
    for (std::uint32_t i = 0; i < all.size(); ++i) {
      if (!point_grid::is_usable(all[i])) continue;
      auto at = place_of(all[i].id);
      // Of several points with one id only the first has a past.
      while (table_[at] != 0 && all[table_[at] - 1].id != all[i].id) at = (at + 1) & (table_size(most_) - 1);
      if (table_[at] == 0) table_[at] = i + 1;
    }
    // The ends of links that are still there, then as a counting sort by points.
    std::uint32_t count = 0;
    for (std::uint32_t b = 0; b < before; ++b) {
      auto const from = find(all, before_[b].from), to = find(all, before_[b].to);
      if (from == most_ || to == most_ || from == to) continue;
      links_[count++] = {from, to, 0, 0};
      ++degree_[from], ++degree_[to];
    }
    std::uint32_t sum = 0;
    for (std::uint32_t i = 0; i <= all.size(); ++i) sum += degree_[i], degree_[i] = sum;
    for (auto l = count; l-- > 0;) {
      kept_[--degree_[links_[l].from]] = links_[l].to;
      kept_[--degree_[links_[l].to]] = links_[l].from;
    }
  }
  RONDO_HD bool was_linked(std::uint32_t i, std::uint32_t to) const noexcept {
    bool found = false;
    for (auto n = degree_[i]; n < degree_[i + 1]; ++n) found |= kept_[n] == to;
    return found;
  }

  // -- the links of this picture

  RONDO_HD std::uint32_t list_links(list_view<point> const& all, knn_params const& p) const noexcept {
    std::uint32_t n = 0;
    for (std::uint32_t i = 0; i < all.size(); ++i) {
      for (std::uint32_t c = 0; c < chosen_count_[i]; ++c) {
        auto const& one = chosen_[std::size_t{i} * k_ + c];
        auto const j = one.index;
        if (j < i && has_chosen(j, i)) continue;  // listed with j
        if (p.delta_y_cap > 0) {
          auto const rise = all[i].y - all[j].y;
          auto const height = (rise < 0 ? -rise : rise) * (was_linked(i, j) ? 1 - p.hysteresis : 1);
          if (height > p.delta_y_cap) continue;
        }
        links_[n++] = {i < j ? i : j, i < j ? j : i, one.square, 1};
      }
    }
    return n;
  }
  RONDO_HD bool has_chosen(std::uint32_t i, std::uint32_t j) const noexcept {
    bool found = false;
    for (std::uint32_t c = 0; c < chosen_count_[i]; ++c) found |= chosen_[std::size_t{i} * k_ + c].index == j;
    return found;
  }
  /// Leaves out links of [0, n) that would give one of `all` points more than `cap` of them.
  RONDO_HD void keep_shortest(std::uint32_t n, std::uint32_t all, std::uint32_t cap) noexcept {
    sort_by_length(n);
    for (std::uint32_t i = 0; i < all; ++i) degree_[i] = 0;
    for (std::uint32_t o = 0; o < n; ++o) {
      auto& l = links_[order_[o]];
      l.drawn = degree_[l.from] < cap && degree_[l.to] < cap;
      degree_[l.from] += l.drawn, degree_[l.to] += l.drawn;
    }
  }
  /// Fills order_ with the numbers of links [0, n), the shortest first; of equal ones, the first. The bits of floats
  /// that are not negative are in the order of their values: four rounds of a counting sort, by a byte each.
  RONDO_HD void sort_by_length(std::uint32_t n) noexcept {
    for (std::uint32_t i = 0; i < n; ++i) order_[i] = i;
    for (std::uint32_t shift = 0; shift < 32; shift += 8) {
      std::uint32_t begin[257] = {};
      auto const key = [&](std::uint32_t i) {
        std::uint32_t bits = 0;
        __builtin_memcpy(&bits, &links_[i].square, sizeof bits);
        return bits >> shift & 0xff;
      };
      for (std::uint32_t i = 0; i < n; ++i) ++begin[key(order_[i]) + 1];
      for (std::uint32_t b = 0; b < 256; ++b) begin[b + 1] += begin[b];
      for (std::uint32_t i = 0; i < n; ++i) spare_[begin[key(order_[i])]++] = order_[i];
      auto* const sorted = spare_;
      spare_ = order_;
      order_ = sorted;
    }
  }

  std::uint32_t most_ = 0, k_ = 0;
  point_grid grid_;
  neighbour* chosen_ = nullptr;            // k_ for each point
  std::uint32_t* chosen_count_ = nullptr;  // how many of them
  link* links_ = nullptr;
  std::uint32_t *order_ = nullptr, *spare_ = nullptr;
  std::uint32_t* degree_ = nullptr;  // of each point; in `choose`: where its kept links begin
  std::uint32_t* kept_ = nullptr;
  std::uint32_t* table_ = nullptr;  // by ids: places of points, from 1; 0: none
  id_pair* before_ = nullptr;       // the last picture's links
  std::uint32_t* before_count_ = nullptr;
};

}  // namespace rondo::video
