// Topics: who gets a published message, and what becomes of one that a subscriber has no room for.
#include "tests/conformance/crew.hpp"

using namespace conformance;

TEST_CASE("a published message reaches the subscribers of its topic, in order", "[G1][G2][G6]") {
  auto const v = GENERATE(from_range(variants()));
  bool const pinned = GENERATE(false, true);
  INFO(v.name << (pinned ? ", pinned" : ""));
  overheard w(v);
  auto const topics = w.rt->launch<job_topics>("topics", {.capacity = 256, .pinned = pinned});
  auto const a = w.rt->launch<worker>("a", {.capacity = 256, .pinned = pinned});
  auto const b = w.rt->launch<worker>("b", {.capacity = 256, .pinned = pinned});
  auto const steel = rondo::topic_id("steel"), wood = rondo::topic_id("wood"), none = rondo::topic_id("none");
  auto const subscribers = [&](std::uint64_t topic) {
    return ask(topics, rondo::count_subscribers<job>{topic}).value().subscribers;
  };
  CHECK(ask(topics, rondo::subscribe<job>{steel, a.where()}).value().subscribers == 1);
  CHECK(ask(topics, rondo::subscribe<job>{wood, a.where()}).value().subscribers == 1);
  CHECK(ask(topics, rondo::subscribe<job>{steel, b.where()}).value().subscribers == 2);
  CHECK(ask(topics, rondo::subscribe<job>{steel, b.where()}).value().subscribers == 2);
  auto const jobs = few_on_ptx(v, 5, 50);
  for (std::uint32_t i = 0; i < jobs; ++i) {
    REQUIRE_FALSE(tell(topics, rondo::publish<job>{steel, {1, i}}));
    REQUIRE_FALSE(tell(topics, rondo::publish<job>{wood, {2, i}}));
    REQUIRE_FALSE(tell(topics, rondo::publish<job>{none, {3, i}}));
  }
  CHECK(at_rest(*w.rt).dead_letters == 0);
  auto of_a = ask(a, read_work{}).value(), of_b = ask(b, read_work{}).value();
  CHECK(of_a.jobs == 2 * jobs);
  CHECK(of_a.keys == (1u << 1 | 1u << 2));
  CHECK(of_b.jobs == jobs);
  CHECK(of_b.keys == 1u << 1);
  CHECK(of_a.disorder + of_b.disorder == 0);

  CHECK(ask(topics, rondo::unsubscribe<job>{steel, a.where()}).value().subscribers == 1);
  CHECK(subscribers(wood) == 1);
  REQUIRE_FALSE(tell(topics, rondo::publish<job>{steel, {4, 0}}));
  at_rest(*w.rt);
  CHECK(ask(a, read_work{}).value().jobs == 2 * jobs);
  CHECK(ask(b, read_work{}).value().jobs == jobs + 1);

  REQUIRE_FALSE(terminate(b, rondo::termination::drain));
  CHECK(subscribers(steel) == 1);
  REQUIRE_FALSE(tell(topics, rondo::publish<job>{steel, {5, 0}}));
  CHECK(at_rest(*w.rt).dead_letters == 0);
  CHECK(subscribers(steel) == 0);
}

TEST_CASE("a full subscriber, or a full table of subscriptions, is seen", "[G1][G5]") {
  auto const v = GENERATE(from_range(variants()));
  INFO(v.name);
  overheard w(v);
  auto const topics = w.rt->launch<job_topics>("topics");
  auto const a = w.rt->launch<worker>("a", {.capacity = 1, .active = false});
  auto const b = w.rt->launch<worker>("b");
  for (std::uint64_t topic = 1; topic <= 2; ++topic) {
    REQUIRE(ask(topics, rondo::subscribe<job>{topic, a.where()}));
    REQUIRE(ask(topics, rondo::subscribe<job>{topic, b.where()}));
  }
  CHECK(ask(topics, rondo::subscribe<job>{3, a.where()}).error() == errc::table_full);
  REQUIRE_FALSE(tell(topics, rondo::publish<job>{1, {1, 0}}));
  at_rest(*w.rt, 1);
  REQUIRE_FALSE(tell(topics, rondo::publish<job>{1, {1, 1}}));
  w.check_letter(1, topics.id(), errc::mailbox_full);
  at_rest(*w.rt, 1);
  CHECK(ask(b, read_work{}).value().jobs == 2);
  REQUIRE_FALSE(activate(a));
  CHECK(report_of(at_rest(*w.rt), topics.id()).now.totals.failures == 0);
  CHECK(ask(a, read_work{}).value().jobs == 1);
}
