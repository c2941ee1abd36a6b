// What a warp takes from a ring across a bus it has acquired, item by item: its writer's earlier stores are seen.
#include <fstream>
#include <memory>
#include <sstream>

#include "kernels/link/bus_ring.hpp"
#include "tests/catch.hpp"
#include "tests/ptx/text_ptx.hpp"

using namespace ptx_test;

namespace {

struct item {
  std::uint32_t place, value;
};
constexpr std::uint32_t slots = 16, each = 8, writers = 3;

struct memory {
  alignas(256) std::array<rondo::bus_slot<item>, slots> chunks{};
  alignas(256) std::array<rondo::bus_progress, 1> progress{};
  alignas(256) std::array<rondo::bus_writers, 1> writing{};
  alignas(256) std::array<std::uint64_t, 4 * each * writers> places{};
  alignas(256) std::array<std::uint32_t, 8> wrong{};
};

std::uint32_t count_wrong(ptx::module const& m, ptx::weakness const& how) {
  auto const all = std::make_unique<memory>();
  ptx::grid_options options;
  options.how = how;
  rondo::bus_ring_ref<item> const ring{
      all->chunks.data(), all->progress.data(), all->writing.data(), slots, {}};
  ptx::grid g(m, m.find_entry("take_windows"), 1 + writers, 64,
              ptx::params_of(ring, all->places.data(), each, all->wrong.data()),
              {range_of(all->chunks), range_of(all->progress), range_of(all->writing), range_of(all->places),
               range_of(all->wrong)},
              options);
  while (g.step(300)) {
  }
  return all->wrong[0];
}

}  // namespace

TEST_CASE("ptx: a warp that takes several items at once sees what each of their writers did before",
          "[ptx][bus]") {
  auto const count_in = [](ptx::module const& m) {
    std::uint32_t wrong = 0;
    for (std::uint64_t seed = 1; seed <= 100; ++seed) {
      ptx::weakness how;
      how.seed = seed;
      how.slow_loads = 200;
      how.drain = 256;
      how.stale = 256;
      wrong += count_wrong(m, how);
    }
    return wrong;
  };
  std::ifstream in(RONDO_PTX_BUS_WINDOW);
  std::ostringstream text;
  text << in.rdbuf();
  CHECK(count_in(*ptx::read_module("bus_window.ptx", text.str())) == 0);
  // The test finds it if the fence is not there.
  auto without = text.str();
  std::string const fence = "fence.acquire.sys;";
  REQUIRE(without.find(fence) != std::string::npos);
  without.replace(without.find(fence), fence.size(), "");
  CHECK(count_in(*ptx::read_module("bus_window.ptx", without)) > 0);
}
