// What a pinned team takes from its direct ring, and what it hands to its actor without a mailbox.
#include "tests/kernels/io_fixture.hpp"

using namespace rondo_test;

namespace {

struct inbox_fixture : io_fixture {
  explicit inbox_fixture(std::uint32_t capacity = 8, std::uint32_t slots = 16)
      : io_fixture(slots, 0, capacity), id(arena.launch_taker(0, capacity)) {}

  direct_inbox<taker_module, prompt_bus> inbox() {
    return {arena.ref(), &direct, down.ref(), orders, host(), rondo::team{0}, window};
  }
  bool tell(std::uint32_t number, std::uint8_t priority = default_priority, actor_id ack = {}) {
    auto header = note_header();
    header.priority = priority;
    if (!post(id, {{0, number}}, ack, header)) return false;
    if (priority != default_priority) direct.urgent.store(down.ref().tail(), memory_order::relaxed);
    return true;
  }
  bool await(std::uint64_t ticket) {
    return submit(submission_kind::await_orders, {}, &ticket, sizeof ticket, 0, 1, {}, {});
  }
  /// A handler that takes every message, but the one with the number `refused`.
  auto handler(std::uint32_t refused = ~0u) {
    return [this, refused](window_contents const& contents, submission const* items, auto const& then) {
      for (std::uint32_t i = 0; i < contents.count; ++i) {
        note n{};
        std::memcpy(&n, items[i].body.payload, sizeof n);
        if (items[i].to != id || n.number == refused) return i;
        handled.push_back(n.number);
        then();
      }
      return contents.count;
    };
  }

  actor_id id;
  direct_ring<prompt_bus> direct{};
  std::vector<std::uint32_t> handled;
};

using numbers = std::vector<std::uint32_t>;

}  // namespace

TEST_CASE("plain messages need no mailbox", "[direct_inbox][G1][G2]") {
  inbox_fixture f;
  for (std::uint32_t n = 0; n < 5; ++n) REQUIRE(f.tell(n));
  auto inbox = f.inbox();
  std::uint32_t taken = 0;
  while (inbox.has_work()) taken += inbox.take(f.handler());
  CHECK(taken == 5);
  CHECK(f.handled == numbers{0, 1, 2, 3, 4});
  CHECK(f.take_all(f.id).empty());
  CHECK(f.events.empty());
  CHECK(f.down.ref().count_consumed() == 5);
}

TEST_CASE("a message that its actor cannot take waits in the mailbox, and later ones behind it",
          "[direct_inbox][G2]") {
  inbox_fixture f;
  for (std::uint32_t n = 0; n < 12; ++n) REQUIRE(f.tell(n));
  auto inbox = f.inbox();
  CHECK(inbox.take(f.handler()) == 1);
  CHECK(inbox.take(f.handler()) == 1);  // after two looks that found one, it looks for many
  CHECK(inbox.take(f.handler(4)) == 10);
  CHECK(f.handled == numbers{0, 1, 2, 3});
  CHECK(f.take_all(f.id) == numbers{4, 5, 6, 7, 8, 9, 10, 11});
}

TEST_CASE("who awaits that a message is accepted does not await its handler", "[direct_inbox][G5]") {
  inbox_fixture f;
  REQUIRE(f.tell(0, default_priority, some_ack));
  REQUIRE(f.inbox().take(f.handler()) == 1);
  CHECK(f.handled.empty());
  REQUIRE(f.events.size() == 1);
  CHECK(f.events[0].kind == event_kind::reply);
  CHECK(f.events[0].body.header.reply_to == some_ack);
  CHECK(f.take_all(f.id) == numbers{0});
}

TEST_CASE("a batch that its actor cannot take is accepted whole, or not at all", "[direct_inbox][G5]") {
  inbox_fixture f(4);
  REQUIRE(f.post(f.id, {{0, 0}, {0, 1}, {0, 2}}));
  REQUIRE(f.post(f.id, {{0, 3}, {0, 4}}));  // too many
  auto inbox = f.inbox();
  CHECK(inbox.take(f.handler(0)) == 3);
  CHECK(inbox.take(f.handler(3)) == 2);
  CHECK(f.handled.empty());
  CHECK(f.take_all(f.id) == numbers{0, 1, 2});
  REQUIRE(f.events.size() == 2);
  CHECK(f.events[0].reason == errc::mailbox_full);
  CHECK(f.down.ref().count_consumed() == 5);
}

TEST_CASE("a batch for which the mailbox never has room is refused, even if its actor has nothing to do",
          "[direct_inbox][G5]") {
  inbox_fixture f(4);
  REQUIRE(f.post(f.id, {{0, 0}, {0, 1}, {0, 2}, {0, 3}, {0, 4}}));
  CHECK(f.inbox().take(f.handler()) == 5);
  CHECK(f.handled.empty());
  REQUIRE(f.events.size() == 5);
  for (auto const& e : f.events) CHECK(e.reason == errc::batch_too_large);
}

