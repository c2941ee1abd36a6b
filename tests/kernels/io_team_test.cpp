// How the I/O team processes submissions.
#include <span>

#include "tests/kernels/io_fixture.hpp"

using namespace rondo_test;

TEST_CASE("the I/O team launches, then posts, in the order submitted", "[io_team][G2]") {
  for (auto const start : {std::uint64_t{0}, (std::uint64_t{1} << 32) - 3}) {
    io_fixture f{16, start};
    auto const spec = f.arena.spec(2, 8);
    REQUIRE(f.launch(spec));
    for (std::uint32_t n = 0; n < 5; ++n) REQUIRE(f.post(spec.id, {{0, n}}));
    auto io = f.team();
    CHECK(io.has_work());
    CHECK(io.step(64) == 6);
    CHECK(io.step(64) == 0);
    CHECK(f.events.empty());
    CHECK(f.take_all(spec.id) == std::vector<std::uint32_t>{0, 1, 2, 3, 4});
  }
}

TEST_CASE("the I/O team's step is bounded, and a new team continues where the last one stopped",
          "[io_team][G10]") {
  io_fixture f;
  auto const id = f.arena.launch_taker(0, 8);
  for (std::uint32_t n = 0; n < 6; ++n) REQUIRE(f.post(id, {{0, n}}));
  CHECK(f.team().step(2) == 2);
  CHECK(f.team().step(3) == 3);
  // The arena's stop word is for the worker teams; its caller decides whether the I/O team steps (grid.hpp).
  f.arena.ref().header().stop.store(1, memory_order::relaxed);
  CHECK(f.team().step(64) == 1);
  CHECK(f.team().step(64) == 0);
  f.arena.ref().header().stop.store(0, memory_order::relaxed);
  CHECK(f.take_all(id) == std::vector<std::uint32_t>{0, 1, 2, 3, 4, 5});
}

TEST_CASE("a submission that is refused ends at its ack, at its ask, or as a dead letter",
          "[io_team][G1][G5]") {
  io_fixture f;
  auto const id = f.arena.launch_taker(0, 1);
  auto ask = note_header();
  ask.flags = flag_wants_reply;
  ask.reply_to = {host_ask_bit | 9, 1};
  REQUIRE(f.post(id, {{0, 1}}, some_ack));
  REQUIRE(f.post(id, {{0, 2}}, some_ack));
  REQUIRE(f.post(id, {{0, 3}}, {}, ask));
  REQUIRE(f.post(id, {{0, 4}}));
  REQUIRE(f.post({3, 1}, {{0, 5}}));
  CHECK(f.team().step(64) == 5);
  REQUIRE(f.events.size() == 5);
  CHECK(f.events[0].kind == event_kind::reply);
  CHECK(f.events[0].reason == errc::ok);
  CHECK(f.events[0].body.header.reply_to == some_ack);
  CHECK(f.events[1].reason == errc::mailbox_full);
  CHECK(f.events[1].body.header.reply_to == some_ack);
  CHECK(f.events[2].kind == event_kind::reply);
  CHECK(f.events[2].reason == errc::mailbox_full);
  CHECK(f.events[2].body.header.reply_to == ask.reply_to);
  CHECK(f.events[3].kind == event_kind::dead_letter);
  CHECK(f.events[3].reason == errc::mailbox_full);
  CHECK(f.events[3].body.header.type == type_id<note>);
  CHECK(f.events[3].body.bytes == sizeof(note));
  CHECK(reinterpret_cast<note const*>(f.events[3].body.payload)->number == 4);
  CHECK(f.events[4].kind == event_kind::dead_letter);
  CHECK(f.events[4].reason == errc::actor_gone);
  CHECK(f.take_all(id) == std::vector<std::uint32_t>{1});
}

TEST_CASE("a batch is posted as a whole or not at all, also across the ring's end", "[io_team][G5]") {
  io_fixture f{8};
  auto const id = f.arena.launch_taker(0, 8);
  REQUIRE(f.post(id, {{0, 0}, {0, 1}, {0, 2}, {0, 3}, {0, 4}}, some_ack));
  CHECK(f.team().step(1) == 5);  // a batch is accepted as a whole
  REQUIRE(
      f.post(id, {{0, 5}, {0, 6}, {0, 7}, {0, 8}}));  // slots 5 6 7 0; there is room for only three messages
  CHECK(f.team().step(64) == 4);
  REQUIRE(f.events.size() == 5);
  CHECK(f.events[0].reason == errc::ok);
  for (std::uint32_t i = 1; i < 5; ++i) {
    CHECK(f.events[i].kind == event_kind::dead_letter);
    CHECK(f.events[i].reason == errc::mailbox_full);
    CHECK(reinterpret_cast<note const*>(f.events[i].body.payload)->number == 4 + i);
  }
  CHECK(f.take_all(id) == std::vector<std::uint32_t>{0, 1, 2, 3, 4});
  REQUIRE(f.post(id, {{0, 9}, {0, 10}, {0, 11}, {0, 12}, {0, 13}, {0, 14}, {0, 15}, {0, 16}}, some_ack));
  CHECK(f.team().step(64) == 8);
  CHECK(f.take_all(id) == std::vector<std::uint32_t>{9, 10, 11, 12, 13, 14, 15, 16});
}

