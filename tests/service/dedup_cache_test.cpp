// Which keyed messages a service remembers, and for how long.
#include "runtime/service/dedup_cache.hpp"

#include "tests/catch.hpp"

using rondo::service::dedup_cache;
using rondo::service::quota_peer;
using rondo::service::standing;
using rondo::service::table;
using entry = dedup_cache::entry;
using clock_type = std::chrono::steady_clock;

namespace {

constexpr std::uint64_t keys_limit = 16'384, sessions_limit = keys_limit / 2;

/// With its tables.
struct shelf {
  shelf() {
    tables.set_limit(table::keys, keys_limit);
    tables.set_limit(table::key_sessions, sessions_limit);
  }
  entry open(std::uint64_t session, std::uint64_t key, std::uint64_t settled_below = 0,
             std::string const& peer = "a peer", std::uint64_t token = 1) {
    rondo::answer outcome;
    return book.open({session, token}, key, settled_below, tables.of(peer, token, standing::client), {},
                     outcome);
  }
  void settle(std::uint64_t session, std::uint64_t key) { book.settle({session, 1}, key, {}); }
  void handle(std::uint64_t session, std::uint64_t key) {
    REQUIRE(open(session, key) == entry::fresh);
    settle(session, key);
  }

  rondo::service::quotas tables;
  dedup_cache book;
};

/// A time after everything done so far, and before everything that follows.
clock_type::time_point between() {
  auto const began = clock_type::now();
  while (clock_type::now() == began) continue;
  return clock_type::now();
}

}  // namespace

TEST_CASE("a handled key is known until its client settles it", "[service][dedup_cache]") {
  shelf all;
  all.handle(1, 10);
  CHECK(all.open(1, 10) == entry::known);
  CHECK(all.open(2, 10) == entry::fresh);
  CHECK(all.open(1, 11, 11) == entry::fresh);
  CHECK(all.open(1, 10) == entry::settled);
}

TEST_CASE("sessions without recent messages are forgotten, and no others", "[service][dedup_cache]") {
  shelf all;
  for (std::uint64_t session : {1, 2, 3}) all.handle(session, 10);
  auto const then = between();
  REQUIRE(all.open(1, 10) == entry::known);
  REQUIRE(all.open(3, 10) == entry::known);
  all.book.sweep(then + dedup_cache::forget_after);
  CHECK(all.open(1, 10) == entry::known);
  CHECK(all.open(2, 10) == entry::fresh);
  CHECK(all.open(3, 10) == entry::known);
}

TEST_CASE("a session is kept while one of its messages is in progress, however long that takes",
          "[service][dedup_cache]") {
  shelf all;
  REQUIRE(all.open(1, 10) == entry::fresh);
  all.handle(2, 10);
  auto const later = between() + dedup_cache::forget_after;
  all.book.sweep(later);
  CHECK(all.open(1, 10) == entry::pending);
  CHECK(all.open(2, 10) == entry::fresh);
  all.settle(2, 10);
  // Its client is gone for good: the ask is given up, and its record is forgotten.
  rondo::actor_id const ask{7, 3};
  all.book.note_ask({1, 1}, 10, ask);
  CHECK(all.book.sweep(later + 3 * dedup_cache::forget_after) == std::vector{ask});
  all.settle(1, 10);
  CHECK(all.open(1, 10) == entry::known);
}

TEST_CASE("clients that fill the tables of keys and sessions leave places for others, and for operators",
          "[service][dedup_cache][quotas]") {
  shelf all;
  auto const sessions = [&] { return all.tables.read(table::key_sessions); };
  std::uint64_t session = 0;
  for (auto const* const peer : {"first", "second"}) {
    std::uint64_t opened = 0;
    while (all.open(++session, 1, 0, peer) == entry::fresh) all.settle(session, 1), ++opened;
    CHECK(opened > sessions_limit / 5);
    CHECK(all.open(++session, 1, 0, peer) == entry::no_session);
  }
  CHECK(all.open(++session, 1, 0, "a third") == entry::fresh);
  all.settle(session, 1);
  CHECK(sessions().used < sessions_limit);
  all.book.sweep(between() + dedup_cache::forget_after);
  CHECK(sessions().used == 0);
  CHECK(all.tables.read(table::keys).used == 0);
}

TEST_CASE("keys are limited per session and per peer, and settled ones make room", "[service][dedup_cache]") {
  shelf all;
  auto const most = dedup_cache::keys_per_session;
  std::uint64_t session = 1, key = 0;
  while (all.open(session, ++key, 0, "first") == entry::fresh) all.settle(session, key);
  CHECK(key == most + 1);
  CHECK(all.open(session, key, 0, "first") == entry::session_full);
  for (entry now = entry::fresh; now != entry::no_key;) {
    ++session;
    for (key = 1; key <= most && (now = all.open(session, key, 0, "first")) == entry::fresh; ++key)
      all.settle(session, key);
  }
  CHECK(all.open(1'000, 1, 0, "second") == entry::fresh);
  CHECK(all.open(1, most + 1, most + 1, "first") == entry::fresh);  // settles what session 1 has
  CHECK(all.open(2'000, 1, 0, "first") == entry::fresh);
}

TEST_CASE("the outcomes of a session belong to its token", "[service][dedup_cache]") {
  shelf all;
  all.handle(7, 1);
  CHECK(all.open(7, 1) == entry::known);
  CHECK(all.open(7, 1, 0, "a peer", 2) == entry::fresh);
  CHECK(all.open(7, 1, 0, "from elsewhere", 1) == entry::known);
}

TEST_CASE("a key whose message was not sent can be tried again", "[service][dedup_cache]") {
  shelf all;
  REQUIRE(all.open(1, 5) == entry::fresh);
  all.book.withdraw({1, 1}, 5);
  CHECK(all.tables.read(table::keys).used == 0);
  CHECK(all.open(1, 5) == entry::fresh);
}
