// Routers: which member gets a message, and what becomes of one that no member takes.
#include <algorithm>

#include "tests/conformance/crew.hpp"

using namespace conformance;

TEST_CASE("a round robin gives each member its turn, and its member answers the asker", "[G1][G2][G6]") {
  auto const v = GENERATE(from_range(variants()));
  bool const pinned = GENERATE(false, true);
  INFO(v.name << (pinned ? ", pinned" : ""));
  auto const rt = start(v.settings);
  auto const rounds = few_on_ptx(v, 5, 50);
  crew<in_turn> const c(*rt, 3, {.capacity = 1024, .pinned = pinned}, pinned);
  tell_jobs(c.router, 3 * rounds);
  for (std::uint32_t i = 0; i < 6; ++i)
    CHECK(ask(c.router, whose{0}).value().worker == c.workers[i % 3].id());
  auto const t = at_rest(*rt);
  CHECK(c.jobs_done() == counts{rounds, rounds, rounds});
  CHECK(t.dead_letters == 0);
  CHECK(t.late_answers == 0);
  CHECK(report_of(t, c.router.id()).now.totals.failures == 0);
}

TEST_CASE("a random router spreads messages in the same way everywhere", "[G1][G6]") {
  auto const v = GENERATE(from_range(variants()));
  INFO(v.name);
  auto const rt = start(v.settings);
  auto const jobs = few_on_ptx(v, 30, 300);
  crew<at_random> const c(*rt, 3, {.capacity = 1024});
  tell_jobs(c.router, jobs);
  at_rest(*rt);
  counts expected(3);
  for (std::uint64_t i = 1; i <= jobs; ++i)
    ++expected[(rondo::scatter_bits(i * 0x9e37'79b9'7f4a'7c15ull) >> 32) * 3 >> 32];
  CHECK(c.jobs_done() == expected);
  CHECK(*std::min_element(expected.begin(), expected.end()) > jobs / 5);
}

TEST_CASE("the least loaded member gets the next message", "[G1][G6]") {
  auto const v = GENERATE(from_range(variants()));
  INFO(v.name);
  auto const rt = start(v.settings);
  crew<to_idlest> const c(*rt, 3, {.active = false});
  tell_jobs(c.workers[0], 4);
  tell_jobs(c.workers[2], 2);
  tell_jobs(c.router, 6);
  CHECK(c.waiting(*rt, {4, 4, 4}));
  tell_jobs(c.router, 3);
  CHECK(c.waiting(*rt, {5, 5, 5}));
  for (auto const& w : c.workers) REQUIRE_FALSE(activate(w));
  CHECK(at_rest(*rt).dead_letters == 0);
}

TEST_CASE("a key stays with its member, in order, and members that come or go move only their share",
          "[G1][G2][G6]") {
  auto const v = GENERATE(from_range(variants()));
  INFO(v.name);
  auto const rt = start(v.settings);
  crew<to_owner> c(*rt, 4, {.capacity = 1024});
  CHECK(c.leave(3) == 3);
  auto const jobs = few_on_ptx(v, 2, 10) * job_keys;
  tell_jobs(c.router, jobs);
  at_rest(*rt);
  auto const of_three = c.owners();
  std::uint32_t keys = 0, done = 0;
  for (std::uint32_t i = 0; i < 3; ++i) {
    auto const d = c.done_by(i);
    CHECK(d.disorder == 0);
    CHECK((keys & d.keys) == 0);
    CHECK(d.keys != 0);
    for (std::uint32_t k = 0; k < job_keys; ++k)
      if ((d.keys >> k & 1) != 0) CHECK(of_three.at(k) == c.workers[i].id());
    keys |= d.keys;
    done += d.jobs;
  }
  CHECK(keys == ~0u);
  CHECK(done == jobs);

  CHECK(c.join(3) == 4);
  auto const of_four = c.owners();
  std::uint32_t moved = 0;
  for (auto const& [k, owner] : of_four) {
    if (owner == of_three.at(k)) continue;
    CHECK(owner == c.workers[3].id());
    ++moved;
  }
  CHECK(moved > 0);
  CHECK(moved < job_keys / 2);

  CHECK(c.leave(0) == 3);
  auto const of_others = c.owners();
  for (auto const& [k, owner] : of_others) {
    bool const stays = of_four.at(k) != c.workers[0].id();
    CHECK((owner == of_four.at(k)) == stays);
  }
}

TEST_CASE("a broadcast reaches every member once", "[G1][G2][G6]") {
  auto const v = GENERATE(from_range(variants()));
  bool const pinned = GENERATE(false, true);
  INFO(v.name << (pinned ? ", pinned" : ""));
  auto const rt = start(v.settings);
  auto const jobs = few_on_ptx(v, 5, 100);
  crew<to_all> const c(*rt, 3, {.capacity = 1024, .pinned = pinned}, pinned);
  CHECK(c.join(1) == 3);  // it is one already
  tell_jobs(c.router, jobs);
  auto const t = at_rest(*rt);
  CHECK(c.jobs_done() == counts{jobs, jobs, jobs});
  CHECK(t.dead_letters == 0);
  CHECK(c.leave(1) == 2);
  CHECK(c.leave(1) == 2);
  tell_jobs(c.router, 1);
  at_rest(*rt);
  CHECK(c.done_by(1).jobs == jobs);
  CHECK(c.done_by(2).jobs == jobs + 1);
}

TEST_CASE("a full member's messages go to the next one, and are rejected when all are full", "[G1][G5]") {
  auto const v = GENERATE(from_range(variants()));
  bool const pinned = GENERATE(false, true);
  INFO(v.name << (pinned ? ", pinned" : ""));
  overheard w(v);
  crew<in_turn> const c(*w.rt, 3, {.capacity = 3, .pinned = pinned, .active = false}, pinned);
  tell_jobs(c.workers[1], 3);
  tell_jobs(c.router, 6);
  CHECK(c.waiting(*w.rt, {3, 3, 3}));
  tell_jobs(c.router, 1);
  w.check_letter(1, c.router.id(), errc::mailbox_full);
  CHECK(ask(c.router, whose{0}).error() == errc::mailbox_full);
  auto const asker = w.rt->launch<inquirer>("inquirer");
  CHECK(ask(asker, inquire{c.router.id(), 0}).value().priority ==
        static_cast<std::uint32_t>(errc::mailbox_full));
  for (auto const& m : c.workers) REQUIRE_FALSE(activate(m));
  auto const t = at_rest(*w.rt);
  CHECK(c.jobs_done() == counts{3, 3, 3});
  CHECK(t.dead_letters == 1);
  auto const& n = report_of(t, c.router.id()).now.totals;
  CHECK(n.dead == 1);
  CHECK(n.rejected == 2);
  CHECK(n.failures == 0);
  CHECK(c.members() == 3);
}

TEST_CASE("a full member's keys do not go elsewhere", "[G1][G2]") {
  auto const v = GENERATE(from_range(variants()));
  INFO(v.name);
  overheard w(v);
  crew<to_owner> const c(*w.rt, 2, {.capacity = 2});
  auto const owner = c.owners().at(5);
  auto const& full = c.workers[0].id() == owner ? c.workers[0] : c.workers[1];
  REQUIRE_FALSE(deactivate(full));
  tell_jobs(full, 2);
  REQUIRE_FALSE(tell(c.router, job{5, 0}));
  w.check_letter(1, c.router.id(), errc::mailbox_full);
  CHECK(ask(c.router, whose{5}).error() == errc::mailbox_full);
  at_rest(*w.rt, 2);
  REQUIRE_FALSE(activate(full));
  at_rest(*w.rt);
  CHECK(ask(c.router, whose{5}).value().worker == owner);
  at_rest(*w.rt);
}

TEST_CASE("a broadcast that a member has no room for reaches the others, and is one dead letter",
          "[G1][G5]") {
  auto const v = GENERATE(from_range(variants()));
  INFO(v.name);
  overheard w(v);
  crew<to_all> const c(*w.rt, 3, {.capacity = 2});
  REQUIRE_FALSE(deactivate(c.workers[0]));
  REQUIRE_FALSE(deactivate(c.workers[1]));
  tell_jobs(c.workers[0], 2);
  tell_jobs(c.workers[1], 1);
  REQUIRE_FALSE(tell(c.router, job{7, 0}));
  w.check_letter(1, c.router.id(), errc::mailbox_full);
  CHECK(c.waiting(*w.rt, {2, 2, 0}));
  at_rest(*w.rt, 4);
  CHECK(c.done_by(2).keys == 1u << 7);
  for (auto const& m : c.workers) REQUIRE_FALSE(activate(m));
  at_rest(*w.rt);
}

TEMPLATE_TEST_CASE("members that have ended leave, and their messages go to others", "[G1][G7]", in_turn,
                   at_random, to_idlest, to_owner, to_all) {
  auto const v = GENERATE(from_range(variants()));
  INFO(v.name);
  overheard w(v);
  crew<TestType> const c(*w.rt, 3);
  REQUIRE_FALSE(terminate(c.workers[0], rondo::termination::drain));
  REQUIRE_FALSE(terminate(c.workers[2], rondo::termination::drain));
  auto const successor = w.rt->template launch<worker>("worker 2");
  CHECK(c.members() == 3);
  tell_jobs(c.router, job_keys);
  CHECK(at_rest(*w.rt).dead_letters == 0);
  CHECK(c.done_by(1).jobs == job_keys);
  CHECK(c.members() == 1);
  CHECK(ask(successor, read_work{}).value().jobs == 0);

  REQUIRE_FALSE(terminate(c.workers[1], rondo::termination::drain));
  REQUIRE_FALSE(tell(c.router, job{0, 0}));
  w.check_letter(1, c.router.id(), errc::not_found);
  CHECK(c.members() == 0);
  at_rest(*w.rt);
}

TEST_CASE("a full router refuses another member", "[G1]") {
  auto const v = GENERATE(from_range(variants()));
  INFO(v.name);
  overheard w(v);
  crew<to_all> const c(*w.rt, 4);
  auto const fifth = w.rt->launch<worker>("fifth");
  CHECK(ask(c.router, rondo::join<worker>{fifth.where()}).error() == errc::table_full);
  REQUIRE_FALSE(tell(c.router, rondo::join<worker>{fifth.where()}));
  w.check_letter(1, c.router.id(), errc::table_full);
  CHECK(c.leave(2) == 3);
  CHECK(ask(c.router, rondo::join<worker>{fifth.where()}).value().members == 4);
  at_rest(*w.rt);
}

TEST_CASE("a router's members may live on other devices", "[several][G1][G2]") {
  auto const v = GENERATE(from_range(variants_of_several()));
  INFO(v.name);
  overheard w(v);
  crew<in_turn> c(*w.rt, 0);
  for (std::uint32_t d = 0; d < 2; ++d) {
    c.workers.push_back(w.rt->launch<worker>("worker " + std::to_string(d), {.device = d}));
    CHECK(c.join(d) == d + 1);
  }
  for (std::uint32_t i = 0; i < 20; ++i) {
    REQUIRE_FALSE(tell(c.router, job{0, i}));
    REQUIRE(ask(c.router, whose{0}).value().worker == c.workers[1].id());
  }
  at_rest(*w.rt);
  CHECK(c.jobs_done() == counts{20, 0});
  REQUIRE_FALSE(terminate(c.workers[1], rondo::termination::drain));
  REQUIRE(ask(c.router, whose{0}).value().worker == c.workers[0].id());
  CHECK(ask(c.router, whose{0}).error() == errc::actor_gone);
  REQUIRE(ask(c.router, whose{0}));
  REQUIRE_FALSE(tell(c.router, job{1, 0}));
  w.check_letter(1, c.workers[1].id(), errc::actor_gone);
  CHECK(c.members() == 2);  // a router does not see that
  at_rest(*w.rt);
}
