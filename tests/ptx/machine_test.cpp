// The device `ptx`: a module's ring kernel as nvcc compiled it, behind Rondo's own host side.
#include "runtime/runtime.hpp"
#include "tests/catch.hpp"
#include "tests/eventually.hpp"
#include "tests/ptx/counter.hpp"
#include "tests/ptx/ptx_machine.hpp"

using namespace ptx_counter;
using Catch::Matchers::Contains;
using rondo_test::patience;

namespace {

std::unique_ptr<rondo::runtime> start(rondo::config settings, ptx::grid_options const& options = {}) {
  settings.teams = 2;
  settings.pinned_teams = 1;
  std::vector<rondo::chosen_device> chosen;
  chosen.push_back(rondo::make_ptx_device({{counters::key, RONDO_PTX_COUNTER}}, settings, {options, {}}));
  return std::make_unique<rondo::runtime>(rondo::use<counters>, settings, std::move(chosen));
}

std::vector<std::pair<rondo::config, std::string>> variants() {
  std::vector<std::pair<rondo::config, std::string>> all;
  for (std::uint32_t const lanes : {32u, 64u})
    for (auto const mode : {rondo::ring_mode::persistent, rondo::ring_mode::rounds}) {
      rondo::config c;
      c.lanes = lanes;
      c.ring_mode = mode;
      all.emplace_back(
          c, std::to_string(lanes) + (mode == rondo::ring_mode::rounds ? " lanes, rounds" : " lanes"));
    }
  return all;
}

}  // namespace

// Regression, where warps are late: a lane read the next call that lane 0 published, instead of the one for which it
// had waited.
TEST_CASE("ptx: a counter answers what it was told, also where warps are late", "[ptx][device]") {
  for (auto const& [settings, name] : variants()) {
    INFO(name);
    for (std::uint64_t seed = 1; seed <= 3; ++seed) {
      ptx::grid_options options;
      options.how.seed = seed;
      options.how.late = seed == 1 ? 0 : 250;
      auto const rt = start(settings, options);
      auto const c = rt->launch<counter>("counter");
      std::uint64_t sum = 0;
      for (std::uint64_t n = 1; n <= 40; ++n) {
        REQUIRE_FALSE(c.try_tell(add{n}));
        sum += n;
        if (n % 8 == 0) REQUIRE(c.ask(get{}, patience, rondo::block).value().value == sum);
      }
      // Regression: `any` waited for the other lanes of the warp.
      REQUIRE(c.ask(use_team{}, patience, rondo::block).value().value == 63);
      auto const a = rt->launch<adder>("adder");
      REQUIRE(a.ask(summand{100}, patience, rondo::block).value().value == 4950);
    }
  }
}

TEST_CASE("ptx: lanes that take numbers together get each number once", "[ptx][device]") {
  for (auto const& [settings, name] : variants()) {
    INFO(name);
    constexpr std::uint32_t rounds = 12;
    std::uint64_t taken[2] = {}, squares = 0;
    for (std::uint32_t round = 0; round < rounds; ++round)
      for (std::uint32_t lane = 0; lane < settings.lanes; ++lane) {
        auto const number = taken[(lane + round) % 4 != 0 && lane % 3 == 0]++;
        squares += number * number;
      }
    auto const rt = start(settings);
    auto const d = rt->launch<dispenser>("dispenser");
    REQUIRE(d.ask(take_numbers{rounds}, patience, rondo::block).value().value == squares);
  }
}

TEST_CASE("ptx: a file of another module is refused", "[ptx][device]") {
  rondo::config c;
  c.teams = c.pinned_teams = 1;
  CHECK_THROWS_WITH(rondo::make_ptx_device({{counters::key + 1, RONDO_PTX_COUNTER}}, c),
                    Contains("the PTX of another module"));
}
