// The graph of nearest neighbours, beside nanoflann and beside a plain program that does the same slowly.
#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <nanoflann.hpp>
#include <random>
#include <set>
#include <tuple>
#include <vector>

#include "actors/video/overlay/knn_links.hpp"
#include "tests/catch.hpp"

namespace knn_test {

using namespace rondo::video;

namespace {

using points_in = std::vector<point>;
using id_pairs = std::vector<std::pair<std::uint32_t, std::uint32_t>>;

/// A list in memory of its own.
template <class Item>
struct list {
  explicit list(std::uint32_t most) : about{most}, data(about.bytes() / 8 + 1) { view().clear(); }
  explicit list(std::vector<Item> const& items) : list(static_cast<std::uint32_t>(items.size())) {
    for (auto const& one : items) view().add(one);
  }
  list_view<Item> view() { return {about, reinterpret_cast<std::byte*>(data.data())}; }

  list_of<Item> about;
  std::vector<std::uint64_t> data;
};

/// As the stage does it, with one memory for all pictures.
class graph {
 public:
  graph(std::uint32_t most, knn_params const& p)
      : params_(p), most_(most), memory_(knn_links::bytes(most, p.k) / 64 + 1) {}

  std::vector<edge> operator()(points_in const& points, std::uint32_t* left_out = nullptr) {
    list<point> in(most_);
    for (auto const& one : points) in.view().add(one);
    list<edge> out(most_ * params_.k);
    carver memory(memory_.data());
    knn_links links(memory, most_, params_.k);
    links.begin(in.view());
    auto const n = in.view().size();
    // In parts, the last one first: they do not depend on each other.
    auto const half = n / 2;
    links.choose(in.view(), params_, half, n);
    links.choose(in.view(), params_, 0, half);
    links.finish(in.view(), params_, out.view());
    if (left_out != nullptr) *left_out = out.view().left_out();
    return {out.view().begin(), out.view().end()};
  }

 private:
  struct alignas(64) line {
    std::byte bytes[64] = {};
  };
  knn_params params_;
  std::uint32_t most_;
  std::vector<line> memory_;
};

id_pairs pairs_of(std::vector<edge> const& edges) {
  id_pairs all;
  for (auto const& e : edges) all.emplace_back(std::min(e.from, e.to), std::max(e.from, e.to));
  std::sort(all.begin(), all.end());
  return all;
}

// -- points

points_in numbered(points_in points) {
  for (std::uint32_t i = 0; i < points.size(); ++i) points[i].id = 100 + 7 * i;
  return points;
}
template <class F>
points_in many(std::uint32_t n, F const& one) {
  points_in all(n);
  for (auto& p : all) std::tie(p.x, p.y) = one();
  return numbered(std::move(all));
}

struct named_points {
  char const* name;
  points_in points;
};
std::vector<named_points> all_kinds() {
  std::mt19937 random{7};
  auto const within = [&](float low, float high) {
    return std::uniform_real_distribution<float>{low, high}(random);
  };
  using xy = std::pair<float, float>;
  return {
      {"none", {}},
      {"one", numbered({{.x = 3, .y = 4}})},
      {"two", numbered({{.x = 3, .y = 4}, {.x = 30, .y = 4}})},
      {"all at one place", many(300,
                                [] {
                                  return xy{17, 4};
                                })},
      {"two places", many(301,
                          [&] {
                            return random() % 2 ? xy{1, 1} : xy{3000, 2000};
                          })},
      {"anywhere", many(1000,
                        [&] {
                          return xy{within(0, 3840), within(0, 2160)};
                        })},
      {"few", many(4,
                   [&] {
                     return xy{within(0, 3840), within(0, 2160)};
                   })},
      {"in a row", many(500,
                        [&] {
                          return xy{within(0, 3840), 100};
                        })},
      {"in a column", many(500,
                           [&] {
                             return xy{-5, within(-1000, 2160)};
                           })},
      {"on a slope", many(500,
                          [&] {
                            auto const t = within(0, 1);
                            return xy{3840 * t, 2160 * t};
                          })},
      {"on a lattice", many(2000,
                            [&] {
                              return xy{float(random() % 40), float(random() % 40)};
                            })},
      {"in heaps", many(1000,
                        [&] {
                          auto const heap = static_cast<float>(random() % 5);
                          return xy{700 * heap + within(0, 1), 300 * heap + within(0, 1)};
                        })},
      {"one far away",
       [&] {
         auto all = many(800, [&] { return xy{within(0, 10), within(0, 10)}; });
         all.back().x = 900'000;
         return all;
       }()},
      {"as far as may be", many(300,
                                [&] {
                                  return xy{within(-1e6F, 1e6F), within(-1e6F, 1e6F)};
                                })},
  };
}

// -- nanoflann

struct cloud {
  points_in const& points;
  std::size_t kdtree_get_point_count() const { return points.size(); }
  double kdtree_get_pt(std::size_t i, std::size_t axis) const {
    return axis == 0 ? points[i].x : points[i].y;
  }
  template <class Box>
  bool kdtree_get_bbox(Box&) const {
    return false;
  }
};
using tree = nanoflann::KDTreeSingleIndexAdaptor<nanoflann::L2_Simple_Adaptor<double, cloud>, cloud, 2>;

/// The distances from point `i` to its k nearest neighbours, in order.
std::vector<double> by_nanoflann(tree const& of, cloud const& c, std::size_t i, std::size_t k) {
  std::vector<std::uint32_t> indices(k + 1);
  std::vector<double> squares(k + 1);
  double const at[] = {c.points[i].x, c.points[i].y};
  auto const n = of.knnSearch(at, k + 1, indices.data(), squares.data());
  std::vector<double> all;
  for (std::size_t f = 1; f < n; ++f)
    all.push_back(std::sqrt(squares[f]));  // the first one is itself, or where it is
  return all;
}

// -- the plain program

struct plain_graph {
  knn_params params;
  std::set<std::pair<std::uint32_t, std::uint32_t>> before{};

