// pin_teams binds each team to one of the cores that the process may use. Pinned teams and mail rings.
#include <pthread.h>
#include <sched.h>

#include <set>

#include "runtime/device/emulated/emulated_module.hpp"
#include "runtime/runtime.hpp"
#include "tests/runtime/result_text.hpp"

namespace pin_teams_test {

using namespace std::chrono_literals;

struct where {};
struct place {
  std::uint32_t cores;  // the number of cores that the team's thread may run on
  std::int32_t first;   // the first of them
};

struct locator {
  using messages = rondo::messages<rondo::ask<where, place>>;
  void on(rondo::context& ctx, where const&) {
    cpu_set_t set;
    place p{0, -1};
    if (pthread_getaffinity_np(pthread_self(), sizeof set, &set) == 0)
      for (int core = CPU_SETSIZE - 1; core >= 0; --core)
        if (CPU_ISSET(static_cast<unsigned>(core), &set)) ++p.cores, p.first = core;
    ctx.reply(p);
  }
};
RONDO_MODULE(locators, locator)
RONDO_EMULATED_MODULE(locators)

/// The calling thread's cores; restores them at the end.
struct own_cores {
  cpu_set_t before{};
  std::vector<int> cores;
  own_cores() {
    REQUIRE(sched_getaffinity(0, sizeof before, &before) == 0);
    for (int core = 0; core < CPU_SETSIZE; ++core)
      if (CPU_ISSET(static_cast<unsigned>(core), &before)) cores.push_back(core);
  }
  ~own_cores() { sched_setaffinity(0, sizeof before, &before); }
};

/// The cores of pinned actors' teams, one after the other.
std::vector<int> cores_of_teams(std::string const& device, std::uint32_t actors) {
  rondo::config c;
  c.device = device;
  c.teams = 1;
  c.lanes = 2;
  c.pin_teams = true;
  rondo::runtime rt{rondo::use<locators>, c};
  std::vector<int> found;
  for (std::uint32_t i = 0; i < actors; ++i) {
    auto const p = rt.launch<locator>("", {.pinned = true}).ask(where{}, 20s, rondo::block).value();
    CHECK(p.cores == 1);
    found.push_back(p.first);
  }
  return found;
}

}  // namespace pin_teams_test
using namespace pin_teams_test;

TEST_CASE("pinned teams stay within the cores that the process was given", "[pin_teams]") {
  // Regression: the cores were counted from core 0, so teams left the cores that taskset or a container had set.
  own_cores const mine;
  for (auto const* device : {"cpu", "emulated"}) {
    INFO(device);
    cpu_set_t last;
    CPU_ZERO(&last);
    CPU_SET(static_cast<unsigned>(mine.cores.back()), &last);
    REQUIRE(sched_setaffinity(0, sizeof last, &last) == 0);
    CHECK(cores_of_teams(device, 3) == std::vector<int>(3, mine.cores.back()));
    REQUIRE(sched_setaffinity(0, sizeof mine.before, &mine.before) == 0);
  }
}

#if RONDO_LINUX  // elsewhere no thread is pinned
TEST_CASE("pinned teams take the cores in turn", "[pin_teams]") {
  own_cores const mine;
  auto const found = cores_of_teams("cpu", 5);
  for (std::size_t i = 0; i < found.size(); ++i)
    CHECK(found[i] == mine.cores[(i + 1) % mine.cores.size()]);  // team 0 is not pinned to an actor
}
#endif

TEST_CASE("too few mail rings for pinned teams that never give theirs back are refused", "[runtime]") {
  rondo::config c;
  c.device = "cpu";
  c.pinned_teams = 3;
  c.polling = true;
  c.mail_blocks = 3;
  CHECK_THROWS_WITH(rondo::runtime(rondo::use<locators>, c),
                    Catch::Matchers::Contains("mail_blocks") && Catch::Matchers::Contains("at least 4"));
  c.mail_blocks = 4;
  CHECK_NOTHROW(rondo::runtime(rondo::use<locators>, c));
}
