// Tests that need a real GPU: limits, sharing, clocks. Those tagged [faults] break the GPU's context.
#include <cstdlib>
#include <filesystem>
#include <future>

#include "runtime/checkpoint.hpp"
#include "runtime/lifecycle.hpp"
#include "runtime/memory/unified_buffer.hpp"
#include "runtime/runtime.hpp"
#include "runtime/sharing/buffer_exporter.hpp"
#include "tests/catch.hpp"
#include "tests/eventually.hpp"
#include "tests/gpu/bombs.hpp"

using namespace gpu_test;
using namespace std::chrono_literals;
using Catch::Matchers::Contains;
using rondo::errc;
using rondo_test::eventually;

namespace {

rondo::config small_config() {
  rondo::config c;
  c.device = "cuda";
  c.teams = 4;
  c.pinned_teams = 4;
  return c;
}

/// The texts of a runtime's failure reports, which arrive on another thread.
class reports {
 public:
  explicit reports(rondo::runtime& rt)
      : subscription_(rt.on_failure_report([this](std::string const& text) {
          std::lock_guard lock(mutex_);
          all_ += text + "\n";
        })) {}
  std::string all() {
    std::lock_guard lock(mutex_);
    return all_;
  }

 private:
  std::mutex mutex_;
  std::string all_;
  rondo::subscription subscription_;
};

void ask_a_little(rondo::runtime& rt, bool pinned) {
  auto const actor = rt.launch<bomb>(pinned ? "pinned" : "pooled", {.pinned = pinned});
  for (std::uint64_t n = 1; n <= 100; ++n)
    REQUIRE(actor.ask(count_up{}, 10s, rondo::block).value().value == n);
}

}  // namespace

TEST_CASE("auto chooses the GPU, and the runtime names it", "[gpu]") {
  rondo::config c = small_config();
  c.device = "auto";
  rondo::runtime rt{rondo::use<bombs>, c};
  CHECK(rt.info().name == "cuda:0");
  CHECK_THAT(rt.info().description, Contains("multiprocessors"));
  CHECK_THAT(rt.reason(), Contains("GPU"));
  ask_a_little(rt, false);
  ask_a_little(rt, true);
  CHECK(rt.stop().stopped);
}

TEST_CASE("more teams than the GPU has room for are refused with both numbers", "[gpu]") {
  auto c = small_config();
  c.teams = 60'000;
  CHECK_THROWS_WITH((rondo::runtime{rondo::use<bombs>, c}), Contains("teams: 60000") && Contains("fit on"));
  c = small_config();
  c.lanes = 48;
  CHECK_THROWS_WITH((rondo::runtime{rondo::use<bombs>, c}), Contains("lanes:"));
  c = small_config();
  c.device = "cuda:99";
  CHECK_THROWS_WITH((rondo::runtime{rondo::use<bombs>, c}), Contains("cuda:99") && Contains("GPUs"));
}

TEST_CASE("a second runtime of the process is refused while the first uses the GPU, and harms nothing",
          "[gpu]") {
  {
    rondo::runtime first{rondo::use<bombs>, small_config()};
    ask_a_little(first, false);
    CHECK_THROWS_WITH((rondo::runtime{rondo::use<bombs>, small_config()}), Contains("cuda:0,cuda:0"));
    ask_a_little(first, true);
    auto const actor = first.find<bomb>("pooled").value();
    CHECK(actor.ask(count_up{}, 10s, rondo::block).value().value == 101);
  }
  rondo::runtime second{rondo::use<bombs>, small_config()};
  ask_a_little(second, true);
}

