// G10 and G11: stop is bounded and names stuck actors, the message path does not allocate, idle teams park.
#include <dirent.h>

#include <cstdlib>
#include <fstream>
#include <new>

#include "runtime/observe/telemetry.hpp"
#include "tests/conformance/harness.hpp"

using namespace conformance;
using Catch::Matchers::Contains;

namespace {
std::atomic<bool> counting{false};
std::atomic<std::uint64_t> allocations{0};
}  // namespace

// Sanitizers have operators of their own; nothing is counted then.
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
namespace {
void* counted(std::size_t bytes, std::size_t alignment) {
  if (counting.load(std::memory_order_relaxed)) allocations.fetch_add(1, std::memory_order_relaxed);
  auto const rounded = (std::max<std::size_t>(bytes, 1) + alignment - 1) / alignment * alignment;
  void* const p = std::aligned_alloc(alignment, rounded);
  if (p == nullptr) throw std::bad_alloc();
  return p;
}
constexpr std::size_t usual = __STDCPP_DEFAULT_NEW_ALIGNMENT__;
}  // namespace

void* operator new(std::size_t n) { return counted(n, usual); }
void* operator new[](std::size_t n) { return counted(n, usual); }
void* operator new(std::size_t n, std::align_val_t a) { return counted(n, static_cast<std::size_t>(a)); }
void* operator new[](std::size_t n, std::align_val_t a) { return counted(n, static_cast<std::size_t>(a)); }
void* operator new(std::size_t n, std::nothrow_t const&) noexcept { return counted(n, usual); }
void* operator new[](std::size_t n, std::nothrow_t const&) noexcept { return counted(n, usual); }
void operator delete(void* p, std::nothrow_t const&) noexcept { std::free(p); }
void operator delete[](void* p, std::nothrow_t const&) noexcept { std::free(p); }
void operator delete(void* p) noexcept { std::free(p); }
void operator delete[](void* p) noexcept { std::free(p); }
void operator delete(void* p, std::size_t) noexcept { std::free(p); }
void operator delete[](void* p, std::size_t) noexcept { std::free(p); }
void operator delete(void* p, std::align_val_t) noexcept { std::free(p); }
void operator delete[](void* p, std::align_val_t) noexcept { std::free(p); }
void operator delete(void* p, std::size_t, std::align_val_t) noexcept { std::free(p); }
void operator delete[](void* p, std::size_t, std::align_val_t) noexcept { std::free(p); }
#endif

namespace {
/// Waits until the runtime's thread has processed its posts, such as setting the timer for a first deadline.
void let_service_settle(rondo::runtime& rt) {
  std::promise<void> done;
  boost::asio::post(rt.executor(), [&done] { done.set_value(); });
  REQUIRE(done.get_future().wait_for(patience) == std::future_status::ready);
}
}  // namespace

TEST_CASE("tells and asks allocate nothing", "[G10][allocations]") {
  auto const v = GENERATE(from_range(variants()));
  bool const pinned = GENERATE(false, true);
  INFO(v.name << (pinned ? ", pinned" : ""));
  auto const rt = start(v.settings);
  auto const actor = rt->launch<adder>("adder", {.capacity = 1024, .pinned = pinned});
  auto const asked_for_long = [&] { return actor.ask(get{}, 1h, rondo::block); };
  REQUIRE(asked_for_long());  // the first deadline sets the runtime's timer
  let_service_settle(*rt);
  std::uint64_t sum = 0, refused = 0;
  bool failed = false;
  std::array<add, 8> const batch{};
  counting = true;
  for (std::uint64_t i = 0; i < 300; ++i) {
    // Not below the asks' priority: the asks would overtake them, and the mailbox would fill.
    if (actor.try_tell(add{i}, {.priority = static_cast<std::uint8_t>(128 + i % 128)}))
      ++refused;
    else
      sum += i;
    if (i % 8 == 0) {
      if (actor.try_tell(std::span<add const>(batch))) ++refused;
      failed = failed || !asked_for_long() || !actor.ask(get{}, rondo::no_timeout, rondo::block);
    }
  }
  counting = false;
  CHECK(allocations.exchange(0) == 0);
  CHECK_FALSE(failed);
  CHECK(refused == 0);
  CHECK(ask(actor, get{}, 0).value().value == sum);
}

TEST_CASE("messages between actors allocate nothing", "[G10][allocations]") {
  auto const v = GENERATE(from_range(variants()));
  INFO(v.name);
  auto const rt = start(v.settings);
  auto const sum = rt->launch<adder>("sum");
  auto const middle = rt->launch<messenger>("middle");
  REQUIRE(middle.ask(consult{sum.id(), 1}, 1h, rondo::block));
  let_service_settle(*rt);
  bool failed = false;
  counting = true;
  for (int i = 0; i < 100; ++i) failed = failed || !middle.ask(consult{sum.id(), 1}, 1h, rondo::block);
  counting = false;
  CHECK(allocations.exchange(0) == 0);
  CHECK_FALSE(failed);
}

