// The states of many actors, read at a safepoint.
#include "runtime/population/read_states.hpp"

#include <thread>

#include "runtime/lifecycle.hpp"
#include "tests/conformance/harness.hpp"

using namespace conformance;
using Catch::Matchers::Contains;

TEST_CASE("the states of many actors are read in their order, each as some message has left it",
          "[read_states]") {
  auto const v = GENERATE(from_range(variants()));
  INFO(v.name);
  auto const rt = start(v.settings);
  auto const all = rt->launch_many<adder>(24, {.capacity = 16});
  for (std::size_t i = 0; i < all.size(); ++i) REQUIRE_FALSE(tell(all[i], add{i}));
  REQUIRE(eventually([&] { return at_rest(*rt).conserved(); }));
  std::vector<adder> first(all.size());
  rondo::read_states(*rt, all, first);
  for (std::size_t i = 0; i < all.size(); ++i) CHECK(first[i].sum == i);

  // Others send: reading stops nobody for good, and nobody's state is half of one.
  std::atomic<std::uint64_t> rounds = 0;
  std::jthread const sender([&](std::stop_token const& over) {
    for (; !over.stop_requested(); ++rounds)
      for (auto const& a : all)
        while (a.try_tell(add{1000}) == rondo::errc::mailbox_full && !over.stop_requested())
          std::this_thread::yield();
  });
  auto before = first, now = first;
  for (int reads = 0; reads < 5; ++reads) {
    auto const begun = rounds.load();
    REQUIRE(eventually([&] { return rounds.load() > begun + 1; }));
    rondo::read_states(*rt, all, now);
    for (std::size_t i = 0; i < all.size(); ++i) {
      CHECK(now[i].sum % 1000 == i);
      CHECK(now[i].sum >= before[i].sum);
    }
    before = now;
  }
  CHECK(now[0].sum > first[0].sum);
}

TEST_CASE("reading the states of actors says which has ended, and wants a place for each", "[read_states]") {
  auto const v = GENERATE(from_range(variants()));
  INFO(v.name);
  auto const rt = start(v.settings);
  auto const all = rt->launch_many<adder>(5);
  std::vector<adder> states(all.size());
  CHECK_NOTHROW(rondo::read_states(*rt, all, states));
  REQUIRE_FALSE(terminate(all[3], rondo::termination::discard));
  rt->launch<adder>("next");  // perhaps in its place
  CHECK_THROWS_WITH(rondo::read_states(*rt, all, states),
                    Contains("5 actors of conformance::adder: number 3"));
  states.pop_back();
  CHECK_THROWS_AS(rondo::read_states(*rt, all, states), std::invalid_argument);
  std::vector<rondo::actor_ref<adder>> const none;
  std::vector<adder> nothing;
  CHECK_NOTHROW(rondo::read_states(*rt, none, nothing));
}

TEST_CASE("a completion handler may read states", "[read_states]") {
  auto const v = GENERATE(from_range(variants()));
  INFO(v.name);
  auto const rt = start(v.settings);
  auto const all = rt->launch_many<adder>(2);
  REQUIRE_FALSE(tell(all[1], add{7}));
  std::promise<std::uint64_t> said;
  all[1].ask(get{}, patience, [&](rondo::error_code, total const&) {
    std::vector<adder> states(all.size());
    rondo::read_states(*rt, all, states);
    said.set_value(states[1].sum);
  });
  CHECK(said.get_future().get() == 7);
}
