// Fuzzes what is drawn over pictures: lists of points, edges and boxes with any bits, drawn with any options that a
// stage accepts, on pictures of any small size. A million edges: tests/streams/overlay/many_edges_test.cpp.
#include <algorithm>
#include <cstring>
#include <type_traits>

#include "actors/video/overlay/knn_links.hpp"
#include "actors/video/overlay/whole_tiles.hpp"
#include "actors/video/stages/draw_boxes.hpp"
#include "actors/video/stages/draw_edges.hpp"
#include "actors/video/stages/draw_particles.hpp"
#include "tests/fuzz/fuzz_target.hpp"
#include "tests/streams/overlay/exact_memory.hpp"

namespace scene_fuzz {

using namespace rondo;
using namespace rondo::video;
using exact_memory::context;
using exact_memory::memory;

/// What is left of the input; zeros behind its end.
class source {
 public:
  source(std::uint8_t const* data, std::size_t size) : data_(data), left_(size) {}
  std::size_t left() const { return left_; }
  template <class T>
  T take() {
    T t{};
    auto const n = std::min(sizeof t, left_);
    if (n != 0) std::memcpy(static_cast<void*>(&t), data_, n);
    data_ += n, left_ -= n;
    return t;
  }

 private:
  std::uint8_t const* data_;
  std::size_t left_;
};

/// Sets options to values within their limits, more often than not to the limits themselves, or near the least.
struct option_filler {
  source& from;
  void operator()(char const*, auto& value, char const*, auto low, auto high) {
    using number = std::remove_reference_t<decltype(value)>;
    auto const least = static_cast<double>(low), most = static_cast<double>(high);
    switch (auto const how = from.take<std::uint8_t>(); how % 4) {
      case 0:
        value = static_cast<number>(least);
        break;
      case 1:
        if (std::is_floating_point_v<number>) value = static_cast<number>(most);
        break;
      default:
        value = static_cast<number>(std::is_floating_point_v<number>
                                        ? least + (most - least) * how / (how % 4 == 2 ? 255 : 25'500)
                                        : std::min(most, least + how % 32));
    }
  }
  void operator()(char const*, auto&, char const*) {}
  void choice(char const*, auto& value, char const*, std::initializer_list<char const*> words) {
    value = static_cast<std::remove_reference_t<decltype(value)>>(from.take<std::uint8_t>() % words.size());
  }
};

/// A list whose count may be any number, with as many items as the input gives, at most `most`.
template <class Item>
struct list {
  list(source& from, std::uint32_t most) : about{std::max(1u, most)}, bytes(about.bytes()) {
    std::uint32_t const head[2] = {from.take<std::uint8_t>() < 8 ? from.take<std::uint32_t>() : most,
                                   from.take<std::uint8_t>()};
    std::memcpy(bytes.data(), head, sizeof head);
    for (std::uint32_t i = 0; i < most; ++i) {
      auto const item = from.take<Item>();
      std::memcpy(bytes.data() + 8 + i * sizeof item, &item, sizeof item);
    }
  }
  list_view<Item> view() const { return {about, bytes.data()}; }

  list_of<Item> about;
  memory bytes;
};

template <class Shape, class Stage, class Item>
void draw(source& from, image const& about, list_of<Item> items, std::byte* data) {
  context<Stage, Item> ctx{items, data, {}};
  option_filler fill{from};
  ctx.of_stage.describe(fill);
  Stage stage{};
  auto const own = exact_memory::carve_for(stage);
  stage.take(ctx, streams::tick{.number = from.take<std::uint64_t>()}, about);
  if (std::uint64_t{Stage::shapes_of_item(ctx.of_stage)} * stage.most() > 400)
    return;  // it would only take long
  memory const pixels(about.bytes());
  auto const way = from.take<std::uint8_t>();
  auto const lanes = way % 2 == 0 ? 1u : 4u;
  if (about.is_layer() && way / 2 % 2 == 0)  // no tile has samples yet
    std::memset(layer_planes_at(about, pixels.data()).marks.of, 0, mark_bytes(about.width, about.height));
  exact_memory::draw<Shape>(stage, ctx.of_stage, about, pixels.data(), lanes);
}

/// Links the points, twice, so that there is a past. Returns how many links there are; they are in `to`.
void link(source& from, list<point> const& points, list_view<edge> to, knn_params p) {
  auto const most = points.about.most;
  memory const scratch(knn_links::bytes(most, p.k));
  std::memset(scratch.data(), 0, knn_links::bytes(most, p.k));  // as a stage's scratch memory is
  carver of_links(scratch.data());
  knn_links links(of_links, most, p.k);
  for (int picture = 0; picture < 2; ++picture) {
    links.begin(points.view());
    links.choose(points.view(), p, 0, points.view().size());
    links.finish(points.view(), p, to);
    rondo_fuzz::require(to.size() <= to.most(), "there is room for all links");
    for (auto const& e : to)
      rondo_fuzz::require(is_drawable(e.x0) && is_drawable(e.y0) && is_drawable(e.x1) && is_drawable(e.y1),
                          "only points that can be drawn are linked");
    if (picture == 0 && points.view().size() != 0) {  // one of them moves
      auto const moved = from.take<point>();
      std::memcpy(points.bytes.data() + 8, &moved, sizeof moved);
    }
  }
}

}  // namespace scene_fuzz

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
  using namespace scene_fuzz;
  source from(data, size);
  auto const what = from.take<std::uint8_t>();
  constexpr pixel_format formats[] = {pixel_format::i420, pixel_format::i420a, pixel_format::rgba_f16};
  image about{16 + 2 * (from.take<std::uint8_t>() % 50), 16 + 2 * (from.take<std::uint8_t>() % 40)};
  about.format = formats[what / 5 % 3];
  auto const most = [&](std::size_t item) {
    return static_cast<std::uint32_t>(std::min<std::size_t>(from.left() / item, 200));
  };
  if (what % 5 == 0) {
    list<box> const boxes(from, most(sizeof(box)));
    draw<pixels::box_shape, draw_boxes>(from, about, boxes.about, boxes.bytes.data());
  } else if (what % 5 == 1) {
    list<point> const points(from, most(sizeof(point)));
    draw<pixels::dot_shape, draw_particles>(from, about, points.about, points.bytes.data());
  } else if (what % 5 == 2) {
    knn_params p{1 + from.take<std::uint8_t>() % 8u, from.take<std::uint8_t>() / 4.F,
                 from.take<std::uint8_t>() % 5u, (from.take<std::uint8_t>() % 91) / 100.F};
    list<point> const points(from, most(sizeof(point)));
    list_of<edge> const of_edges{points.about.most * p.k};
    memory const edges(of_edges.bytes());
    link(from, points, {of_edges, edges.data()}, p);
    draw<pixels::segment, draw_lines>(from, about, of_edges, edges.data());
  } else {
    list<edge> const edges(from, most(sizeof(edge)));
    switch (what / 5 % 3) {
      case 0:
        draw<pixels::segment, draw_lines>(from, about, edges.about, edges.bytes.data());
        break;
      case 1:
        draw<pixels::segment, draw_curves>(from, about, edges.about, edges.bytes.data());
        break;
      default:
        draw<pixels::segment, draw_sparks>(from, about, edges.about, edges.bytes.data());
    }
  }
  return 0;
}
