// The functions that find movement compared with plain references, and tiles compared with the whole image.
#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <random>
#include <vector>

#include "actors/video/movement/lanes.hpp"
#include "actors/video/movement/pipeline.hpp"
#include "tests/catch.hpp"
#include "tests/streams/letters/made_letters.hpp"

using namespace rondo::video;

namespace {

struct aligned_block {
  explicit aligned_block(std::size_t bytes) : bytes_(bytes + carver::alignment) {}
  void* data() {
    auto const at = reinterpret_cast<std::uintptr_t>(bytes_.data());
    return bytes_.data() + (carver::alignment - at % carver::alignment) % carver::alignment;
  }
  std::vector<std::byte> bytes_;
};

struct test_frame {
  test_frame(int w, int h) : memory(frame_bytes(w, h)) {
    carver c(memory.data());
    view = carve_frame(c, w, h);
  }
  aligned_block memory;
  frame_view view;
};

void fill_random(frame_view const& f, std::mt19937& random, int low, int high) {
  std::uniform_int_distribution<int> value(low, high);
  for (auto const& plane : {f.y, f.u, f.v})
    for (int r = 0; r < plane.height; ++r)
      for (int x = 0; x < plane.width; ++x) plane.at(x, r) = static_cast<std::uint8_t>(value(random));
}

/// One pixel of the model, written with plain conditions.
struct pixel {
  int y, u, v, n, y2, u2, v2, n2, dev;
  bool step(background_params const& p, int py, int pu, int pv) {
    int const limit = std::max(p.luma_threshold * 64, dev * p.noise_factor);
    int const chroma = std::abs(pu - u) + std::abs(pv - v);
    bool const known = std::abs(py - y) <= limit && chroma <= p.chroma_threshold * 64;
    bool const second = !known && std::abs(py - y2) <= limit &&
                        std::abs(pu - u2) + std::abs(pv - v2) <= p.chroma_threshold * 64;
    bool const shadow = py < y && py >= (y >> 6) * p.shadow_floor && chroma <= p.shadow_chroma * 64;
    bool const returning = second && n2 >= p.confidence_limit * 3 / 8;
    if (known) {
      int const d = std::abs(py - y);
      y += (py - y + 16) >> 5;
      u += (pu - u + 16) >> 5;
      v += (pv - v + 16) >> 5;
      n = std::min<int>(n + 1, p.confidence_limit);
      dev = std::min(dev + ((d - dev + 16) >> 5), 512);
    } else {
      n = std::max(n - 1, 0);
      if (second) {
        y2 += (py - y2 + 4) >> 3;
        u2 += (pu - u2 + 4) >> 3;
        v2 += (pv - v2 + 4) >> 3;
        n2 = std::min<int>(n2 + 1, p.confidence_limit);
      } else if (n2 <= 1) {
        y2 = py, u2 = pu, v2 = pv, n2 = 1;
      } else {
        --n2;
      }
    }
    if (n2 > n) std::swap(y, y2), std::swap(u, u2), std::swap(v, v2), std::swap(n, n2);
    return !known && !shadow && !returning;
  }
};

bit_mask random_mask(aligned_block& memory, int w, int h, std::mt19937& random, int percent) {
  carver c(memory.data());
  bit_mask const mask = carve_bits(c, w, h);
  for (int y = 0; y < h; ++y)
    for (int x = 0; x < w; ++x)
      if (static_cast<int>(random() % 100) < percent) mask.row(y)[x / 64] |= std::uint64_t{1} << (x % 64);
  return mask;
}

std::vector<region> label(bit_mask const& mask, int tiles, int min_area, region_list& list,
                          int runs_per_row = 200) {
  carver measure(nullptr);
  carve_components(measure, mask.height, tiles, runs_per_row);
  aligned_block memory(measure.used());
  carver c(memory.data());
  component_ref const components = carve_components(c, mask.height, tiles, runs_per_row);
  for (int t = tiles - 1; t >= 0; --t) label_tile(components, mask, t, band_of(mask.height, tiles, t));
  finish_regions(components, min_area, list);
  return {list.items, list.items + list.count};
}

std::vector<region> flood(bit_mask const& mask, int min_area) {
  std::vector<char> seen(static_cast<std::size_t>(mask.width * mask.height));
  std::vector<region> found;
  for (int y = 0; y < mask.height; ++y)
    for (int x = 0; x < mask.width; ++x) {
      std::vector<std::pair<int, int>> open;
      auto const visit = [&](int px, int py) {
        if (px < 0 || py < 0 || px >= mask.width || py >= mask.height || !mask.get(px, py)) return;
        char& mark = seen[static_cast<std::size_t>(py * mask.width + px)];
        if (mark == 0) mark = 1, open.emplace_back(px, py);
      };
      visit(x, y);
      if (open.empty()) continue;
      region r{x, y, x + 1, y + 1, 0};
      while (!open.empty()) {
        auto const [px, py] = open.back();
        open.pop_back();
        r = {std::min(r.x0, px), std::min(r.y0, py), std::max(r.x1, px + 1), std::max(r.y1, py + 1),
             r.area + 1};
        for (int dy = -1; dy <= 1; ++dy)
          for (int dx = -1; dx <= 1; ++dx) visit(px + dx, py + dy);
      }
      if (r.area >= min_area) found.push_back(r);
    }
  return found;
}

bool same(region const& a, region const& b) {
  return a.x0 == b.x0 && a.y0 == b.y0 && a.x1 == b.x1 && a.y1 == b.y1 && a.area == b.area;
}

}  // namespace

