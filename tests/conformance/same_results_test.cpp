// G6: a behaviour gives the same results on every device.
#include "tests/conformance/harness.hpp"

using namespace conformance;

namespace {

std::uint64_t exact_sum(std::uint32_t n, std::uint32_t seed) {
  std::uint64_t sum = 0;
  for (std::uint32_t i = 0; i < n; ++i) sum += term(i, seed);
  return sum;
}
double real_sum(std::uint32_t n, std::uint32_t seed) {
  double sum = 0;
  for (std::uint32_t i = 0; i < n; ++i) sum += real_term(i, seed);
  return sum;
}

}  // namespace

TEST_CASE("a handler of the whole team computes the same on any number of lanes", "[G6]") {
  auto const v = GENERATE(from_range(variants()));
  INFO(v.name);
  auto const rt = start(v.settings);
  auto const actor = rt->launch<lanes_together>("vector");
  std::uint64_t calls = 0;
  for (std::uint32_t const n : {0u, 1u, 7u, 31u, 32u, 33u, 1000u}) {
    auto const r = ask(actor, dot{n, n + 5}).value();
    CHECK(r.exact == exact_sum(n, n + 5));
    CHECK(r.real == Approx(real_sum(n, n + 5)).epsilon(1e-12));  // added in another order
    ++calls;
  }
  CHECK(ask(actor, get{}).value().value == calls);
}

TEST_CASE("a failure that one lane reports fails the whole handler", "[G6][G9]") {
  auto const v = GENERATE(from_range(variants()));
  INFO(v.name);
  auto const rt = start(v.settings);
  auto const actor = rt->launch<lanes_together>("vector", {.supervise = {.poison_after = 1}});
  REQUIRE(ask(actor, dot{10, 1}));
  REQUIRE_FALSE(tell(actor, boom{}));
  CHECK(ask(actor, get{}).value().value == 0);  // restarted with fresh state
  auto const t = at_rest(*rt);
  CHECK(report_of(t, actor.id()).now.totals.failures == 1);
  CHECK(report_of(t, actor.id()).now.totals.dead == 1);
}

TEST_CASE("a wide message computes the same result for any number of teams that share its tiles", "[G6]") {
  auto const v = GENERATE(from_range(variants()));
  bool const pinned = GENERATE(false, true);
  INFO(v.name << (pinned ? ", pinned" : ""));
  auto const rt = start(v.settings);
  auto const actor = rt->launch<wide>("wide", {.pinned = pinned});
  std::uint64_t done = 0;
  for (std::uint32_t const tiles : {0u, 1u, 2u, 5u, 64u, 200u}) {
    auto const r = ask(actor, wide_dot{tiles, 30, tiles}).value();
    CHECK(r.exact == exact_sum(tiles * 30, tiles));
    ++done;
  }
  CHECK(ask(actor, get{}).value().value == done);
}

TEST_CASE("a batch handler receives each message once, in batches of at most the limit", "[G6]") {
  auto const v = GENERATE(from_range(variants()));
  INFO(v.name);
  in_reach<gate> const reached;
  gate& at = *reached;
  auto const rt = start(v.settings);
  gate_keeper const keeper{at};
  auto const actor = rt->launch<batcher>("batcher", {.capacity = 300});
  hold_at(actor, at);
  std::vector<sample> samples;
  std::uint64_t sum = 0;
  for (std::uint64_t i = 0; i < 250; ++i) {
    samples.push_back({i * i});
    sum += i * i;
  }
  REQUIRE_FALSE(actor.try_tell(std::span<sample const>(samples)));
  REQUIRE_FALSE(tell(actor, sample{1}));
  keeper.open();
  auto const t = ask(actor, get{}).value();
  CHECK(t.handled == sum + 1);
  CHECK(t.disorder >= 251 / rondo::max_batch + 1);  // calls
  CHECK(t.disorder <= 20);                          // far fewer than messages: they arrived in batches
}

TEST_CASE("a payload of the full 96 bytes arrives whole", "[G6]") {
  auto const v = GENERATE(from_range(variants()));
  INFO(v.name);
  auto const rt = start(v.settings);
  auto const actor = rt->launch<adder>("adder");
  full_size m;
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < sizeof m.bytes; ++i) sum += m.bytes[i] = static_cast<unsigned char>(i * 7 + 1);
  REQUIRE_FALSE(tell(actor, m));
  CHECK(ask(actor, get{}).value().value == sum);
}

TEST_CASE("actors send to and ask each other", "[G6]") {
  auto const v = GENERATE(from_range(variants()));
  INFO(v.name);
  auto const rt = start(v.settings);
  auto const sum = rt->launch<adder>("sum");
  auto const middle = rt->launch<messenger>("middle");
  for (std::uint64_t i = 1; i <= 20; ++i) REQUIRE_FALSE(tell(middle, relay{sum.id(), i}));
  CHECK(ask(middle, consult{sum.id(), 1}).value().value == 210 + 7);  // with the request's correlation
  CHECK(ask(middle, consult{sum.id(), 0}).value().value ==
        1000 + static_cast<std::uint64_t>(errc::no_reply));  // it was answered with `rejected`
  REQUIRE_FALSE(terminate(sum, rondo::termination::drain));
  CHECK(ask(middle, consult{sum.id(), 1}).value().value == ~0ull);
}

TEST_CASE("an answer may be given later, and a handler without an answer ends its ask", "[G6]") {
  auto const v = GENERATE(from_range(variants()));
  INFO(v.name);
  auto const rt = start(v.settings);
  auto const actor = rt->launch<adder>("adder");
  pending<total> asked;
  actor.ask(later{}, rondo::ask_options{.timeout = patience}, asked.handler());
  REQUIRE(ask(actor, get{}));
  CHECK_FALSE(asked.is_ready());
  REQUIRE_FALSE(tell(actor, settle{77}));
  CHECK_FALSE(asked.wait());
  CHECK(asked.reply->value == 77);
  CHECK(ask(actor, silence{}).error() == errc::no_reply);
}

TEST_CASE("a message that an actor sends with a delay arrives, and never early", "[G6]") {
  auto const v = GENERATE(from_range(variants()));
  INFO(v.name);
  shared_word early;
  auto const rt = start(v.settings);
  auto const actor = rt->launch<adder>("adder");
  REQUIRE_FALSE(tell(actor, remind{20'000, 5, early.get()}));
  REQUIRE_FALSE(tell(actor, remind{1, 6, early.get()}));
  REQUIRE(eventually([&] { return ask(actor, get{}).value().value == 11; }));
  CHECK(early == 0);
  CHECK(at_rest(*rt).conserved());
}
