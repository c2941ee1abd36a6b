// A million edges in one list, on a small picture: nothing leaves the memory that the stages ask for, and none is lost.
#include <cmath>
#include <limits>
#include <vector>

#include "actors/video/stages/draw_edges.hpp"
#include "tests/catch.hpp"
#include "tests/streams/overlay/exact_memory.hpp"

namespace many_edges_test {

using namespace rondo::video;
using exact_memory::memory;

namespace {

constexpr std::uint32_t million = 1'000'000;

/// Of all kinds: most are long lines in the tiles, but below the picture, which costs little. Others lie over its first
/// rows, with ends far outside; or are upright, or dots; or are not drawn, because an end is no number, infinite, or
/// farther off than a million. The first one and the last one are short, and alone in the last rows.
class scene {
 public:
  scene(std::int32_t width, float height) : about_{million}, bytes_(about_.bytes()) {
    list_view<edge> list(about_, bytes_.data());
    list.clear();
    std::uint32_t random = 7;  // a small generator: sanitizers make those of the library slow
    auto const within = [&](float low, float high) {
      random = random * 1'664'525 + 1'013'904'223;
      return low + (high - low) * static_cast<float>(random >> 8) / (1 << 24);
    };
    auto const right = static_cast<float>(width), free = height - 6;
    constexpr float nan = std::numeric_limits<float>::quiet_NaN(),
                    infinite = std::numeric_limits<float>::infinity();
    float const bad[] = {nan, -nan, infinite, -infinite, 1.1e6F, -std::numeric_limits<float>::max()};
    list.add({0, 1, 2, free + 3, 4, free + 3});
    for (std::uint32_t n = 1; n + 1 < million; ++n) {
      auto const y = within(-4, free - 1.6F);
      edge e{n, n + 1, -50, within(height + 4, 60), right + 50, within(height + 4, 60)};
      switch (n % 16) {
        case 0:
          e.x0 = -1e6F, e.x1 = 1e6F, e.y0 = e.y1 = y;
          break;
        case 1:
          e.y0 = -1e6F, e.y1 = y, e.x0 = e.x1 = within(0, right);
          break;
        case 2:
          e.x0 = e.x1 = within(0, right), e.y0 = e.y1 = y;
          break;
        case 3:
          e.y0 = e.y1 = y;
          (n % 64 < 16 ? e.x0 : n % 64 < 32 ? e.y0 : n % 64 < 48 ? e.x1 : e.y1) = bad[n / 64 % 6];
          break;
        default:
          break;
      }
      list.add(e);
    }
    list.add({0, 1, right - 4, free + 3, right - 2, free + 3});
  }
  list_of<edge> about() const { return about_; }
  std::byte* data() const { return bytes_.data(); }

 private:
  list_of<edge> about_;
  memory bytes_;
};

template <class Stage>
void draw(typename Stage::options const& o, std::int32_t width, std::int32_t height, std::uint32_t lanes) {
  scene const all(width, static_cast<float>(height));
  exact_memory::context<Stage, edge> const ctx{all.about(), all.data(), o};
  image const about{width, height};
  memory const picture(about.bytes());
  Stage stage{};
  auto const own = exact_memory::carve_for(stage);
  stage.take(ctx, rondo::streams::tick{}, about);
  REQUIRE(stage.count() == million);
  REQUIRE(std::uint64_t{million} * Stage::shapes_of_item(o) <=
          tile_layer<rondo::pixels::segment>::most_shapes);
  exact_memory::draw<rondo::pixels::segment>(stage, o, about, picture.data(), lanes);

  auto const brightness = planes_at(about, picture.data()).of[0];
  auto const row = height - 3;
  constexpr int before = 0x5A, white = 235;
  for (std::int32_t x = 0; x < width; ++x) {
    bool const is_covered = (x >= 2 && x < 4) || (x >= width - 4 && x < width - 2);
    bool const is_near = x < 7 || x >= width - 7;
    if (is_covered) CHECK(brightness.at(x, row) == white);
    if (!is_near) CHECK(brightness.at(x, row) == before);
    CHECK(brightness.at(x, 0) == white);  // below hundreds of thousands of lines
  }
}

}  // namespace

TEST_CASE("a million edges are drawn, whether bins have room for all or not", "[overlay][many_edges]") {
  // In one tile; and in eleven side by side, which 13 of 16 edges touch all: more than 8 for each edge.
  draw<draw_lines>({{.width_px = 2}}, 32, 8, 1);
  draw<draw_lines>({{.width_px = 2}}, 704, 8, 1);
}

TEST_CASE("a million edges are drawn by a team of several lanes", "[overlay][many_edges]") {
  draw<draw_lines>({{.width_px = 2}}, 16, 8, 4);
}

TEST_CASE("a million edges may have a glow, or be curves of two pieces", "[overlay][many_edges]") {
  draw<draw_lines>({{.width_px = 2, .ends = rondo::pixels::end_butt, .glow_px = 1}}, 32, 8, 1);
  draw<draw_curves>({.stroke = {.width_px = 2}, .curvature = 0, .samples = 3}, 32, 8, 1);
}

}  // namespace many_edges_test
