// Which keyed messages a service remembers, and for how long.
#include "runtime/service/dedup_cache.hpp"

#include "tests/catch.hpp"

using rondo::service::dedup_cache;
using entry = dedup_cache::entry;
using clock_type = std::chrono::steady_clock;

namespace {

entry open(dedup_cache& book, std::uint64_t session, std::uint64_t key, std::uint64_t settled_below = 0,
           std::string const& peer = "a peer") {
  rondo::answer outcome;
  return book.open(session, key, settled_below, peer, {}, outcome);
}

void handle(dedup_cache& book, std::uint64_t session, std::uint64_t key) {
  REQUIRE(open(book, session, key) == entry::fresh);
  book.settle(session, key, {});
}

/// A time after everything done so far, and before everything that follows.
clock_type::time_point between() {
  auto const began = clock_type::now();
  while (clock_type::now() == began) continue;
  return clock_type::now();
}

}  // namespace

TEST_CASE("a handled key is known until its client settles it", "[service][dedup_cache]") {
  dedup_cache book;
  handle(book, 1, 10);
  CHECK(open(book, 1, 10) == entry::known);
  CHECK(open(book, 2, 10) == entry::fresh);
  CHECK(open(book, 1, 11, 11) == entry::fresh);
  CHECK(open(book, 1, 10) == entry::settled);
}

TEST_CASE("sessions without recent messages are forgotten, and no others", "[service][dedup_cache]") {
  dedup_cache book;
  for (std::uint64_t session : {1, 2, 3}) handle(book, session, 10);
  auto const then = between();
  REQUIRE(open(book, 1, 10) == entry::known);
  REQUIRE(open(book, 3, 10) == entry::known);
  book.sweep(then + dedup_cache::forget_after);
  CHECK(open(book, 1, 10) == entry::known);
  CHECK(open(book, 2, 10) == entry::fresh);
  CHECK(open(book, 3, 10) == entry::known);
}

TEST_CASE("a session is kept while one of its messages is in progress, however long that takes",
          "[service][dedup_cache]") {
  dedup_cache book;
  REQUIRE(open(book, 1, 10) == entry::fresh);
  handle(book, 2, 10);
  auto const later = between() + dedup_cache::forget_after;
  book.sweep(later);
  CHECK(open(book, 1, 10) == entry::pending);
  CHECK(open(book, 2, 10) == entry::fresh);
  book.settle(2, 10, {});
  // Its client is gone for good: the ask is given up, and its record is forgotten.
  rondo::actor_id const ask{7, 3};
  book.note_ask(1, 10, ask);
  CHECK(book.sweep(later + 3 * dedup_cache::forget_after) == std::vector{ask});
  book.settle(1, 10, {});
  CHECK(open(book, 1, 10) == entry::known);
}

TEST_CASE("a full cache names the limit, and accepts more after something is forgotten",
          "[service][dedup_cache]") {
  dedup_cache book;
  auto const half = dedup_cache::sessions_limit / 2;
  // One peer fills its half; the other peer is not affected.
  for (std::uint64_t session = 1; session <= half; ++session) handle(book, session, 1);
  CHECK(open(book, half + 1, 1) == entry::peer_full);
  for (std::uint64_t session = half + 1; session <= 2 * half; ++session)
    REQUIRE(open(book, session, 1, 0, session % 2 != 0 ? "another" : "a third") == entry::fresh);
  CHECK(open(book, 2 * half + 1, 1, 0, "a fourth") == entry::full);
  for (std::uint64_t session = half + 1; session <= 2 * half; ++session) book.settle(session, 1, {});
  book.sweep(between() + dedup_cache::forget_after);
  CHECK(open(book, 1, 1) == entry::fresh);
}

TEST_CASE("keys are limited per session, per peer and in total", "[service][dedup_cache]") {
  dedup_cache book;
  std::uint64_t session = 0;
  auto const fill = [&](std::string const& peer, std::size_t keys) {
    ++session;
    for (std::uint64_t key = 1; key <= keys; ++key) {
      REQUIRE(open(book, session, key, 0, peer) == entry::fresh);
      book.settle(session, key, {});
    }
  };
  auto const most = dedup_cache::keys_per_session;
  fill("first", most);
  CHECK(open(book, session, most + 1, 0, "first") == entry::session_full);
  for (std::size_t keys = most; keys < dedup_cache::keys_limit / 2; keys += most) fill("first", most);
  CHECK(open(book, 1'000, 1, 0, "first") == entry::peer_full);
  for (std::size_t keys = 0; keys < dedup_cache::keys_limit / 2; keys += most) fill("second", most);
  CHECK(open(book, 2'000, 1, 0, "third") == entry::full);
  // Keys that a client has settled make room for others.
  CHECK(open(book, 1, most + 1, most + 1, "first") == entry::fresh);
  CHECK(open(book, 2'000, 1, 0, "third") == entry::fresh);
}
