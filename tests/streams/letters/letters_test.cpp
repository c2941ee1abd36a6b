// Letters from outlines, and lines of text, against the same in double precision.
#include <algorithm>
#include <barrier>
#include <cmath>
#include <thread>
#include <vector>

#include "actors/video/movement/draw.hpp"
#include "tests/catch.hpp"
#include "tests/streams/letters/made_letters.hpp"

using namespace rondo::video;
using rondo::test::made_letters;
namespace pixels = rondo::pixels;

namespace letters_test {

/// Where a contour crosses a horizontal line, and whether it goes upwards there.
struct crossing {
  double x;
  int up;
};

/// Crossings of the line `y`, in the font's units: the roots of each curve.
std::vector<crossing> crossings_of(int index, double y) {
  std::vector<crossing> all;
  letter_outlines::point from{}, control{};
  bool is_curve = false;
  for (int i = letter_outlines::letter_at(index).first; i < letter_outlines::letter_at(index + 1).first;
       ++i) {
    auto const p = letter_outlines::point_at(i);
    if (p.is == letter_outlines::c) {
      control = p, is_curve = true;
      continue;
    }
    if (p.is == letter_outlines::t) {
      double const a = is_curve ? from.y - 2. * control.y + p.y : 0;
      double const b = is_curve ? 2. * (control.y - from.y) : p.y - from.y, c = from.y - y;
      auto const add = [&](double t) {
        if (!(t >= 0 && t < 1)) return;
        double const rest = 1 - t;
        double const x = is_curve ? rest * rest * from.x + 2 * t * rest * control.x + t * t * p.x
                                  : rest * from.x + t * p.x;
        all.push_back({x, 2 * a * t + b > 0 ? 1 : -1});
      };
      if (a == 0) {
        if (b != 0) add(-c / b);
      } else if (double const d = b * b - 4 * a * c; d > 0) {
        add((-b + std::sqrt(d)) / (2 * a));
        add((-b - std::sqrt(d)) / (2 * a));
      }
    }
    from = p, is_curve = false;
  }
  std::sort(all.begin(), all.end(), [](crossing const& l, crossing const& r) { return l.x < r.x; });
  return all;
}

/// The coverages of a row of pixels from column `left` on: exact across, and the mean of 128 lines.
std::vector<double> reference_row(int index, int capital, int left, int width, int y) {
  constexpr int lines = 128;
  std::vector<double> row(static_cast<std::size_t>(width));
  double const scale = capital / double{letter_outlines::capital_units};
  for (int s = 0; s < lines; ++s) {
    // Not through points of the outline, which are whole units.
    double const up = (capital - y - (s + 0.5) / lines) / scale + 1e-5;
    int winding = 0;
    double begin = 0;
    for (auto const& c : crossings_of(index, up)) {
      if (winding == 0) begin = c.x * scale;
      winding += c.up;
      if (winding != 0) continue;
      for (int x = 0; x < width; ++x)
        row[static_cast<std::size_t>(x)] +=
            std::max(0., std::min(c.x * scale, left + x + 1.) - std::max(begin, left + x + 0.)) / lines;
    }
    REQUIRE(winding == 0);
  }
  return row;
}

/// One of several lanes, each on a thread.
struct thread_lane {
  int number, count;
  std::barrier<>& barrier;
  int lane() const { return number; }
  int lane_count() const { return count; }
  void sync() const { barrier.arrive_and_wait(); }
};

}  // namespace letters_test

using namespace letters_test;

TEST_CASE("letters of any size cover what their outlines do", "[letters]") {
  int const capital = GENERATE(7, 9, 16, 33, 92, 448);
  made_letters const letters(letter_sizes{{0, capital}});
  double worst = 0, sum = 0, covered = 0;
  long pixel_count = 0;
  for (int index = 0; index < pixels::letter_count; index += capital < 100 ? 1 : 9) {
    auto const character = static_cast<char>(32 + index);
    auto const& g = letters.book().face[1].of[index];
    CHECK((g.width == 0) == (character == ' '));
    for (int y = g.top - 1; y < g.top + g.height + 1; y += capital < 100 ? 1 : 7) {
      auto const expected = reference_row(index, capital, g.left - 1, g.width + 2, y);
      for (int x = 0; x < g.width + 2; ++x, ++pixel_count) {
        double const found = letters.coverage(1, character, g.left - 1 + x, y) / 256.;
        double const difference = std::abs(found - expected[static_cast<std::size_t>(x)]);
        worst = std::max(worst, difference);
        sum += difference;
        covered += found;
      }
    }
  }
  INFO("capital letters of " << capital << " pixels: mean " << sum / static_cast<double>(pixel_count));
  CHECK(worst < (capital < 100 ? 0.06 : 0.15));  // 16 lines; curves of straight pieces
  CHECK(sum / static_cast<double>(pixel_count) < 0.003);
  CHECK(covered > 0.1 * static_cast<double>(pixel_count));
}