  id_pairs operator()(points_in const& points) {
    struct link {
      float square;
      std::uint32_t lister, rank, from, to;
    };
    auto const was = [&](std::uint32_t i, std::uint32_t j) {
      return before.count(std::minmax(points[i].id, points[j].id)) != 0;
    };
    auto const shorter = (1 - params.hysteresis) * (1 - params.hysteresis);
    std::vector<std::vector<neighbour>> chosen(points.size());
    for (std::uint32_t i = 0; i < points.size(); ++i) {
      for (std::uint32_t j = 0; j < points.size(); ++j) {
        if (i == j) continue;
        auto const dx = points[i].x - points[j].x, dy = points[i].y - points[j].y;
        chosen[i].push_back({(dx * dx + dy * dy) * (was(i, j) ? shorter : 1), j});
      }
      std::sort(chosen[i].begin(), chosen[i].end(),
                [](auto const& a, auto const& b) { return a.is_before(b); });
      if (chosen[i].size() > params.k) chosen[i].resize(params.k);
    }
    auto const has = [&](std::uint32_t i, std::uint32_t j) {
      return std::any_of(chosen[i].begin(), chosen[i].end(), [&](auto const& n) { return n.index == j; });
    };
    std::vector<link> links;
    for (std::uint32_t i = 0; i < points.size(); ++i)
      for (std::uint32_t c = 0; c < chosen[i].size(); ++c) {
        auto const j = chosen[i][c].index;
        if (j < i && has(j, i)) continue;
        auto const height = std::abs(points[i].y - points[j].y) * (was(i, j) ? 1 - params.hysteresis : 1);
        if (params.delta_y_cap > 0 && height > params.delta_y_cap) continue;
        links.push_back({chosen[i][c].square, i, c, i, j});
      }
    std::stable_sort(links.begin(), links.end(),
                     [](link const& a, link const& b) { return a.square < b.square; });
    std::map<std::uint32_t, std::uint32_t> degree;
    id_pairs all;
    for (auto const& l : links) {
      if (params.degree_cap != 0 &&
          (degree[l.from] >= params.degree_cap || degree[l.to] >= params.degree_cap))
        continue;
      ++degree[l.from], ++degree[l.to];
      all.emplace_back(std::minmax(points[l.from].id, points[l.to].id));
    }
    std::sort(all.begin(), all.end());
    before = {all.begin(), all.end()};
    return all;
  }
};

points_in moved(points_in points, std::mt19937& random, float by) {
  std::uniform_real_distribution<float> step{-by, by};
  for (auto& p : points) p.x += step(random), p.y += step(random);
  return points;
}

/// Links of one picture that the other one does not have.
std::size_t changes(id_pairs const& a, id_pairs const& b) {
  id_pairs differ;
  std::set_symmetric_difference(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(differ));
  return differ.size();
}

}  // namespace

TEST_CASE("the nearest neighbours are those that nanoflann finds, however the points lie", "[overlay][knn]") {
  for (auto const& [name, points] : all_kinds()) {
    list<point> in(points);
    std::vector<std::byte> bytes(1 << 20);
    carver memory(bytes.data() + (64 - reinterpret_cast<std::uintptr_t>(bytes.data()) % 64) % 64);
    point_grid grid(memory, in.about.most);
    REQUIRE(grid.build(in.view()) == points.size());
    cloud const c{points};
    tree const reference(2, c, {});
    for (std::uint32_t const k : {1u, 5u, 32u}) {
      INFO(name << ", k = " << k);
      for (std::uint32_t i = 0; i < points.size(); ++i) {
        nearest_few found{k};
        grid.search(points[i], i, found);
        auto const expected = by_nanoflann(reference, c, i, k);
        REQUIRE(found.size() == expected.size());
        for (std::uint32_t n = 0; n < found.size(); ++n) {
          REQUIRE(found[n].index != i);
          auto const distance = std::sqrt(double{found[n].square});
          REQUIRE(std::abs(distance - expected[n]) <= 1e-6 * expected[n] + 1e-6);
        }
      }
    }
  }
}

TEST_CASE("the links are those of a plain program, with each cap, while the points move", "[overlay][knn]") {
  auto const k = GENERATE(1u, 5u);
  auto const delta_y_cap = GENERATE(0.F, 40.F);
  auto const degree_cap = GENERATE(0u, 2u, 6u);
  auto const hysteresis = GENERATE(0.F, 0.25F);
  knn_params const params{k, delta_y_cap, degree_cap, hysteresis};
  INFO("k " << k << ", caps " << delta_y_cap << " and " << degree_cap << ", hysteresis " << hysteresis);
  for (auto const& [name, points] : all_kinds()) {
    if (points.size() > 301) continue;
    INFO(name);
    graph fast(static_cast<std::uint32_t>(points.size()) + 1, params);
    plain_graph plain{params};
    std::mt19937 random{3};
    auto now = points;
    for (int picture = 0; picture < 4; ++picture) {
      INFO("picture " << picture);
      REQUIRE(pairs_of(fast(now)) == plain(now));
      now = moved(now, random, picture == 2 ? 0 : 3);
    }
  }
}

TEST_CASE("links do not flicker: points that tremble keep theirs, also if the list is in another order",
          "[overlay][knn]") {
  std::mt19937 random{11};
  auto const points = all_kinds()[5].points;
  auto const flicker = [&](float hysteresis) {
    graph g(1000, {.k = 4, .degree_cap = 5, .hysteresis = hysteresis});
    auto before = pairs_of(g(points));
    std::size_t all = 0;
    for (int picture = 0; picture < 30; ++picture) {
      auto now = moved(points, random, 2);
      std::shuffle(now.begin(), now.end(), random);
      auto const links = pairs_of(g(now));
      all += changes(before, links);
      before = links;
    }
    return static_cast<double>(all) / 30;
  };
  auto const without = flicker(0), with = flicker(0.2F);
  INFO("changes a picture: " << without << " without hysteresis, " << with << " with it");
  CHECK(without > 50);
  CHECK(with < without / 10);
}

TEST_CASE("points that are no numbers or far off have no links, and are counted", "[overlay][knn]") {
  constexpr auto nan = std::numeric_limits<float>::quiet_NaN(), inf = std::numeric_limits<float>::infinity();
  auto points = numbered({{.x = 1, .y = 1},
                          {.x = nan, .y = 1},
                          {.x = 2, .y = inf},
                          {.x = -inf, .y = 3},
                          {.x = 3e6F, .y = 3},
                          {.x = 5, .y = 1},
                          {.x = -20, .y = -30}});
  points[2].id = points[0].id;
  graph g(64, {.k = 6});
  for (int picture = 0; picture < 3; ++picture) {
    std::uint32_t left_out = 0;
    auto const edges = g(points, &left_out);
    CHECK(edges.size() == 3);
    CHECK(left_out == 4);
    for (auto const& e : edges) CHECK((std::isfinite(e.x0) && std::isfinite(e.y0) && std::isfinite(e.x1)));
  }
}

TEST_CASE("points with the same id, or that come and go, do no harm", "[overlay][knn]") {
  std::mt19937 random{5};
  graph g(200, {.k = 5, .degree_cap = 4});
  for (int picture = 0; picture < 50; ++picture) {
    points_in points(random() % 201);
    for (auto& p : points)
      p = {static_cast<std::uint32_t>(random() % 60), static_cast<float>(random() % 300),
           static_cast<float>(random() % 300)};
    std::map<std::pair<float, float>, int> degree;
    for (auto const& e : g(points)) {
      CHECK(++degree[{e.x0, e.y0}] <= 4 * 200);
      CHECK((e.x0 < 300 && e.y1 < 300));
    }
  }
}

TEST_CASE("a list says how much it could not hold, and is never read beyond its end", "[overlay][lists]") {
  list<point> few(2);
  for (int i = 0; i < 5; ++i) few.view().add({.id = static_cast<std::uint32_t>(i)});
  CHECK(few.view().size() == 2);
  CHECK(few.view().left_out() == 3);
  few.data[0] = ~0ull;  // as a hostile process could write it
  CHECK(few.view().size() == 2);
}

}  // namespace knn_test