TEST_CASE("stop ends all asks, refuses later calls, and can be called again", "[G10]") {
  auto const v = GENERATE(from_range(variants()));
  INFO(v.name);
  auto const rt = start(v.settings);
  auto const actor = rt->launch<adder>("adder");
  auto const asleep = rt->launch<adder>("asleep", {.capacity = 1, .active = false});
  pending<total> asked, unheard;
  actor.ask(later{}, rondo::ask_options{}, asked.handler());
  asleep.ask(get{}, rondo::ask_options{}, unheard.handler());
  std::promise<error_code> waiter;
  auto waited = waiter.get_future();
  REQUIRE(ask(actor, get{}));
  asleep.tell(add{1}, {.wait_for_room = true}, [&](error_code ec) { waiter.set_value(ec); });
  auto const report = rt->stop();
  CHECK(report.stopped);
  CHECK(report.stuck.empty());
  CHECK(asked.wait() == errc::stopped);
  CHECK(unheard.wait() == errc::stopped);
  REQUIRE(waited.wait_for(patience) == std::future_status::ready);
  CHECK(waited.get() == errc::stopped);
  CHECK(actor.try_tell(add{1}) == errc::stopped);
  CHECK(tell(actor, add{1}) == errc::stopped);
  CHECK(tell(actor, add{1}, {.wait_for_room = true}) == errc::stopped);
  CHECK(ask(actor, get{}).error() == errc::stopped);
  CHECK(rt->try_launch<adder>("too late").error() == errc::stopped);
  CHECK(terminate(actor, rondo::termination::drain) == errc::stopped);
  CHECK(deactivate(actor) == errc::stopped);
  CHECK_THROWS_AS(inspect(actor), boost::system::system_error);
  CHECK(rt->stop().stopped);
}

// Regression: handlers that had not been called yet were dropped.
TEST_CASE("every completion handler has been called when the runtime is destroyed", "[G10][G12]") {
  auto const v = GENERATE(from_range(variants()));
  INFO(v.name);
  auto rt = start(v.settings);
  auto const asleep = rt->launch<adder>("asleep", {.capacity = 500, .active = false});
  std::atomic<std::uint32_t> stopped{0};
  for (int i = 0; i < 500; ++i)
    asleep.ask(get{}, rondo::ask_options{}, [&](error_code ec, total) {
      if (stopped == 0)
        std::this_thread::sleep_for(20ms);  // the other handlers have not run when the runtime is destroyed
      stopped += ec == errc::stopped;
    });
  REQUIRE(eventually([&] { return rt->snapshot().waiting == 500; }));
  rt.reset();
  CHECK(stopped == 500);
}

TEST_CASE("stop returns in time and names a stuck actor", "[G10]") {
  auto const v = GENERATE(from_range(variants()));
  INFO(v.name);
  // The handler returns after the runtime is destroyed, perhaps while the process exits: its thread must still find its
  // memory, and then end.
  static auto& gates = *new std::vector<std::unique_ptr<in_reach<gate>>>;
  gate& at = **gates.emplace_back(std::make_unique<in_reach<gate>>());
  gate_keeper const keeper{at};
  {
    auto settings = v.settings;
    settings.stop_timeout_ms = 50;
    auto const rt = start(settings);
    auto const actor = rt->launch<adder>("stubborn");
    hold_at(actor, at);
    pending<total> asked;
    actor.ask(get{}, rondo::ask_options{}, asked.handler());
    auto const report = rt->stop();
    CHECK_FALSE(report.stopped);
    REQUIRE(report.stuck.size() == 1);  // the team is not named twice
    CHECK_THAT(report.stuck[0], Contains("team") && Contains("stubborn") && Contains("hold"));
    CHECK(asked.wait() == errc::stopped);
  }
  keeper.open();
}

#if defined(__linux__)
namespace {
/// Threads of this process whose name begins with "rondo-" and that do not sleep.
std::size_t busy_threads() {
  std::size_t busy = 0;
  DIR* const tasks = opendir("/proc/self/task");
  while (dirent const* const t = readdir(tasks)) {
    std::ifstream stat("/proc/self/task/" + std::string(t->d_name) + "/stat");
    std::string line;
    std::getline(stat, line);  // "tid (name) state ..."
    auto const end = line.rfind(')');
    if (line.find("(rondo-") != std::string::npos && end + 2 < line.size() && line[end + 2] != 'S') ++busy;
  }
  closedir(tasks);
  return busy;
}
}  // namespace

TEST_CASE("idle teams park, and a message wakes one", "[G11]") {
  auto const v = GENERATE(from_range(variants()));
  bool const pinned = GENERATE(false, true);
  INFO(v.name << (pinned ? ", pinned" : ""));
  auto const rt = start(v.settings);
  auto const actor = rt->launch<adder>("adder", {.pinned = pinned});
  for (int i = 0; i < 5; ++i) {
    CHECK(eventually([] { return busy_threads() == 0; }));
    REQUIRE_FALSE(tell(actor, add{1}));
    CHECK(ask(actor, get{}).value().value == static_cast<std::uint64_t>(i + 1));
  }
}
#endif