TEST_CASE("messages that follow each other to one mailbox are posted together, each with its own outcome",
          "[io_team][G2][G5]") {
  io_fixture f{32};
  auto const a = f.arena.launch_taker(0, 4), b = f.arena.launch_taker(1, 8);
  auto urgent = note_header();
  urgent.priority = 200;
  actor_id const ack{host_ask_bit | 5, 1};
  REQUIRE(f.post(a, {{0, 0}}));
  REQUIRE(f.post(a, {{0, 1}}, ack));
  REQUIRE(f.post(a, {{0, 2}}));
  REQUIRE(f.post(b, {{0, 3}}));
  REQUIRE(f.post(b, {{0, 4}}, {}, urgent));
  REQUIRE(f.post(b, {{0, 5}}, {}, urgent));
  REQUIRE(f.post(a, {{0, 6}}));
  REQUIRE(f.post(a, {{0, 7}}, ack));  // the mailbox of `a` is full
  REQUIRE(f.post(a, {{0, 8}}));
  auto io = f.team();
  CHECK(io.step(64) == 9);
  REQUIRE(f.events.size() == 3);
  CHECK((f.events[0].kind == event_kind::reply && f.events[0].reason == errc::ok));
  CHECK((f.events[1].kind == event_kind::reply && f.events[1].reason == errc::mailbox_full));
  CHECK((f.events[2].kind == event_kind::dead_letter && f.events[2].reason == errc::mailbox_full));
  CHECK(reinterpret_cast<note const*>(f.events[2].body.payload)->number == 8);
  CHECK(f.take_from(a) == std::vector<std::uint32_t>{0, 1, 2, 6});
  CHECK(f.take_from(b) == std::vector<std::uint32_t>{4, 5, 3});
}

TEST_CASE("a batch larger than the window is posted or refused as a whole", "[io_team][G5]") {
  io_fixture f{64, 0, 32};
  auto const id = f.arena.launch_taker(0, 32);
  std::vector<note> notes;
  for (std::uint32_t n = 0; n < 21; ++n) notes.push_back({0, n});
  REQUIRE(f.post(id, {{0, 100}}));
  REQUIRE(f.post(id, notes, some_ack));
  REQUIRE(f.post(id, notes));
  CHECK(f.team().step(64) == 43);
  REQUIRE(f.events.size() == 22);
  CHECK((f.events[0].kind == event_kind::reply && f.events[0].reason == errc::ok));
  for (std::uint32_t n = 0; n < 21; ++n) {
    CHECK((f.events[n + 1].kind == event_kind::dead_letter && f.events[n + 1].reason == errc::mailbox_full));
    CHECK(reinterpret_cast<note const*>(f.events[n + 1].body.payload)->number == n);
  }
  std::vector<std::uint32_t> expected{100};
  for (std::uint32_t n = 0; n < 21; ++n) expected.push_back(n);
  CHECK(f.take_all(id) == expected);
}

TEST_CASE("a message without room goes back, and all later ones of its epoch with it", "[io_team][G2][G5]") {
  for (mail_epoch const first : {mail_epoch{0}, mail_epoch{0x7fff}, mail_epoch{0x8000}, mail_epoch{0xffff}}) {
    io_fixture f{32};
    auto const id = f.arena.launch_taker(0, 2), other = f.arena.launch_taker(1, 8);
    f.how = post_order::in_epoch;
    f.epoch = first;
    for (std::uint32_t cell : {0u, 1u})
      f.arena.ref().epoch(cell, first.reserved()).store(first.number(), memory_order::relaxed);
    for (std::uint32_t n = 0; n < 4; ++n) REQUIRE(f.post(id, {{0, n}}));
    CHECK(f.team().step(64) == 4);
    CHECK(f.take_all(id) == std::vector<std::uint32_t>{0, 1});
    // There is room again, but the epoch is over.
    auto ask = note_header();
    ask.flags = flag_wants_reply;
    ask.reply_to = {host_ask_bit | 9, 1};
    REQUIRE(f.post(id, {{0, 4}, {0, 5}}));
    REQUIRE(f.post(id, {{0, 6}}, some_ack));
    REQUIRE(f.post(id, {{0, 7}}, {}, ask));
    REQUIRE(f.post(other, {{0, 8}}, some_ack));
    f.how = post_order::resent;
    REQUIRE(f.post(id, {{0, 9}}));
    REQUIRE(f.post(id, {{0, 12}}, some_ack));
    f.how = post_order::apart;
    REQUIRE(f.post(id, {{0, 10}}));
    f.how = post_order::in_epoch;
    f.epoch = first.next();
    REQUIRE(f.post(id, {{0, 11}}));
    CHECK(f.team().step(64) == 9);
    CHECK(f.take_from(id) == std::vector<std::uint32_t>{10, 11});
    CHECK(f.take_from(other) == std::vector<std::uint32_t>{8});

    std::vector<std::uint32_t> back;
    std::vector<std::string> ends;
    for (auto const& e : f.events) {
      if (e.kind != event_kind::returned) {
        ends.push_back(std::string(e.body.header.reply_to == some_ack ? "ack " : "ask ") +
                       (e.reason == errc::ok             ? "ok"
                        : e.reason == errc::mailbox_full ? "full"
                                                         : "other"));
        continue;
      }
      returned_mail about;
      std::memcpy(&about, &e.detail, sizeof about);
      auto const number = reinterpret_cast<note const*>(e.body.payload)->number;
      CHECK(about.epoch == first.bits);
      CHECK(about.resent == (number == 9 ? 1 : number == 12 ? 2 : 0));
      CHECK(about.count == (number == 4 ? 2u : number == 5 ? 0u : 1u));
      CHECK(e.actor == id);
      back.push_back(number);
    }
    CHECK(back == std::vector<std::uint32_t>{2, 3, 4, 5, 9, 12});
    CHECK(ends == std::vector<std::string>{"ack full", "ask full", "ack ok", "ack full"});
  }
}

