// A ladder of the smallest things: whichever is the first to fail says where to look. They run on cuda, or on the
// device that RONDO_DEVICE names.
#include <cstdlib>
#include <vector>

#include "runtime/core/make_device.hpp"
#include "runtime/device/emulated/emulated_module.hpp"
#include "runtime/runtime.hpp"
#include "tests/catch.hpp"
#include "tests/gpu/bombs.hpp"

RONDO_EMULATED_MODULE(gpu_test::bombs)

using namespace gpu_test;
using namespace std::chrono_literals;
using rondo::errc;

namespace {

rondo::config smallest() {
  rondo::config c;
  char const* const device = std::getenv("RONDO_DEVICE");
  c.device = device == nullptr ? "cuda" : device;
  c.teams = 2;
  c.pinned_teams = 2;
  return c;
}

std::uint64_t asked(rondo::actor_ref<bomb> const& actor) {
  return actor.ask(count_up{}, 5s, rondo::block).value().value;
}

void one_ask(bool pinned) {
  rondo::runtime rt{rondo::use<bombs>, smallest()};
  auto const actor = rt.launch<bomb>("asked", {.pinned = pinned});
  CHECK(asked(actor) == 1);
  CHECK(rt.stop().stopped);
}
void one_hop(bool pinned) {
  rondo::runtime rt{rondo::use<bombs>, smallest()};
  auto const last = rt.launch<bomb>("last", {.pinned = pinned}),
             first = rt.launch<bomb>("first", {.pinned = pinned});
  CHECK(first.ask(pass_on{last.where()}, 5s, rondo::block).value().value == 1);
  CHECK(rt.stop().stopped);
}
void one_batch(bool pinned) {
  rondo::runtime rt{rondo::use<bombs>, smallest()};
  auto const actor = rt.launch<bomb>("counts", {.capacity = 256, .pinned = pinned});
  std::vector<tick> const ticks(64);
  REQUIRE(actor.try_tell(std::span<tick const>(ticks)) == errc::ok);
  CHECK(asked(actor) == ticks.size() + 1);
  CHECK(rt.stop().stopped);
}

}  // namespace

TEST_CASE("smoke 1: the module loads", "[smoke]") {
  CHECK_NOTHROW(rondo::make_devices(rondo::program_of<bombs>(), smallest()));
}
TEST_CASE("smoke 2: the ring kernel starts and stops", "[smoke]") {
  rondo::runtime rt{rondo::use<bombs>, smallest()};
  CHECK(rt.stop().stopped);
}
TEST_CASE("smoke 3: a pooled actor answers", "[smoke]") { one_ask(false); }
TEST_CASE("smoke 4: a pinned actor answers", "[smoke]") { one_ask(true); }
TEST_CASE("smoke 5: a pooled actor passes a message on", "[smoke]") { one_hop(false); }
TEST_CASE("smoke 6: a pinned actor passes a message on", "[smoke]") { one_hop(true); }
TEST_CASE("smoke 7: a batch arrives at a pooled actor", "[smoke]") { one_batch(false); }
TEST_CASE("smoke 8: a batch arrives at a pinned actor", "[smoke]") { one_batch(true); }
TEST_CASE("smoke 9: a thousand asks are answered in turn", "[smoke]") {
  rondo::runtime rt{rondo::use<bombs>, smallest()};
  auto const actor = rt.launch<bomb>("asked");
  for (std::uint64_t n = 1; n <= 1000; ++n) REQUIRE(asked(actor) == n);
  CHECK(rt.stop().stopped);
}
