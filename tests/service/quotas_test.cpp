// Who may take a place in a table that all clients share.
#include "runtime/service/net/quotas.hpp"

#include <latch>
#include <string>
#include <vector>

#include "runtime/service/slow_work.hpp"
#include "tests/catch.hpp"
#include "tests/eventually.hpp"

using namespace rondo::service;

namespace {

constexpr std::uint64_t limit = 1024;
constexpr auto reserve = limit / quotas::reserved_part;

/// Takes as many as the peer gets.
std::uint64_t fill(quota_peer const& p, table t) {
  std::uint64_t n = 0;
  while (p->take(t)) ++n;
  return n;
}

}  // namespace

TEST_CASE("peers that fill a table leave places for the next peer, for operators and for the owner",
          "[service][quotas]") {
  quotas all;
  all.set_limit(table::asks, limit);
  auto const first = all.of("first", 1, standing::client), second = all.of("second", 1, standing::client);
  CHECK(fill(first, table::asks) == (limit - reserve) / 2);
  CHECK(fill(second, table::asks) >= (limit - reserve) / 4 - 1);
  // With another token, the first address is another peer; a name that nobody has used is one, too.
  CHECK(fill(all.of("first", 2, standing::client), table::asks) >= (limit - reserve) / 8 - 1);
  std::vector<quota_peer> others;
  for (int i = 0; i < 100; ++i)
    fill(others.emplace_back(all.of(std::to_string(i), 1, standing::client)), table::asks);
  CHECK(all.read(table::asks).used <= limit - reserve);
  CHECK(fill(all.of("operator", 3, standing::operates), table::asks) >= reserve / 2);
  auto const owner = all.of("owner", 0, standing::owns);
  CHECK(fill(owner, table::asks) > 0);
  CHECK(all.read(table::asks).used == limit);
  CHECK(all.read(table::asks).refused > 100);
  CHECK(all.of("owner", 0, standing::owns) == owner);
  INFO(first->why_refused(table::asks));
  CHECK(first->why_refused(table::asks).starts_with("first holds 480 of 1024 open asks, 0 are free"));
}

TEST_CASE("a place is given back once, whoever moves it", "[service][quotas]") {
  quotas all;
  all.set_limit(table::keys, 2);
  auto const owner = all.of("owner", 0, standing::owns);
  {
    quota_place one(owner, table::keys), two(owner, table::keys), three(owner, table::keys);
    CHECK((one && two && !three));
    auto moved = std::move(one);
    CHECK_FALSE(one);
    two.give_back();
    two.give_back();
    CHECK(all.read(table::keys).used == 1);
    moved = quota_place(owner, table::keys);
    CHECK(all.read(table::keys).used == 1);
  }
  CHECK(all.read(table::keys).used == 0);
  CHECK(owner->held(table::keys) == 0);
}

// -- work that takes long

namespace {

/// Notes what becomes of it.
class noted_read final : public slow_work::reader {
 public:
  struct notes {
    std::mutex mutex;
    std::string done;  // a letter per read that ran, with `!` one that was refused
  };
  noted_read(notes& to, char name, std::latch* began = nullptr, std::latch* goes_on = nullptr)
      : to_(to), name_(name), began_(began), goes_on_(goes_on) {}
  bool has_gone() const override { return name_ == 'g'; }
  void run() override {
    if (began_ != nullptr) began_->count_down();
    if (goes_on_ != nullptr) goes_on_->wait();
    note(std::string(1, name_));
  }
  void refuse() override { note(std::string(1, name_) + "!"); }

 private:
  void note(std::string const& text) {
    std::lock_guard lock(to_.mutex);
    to_.done += text;
  }
  notes& to_;
  char name_;
  std::latch *began_, *goes_on_;
};

/// Lanes whose thread of reads is busy until `goes_on`.
struct busy_lanes {
  busy_lanes() {
    lanes.read(crowd, std::make_unique<noted_read>(notes, '0', &began, &goes_on));
    began.wait();
  }
  void add(quota_peer const& of, char name) { lanes.read(of, std::make_unique<noted_read>(notes, name)); }
  /// The order of everything, after all of it.
  std::string order() {
    std::latch last(1);
    lanes.read(crowd, std::make_unique<noted_read>(notes, '.', &last));
    goes_on.count_down();
    last.wait();
    lanes.end();
    return notes.done;
  }

  quotas all;
  quota_peer crowd = all.of("crowd", 1, standing::client), other = all.of("other", 1, standing::client),
             local = all.of("local", 0, standing::owns);
  noted_read::notes notes;
  std::latch began{1}, goes_on{1};
  slow_work lanes;
};

}  // namespace

TEST_CASE("reads of a peer wait for one read of each other peer, and operators' for none",
          "[service][slow_work]") {
  busy_lanes b;
  for (char const name : {'a', 'b', 'c', 'd'}) b.add(b.crowd, name);
  for (char const name : {'x', 'y'}) b.add(b.other, name);
  b.add(b.local, 'L');
  CHECK(b.order() == "0Laxbycd.");
}

TEST_CASE("control waits for no read, and holds back those that have not begun", "[service][slow_work]") {
  std::latch written(1), may_end(1);
  busy_lanes b;
  b.add(b.crowd, 'a');
  b.lanes.control([&] {
    written.count_down();
    may_end.wait();
    std::lock_guard lock(b.notes.mutex);
    b.notes.done += 'C';
  });
  bool const waited_for_none = rondo_test::eventually([&] { return written.try_wait(); });
  if (!waited_for_none) b.goes_on.count_down(), may_end.count_down();
  REQUIRE(waited_for_none);  // although a read has not ended
  b.goes_on.count_down();
  std::latch last(1);
  b.lanes.read(b.other, std::make_unique<noted_read>(b.notes, '.', &last));
  may_end.count_down();
  last.wait();
  b.lanes.end();
  // The first one may end before control does; the others begin after it.
  CHECK((b.notes.done == "0Ca." || b.notes.done == "C0a."));
}

TEST_CASE("a stop drops the reads that wait, and a closed connection's are never done",
          "[service][slow_work]") {
  {
    busy_lanes b;
    b.add(b.crowd, 'g');  // its client has gone
    b.add(b.crowd, 'b');
    CHECK(b.order() == "0b.");
  }
  busy_lanes b;
  b.add(b.crowd, 'a');
  b.add(b.local, 'b');
  CHECK(b.lanes.waiting() == 2);
  b.lanes.stop_reading();
  b.add(b.crowd, 'c');
  CHECK(b.lanes.waiting() == 0);
  b.goes_on.count_down();
  b.lanes.end();
  CHECK(b.notes.done.find("b!a!c!") != std::string::npos);
}
