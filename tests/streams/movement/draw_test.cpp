// The drawing stage against a supersampled reference, and its text.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>

#include "actors/video/movement/draw.hpp"
#include "actors/video/movement/lanes.hpp"
#include "tests/catch.hpp"
#include "tests/streams/letters/made_letters.hpp"

using namespace rondo::video;
using rondo::test::made_letters;
namespace pixels = rondo::pixels;

namespace {

struct canvas {
  canvas(int w, int h) : memory(frame_bytes(w, h)) {
    carver c(memory.data());
    view = carve_frame(c, w, h);
  }
  std::vector<std::byte> memory;
  frame_view view;
};

/// For drawings without text.
pixels::letter_book const no_letters{};

/// Signed distance in pixels, in floating point and by its definition.
double distance(rounded_box const& b, double x, double y) {
  double const r = b.radius16 / 16.0, cx = (b.box.x0 + b.box.x1) / 32.0, cy = (b.box.y0 + b.box.y1) / 32.0;
  double const qx = std::abs(x - cx) - (b.box.x1 - b.box.x0) / 32.0 + r;
  double const qy = std::abs(y - cy) - (b.box.y1 - b.box.y0) / 32.0 + r;
  return std::hypot(std::max(qx, 0.0), std::max(qy, 0.0)) + std::min(std::max(qx, qy), 0.0) - r;
}

}  // namespace

TEST_CASE("the coverage of each pixel by a box equals that of sixteen by sixteen samples", "[movement]") {
  // Luma 0 and ink 255, so that a pixel's value is its coverage.
  canvas c(91, 73);
  rounded_box const b{
      {201, 166, 1203, 937}, 8 * 16, GENERATE(0, 32, 56), {255, 255, 255}, {255, 255, 255}, 256, 256};
  draw_list list;
  clear(list);
  bool const stroke_only = b.stroke16 != 0;
  rounded_box drawn = b;
  drawn.fill_alpha = stroke_only ? 0 : 256;
  drawn.stroke_alpha = stroke_only ? 256 : 0;
  add(list, drawn);
  draw_tile(one_lane{}, c.view, list, no_letters, {0, 73});
  double worst = 0, total = 0;
  for (int y = 0; y < 73; ++y)
    for (int x = 0; x < 91; ++x) {
      int inside = 0;
      for (int k = 0; k < 256; ++k) {
        double const d = distance(b, x + (k % 16 + 0.5) / 16, y + (k / 16 + 0.5) / 16);  // NOLINT
        inside += (stroke_only ? std::abs(d) <= b.stroke16 / 32.0 : d <= 0) ? 1 : 0;
      }
      double const error = std::abs(inside / 256.0 - c.view.y.at(x, y) / 255.0);
      worst = std::max(worst, error);
      total += error;
    }
  CHECK(worst < 0.13);
  CHECK(total / (91 * 73) < 0.003);
}

TEST_CASE("chroma gets the mean coverage of its four pixels", "[movement]") {
  canvas c(64, 48);
  std::memset(c.view.u.data, 0, static_cast<std::size_t>(c.view.u.stride * 24));
  draw_list list;
  clear(list);
  add(list, rounded_box{{100, 90, 901, 640}, 96, 40, {255, 255, 255}, {255, 255, 255}, 0, 256});
  draw_tile(one_lane{}, c.view, list, no_letters, {0, 48});
  int touched = 0;
  for (int y = 0; y < 24; ++y)
    for (int x = 0; x < 32; ++x) {
      int const mean = (c.view.y.at(2 * x, 2 * y) + c.view.y.at(2 * x + 1, 2 * y) +
                        c.view.y.at(2 * x, 2 * y + 1) + c.view.y.at(2 * x + 1, 2 * y + 1)) /
                       4;
      REQUIRE(std::abs(mean - c.view.u.at(x, y)) <= 2);
      touched += mean > 0 ? 1 : 0;
    }
  CHECK(touched > 80);
}

TEST_CASE("drawing over the frame's edge stays in the frame and looks the same in any tiles", "[movement]") {
  int const w = 75, h = 53;
  draw_list list;
  clear(list);
  add(list, rounded_box{{-160, -90, 400, 300}, 80, 32, {90, 30, 200}, {200, 90, 90}, 60, 256});
  add(list, rounded_box{{900, 600, 2000, 2000}, 80, 48, {90, 30, 200}, {10, 90, 90}, 200, 130});
  add(list, rounded_box{{500, 300, 502, 301}, 0, 16, {90, 30, 200}, {10, 90, 90}, 200, 130});
  made_letters const letters(letter_sizes{{9, 12}});
  text_line t{-3, 42, 1, {235, 128, 128}, 256, 0, {}};
  append(t, "Rondo #");
  append(t, std::int64_t{120345});
  add(list, t);
  auto const paint = [&](int tiles) {
    canvas c(w, h);
    for (int i = 0; i < tiles; ++i)
      draw_tile(one_lane{}, c.view, list, letters.book(), band_of(h, tiles, i, 2));
    return c.memory;
  };
  auto const whole = paint(1);
  int painted = 0;
  for (std::byte const b : whole) painted += b != std::byte{0} ? 1 : 0;
  CHECK(painted > 500);
  CHECK(paint(5) == whole);
  CHECK(paint(27) == whole);
}

TEST_CASE("text and numbers that do not fit are cut, not written past the end", "[movement]") {
  text_line t{};
  for (int i = 0; i < 10; ++i) append(t, std::int64_t{9876543210});
  CHECK(t.length == text_line::capacity);
  text_line zero{};
  append(zero, std::int64_t{0});
  CHECK(zero.length == 1);
  CHECK(zero.text[0] == '0');
}
