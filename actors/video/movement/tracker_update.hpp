// The tracker's matching of regions to tracks. tracker.hpp, which includes this file, explains the cases (1 to 5).
#pragma once

#include "actors/video/movement/tracker.hpp"

namespace rondo::video::detail {

RONDO_HD constexpr std::int32_t least(std::int32_t a, std::int32_t b) { return a < b ? a : b; }
RONDO_HD constexpr std::int32_t most(std::int32_t a, std::int32_t b) { return a > b ? a : b; }
RONDO_HD constexpr std::int32_t magnitude(std::int32_t a) { return a < 0 ? -a : a; }
RONDO_HD constexpr std::int32_t width(box16 const& b) { return b.x1 - b.x0; }
RONDO_HD constexpr std::int32_t height(box16 const& b) { return b.y1 - b.y0; }
RONDO_HD constexpr std::int64_t area(box16 const& b) { return std::int64_t{width(b)} * height(b); }
RONDO_HD constexpr std::int32_t shared(std::int32_t a0, std::int32_t a1, std::int32_t b0, std::int32_t b1) {
  return most(0, least(a1, b1) - most(a0, b0));
}
RONDO_HD constexpr std::int64_t overlap(box16 const& a, box16 const& b) {
  return std::int64_t{shared(a.x0, a.x1, b.x0, b.x1)} * shared(a.y0, a.y1, b.y0, b.y1);
}
RONDO_HD constexpr box16 common(box16 const& a, box16 const& b) {
  return {least(a.x0, b.x0), least(a.y0, b.y0), most(a.x1, b.x1), most(a.y1, b.y1)};
}
RONDO_HD constexpr box16 moved(box16 const& b, std::int32_t dx, std::int32_t dy) {
  return {b.x0 + dx, b.y0 + dy, b.x1 + dx, b.y1 + dy};
}
/// Overlap in percent of the smaller box.
RONDO_HD constexpr std::int64_t covered(box16 const& a, box16 const& b) {
  std::int64_t const smaller = area(a) < area(b) ? area(a) : area(b);
  return smaller > 0 ? overlap(a, b) * 100 / smaller : 0;
}

/// Working memory of one update, on the caller's stack (about 3 KiB).
struct matching {
  region_list const& list;
  std::int32_t scale;
  std::int16_t owner[region_list::capacity];  ///< the track that follows this region, or -1
  box16 predicted[tracker_state::capacity];
  box16 measured[tracker_state::capacity];
  std::int16_t first[tracker_state::capacity];   ///< the region that continues a track best
  std::int16_t pieces[tracker_state::capacity];  ///< regions that a track follows
  std::int16_t group[tracker_state::capacity];   ///< the region that a track shares with others, or -1
  bool ended[tracker_state::capacity];