TEST_CASE("a letter has a margin, through which pairs of pixels may begin anywhere", "[letters]") {
  made_letters const letters(letter_sizes{{9, 23}});
  for (int f = 0; f < 2; ++f)
    for (int i = 1; i < pixels::letter_count; ++i) {
      auto const& g = letters.book().face[f].of[i];
      auto const c = static_cast<char>(32 + i);
      int edge = 0;
      for (int x = 0; x < g.width; ++x)
        edge += letters.coverage(f, c, g.left + x, g.top) +
                letters.coverage(f, c, g.left + x, g.top + g.height - 1);
      for (int y = 0; y < g.height; ++y)
        edge += letters.coverage(f, c, g.left, g.top + y) +
                letters.coverage(f, c, g.left + g.width - 1, g.top + y);
      REQUIRE(edge == 0);
    }
}

TEST_CASE("several lanes make the letters that one makes", "[letters]") {
  letter_sizes const sizes{{9, 33}};
  auto const alone = [&] {
    auto memory = made_letters::memory_for(sizes);
    provide_letters(one_lane{}, *reinterpret_cast<pixels::letter_book*>(memory.data()), sizes);
    return memory;
  }();
  int const lanes = GENERATE(2, 3, 7);
  auto memory = made_letters::memory_for(sizes);
  std::barrier<> barrier(lanes);
  std::vector<std::thread> threads;
  for (int lane = 0; lane < lanes; ++lane)
    threads.emplace_back([&, lane] {
      provide_letters(thread_lane{lane, lanes, barrier},
                      *reinterpret_cast<pixels::letter_book*>(memory.data()), sizes);
    });
  for (auto& t : threads) t.join();
  CHECK(memory == alone);
}

TEST_CASE("a line of text is its letters one after the other, blended as in double precision", "[letters]") {
  constexpr int w = 75, h = 41;
  made_letters const letters(letter_sizes{{9, 16}});
  draw_list list;
  clear(list);
  int const x = GENERATE(-9, 0, 1, 22), y = GENERATE(-5, 6, 7, 33);
  text_line line{x, y, GENERATE(0, 1), {235, 40, 210}, GENERATE(as<std::int16_t>{}, 256, 130), 0, {}};
  append(line, "(Tj\xe4");
  append(line, std::int64_t{47});
  add(list, line);
  std::vector<std::byte> memory(frame_bytes(w, h));
  carver c(memory.data());
  auto const view = carve_frame(c, w, h);
  std::vector<double> expected[3] = {std::vector<double>(w * h), std::vector<double>(38 * 21),
                                     std::vector<double>(38 * 21)};
  auto const before = [](int plane, int px, int py) { return 30 * plane + 20 + (px * 7 + py * 11) % 90; };
  for (int p = 0; p < 3; ++p) {
    auto const& plane = p == 0 ? view.y : p == 1 ? view.u : view.v;
    for (int py = 0; py < plane.height; ++py)
      for (int px = 0; px < plane.width; ++px) {
        plane.at(px, py) = static_cast<std::uint8_t>(before(p, px, py));
        double value = before(p, px, py);
        int pen = x;
        for (int k = 0; k < line.length; ++k) {
          double part = 0;
          int const half = p == 0 ? 1 : 2;
          for (int i = 0; i < half * half; ++i)
            part += letters.coverage(line.face, line.text[k], half * px + i % half - pen,
                                     half * py + i / half - y);
          part *= line.alpha / 65536. / (half * half);
          double const ink = p == 0 ? line.ink.y : p == 1 ? line.ink.u : line.ink.v;
          value += part * (ink - value);
          pen += letter_advance(line.text[k], letters.book().face[line.face].capital);
        }
        expected[p][static_cast<std::size_t>(py * plane.width + px)] = value;
      }
  }
  draw_tile(one_lane{}, view, list, letters.book(), {0, h});
  int touched = 0;
  for (int p = 0; p < 3; ++p) {
    auto const& plane = p == 0 ? view.y : p == 1 ? view.u : view.v;
    for (int py = 0; py < plane.height; ++py)
      for (int px = 0; px < plane.width; ++px) {
        INFO("plane " << p << " at " << px << ", " << py);
        REQUIRE(std::abs(plane.at(px, py) - expected[p][static_cast<std::size_t>(py * plane.width + px)]) <
                1.6);
        touched += plane.at(px, py) != before(p, px, py) ? 1 : 0;
      }
  }
  CHECK(touched > 20);
}

TEST_CASE("letters are drawn once: a book that is there is left as it is", "[letters]") {
  letter_sizes const sizes{{9, 0}};
  auto memory = made_letters::memory_for(sizes);
  auto& book = *reinterpret_cast<pixels::letter_book*>(memory.data());
  provide_letters(one_lane{}, book, sizes);
  CHECK(book.face[0].capital == 9);
  CHECK(book.face[1].capital == 0);
  CHECK(book.face[1].of['A' - 32].width == 0);
  book.face[0].of[5].advance = 77;
  provide_letters(one_lane{}, book, sizes);
  CHECK(book.face[0].of[5].advance == 77);
}
