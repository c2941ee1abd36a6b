// What Metal's player does, on a stand-in of Metal that checks the order of calls, bounds and lifetimes.
#include "runtime/player/metal_player.hpp"

#include <cstdlib>
#include <thread>

#include "tests/catch.hpp"
#include "tests/player/host_player.hpp"
#include "tests/player/kernels.hpp"
#include "tests/player/metal_stand_in/stand_in.hpp"
#include "tests/player/players.hpp"
#include "tests/player/test_kernels.hpp"

using namespace rondo;
using namespace rondo::test;
using namespace std::chrono_literals;
using Catch::Matchers::Contains;

namespace {

/// Begins and ends without objects, and ends with no misuse.
class clean_metal {
 public:
  clean_metal() {
    await_none("before");
    stand_in::misuses();
  }
  ~clean_metal() {
    await_none("after");
    CHECK(stand_in::misuses() == std::vector<std::string>{});
  }

 private:
  /// The last command buffer goes on the driver's thread, which is a moment later.
  static void await_none(char const* when) {
    stand_in::work();
    for (int i = 0; i < 500 && stand_in::live_objects() != 0; ++i) std::this_thread::sleep_for(10ms);
    INFO(when << " the test");
    CHECK(stand_in::live_objects() == 0);
  }
};

/// Shorter for planted faults, with some of which nothing completes.
std::chrono::seconds limit() {
  return std::getenv("RONDO_FAULT_IS_PLANTED") != nullptr ? 2s : kernel_list_limit;
}

kernel_call mixes(shared_block const& memory) {
  auto* const at = memory.data();
  return call(mix_kernel, {3, 4, 5, 0}, {{at, at + 64, at + 128, at + 192}}, 4, 3);
}

}  // namespace

TEST_CASE("Metal is used as it asks to be, and all objects are released", "[metal]") {
  clean_metal const clean;
  metal_player player({&test_kernels}, limit());
  CHECK(player.description() == "Metal, stand-in on pocl");
  shared_block const memory(player, 256);
  for (int i = 0; i < 3; ++i) CHECK(!play(player, {mixes(memory), mixes(memory)}).why);
  CHECK(player.played() == 3);
}

TEST_CASE("Metal gives a kernel its buffers, arguments, row and lane as the host does", "[metal]") {
  clean_metal const clean;
  host_player host;
  metal_player player({&test_kernels}, limit());
  for (auto const& [rows, columns] : {std::pair{1, 1}, {3, 70}, {70, 3}, {5, 300}})
    CHECK((all_mixes(player, rows, columns) == all_mixes(host, rows, columns)));
}

TEST_CASE("the stand-in of Metal notices a kernel that writes beyond its buffer", "[metal]") {
  {
    metal_player player({&test_kernels});
    shared_block const memory(player, 256);
    auto spoils = mixes(memory);
    reinterpret_cast<shape*>(spoils.arguments)->spoils = 1;
    CHECK(!play(player, {spoils}).why);
  }
  CHECK_FALSE(stand_in::misuses().empty());
}

TEST_CASE("a Metal that cannot be opened says why", "[metal]") {
  clean_metal const clean;
  kernel_program const wrong{.name = "wrong",
                             .metal = "#include <metal_stdlib>\nusing namespace metal;\nint f( {"};
  CHECK_THROWS_WITH(metal_player({&wrong}),
                    Contains("stand-in on pocl does not compile the kernels 'wrong': ") &&
                        Contains("error: ") && Contains("StandInError 3"));
  stand_in::have_no_device();
  CHECK_THROWS_WITH(metal_player({&test_kernels}), "Metal has no GPU");
}

TEST_CASE("a pointer without an address space does not compile", "[metal]") {
  auto const error_of = [](std::string const& function) -> std::string {
    auto const text = "#include <metal_stdlib>\nusing namespace metal;\n" + function;
    kernel_program const program{.name = "one", .metal = text.c_str()};
    try {
      metal_player({&program});
    } catch (std::runtime_error const& e) {
      return e.what();
    }
    return {};
  };
  CHECK(error_of("inline int f(thread int* p) { return *p; }").empty());
  CHECK_THAT(error_of("inline int f(int* p) { return *p; }"), Contains("'p' without an address space"));
  CHECK_THAT(error_of("inline int f(int& q) { return q; }"), Contains("'q' without an address space"));
  CHECK_THAT(
      error_of("inline int f(constant int* p) { return *p; } inline int g(device int* p) { return f(p); }"),
      Contains("error: "));
}

TEST_CASE("memory that Metal does not have is bad_alloc", "[metal]") {
  clean_metal const clean;
  metal_player player({&test_kernels});
  stand_in::have_no_memory();
  CHECK_THROWS_AS(player.memory().allocate(64), std::bad_alloc);
}

TEST_CASE("commands that fail are reported with the driver's text, and the player is lost", "[metal]") {
  clean_metal const clean;
  metal_player player({&test_kernels});
  shared_block const memory(player, 256);
  stand_in::fail_after(1, "Impacting Interactivity");
  CHECK(!play(player, {mixes(memory)}).why);
  auto const o = play(player, {mixes(memory)});
  CHECK(o.why == errc::device_lost);
  CHECK(o.text == "stand-in on pocl: a list of kernels: Impacting Interactivity (StandInError 3)");
  CHECK(player.is_lost());
  CHECK(play(player, {mixes(memory)}).why == errc::device_lost);
  CHECK(player.played() == 1);
}

TEST_CASE("a pointer outside of shared buffers fails its list, which is not committed", "[metal]") {
  clean_metal const clean;
  metal_player player({&test_kernels});
  shared_block const memory(player, 256);
  auto elsewhere = mixes(memory);
  unsigned char own[16] = {};
  elsewhere.buffers.of[2] = own;
  auto const o = play(player, {mixes(memory), elsewhere});
  CHECK(o.why == errc::device_lost);
  CHECK_THAT(o.text, Contains("mix_kernel: a buffer is not in the player's memory"));
}

TEST_CASE("commands that never complete are lost after the limit, and may complete later", "[metal]") {
  clean_metal const clean;
  {
    metal_player player({&test_kernels}, 500ms);
    shared_block const memory(player, 256);
    CHECK(!play(player, {mixes(memory)}).why);
    stand_in::hang();
    auto const o = play(player, {mixes(memory)});
    CHECK(o.why == errc::device_lost);
    CHECK(o.text == "stand-in on pocl: a list of kernels did not end within 0.5 s");
    CHECK(player.is_lost());
    stand_in::let_go();
    // Only then may the memory be freed.
    while (stand_in::completed() < 2) std::this_thread::sleep_for(1ms);
  }
}

TEST_CASE("a player whose commands never complete goes, and leaves its memory to the driver", "[metal]") {
  stand_in::work();
  auto const before = stand_in::live_objects();
  {
    metal_player player({&test_kernels}, 50ms);
    shared_block const memory(player, 256);
    stand_in::hang();
    CHECK(play(player, {mixes(memory)}).why == errc::device_lost);
  }
  CHECK(stand_in::live_objects() > before);
  CHECK(stand_in::misuses() == std::vector<std::string>{});
  stand_in::let_go();
}