TEST_CASE("bands cover every row once and keep their alignment", "[movement]") {
  for (int rows : {1, 2, 7, 288, 575, 1081})
    for (int count : {1, 2, 3, 8, 64})
      for (int align : {1, 2}) {
        int next = 0;
        for (int t = 0; t < count; ++t) {
          band const b = band_of(rows, count, t, align);
          REQUIRE(b.first == next);
          REQUIRE(b.last >= b.first);
          if (b.last < rows) REQUIRE(b.last % align == 0);
          next = b.last;
        }
        REQUIRE(next == rows);
      }
}

TEST_CASE("the background model equals a plain reference, in any number of tiles", "[movement]") {
  constexpr int w = 83, h = 41;
  background_params p;
  p.confidence_limit = 24;  // so that swaps and returns happen within the test
  int const tiles = GENERATE(1, 3, 20);
  carver measure(nullptr);
  carve_background(measure, w, h);
  aligned_block memory(measure.used()), mask_memory(64 * 64);
  carver c(memory.data());
  background_ref const model = carve_background(c, w, h);
  image_view<std::uint8_t> const mask{static_cast<std::uint8_t*>(mask_memory.data()), w / 2, h / 2, 64};
  std::vector<pixel> reference(static_cast<std::size_t>(w / 2 * (h / 2)));
  std::mt19937 random(7);
  test_frame base(w, h), f(w, h);
  fill_random(base.view, random, 0, 255);
  int foreground = 0;
  for (int frame = 0; frame < 120; ++frame) {
    if (frame % 40 < 25) {
      std::memcpy(f.memory.data(), base.memory.data(), frame_bytes(w, h));
      std::uniform_int_distribution<int> noise(-9, 9);
      for (int r = 0; r < h; ++r)
        for (int x = 0; x < w; ++x)
          f.view.y.at(x, r) =
              static_cast<std::uint8_t>(std::clamp(f.view.y.at(x, r) + noise(random), 0, 255));
    } else {
      fill_random(f.view, random, frame % 2 == 0 ? 0 : 60, frame % 2 == 0 ? 255 : 80);
    }
    for (int t = 0; t < tiles; ++t) {
      band const rows = band_of(h / 2, tiles, t);
      if (frame == 0)
        learn_background(one_lane{}, model, f.view, rows, mask);
      else
        subtract_background(one_lane{}, model, p, f.view, rows, mask);
    }
    for (int y = 0; y < h / 2; ++y)
      for (int x = 0; x < w / 2; ++x) {
        auto const& luma = f.view.y;
        int const sum = luma.at(2 * x, 2 * y) + luma.at(2 * x + 1, 2 * y) + luma.at(2 * x, 2 * y + 1) +
                        luma.at(2 * x + 1, 2 * y + 1);
        int const py = sum * 16, pu = f.view.u.at(x, y) * 64, pv = f.view.v.at(x, y) * 64;
        pixel& q = reference[static_cast<std::size_t>(y * (w / 2) + x)];
        if (frame == 0) q = {py, pu, pv, 1, py, pu, pv, 0, 128};
        bool const expected = frame != 0 && q.step(p, py, pu, pv);
        foreground += expected ? 1 : 0;
        if ((mask.at(x, y) != 0) != expected) FAIL("frame " << frame << ", pixel " << x << "," << y);
      }
  }
  CHECK(foreground > 1000);
}

