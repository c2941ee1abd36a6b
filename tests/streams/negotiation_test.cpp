// Negotiation, compared with trying all choices.
#include "runtime/streams/places/negotiation.hpp"

#include <algorithm>
#include <random>

#include "tests/catch.hpp"
#include "tests/seed.hpp"

using namespace rondo::streams;

namespace {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr int share = 20;  // trying all choices takes long there
#else
constexpr int share = 1;
#endif

struct graph {
  std::vector<negotiating_stage> stages;
  std::vector<negotiating_output> outputs;
};

/// `most_ns`: small, so that there are many choices of equal cost.
graph random_graph(std::mt19937_64& random, std::uint32_t places, std::uint32_t most_stages,
                   std::uint64_t most_ns) {
  auto const below = [&](std::uint64_t n) { return random() % n; };
  graph g;
  g.stages.resize(1 + below(most_stages));
  auto const count = static_cast<std::uint32_t>(g.stages.size());
  for (auto& s : g.stages) {
    for (place_number p = 0; p < places; ++p)
      if (below(4) != 0) s.places.push_back({p, below(most_ns)});
    if (s.places.empty()) s.places.push_back({static_cast<place_number>(below(places)), below(most_ns)});
    std::shuffle(s.places.begin(), s.places.end(), random);
  }
  for (std::uint32_t i = 0; i + 1 < count; ++i) {
    for (auto outputs = below(3); outputs != 0; --outputs) {
      negotiating_output o{.from = i, .to = {}, .ns = {}};
      for (std::uint32_t j = i + 1; j < count; ++j)
        if (below(3) == 0) o.to.push_back(j);
      for (std::uint32_t k = 0; k < places * places; ++k) o.ns.push_back(below(most_ns));
      g.outputs.push_back(std::move(o));
    }
  }
  return g;
}

/// The best of all choices; of equal ones, that which the first stages prefer.
negotiated try_all(graph const& g, std::uint32_t places) {
  std::vector<std::size_t> at(g.stages.size());
  std::vector<place_number> chosen(g.stages.size());
  negotiated best{.places = {}, .ns = ~0ull, .copies = 0};
  for (;;) {
    for (std::size_t i = 0; i < at.size(); ++i) chosen[i] = g.stages[i].places[at[i]].where;
    // The last stage's place changes first, so of equal choices the preferred one comes first.
    if (auto c = cost_of(g.stages, g.outputs, places, chosen); c.ns < best.ns) best = std::move(c);
    auto i = at.size();
    while (i != 0 && ++at[i - 1] == g.stages[i - 1].places.size()) at[--i] = 0;
    if (i == 0) return best;
  }
}

}  // namespace

TEST_CASE("of two places, the best choice is found, and ties go by preference", "[streams][negotiation]") {
  auto const seed = rondo_test::seed_of("negotiation");
  std::mt19937_64 random(seed);
  for (int n = 0; n < 10'000 / share; ++n) {
    auto const g = random_graph(random, 2, 12, n % 2 == 0 ? 8 : 1'000'000);
    auto const best = try_all(g, 2);
    auto const found = negotiate(g.stages, g.outputs, 2);
    INFO("graph " << n << " of seed " << seed);
    REQUIRE(found.ns == best.ns);
    REQUIRE(found.places == best.places);
    REQUIRE(found.copies == best.copies);
  }
}

TEST_CASE("of more places, the choice is at most a little worse than the best", "[streams][negotiation]") {
  auto const seed = rondo_test::seed_of("negotiation");
  std::mt19937_64 random(seed);
  int as_good = 0;
  constexpr int graphs = 1'000 / share;
  for (int n = 0; n < graphs; ++n) {
    auto const g = random_graph(random, 3, 7, 1'000'000);
    auto const best = try_all(g, 3);
    auto const found = negotiate(g.stages, g.outputs, 3);
    INFO("graph " << n << " of seed " << seed);
    REQUIRE(found.ns >= best.ns);
    as_good += found.ns == best.ns;
  }
  INFO("the best choice was found for " << as_good << " of " << graphs << " graphs");
  CHECK(as_good >= graphs * 95 / 100);
}

TEST_CASE("an output is copied once to a place, however many read it there", "[streams][negotiation]") {
  constexpr place_number host = 0, device = 1;
  std::vector<std::uint64_t> const copy{0, 1000, 1000, 0};
  std::vector<negotiating_stage> const stages{
      {{{host, 10}}}, {{{device, 10}}}, {{{device, 10}}}, {{{host, 500}, {device, 1}}}};
  std::vector<negotiating_output> const outputs{{0, {1, 2, 3}, copy}};
  auto const found = negotiate(stages, outputs, 2);
  CHECK(found.copies == 1);
  CHECK(found.ns == 10 + 10 + 10 + 1 + 1000);
  CHECK(found.places == std::vector{host, device, device, device});
}