// Regression: a run that was sent again was told that the mailbox is full, because the cell's next actor had ended the
// epoch.
TEST_CASE("a message to an actor that is gone is told so, whatever its cell's next actor has done",
          "[io_team][G5]") {
  for (auto const how : {post_order::in_epoch, post_order::resent}) {
    io_fixture f{32};
    auto const next = f.arena.launch_taker(0, 2);
    actor_id const gone{next.index, next.generation + 1};
    f.how = post_order::in_epoch;
    for (std::uint32_t n = 0; n < 3; ++n) REQUIRE(f.post(next, {{0, n}}));
    f.how = how;
    REQUIRE(f.post(gone, {{0, 3}}));
    REQUIRE(f.post(gone, {{0, 4}, {0, 5}}));
    REQUIRE(f.post(gone, {{0, 6}}, some_ack));
    REQUIRE(f.post(gone, {{0, 7}, {0, 8}}, some_ack));
    CHECK(f.team().step(64) == 9);
    REQUIRE(f.events.size() > 1);
    CHECK((f.events[0].kind == event_kind::returned && f.events[0].reason == errc::mailbox_full));
    std::uint32_t ends = 0;
    for (auto const& e : std::span(f.events).subspan(1)) {
      CHECK(e.reason == errc::actor_gone);
      ends += e.kind != event_kind::reply;
    }
    CHECK(ends == (how == post_order::resent ? 6 : 3));
  }
}

TEST_CASE("a signal reaches its actor, and the ack reports an actor that is gone", "[io_team][G7]") {
  io_fixture f;
  auto const id = f.arena.launch_taker(0, 8);
  REQUIRE(f.signal(id, control_drain));
  REQUIRE(f.signal({id.index, 2}, control_drain, some_ack));
  CHECK(f.team().step(64) == 2);
  CHECK(f.arena.ref().owner_of(id.index).control.load(memory_order::relaxed) ==
        control_for(id.generation, control_drain));
  REQUIRE(f.events.size() == 1);
  CHECK(f.events[0].reason == errc::actor_gone);
}

TEST_CASE("every kind of submission that is refused ends exactly once", "[io_team][G1]") {
  io_fixture f;
  auto const spec = f.arena.spec(0, 8);
  auto const ask = [](std::uint32_t number) { return actor_id{host_ask_bit | number, 1}; };
  auto asking = note_header();
  asking.flags = flag_wants_reply;
  asking.reply_to = ask(7);
  // Without an ack, only a post has somebody to tell.
  REQUIRE((f.launch(spec) && f.launch(spec, ask(1))));
  REQUIRE((f.signal(spec.id, control_drain) && f.signal(spec.id, control_drain, ask(2))));
  REQUIRE((f.order(submission_kind::open_buffer) && f.order(submission_kind::open_buffer, ask(3))));
  REQUIRE((f.order(submission_kind::close_buffer) && f.order(submission_kind::close_buffer, ask(4))));
  REQUIRE(f.post(spec.id, {{0, 0}, {0, 1}}));
  REQUIRE(f.post(spec.id, {{0, 2}, {0, 3}}, ask(5)));
  REQUIRE(f.post(spec.id, {{0, 4}}, ask(6), asking));
  REQUIRE(f.post(spec.id, {{0, 5}}, {}, asking));
  auto io = f.team();
  std::uint32_t submissions = 0;
  while (io.refuse_next(errc::stopped)) ++submissions;
  CHECK(submissions == 12);
  std::vector<actor_id> ends;  // the ask that each event completes; a dead letter completes none
  for (auto const& e : f.events) {
    CHECK(e.reason == errc::stopped);
    CHECK(e.kind == (ends.size() == 4 || ends.size() == 5 ? event_kind::dead_letter : event_kind::reply));
    ends.push_back(e.body.header.reply_to);
  }
  CHECK(ends == std::vector{ask(1), ask(2), ask(3), ask(4), actor_id{}, actor_id{}, ask(5), ask(6), ask(7)});
  CHECK(f.down.ref().count_consumed() == 14);
}