TEST_CASE("once a batch has begun, the rest of it goes like single messages", "[direct_inbox][G2][G5]") {
  auto const refused = GENERATE(~0u, 2u, 15u, 16u, 17u, 39u);
  INFO("refused: " << refused);
  inbox_fixture f(64, 128);
  std::vector<note> batch;
  for (std::uint32_t n = 1; n < 40; ++n) batch.push_back({0, n});
  REQUIRE(f.tell(0));
  REQUIRE(f.post(f.id, batch));
  REQUIRE(f.tell(40));
  REQUIRE(f.post(f.id, {{0, 41}, {0, 42}}));
  auto inbox = f.inbox();
  while (inbox.has_work()) inbox.take(f.handler(refused));
  auto all = f.handled;
  // What is refused waits in the mailbox; then its actor would take nothing else before it.
  if (refused != ~0u) REQUIRE(all.size() > refused);
  auto const waiting = f.take_all(f.id);
  all.insert(all.end(), waiting.begin(), waiting.end());
  std::ranges::sort(all);
  REQUIRE(all.size() == 43);
  for (std::uint32_t n = 0; n < 43; ++n) CHECK(all[n] == n);
  CHECK(std::ranges::is_sorted(f.handled));
  CHECK(std::ranges::is_sorted(waiting));
  CHECK(f.events.empty());
  CHECK(f.down.ref().count_consumed() == 43);
}

TEST_CASE("everything up to an urgent message goes to the mailbox before the actor picks",
          "[direct_inbox][G3]") {
  inbox_fixture f(16);
  for (std::uint32_t n = 0; n < 12; ++n) REQUIRE(f.tell(n));
  REQUIRE(f.tell(12, 200));
  REQUIRE(f.tell(13));
  auto inbox = f.inbox();
  std::uint32_t taken = 0;
  do taken += inbox.take(f.handler());
  while (inbox.urgent_waits());
  CHECK(taken >= 13);
  CHECK(f.handled.empty());
  auto const waiting = f.take_all(f.id);
  REQUIRE(waiting.size() == taken);
  CHECK(waiting.front() == 12);
  while (inbox.has_work()) inbox.take(f.handler());
  CHECK(taken + f.handled.size() == 14);
}

TEST_CASE("nothing behind an order is taken before the I/O team has carried it out", "[direct_inbox][G2]") {
  inbox_fixture f;
  REQUIRE(f.tell(0));
  REQUIRE(f.await(3));
  REQUIRE(f.tell(1));
  auto inbox = f.inbox();
  for (int look = 0; look < 5; ++look) inbox.take(f.handler());
  CHECK(f.handled == numbers{0});
  CHECK(f.down.ref().count_consumed() == 1);
  f.orders.store(3, memory_order::release);
  while (inbox.has_work()) inbox.take(f.handler());
  CHECK(f.handled == numbers{0});  // in one look with the order
  CHECK(f.take_all(f.id) == numbers{1});
}

TEST_CASE("before a team stands still it takes what was submitted, and handles nothing",
          "[direct_inbox][G10]") {
  inbox_fixture f;
  for (std::uint32_t n = 0; n < 3; ++n) REQUIRE(f.tell(n));
  auto inbox = f.inbox();
  atomic<std::uint32_t> stop{0};
  f.direct.last.store(2, memory_order::relaxed);
  inbox.take_all(stop);
  CHECK(f.down.ref().count_consumed() == 0);  // it is to run
  stop.store(2 | leave_bit, memory_order::relaxed);
  inbox.take_all(stop);
  CHECK(f.down.ref().count_consumed() == 0);  // it is to leave
  CHECK_FALSE(inbox.has_taken_all());
  stop.store(2, memory_order::relaxed);
  inbox.take_all(stop);
  CHECK(inbox.has_taken_all());
  CHECK(f.handled.empty());
  CHECK(f.take_all(f.id).size() >= 2);
}

TEST_CASE("a team that gets mail from other actors looks at its ring less often", "[direct_inbox]") {
  inbox_fixture f;
  auto inbox = f.inbox();
  CHECK(inbox.is_due(0));
  CHECK(inbox.is_due(0));
  CHECK_FALSE(inbox.is_due(1));
  int due = 0;
  for (int look = 0; look < 32; ++look) due += inbox.is_due(look % 4 == 0);
  CHECK(due == 4);
  for (int look = 0; look < 65; ++look) inbox.is_due(0);
  CHECK(inbox.is_due(0));
  CHECK(inbox.is_due(0));
  // Its own mail does not count.
  REQUIRE(f.tell(0, default_priority, some_ack));
  inbox.take(f.handler());
  CHECK(inbox.is_due(1));
}

// Regression, found on a GPU: an actor that sent itself messages heard the host after 512 of them, 8 ms later.
TEST_CASE("a team that is busy with its mailbox looks at its ring once in 128 messages or more often",
          "[direct_inbox]") {
  for (std::uint32_t const dealt : {1u, 15u, 16u, 63u, 64u}) {
    inbox_fixture f;
    auto inbox = f.inbox();
    std::uint32_t since = 0, longest = 0;
    for (int look = 0; look < 100; ++look) {
      since += dealt;
      longest = std::max(longest, since);
      if (inbox.is_due(dealt)) since = 0;
    }
    INFO(dealt);
    CHECK(longest <= 128);
  }
}