TEST_CASE("another process reads a GPU's buffer in place", "[gpu][share]") {
  auto c = small_config();
  c.share_buffers = true;
  rondo::runtime rt{rondo::use<bombs>, c};
  auto* const home = rt.buffers().home();
  REQUIRE(home != nullptr);
  REQUIRE(home->share());
  rondo::unified_buffer<std::uint64_t> numbers(rt.memory(), {1000});
  std::ranges::fill(numbers.overwrite().value(), 7u);
  std::string const socket = "/tmp/rondo-gpu-share-" + std::to_string(::getpid());
  rondo::buffer_exporter exporter(*rt.shared_memory(), {.path = socket, .device = home});
  auto const shared = exporter.export_buffer(rt.buffers(), numbers.device().value()).value();
  auto reader = std::async(std::launch::async, [&] {
    auto const here = std::filesystem::read_symlink("/proc/self/exe").parent_path();
    return std::system(((here / "share_reader").string() + " " + socket + " 7000").c_str());
  });
  REQUIRE(eventually([&] { return exporter.announce(shared, 1) == 1; }));
  CHECK(reader.get() == 0);
  CHECK(exporter.statistics().copies == 0);
  REQUIRE(exporter.withdraw(shared) == errc::ok);
}

TEST_CASE("a deadline has the same meaning on host and GPU", "[gpu][G12]") {
  rondo::runtime rt{rondo::use<bombs>, small_config()};
  auto const actor = rt.launch<bomb>("asleep", {.active = false});
  for (int i = 0; i < 10; ++i)
    REQUIRE(actor.try_tell(trap{}, {.deadline = 1ms}) == errc::ok);  // each would fault the device
  std::this_thread::sleep_for(5ms);
  REQUIRE_FALSE(rondo::activate(actor, rondo::block));
  CHECK(actor.ask(count_up{}, 10s, rondo::block).value().value == 1);
}

namespace {

/// Faults a GPU, from a runtime of its own.
void fault(bool wild) {
  rondo::runtime rt{rondo::use<bombs>, small_config()};
  reports seen{rt};
  auto const victim = rt.launch<bomb>("victim", {.active = false});
  auto const culprit = rt.launch<bomb>("culprit");
  std::promise<rondo::error_code> asked;
  auto answer = asked.get_future();
  victim.ask(count_up{}, {.timeout = 1h}, [&](rondo::error_code ec, count) { asked.set_value(ec); });
  if (wild)
    REQUIRE(culprit.try_tell(wild_write{16}) == errc::ok);
  else
    REQUIRE(culprit.try_tell(trap{100'000'000}) == errc::ok);
  REQUIRE(answer.wait_for(20s) == std::future_status::ready);
  CHECK(answer.get() == errc::device_lost);
  REQUIRE(eventually([&] { return seen.all().find("the device was lost:") != std::string::npos; }));
  CHECK_THAT(seen.all(), Contains("cudaError"));
  if (!wild) CHECK_THAT(seen.all(), Contains("culprit") && Contains("gpu_test::trap"));
  CHECK(victim.try_tell(trap{}) == errc::device_lost);
  CHECK_THROWS_WITH(rondo::checkpoint(rt, "/tmp/never-written.checkpoint"), Contains("faulted"));
  // A context that faulted is unusable for everybody: a second runtime reports this until the first one is destroyed.
  CHECK_THROWS_WITH((rondo::runtime{rondo::use<bombs>, small_config()}), Contains("cuda"));
}

/// The process goes on. Whether it gets the GPU again depends on the driver: 580.159 refuses it on an H100.
void go_on() {
  auto c = small_config();
  try {
    rondo::runtime rt{rondo::use<bombs>, c};
    ask_a_little(rt, false);
  } catch (std::runtime_error const& e) {
    CHECK_THAT(e.what(), Contains("a new process"));
  }
  c.device = "cpu";
  rondo::runtime rt{rondo::use<bombs>, c};
  ask_a_little(rt, false);
}

}  // namespace

// Each in a process of its own (CMakeLists.txt, tools/gpu).
TEST_CASE("a trap ends pending operations, names what ran, and the process continues", "[gpu][faults][G9]") {
  fault(false);
  go_on();
}
TEST_CASE("a wild write ends pending operations, and the process continues", "[gpu][faults][G9]") {
  fault(true);
  go_on();
}