  RONDO_HD matching(region_list const& of, std::int32_t pixels) : list(of), scale(pixels) {}
  /// The box of region r in the frame. Computed each time: a table of them would fill a GPU's stack.
  RONDO_HD box16 box(std::int32_t r) const {
    region const& g = list.items[r];
    return {g.x0 * scale * 16, g.y0 * scale * 16, g.x1 * scale * 16, g.y1 * scale * 16};
  }
};

/// The difference in colour. Chroma counts double, because light changes affect luma more.
RONDO_HD inline std::int32_t unlike(track const& t, region const& r) {
  return magnitude(t.look_y / 16 - r.look_y) + 2 * magnitude(t.look_u / 16 - r.look_u) +
         2 * magnitude(t.look_v / 16 - r.look_v);
}

/// How well a region continues a track: 0: not at all; otherwise grows with their overlap, and for settled tracks.
RONDO_HD inline std::int64_t affinity(tracker_params const& p, track const& t, box16 const& predicted,
                                      box16 const& r, region const& seen) {
  if (covered(predicted, r) < p.min_overlap) {
    // A small, fast object may leave its box between frames: accept a nearby region of similar size.
    std::int32_t const dx = magnitude(r.x0 + r.x1 - predicted.x0 - predicted.x1) / 2;
    std::int32_t const dy = magnitude(r.y0 + r.y1 - predicted.y0 - predicted.y1) / 2;
    bool const near = dx < width(predicted) && dy < height(predicted) / 2;
    bool const alike = area(r) < 3 * area(predicted) && area(predicted) < 3 * area(r);
    return near && alike ? 1 : 0;
  }
  std::int64_t const both = area(predicted) + area(r) - overlap(predicted, r);
  return 2 + overlap(predicted, r) * 1000 / (both > 0 ? both : 1) + (shown(t) ? 100 : 0) + least(t.hits, 50) +
         most(0, 300 - p.look_weight * unlike(t, seen));
}

/// Assigns to each track the one region that continues it best; best pairs first (case 1).
RONDO_HD inline void match_best(tracker_state const& s, tracker_params const& p, matching& m) {
  for (;;) {
    std::int64_t best = 0;
    std::int32_t best_track = -1, best_region = -1;
    for (std::int32_t t = 0; t < s.count; ++t) {
      if (m.pieces[t] != 0) continue;
      for (std::int32_t r = 0; r < m.list.count; ++r) {
        if (m.owner[r] >= 0) continue;
        std::int64_t const a = affinity(p, s.items[t], m.predicted[t], m.box(r), m.list.items[r]);
        if (a > best) {
          best = a;
          best_track = t;
          best_region = r;
        }
      }
    }
    if (best_track < 0) return;
    m.owner[best_region] = static_cast<std::int16_t>(best_track);
    m.first[best_track] = static_cast<std::int16_t>(best_region);
    m.measured[best_track] = m.box(best_region);
    m.pieces[best_track] = 1;
  }
}

/// Whether `piece` and the regions already assigned to the track are parts of one upright body of about the track's
/// size.
RONDO_HD inline bool fits(tracker_params const& p, box16 const& body, box16 const& known,
                          box16 const& piece) {
  box16 const both = common(known, piece);
  std::int32_t const slack = 6 * 16;
  bool const size_fits = width(both) * 100 <= width(body) * p.piece_growth + slack * 100 &&
                         height(both) * 100 <= height(body) * p.piece_growth + slack * 100;
  std::int32_t const narrow = least(width(known), width(piece));
  bool const stacked = shared(known.x0, known.x1, piece.x0, piece.x1) * 3 >= narrow;
  bool const both_tall = height(known) * 10 >= height(body) * 6 && height(piece) * 10 >= height(body) * 6;
  return size_fits && (stacked || !both_tall);
}

/// Joins the remaining regions to tracks as pieces (case 2).
RONDO_HD inline void match_pieces(tracker_state const& s, tracker_params const& p, matching& m) {
  for (std::int32_t r = 0; r < m.list.count; ++r) {
    if (m.owner[r] >= 0) continue;
    box16 const piece = m.box(r);
    std::int64_t best = 0;
    std::int32_t best_track = -1;
    for (std::int32_t t = 0; t < s.count; ++t) {
      if (m.pieces[t] == 0 || !fits(p, m.predicted[t], m.measured[t], piece)) continue;
      std::int32_t const reach = 5 * 16;
      box16 const near{m.predicted[t].x0 - reach, m.predicted[t].y0 - reach, m.predicted[t].x1 + reach,
                       m.predicted[t].y1 + reach};
      std::int64_t const inside =
          overlap(near, piece) * 100 / most(1, static_cast<std::int32_t>(area(piece)));
      if (inside >= 60 && inside + (shown(s.items[t]) ? 50 : 0) > best) {
        best = inside + (shown(s.items[t]) ? 50 : 0);
        best_track = t;
      }
    }
    if (best_track < 0) continue;
    m.owner[r] = static_cast<std::int16_t>(best_track);
    m.measured[best_track] = common(m.measured[best_track], piece);
    ++m.pieces[best_track];
  }
}

/// Finds tracks that share another track's region (case 3).
RONDO_HD inline void match_groups(tracker_state const& s, matching& m) {
  for (std::int32_t t = 0; t < s.count; ++t) {
    if (m.pieces[t] != 0 || !shown(s.items[t])) continue;
    for (std::int32_t r = 0; r < m.list.count; ++r) {
      std::int64_t const mine = overlap(m.predicted[t], m.box(r)) * 100;
      if (m.owner[r] < 0 || mine < area(m.predicted[t]) * 35) continue;
      m.group[t] = static_cast<std::int16_t>(r);
      if (shown(s.items[m.owner[r]])) m.group[m.owner[r]] = static_cast<std::int16_t>(r);
      break;
    }
  }
}

/// The box that track t should follow in its shared region: it keeps its size and, where it is outermost, follows the
/// region's edges.
RONDO_HD inline box16 share_of(tracker_state const& s, matching const& m, std::int32_t t) {
  box16 const r = m.box(m.group[t]);
  box16 const& own = m.predicted[t];
  bool leftmost = true, rightmost = true, topmost = true, lowest = true;
  for (std::int32_t o = 0; o < s.count; ++o) {
    if (o == t || m.group[o] != m.group[t]) continue;
    leftmost = leftmost && own.x0 <= m.predicted[o].x0;
    rightmost = rightmost && own.x1 >= m.predicted[o].x1;
    topmost = topmost && own.y0 <= m.predicted[o].y0;
    lowest = lowest && own.y1 >= m.predicted[o].y1;
  }
  std::int32_t dx = 0, dy = 0;
  if (leftmost != rightmost) dx = leftmost ? r.x0 - own.x0 : r.x1 - own.x1;
  if (topmost != lowest) dy = topmost ? r.y0 - own.y0 : r.y1 - own.y1;
  if (topmost && lowest) dy = (r.y0 - own.y0 + r.y1 - own.y1) / 2;
  std::int32_t const limit_x = width(own) / 4, limit_y = height(own) / 8;
  return moved(own, most(-limit_x, least(limit_x, dx)), most(-limit_y, least(limit_y, dy)));
}

/// Moves a track towards the measured box; with `resize`, its size follows too.
RONDO_HD inline void follow(track& t, box16 const& predicted, box16 const& measured, bool resize) {
  std::int32_t const px = predicted.x0 + predicted.x1, py = predicted.y0 + predicted.y1;  // twice the centre
  std::int32_t const rx = measured.x0 + measured.x1 - px, ry = measured.y0 + measured.y1 - py;
  bool const young = t.hits < 4;
  std::int32_t const gain = young ? 12 : 8, rate = young ? 8 : 2;  // of 16
  std::int32_t const cx = px + rx * gain / 16, cy = py + ry * gain / 16;
  t.vx += rx * rate / 2;  // rx / 2 pixels-of-16, times 16, times rate / 16
  t.vy += ry * rate / 2;
  std::int32_t const step = resize ? (young ? 8 : 3) : 0;
  std::int32_t const w = width(predicted) + (width(measured) - width(predicted)) * step / 16;
  std::int32_t const h = height(predicted) + (height(measured) - height(predicted)) * step / 16;
  t.box = {(cx - w) / 2, (cy - h) / 2, (cx + w) / 2, (cy + h) / 2};
}

/// Moves the track's look towards the region's, by 1/8 per frame.
RONDO_HD inline void remember_look(track& t, region const& r) {
  t.look_y += 2 * r.look_y - t.look_y / 8;
  t.look_u += 2 * r.look_u - t.look_u / 8;
  t.look_v += 2 * r.look_v - t.look_v / 8;
}

RONDO_HD inline bool outside(tracker_state const& s, box16 const& b) {
  std::int32_t const cx = (b.x0 + b.x1) / 2, cy = (b.y0 + b.y1) / 2;
  return cx < 0 || cy < 0 || cx >= s.frame_width * 16 || cy >= s.frame_height * 16;
}

/// True if the owner of its shared region has covered this track for long: there is no second person.
RONDO_HD inline bool redundant(tracker_state const& s, tracker_params const& p, matching const& m,
                               std::int32_t t) {
  if (m.group[t] < 0 || s.items[t].grouped < p.max_grouped / 4) return false;
  std::int32_t const owner = m.owner[m.group[t]];
  return owner != t && overlap(s.items[owner].box, s.items[t].box) * 100 >= area(s.items[t].box) * 70;
}

/// True if a region is no larger than one track: another person who shares it is hidden or gone.
RONDO_HD inline bool holds_one(box16 const& region, box16 const& body) {
  return width(region) * 10 <= width(body) * 13 && height(region) * 10 <= height(body) * 12;
}

RONDO_HD inline bool ended(tracker_state const& s, tracker_params const& p, matching const& m,
                           std::int32_t t) {
  track const& now = s.items[t];
  std::int32_t const patience = shown(now) ? p.max_misses : p.max_misses_new;
  return now.misses > patience || now.grouped > p.max_grouped || outside(s, now.box) || redundant(s, p, m, t);
}

}  // namespace rondo::video::detail

