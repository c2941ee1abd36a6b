// Sets of sequence numbers, and the notes of a service that contain them.
#include "runtime/nats/sequence_set.hpp"

#include <random>
#include <set>

#include "runtime/nats/durable_notes.hpp"
#include "tests/catch.hpp"
#include "tests/seed.hpp"

using rondo::service::sequence_set;

namespace {

sequence_set parsed(std::string const& text) { return sequence_set::parse(text); }

}  // namespace

TEST_CASE("a set of sequences contains what was inserted, in any order", "[nats][serverless]") {
  std::mt19937_64 random(rondo_test::seed_of("sequence_set"));
  for (int round = 0; round < 200; ++round) {
    sequence_set s;
    std::set<std::uint64_t> model;
    for (int step = 0; step < 100; ++step) {
      auto const n = 1 + random() % 60;
      if (auto const kind = random() % 20; kind == 0) {
        s.raise_floor(n / 4);
        for (std::uint64_t i = 1; i <= n / 4; ++i) model.insert(i);
      } else if (kind == 1) {
        s.cut_above(n);
        model.erase(model.upper_bound(n), model.end());
      } else {
        s.insert(n);
        model.insert(n);
      }
      for (std::uint64_t i = 1; i <= 61; ++i) REQUIRE(s.contains(i) == model.contains(i));
      REQUIRE(s.largest() == (model.empty() ? 0 : *model.rbegin()));
      REQUIRE(parsed(s.text()) == s);
    }
    for (std::uint64_t i = 1; i <= 60; ++i) s.insert(i);
    REQUIRE(s.text() == "60");
  }
}

TEST_CASE("a set of sequences merges adjacent ranges", "[nats][serverless]") {
  sequence_set s;
  for (auto const n : {5, 7, 6, 9, 2}) s.insert(static_cast<std::uint64_t>(n));
  CHECK(s.text() == "0 2-2 5-7 9-9");
  s.insert(1);
  CHECK(s.text() == "2 5-7 9-9");
  s.raise_floor(6);
  CHECK(s.text() == "7 9-9");
  s.raise_floor(8);
  CHECK(s.text() == "9");
}

TEST_CASE("an invalid set of sequences is refused", "[nats][serverless]") {
  for (auto const* const wrong : {"", "x", "-1", "1 ", "1 2-3", "1 3", "1 3-", "1 5-4", "1 3-4 5-6",
                                  "1 3-4 2-2", "1  3-4", "99999999999999999999", "1 3-4x"}) {
    CAPTURE(wrong);
    CHECK_THROWS_AS(parsed(wrong), std::invalid_argument);
  }
}

TEST_CASE("the notes of a service name the stream and its messages", "[nats][serverless]") {
  rondo::service::durable_notes const notes{1'700'000'000'123, parsed("7 9-11")};
  CHECK(rondo::service::decode_notes(rondo::service::encode(notes)) == notes);
  CHECK(rondo::service::decode_notes({}) == rondo::service::durable_notes{});
  for (auto const* const wrong :
       {"other 1 2", "rondo.nats 2 5 7", "rondo.nats 1 x 7", "rondo.nats 1 5", "rondo.nats 1 5 x"}) {
    CAPTURE(wrong);
    CHECK_THROWS_AS(rondo::service::decode_notes(std::as_bytes(std::span(std::string_view(wrong)))),
                    std::invalid_argument);
  }
}