TEST_CASE("mask clean-up equals majority and closing computed pixel by pixel, in any number of tiles",
          "[movement]") {
  int const w = GENERATE(1, 63, 64, 65, 200), h = 37;
  clean_params const p =
      GENERATE(clean_params{2, 1, 3}, clean_params{0, 0, 0}, clean_params{1, 4, 2}, clean_params{3, 0, 1});
  std::mt19937 random(static_cast<unsigned>(w));
  aligned_block memory(static_cast<std::size_t>(256 * h));
  image_view<std::uint8_t> const mask{static_cast<std::uint8_t*>(memory.data()), w, h, 256};
  for (int y = 0; y < h; ++y)
    for (int x = 0; x < w; ++x) mask.at(x, y) = random() % 100 < 47 ? 1 : 0;

  using plane = std::vector<int>;
  auto const at = [&](plane const& a, int x, int y) { return a[static_cast<std::size_t>(y * w + x)]; };
  auto const each = [&](int rx, int ry, plane const& in, auto fold, int start) {
    plane out(static_cast<std::size_t>(w * h));
    for (int y = 0; y < h; ++y)
      for (int x = 0; x < w; ++x) {
        int v = start;
        for (int dy = -ry; dy <= ry; ++dy)
          for (int dx = -rx; dx <= rx; ++dx)
            if (x + dx >= 0 && x + dx < w && y + dy >= 0 && y + dy < h) v = fold(v, at(in, x + dx, y + dy));
        out[static_cast<std::size_t>(y * w + x)] = v;
      }
    return out;
  };
  plane bytes(static_cast<std::size_t>(w * h));
  for (int y = 0; y < h; ++y)
    for (int x = 0; x < w; ++x) bytes[static_cast<std::size_t>(y * w + x)] = mask.at(x, y);
  plane m = each(
      1, 1, bytes, [](int a, int b) { return a + b; }, 0);
  for (int& v : m) v = v >= 5 ? 1 : 0;
  m = each(
      0, p.open_y, m, [](int a, int b) { return std::min(a, b); }, 1);
  m = each(
      0, p.open_y, m, [](int a, int b) { return std::max(a, b); }, 0);
  m = each(
      p.close_x, p.close_y, m, [](int a, int b) { return std::max(a, b); }, 0);
  m = each(
      p.close_x, p.close_y, m, [](int a, int b) { return std::min(a, b); }, 1);

  for (int tiles : {1, 2, 9, 37}) {
    carver measure(nullptr);
    carve_bits(measure, w, h);
    aligned_block out_memory(measure.used());
    carver c(out_memory.data());
    bit_mask const out = carve_bits(c, w, h);
    for (int t = 0; t < tiles; ++t) {
      band const rows = band_of(h, tiles, t);
      std::vector<std::uint64_t> scratch(
          static_cast<std::size_t>(clean_scratch_words(w, rows.last - rows.first, p)));
      clean_mask(one_lane{}, mask, p, rows, scratch.data(), out);
    }
    for (int y = 0; y < h; ++y)
      for (int x = 0; x < w; ++x)
        if (out.get(x, y) != (at(m, x, y) != 0)) FAIL("tiles " << tiles << ", pixel " << x << "," << y);
    std::uint64_t const past = w % 64 == 0 ? 0 : ~std::uint64_t{0} << (w % 64);
    for (int y = 0; y < h; ++y) REQUIRE((out.row(y)[out.words - 1] & past) == 0);
  }
}