namespace rondo::video {

RONDO_CALL RONDO_HD inline void update_tracks(tracker_state& state, tracker_params const& p,
                                              region_list const& list, std::int32_t scale) {
  using namespace detail;
  matching m(list, scale);
  for (std::int32_t r = 0; r < list.count; ++r) m.owner[r] = -1;
  for (std::int32_t t = 0; t < state.count; ++t) {
    m.predicted[t] = moved(state.items[t].box, state.items[t].vx / 16, state.items[t].vy / 16);
    m.pieces[t] = 0;
    m.group[t] = -1;
  }
  match_best(state, p, m);
  match_pieces(state, p, m);
  match_groups(state, m);

  for (std::int32_t t = 0; t < state.count; ++t) {
    track now = state.items[t];
    if (m.group[t] >= 0) {
      follow(now, m.predicted[t], share_of(state, m, t), false);
      now.misses = 0;
      std::int32_t const owner = m.owner[m.group[t]];
      if (owner == t)
        now.grouped = 0;
      else
        now.grouped += holds_one(m.box(m.group[t]), m.predicted[owner]) ? 2 : 1;
    } else if (m.pieces[t] != 0) {
      follow(now, m.predicted[t], m.measured[t], true);
      if (m.pieces[t] == 1) remember_look(now, list.items[m.first[t]]);
      now.misses = now.grouped = 0;
      ++now.hits;
    } else {
      now.box = m.predicted[t];
      now.vx = now.vx * 7 / 8;
      now.vy = now.vy * 7 / 8;
      ++now.misses;
    }
    if (!shown(now) && now.hits >= p.min_hits) {
      std::int32_t const x = (now.box.x0 + now.box.x1) / 2, y = (now.box.y0 + now.box.y1) / 2;
      if (magnitude(x - now.born_x) + magnitude(y - now.born_y) >= p.min_travel * 16)
        now.id = state.next_id++;
    }
    state.items[t] = now;
  }
  for (std::int32_t t = 0; t < state.count; ++t) m.ended[t] = ended(state, p, m, t);
  std::int32_t kept = 0;
  for (std::int32_t t = 0; t < state.count; ++t)
    if (!m.ended[t]) state.items[kept++] = state.items[t];
  state.count = kept;

  for (std::int32_t r = 0; r < list.count; ++r) {
    box16 const b = m.box(r);
    region const& g = list.items[r];
    if (m.owner[r] >= 0 || height(b) < p.min_height * 16) continue;
    if (state.count == tracker_state::capacity) {
      ++state.overflow;
      continue;
    }
    state.items[state.count++] = {0,
                                  1,
                                  0,
                                  0,
                                  b,
                                  0,
                                  0,
                                  (b.x0 + b.x1) / 2,
                                  (b.y0 + b.y1) / 2,
                                  g.look_y * 16,
                                  g.look_u * 16,
                                  g.look_v * 16};
  }
}

}  // namespace rondo::video
