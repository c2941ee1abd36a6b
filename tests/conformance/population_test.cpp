// Many actors: a capacity for each, and one message to all.
#include "runtime/population/tell_all.hpp"

#include "runtime/population/read_states.hpp"
#include "tests/conformance/harness.hpp"

using namespace conformance;

namespace {

std::vector<adder> states_of(rondo::runtime& rt, std::vector<rondo::actor_ref<adder>> const& all) {
  std::vector<adder> states(all.size());
  rondo::read_states(rt, all, states);
  return states;
}

/// Gets the outcome of a call that is not awaited.
struct pending_call {
  std::promise<std::pair<error_code, rondo::told>> promise;
  std::future<std::pair<error_code, rondo::told>> done = promise.get_future();
  auto handler() {
    return [this](error_code ec, rondo::told t) { promise.set_value({ec, t}); };
  }
  auto wait() {
    if (done.wait_for(patience) != std::future_status::ready)
      throw std::runtime_error("a message to many was not told in time");
    return done.get();
  }
};

}  // namespace

TEST_CASE("a message to many actors reaches each once, and takes few mail blocks at a time", "[tell_all]") {
  auto v = GENERATE(from_range(variants()));
  INFO(v.name);
  v.settings.mail_blocks = 8;
  auto const rt = start(v.settings);
  auto const all = rt->launch_many<adder>(80, {.capacity = 1});
  auto const first = rondo::tell_all(*rt, all, add{3}, {}, rondo::block).value();
  CHECK(first.accepted == all.size());
  CHECK(first.gone == 0);
  auto const some = std::span(all).subspan(10, 20);
  CHECK(rondo::tell_all(*rt, some, add{100}, {}, rondo::block).value().accepted == some.size());
  REQUIRE(eventually([&] { return at_rest(*rt).conserved(); }));
  auto const states = states_of(*rt, all);
  for (std::size_t i = 0; i < all.size(); ++i) CHECK(states[i].sum == (i >= 10 && i < 30 ? 103 : 3));
  std::vector<rondo::actor_ref<adder>> const none;
  CHECK(rondo::tell_all(*rt, none, add{3}, {}, rondo::block).value().accepted == 0);
}

TEST_CASE("messages to thousands of actors, one after the other, end once each, while mailboxes are full",
          "[tell_all]") {
  auto v = GENERATE(from_range(variants()));
  INFO(v.name);
  v.settings.actors = 3100;
  v.settings.mail_blocks = 2000;
  auto const rt = start(v.settings);
  auto const all = rt->launch_many<adder>(3000, {.capacity = 1});
  constexpr std::uint32_t messages = 6;
  std::atomic<std::uint32_t> ends = 0, accepted = 0;
  for (std::uint32_t n = 0; n < messages; ++n)
    rondo::tell_all(*rt, all, add{1}, {}, [&](error_code ec, rondo::told t) {
      if (!ec) accepted += static_cast<std::uint32_t>(t.accepted);
      ++ends;
    });
  REQUIRE(eventually([&] { return ends >= messages; }));
  REQUIRE(eventually([&] { return at_rest(*rt).conserved(); }));
  CHECK(ends == messages);
  CHECK(accepted == messages * all.size());
  for (auto const& s : states_of(*rt, all)) CHECK(s.sum == messages);
}

TEST_CASE("actors that are gone are counted, and the others are told", "[tell_all]") {
  auto const v = GENERATE(from_range(variants()));
  INFO(v.name);
  auto const rt = start(v.settings);
  auto all = rt->launch_many<adder>(10);
  for (std::size_t const i : {0u, 4u, 9u}) REQUIRE_FALSE(terminate(all[i], rondo::termination::discard));
  rt->launch<adder>("next");  // perhaps in the place of one of them
  auto const t = rondo::tell_all(*rt, all, add{1}, {}, rondo::block).value();
  CHECK(t.accepted == 7);
  CHECK(t.gone == 3);
}

