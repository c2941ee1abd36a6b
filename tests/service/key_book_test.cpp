// What a service remembers of keyed messages, and for how long.
#include "runtime/service/key_book.hpp"

#include "tests/catch.hpp"

using rondo::service::key_book;
using entry = key_book::entry;
using clock_type = std::chrono::steady_clock;

namespace {

entry open(key_book& book, std::uint64_t session, std::uint64_t key, std::uint64_t settled_below = 0) {
  rondo::answer outcome;
  return book.open(session, key, settled_below, {}, outcome);
}

void handle(key_book& book, std::uint64_t session, std::uint64_t key) {
  REQUIRE(open(book, session, key) == entry::fresh);
  book.settle(session, key, {});
}

/// A time after all that was done, and before all that will be.
clock_type::time_point between() {
  auto const began = clock_type::now();
  while (clock_type::now() == began) continue;
  return clock_type::now();
}

}  // namespace

TEST_CASE("a key that was handled is known until its client settles it", "[service][key_book]") {
  key_book book;
  handle(book, 1, 10);
  CHECK(open(book, 1, 10) == entry::known);
  CHECK(open(book, 2, 10) == entry::fresh);
  CHECK(open(book, 1, 11, 11) == entry::fresh);
  CHECK(open(book, 1, 10) == entry::settled);
}

TEST_CASE("the sessions that were not heard of are forgotten, and no others", "[service][key_book]") {
  key_book book;
  for (std::uint64_t session : {1, 2, 3}) handle(book, session, 10);
  auto const then = between();
  REQUIRE(open(book, 1, 10) == entry::known);
  REQUIRE(open(book, 3, 10) == entry::known);
  book.sweep(then + key_book::forget_after);
  CHECK(open(book, 1, 10) == entry::known);
  CHECK(open(book, 2, 10) == entry::fresh);
  CHECK(open(book, 3, 10) == entry::known);
}

TEST_CASE("a session is kept while a message of it is on its way, however long that takes",
          "[service][key_book]") {
  key_book book;
  REQUIRE(open(book, 1, 10) == entry::fresh);
  handle(book, 2, 10);
  auto const later = between() + key_book::forget_after;
  book.sweep(later);
  CHECK(open(book, 1, 10) == entry::pending);
  CHECK(open(book, 2, 10) == entry::fresh);
  book.sweep(later + 3 * key_book::forget_after);
  book.settle(1, 10, {});
  CHECK(open(book, 1, 10) == entry::known);
}

TEST_CASE("beyond its limits the book says that it is full, and takes more when something is forgotten",
          "[service][key_book]") {
  key_book book;
  for (std::uint64_t session = 1; session <= key_book::sessions_limit; ++session) handle(book, session, 1);
  CHECK(open(book, key_book::sessions_limit + 1, 1) == entry::full);
  book.sweep(between() + key_book::forget_after);
  CHECK(open(book, key_book::sessions_limit + 1, 1) == entry::fresh);
  for (std::uint64_t key = 2; key <= key_book::keys_per_session; ++key)
    REQUIRE(open(book, key_book::sessions_limit + 1, key) == entry::fresh);
  CHECK(open(book, key_book::sessions_limit + 1, key_book::keys_per_session + 1) == entry::full);
}