TEST_CASE("components equal a flood fill, in any number of tiles", "[movement]") {
  int const percent = GENERATE(5, 20, 38, 45, 70, 100), w = GENERATE(64, 77, 130);
  constexpr int h = 50;
  std::mt19937 random(static_cast<unsigned>(percent * w));
  aligned_block memory(static_cast<std::size_t>(4 * 8 * h));
  bit_mask const mask = random_mask(memory, w, h, random, percent);
  std::vector<region> const expected = flood(mask, 4);
  REQUIRE(expected.size() <= region_list::capacity);
  for (int tiles : {1, 2, 7, 50, 64}) {
    region_list list;
    std::vector<region> const found = label(mask, tiles, 4, list);
    REQUIRE(list.overflow == 0);
    REQUIRE(list.lost_runs == 0);
    REQUIRE(found.size() == expected.size());
    REQUIRE(std::equal(found.begin(), found.end(), expected.begin(), same));
  }
}

TEST_CASE("regions and runs that do not fit are counted", "[movement]") {
  constexpr int w = 128, h = 20;
  aligned_block memory(static_cast<std::size_t>(2 * 8 * h));
  carver c(memory.data());
  bit_mask const mask = carve_bits(c, w, h);
  for (int y = 0; y < h; y += 2)
    for (int x = 0; x < w; x += 2) mask.row(y)[x / 64] |= std::uint64_t{1} << (x % 64);
  region_list list;
  label(mask, 3, 1, list);
  CHECK(list.count == region_list::capacity);
  CHECK(list.overflow == 10 * 64 - region_list::capacity);
  label(mask, 1, 1, list, 8);
  CHECK(list.lost_runs == 10 * 64 - 20 * 8);
}

TEST_CASE("the whole pipeline draws the same picture in any number of tiles", "[movement]") {
  constexpr int w = 162, h = 122, frames = 44;
  movement_params p;
  p.tracker.min_travel = 4;
  auto const run = [&](int tiles) {
    aligned_block memory(movement_bytes(w, h, tiles, p));
    carver c(memory.data());
    movement_ref const o = carve_movement(c, w, h, tiles, p);
    reset_movement(o);
    rondo::test::made_letters const letters(drawing_letters(h));
    test_frame f(w, h);
    for (int n = 0; n < frames; ++n) {
      std::mt19937 random(static_cast<unsigned>(n));
      fill_random(f.view, random, 118, 124);
      for (int y = 30; y < 90 && n >= 14; ++y)  // the background has been learnt
        for (int x = 4 * (n - 13); x < 4 * (n - 13) + 24; ++x) f.view.y.at(x, y) = 30;
      for (int t = 0; t < tiles; ++t) detect_tile(one_lane{}, o, p, f.view, t);
      for (int t = 0; t < tiles; ++t) label_tile(one_lane{}, o, p, t);
      finish_frame(o, p, f.view, {"door", 250});
      for (int t = 0; t < tiles; ++t) draw_tile(one_lane{}, o, f.view, letters.book(), t);
    }
    CHECK(o.scene->tracks.next_id == 2);
    CHECK(o.scene->drawing.boxes == 4);
    auto const* first = static_cast<std::byte const*>(f.memory.data());
    return std::vector<std::byte>(first, first + frame_bytes(w, h));
  };
  auto const whole = run(1);
  CHECK(run(2) == whole);
  CHECK(run(7) == whole);
  CHECK(run(200) == whole);
}

TEST_CASE("after a change of the whole scene the background is relearnt without tracks", "[movement]") {
  constexpr int w = 96, h = 64;
  movement_params const p;
  aligned_block memory(movement_bytes(w, h, 2, p));
  carver c(memory.data());
  movement_ref const o = carve_movement(c, w, h, 2, p);
  reset_movement(o);
  test_frame f(w, h);
  for (int n = 0; n < 40; ++n) {
    std::memset(f.view.y.data, n < 20 ? 60 : 180, static_cast<std::size_t>(f.view.y.stride * h));
    for (int t = 0; t < 2; ++t) detect_tile(one_lane{}, o, p, f.view, t);
    for (int t = 0; t < 2; ++t) label_tile(one_lane{}, o, p, t);
    finish_frame(o, p, f.view, {});
  }
  CHECK(o.scene->relearned == 1);
  CHECK(o.scene->tracks.count == 0);
}
