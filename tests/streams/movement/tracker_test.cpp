// The tracker keeps ids on synthetic people that walk, are hidden, cross, or are in pieces.
#include <vector>

#include <algorithm>
#include "actors/video/movement/tracker.hpp"
#include "tests/catch.hpp"

using namespace rondo::video;

namespace {

/// A tracker fed with boxes in frame pixels.
struct scene {
  scene() { reset_tracker(state, 768, 576); }
  void step(std::vector<region> const& boxes) {
    region_list list{};
    for (region const& b : boxes)
      list.items[list.count++] = {b.x0 / 2, b.y0 / 2, b.x1 / 2, b.y1 / 2, (b.x1 - b.x0) * (b.y1 - b.y0) / 4};
    update_tracks(state, params, list, 2);
  }
  /// The id of the visible track whose box's centre is nearest to (x, y), or 0.
  int id_at(int x, int y, int reach = 20) const {
    int best = 0, nearest = reach;
    for (int i = 0; i < state.count; ++i) {
      track const& t = state.items[i];
      int const dx = (t.box.x0 + t.box.x1) / 32 - x, dy = (t.box.y0 + t.box.y1) / 32 - y;
      int const d = (dx < 0 ? -dx : dx) + (dy < 0 ? -dy : dy);
      if (visible(params, t) && d < nearest) best = t.id, nearest = d;
    }
    return best;
  }
  int visible_count() const {
    int n = 0;
    for (int i = 0; i < state.count; ++i) n += visible(params, state.items[i]) ? 1 : 0;
    return n;
  }
  tracker_params params;
  tracker_state state;
};

region person(int x, int y, int w = 30, int h = 80) { return {x, y, x + w, y + h, 0}; }

}  // namespace

TEST_CASE("a walking person is shown after a few frames and keeps one id and a fitting box", "[movement]") {
  scene s;
  for (int n = 0; n < 60; ++n) {
    s.step({person(100 + 6 * n, 200)});
    if (n < s.params.min_hits - 1) REQUIRE(s.visible_count() == 0);
    if (n >= 8) REQUIRE(s.id_at(115 + 6 * n, 240, 8) == 1);
  }
  CHECK(s.state.next_id == 2);
}

TEST_CASE("things that flicker or stand still are never shown", "[movement]") {
  scene s;
  for (int n = 0; n < 60; ++n) {
    std::vector<region> boxes{person(500, 300)};
    if (n % 5 == 0) boxes.push_back(person(100 + n * 7 % 300, 100));
    s.step(boxes);
  }
  CHECK(s.state.next_id == 1);
}

TEST_CASE("an id survives a short occlusion", "[movement]") {
  scene s;
  for (int n = 0; n < 60; ++n) {
    bool const hidden = n >= 25 && n < 35;
    s.step(hidden ? std::vector<region>{} : std::vector<region>{person(100 + 5 * n, 200)});
    if (n == 34) CHECK(s.visible_count() == 0);
    if (n == 24 || n > 38) REQUIRE(s.id_at(115 + 5 * n, 240) == 1);
  }
  CHECK(s.state.next_id == 2);
}

TEST_CASE("a person who left is forgotten and the next one gets a new id", "[movement]") {
  scene s;
  for (int n = 0; n < 20; ++n) s.step({person(300 + 5 * n, 200)});
  for (int n = 0; n < s.params.max_misses + 2; ++n) s.step({});
  CHECK(s.state.count == 0);
  for (int n = 0; n < 20; ++n) s.step({person(300 + 5 * n, 200)});
  CHECK(s.id_at(300 + 5 * 19 + 15, 240) == 2);
}

TEST_CASE("two people who cross keep their ids, though they are one region while they do", "[movement]") {
  int const speed = GENERATE(4, 6, 9), lower = GENERATE(0, 10);
  scene s;
  int left = 0, right = 0;
  int const meet = 40;
  for (int n = 0; n < 80; ++n) {
    region const a = person(380 + (n - meet) * speed, 200), b = person(380 - (n - meet) * speed, 200 + lower);
    bool const touch = a.x0 <= b.x1 && b.x0 <= a.x1;
    region const both{std::min(a.x0, b.x0), std::min(a.y0, b.y0), std::max(a.x1, b.x1), std::max(a.y1, b.y1),
                      0};
    s.step(touch ? std::vector<region>{both} : std::vector<region>{a, b});
    if (n == 25) {
      left = s.id_at(a.x0 + 15, 240);
      right = s.id_at(b.x0 + 15, 240 + lower);
      REQUIRE(left != 0);
      REQUIRE(right != 0);
      REQUIRE(left != right);
    }
    if (n > 60) {
      REQUIRE(s.id_at(a.x0 + 15, 240) == left);
      REQUIRE(s.id_at(b.x0 + 15, 240 + lower) == right);
    }
  }
  CHECK(s.state.next_id == 3);
}

TEST_CASE("pieces of one person make one box", "[movement]") {
  scene s;
  for (int n = 0; n < 50; ++n) {
    int const x = 100 + 5 * n;
    if (n < 12 || n % 3 == 0)
      s.step({person(x, 200)});
    else
      s.step({{x + 4, 200, x + 26, 234, 0}, {x, 240, x + 30, 280, 0}});
    if (n > 12) REQUIRE(s.visible_count() == 1);
    if (n > 12) REQUIRE(s.id_at(x + 15, 240, 10) == 1);
  }
  CHECK(s.state.count == 1);
}

TEST_CASE("two who part after entering as one become two ids", "[movement]") {
  scene s;
  for (int n = 0; n < 70; ++n) {
    int const x = 100 + 5 * n, gap = n < 20 ? 0 : (n - 20) * 2;
    if (gap < 6)
      s.step({{x, 200, x + 64 + gap, 280, 0}});
    else
      s.step({person(x, 200), person(x + 34 + gap, 200)});
  }
  CHECK(s.visible_count() == 2);
  CHECK(s.state.next_id == 3);
}

TEST_CASE("regions beyond the tracker's capacity are counted", "[movement]") {
  scene s;
  std::vector<region> boxes;
  for (int i = 0; i < 100; ++i) boxes.push_back(person(i % 20 * 38, i / 20 * 90));
  s.step(boxes);
  CHECK(s.state.count == tracker_state::capacity);
  CHECK(s.state.overflow == 100 - tracker_state::capacity);
}