TEST_CASE("a message to many waits for the room of one, and is before what comes after it", "[tell_all]") {
  auto const v = GENERATE(from_range(variants()));
  INFO(v.name);
  auto const rt = start(v.settings);
  auto const all = rt->launch_many<adder>(30, {.capacity = 1});
  REQUIRE_FALSE(deactivate(all[7]));
  REQUIRE_FALSE(tell(all[7], add{1}));
  pending_call call;
  rondo::tell_all(*rt, all, add{10}, {}, call.handler());
  REQUIRE(eventually([&] { return states_of(*rt, all)[29].sum == 10; }));
  CHECK(call.done.wait_for(0s) == std::future_status::timeout);
  if (shares_memory(v)) CHECK(all[7].try_tell(add{100}) == errc::mailbox_full);  // others cannot know yet
  REQUIRE_FALSE(activate(all[7]));
  auto const [ec, t] = call.wait();
  CHECK_FALSE(ec);
  CHECK(t.accepted == 30);
  REQUIRE(eventually([&] { return states_of(*rt, all)[7].sum == 11; }));
}

TEST_CASE("a message to many has a deadline", "[tell_all]") {
  auto const v = GENERATE(from_range(variants()));
  INFO(v.name);
  auto const rt = start(v.settings);
  auto const all = rt->launch_many<adder>(3, {.capacity = 1});
  REQUIRE_FALSE(deactivate(all[1]));
  REQUIRE_FALSE(tell(all[1], add{1}));
  pending_call call;
  rondo::tell_all(*rt, all, add{10}, {.deadline = 50ms}, call.handler());
  auto const [ec, t] = call.wait();
  CHECK(ec == errc::timed_out);
  CHECK(t.accepted == 2);
  CHECK(rondo::tell_all(*rt, all, add{1}, {.deadline = -1us}, rondo::block).error() == errc::timed_out);
  CHECK(rondo::tell_all(*rt, all, add{1}, {.deadline = 25h}, rondo::block).error() ==
        errc::deadline_too_long);
}

TEST_CASE("a message to many ends with the runtime", "[tell_all]") {
  auto const v = GENERATE(from_range(variants()));
  INFO(v.name);
  auto rt = start(v.settings);
  auto const all = rt->launch_many<adder>(3, {.capacity = 1});
  REQUIRE_FALSE(deactivate(all[1]));
  REQUIRE_FALSE(tell(all[1], add{1}));
  pending_call call;
  rondo::tell_all(*rt, all, add{10}, {}, call.handler());
  REQUIRE(eventually([&] { return states_of(*rt, all)[2].sum == 10; }));
  rt.reset();
  CHECK(call.wait().first == errc::stopped);
}

TEST_CASE("a completion handler may not wait for a message to many", "[tell_all]") {
  auto const v = GENERATE(from_range(variants()));
  INFO(v.name);
  auto const rt = start(v.settings);
  auto const all = rt->launch_many<adder>(2);
  std::promise<error_code> said;
  rondo::tell_all(*rt, all, add{1}, {}, [&](error_code, rondo::told) {
    said.set_value(rondo::tell_all(*rt, all, add{1}, {}, rondo::block).error());
  });
  CHECK(said.get_future().get() == errc::would_deadlock);
}

TEST_CASE("each of many actors has the capacity that it was given", "[launch_many]") {
  auto const v = GENERATE(from_range(variants()));
  INFO(v.name);
  auto const rt = start(v.settings);
  std::vector<std::uint32_t> const capacities = {1, 3, 33, 2, 100};  // two need mail rings of their own
  auto const all = rt->launch_many<adder>(rondo::each_capacity{capacities}, {.active = false});
  REQUIRE(all.size() == capacities.size());
  for (std::size_t i = 0; i < all.size(); ++i) {
    INFO(i);
    for (std::uint32_t n = 0; n < capacities[i]; ++n) REQUIRE_FALSE(tell(all[i], add{1}));
    CHECK(tell(all[i], add{1}) == errc::mailbox_full);
    CHECK(rt->listed(all[i].id()).value().options.capacity == capacities[i]);
    REQUIRE_FALSE(activate(all[i]));
  }
  REQUIRE(eventually([&] { return at_rest(*rt).conserved(); }));
  auto const states = states_of(*rt, all);
  for (std::size_t i = 0; i < all.size(); ++i) CHECK(states[i].sum == capacities[i]);

  std::vector<std::uint32_t> const wrong = {5, 0};
  CHECK_THROWS_AS(rt->launch_many<adder>(rondo::each_capacity{wrong}), std::invalid_argument);
  std::vector<brittle::arguments> const given(2);
  CHECK(rt->launch_many<brittle>(given, rondo::each_capacity{std::span(capacities).first(2)}, {}).size() ==
        2);
  CHECK_THROWS_AS(rt->launch_many<brittle>(given, rondo::each_capacity{capacities}, {}),
                  std::invalid_argument);
}
