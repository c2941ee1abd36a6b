// The priority lists compared with a sorted list: exact order at each pick, starvation limit, exact capacity.
#include "kernels/mail/priority_lists.hpp"

#include <algorithm>
#include <map>

#include "kernels/mail/scheduler.hpp"
#include "tests/kernels/arena_fixture.hpp"

using namespace rondo_test;

namespace {

struct sent {
  std::uint32_t number;
  std::uint8_t priority;
  bool committed;
};

/// The reference: a plain list in the order of the slots; the number of a message is its age.
class reference_mail {
 public:
  explicit reference_mail(std::uint32_t limit) : limit_(limit) {}

  void add(sent const& s) { waiting_.push_back(s); }
  void commit(std::uint32_t number) {
    for (auto& s : waiting_) s.committed = s.committed || s.number == number;
  }
  std::size_t size() const { return waiting_.size(); }

  /// Removes and returns the message to handle next: the oldest one of the highest priority, or the oldest of all after
  /// `limit` overtakes. A message of the default priority has to wait for all older ones to be committed, another one
  /// for the older ones that do not have the default priority. The message of the oldest slot moves into the hole.
  bool take(sent& out) {
    sent *oldest = nullptr, *best = nullptr;
    for (auto& s : waiting_) {
      if (!is_due(s)) continue;
      if (oldest == nullptr || s.number < oldest->number) oldest = &s;
      if (best == nullptr || s.priority > best->priority ||
          (s.priority == best->priority && s.number < best->number))
        best = &s;
    }
    auto* const chosen = overtakes_ < limit_ ? best : oldest;
    if (chosen == nullptr || (chosen != &waiting_.front() && !is_due(waiting_.front()))) return false;
    overtakes_ = chosen == oldest ? 0 : overtakes_ + 1;
    out = *chosen;
    *chosen = waiting_.front();
    waiting_.erase(waiting_.begin());
    return true;
  }

 private:
  bool is_due(sent const& s) const {
    return s.committed && std::none_of(waiting_.begin(), waiting_.end(), [&](sent const& other) {
             return !other.committed && other.number < s.number &&
                    (s.priority == default_priority || other.priority != default_priority);
           });
  }

  std::vector<sent> waiting_;
  std::uint32_t limit_, overtakes_ = 0;
};

struct mail_case {
  std::uint32_t slots, capacity, limit, start, levels;  // levels: the number of different priorities
  bool gaps;                                            // commits come out of order
};

void against_reference(mail_case const& c) {
  CAPTURE(c.slots, c.capacity, c.limit, c.start, c.levels, c.gaps, test_seed());
  random_source random{c.capacity * 1000 + c.levels};
  test_arena a{
      {.actors = 1, .rings = 1, .ring_slots = c.slots, .starvation_limit = c.limit, .heap_bytes = 4096}};
  a.start_rings_at(c.start);
  auto const id = a.launch_taker(0, c.capacity);
  scheduler sched{a.ref()};
  reference_mail reference{c.limit};
  struct pending {
    reservation r;
    sent s;
  };
  std::vector<pending> writing;
  REQUIRE(sched.claim(0, 0));
  owned_mail mail{sched, id};
  std::uint32_t number = 0;
  auto const commit = [&](std::size_t i) {
    auto const p = writing[i];
    writing.erase(writing.begin() + static_cast<std::ptrdiff_t>(i));
    note const n{p.s.priority, p.s.number};
    fill(p.r.ring, p.r.ticket, note_header(p.s.priority), &n, sizeof n);
    reference.commit(p.s.number);
  };
  for (int step = 0; step < 600; ++step) {
    bool const filling = step % 100 < 50;
    if (random.below(10) < (filling ? 7u : 3u)) {
      auto const priority = static_cast<std::uint8_t>(
          c.levels == 256 ? random.below(256) : default_priority + 40 * random.below(c.levels));
      auto const r = rondo_test::reserve(a.ref(), id, priority, 1, false);
      REQUIRE(r.status == (reference.size() < c.capacity ? errc::ok : errc::mailbox_full));  // exact
      if (r.status != errc::ok) continue;
      if (priority != default_priority) announce_priority(a.ref().owner_of(0), r.ring, r.ticket, 1);
      writing.push_back({r, {number++, priority, false}});
      reference.add(writing.back().s);
      if (!c.gaps) commit(0);
    } else if (c.gaps && !writing.empty() && random.one_in(2)) {
      commit(random.below(static_cast<std::uint32_t>(writing.size())));
    } else {
      note got{};
      sent expected{};
      std::uint8_t priority = 0;
      bool const any = reference.take(expected);
      REQUIRE(mail.try_take(got, priority) == any);
      if (!any) continue;
      REQUIRE(got.number == expected.number);
      REQUIRE(got.sender == expected.priority);
      REQUIRE(priority == expected.priority);
    }
  }
}

/// Senders with random priorities, one owner; the order must hold per sender and priority.
void stress_priority_lists(std::uint32_t slots, std::uint32_t capacity, std::uint32_t start) {
  CAPTURE(slots, capacity, test_seed());
  test_arena a{{.actors = 1, .rings = 1, .ring_slots = slots, .starvation_limit = 10, .heap_bytes = 4096}};
  a.start_rings_at(start);
  auto const id = a.launch_taker(0, capacity);
  std::uint32_t const senders = 3, each = 3'000;
  std::vector<std::thread> threads;
  for (std::uint32_t s = 0; s < senders; ++s)
    threads.emplace_back([&, s] {
      random_source random{s + 1};
      scheduler sched{a.ref()};
      for (std::uint32_t n = 0; n < each; ++n) {
        auto const priority =
            random.one_in(3) ? static_cast<std::uint8_t>(random.below(256)) : default_priority;
        note const m{s, n};
        while (sched.post(id, note_header(priority), &m, sizeof m) != errc::ok) std::this_thread::yield();
      }
    });
  scheduler sched{a.ref()};
  std::map<std::pair<std::uint32_t, std::uint8_t>, std::int64_t> last;
  std::vector<int> seen(senders * each);
  std::uint32_t wrong = 0, too_many = 0;
  REQUIRE(eventually([&] { return sched.claim(0, 0); }));
  owned_mail mail{sched, id};
  for (std::uint32_t taken = 0; taken < senders * each;) {
    note got{};
    std::uint8_t priority = 0;
    if (!mail.try_take(got, priority)) {
      std::this_thread::yield();
      continue;
    }
    ++taken;
    ++seen.at(got.sender * each + got.number);
    auto& previous = last.try_emplace({got.sender, priority}, -1).first->second;
    wrong += previous >= std::int64_t{got.number};
    previous = got.number;
    auto const waiting = (a.word(id).tail() - a.ref().owner_of(0).head) & ticket_mask;
    too_many += waiting > capacity;
  }
  for (auto& t : threads) t.join();
  CHECK(wrong == 0);
  CHECK(too_many == 0);
  CHECK(std::count(seen.begin(), seen.end(), 1) == static_cast<std::ptrdiff_t>(senders * each));
}

}  // namespace

TEST_CASE("each pick is the one that a stable sort by priority would put first", "[priority_lists][G2][G3]") {
  for (std::uint32_t const start : {0u, ticket_mask - 100})
    for (auto const& [slots, capacity] :
         {std::pair{2u, 2u}, std::pair{8u, 8u}, std::pair{8u, 5u}, std::pair{32u, 32u}, std::pair{32u, 17u}})
      for (std::uint32_t const levels : {1u, 2u, 4u, 256u})
        against_reference({slots, capacity, ~0u, start, levels, false});
}

TEST_CASE("the starvation limit hands out the oldest message after that many overtakes",
          "[priority_lists][G3]") {
  for (std::uint32_t const start : {0u, ticket_mask - 100})
    for (std::uint32_t const limit : {0u, 1u, 3u, 20u})
      for (std::uint32_t const levels : {2u, 256u}) against_reference({16, 13, limit, start, levels, false});
}

TEST_CASE("picks are exact when commits come out of order", "[priority_lists][G3]") {
  for (std::uint32_t const start : {0u, ticket_mask - 100})
    for (std::uint32_t const levels : {2u, 256u}) {
      against_reference({16, 16, ~0u, start, levels, true});
      against_reference({16, 9, 4, start, levels, true});
    }
}

TEST_CASE("an urgent message behind a slow sender overtakes once that sender has committed",
          "[priority_lists][G3]") {
  test_arena a{{.actors = 1, .rings = 1, .ring_slots = 8, .heap_bytes = 4096}};
  auto const id = a.launch_taker(0, 8);
  scheduler sched{a.ref()};
  auto const slow = rondo_test::reserve(a.ref(), id, default_priority, 1, false);
  note n{0, 2};
  REQUIRE(sched.post(id, note_header(255), &n, sizeof n) == errc::ok);
  REQUIRE(sched.claim(0, actor_word::queued_mask));
  owned_mail mail{sched, id};
  note got{};
  REQUIRE_FALSE(mail.try_take(got));  // sees the message, but the oldest slot cannot be given back yet
  n.number = 1;
  fill(slow.ring, slow.ticket, note_header(), &n, sizeof n);
  REQUIRE(mail.try_take(got));
  CHECK(got.number == 2);
  REQUIRE(mail.try_take(got));
  CHECK(got.number == 1);
}

TEST_CASE("a flood of urgent messages overtakes a low one at most as often as the limit allows",
          "[priority_lists][G3]") {
  std::uint32_t const limit = 7;
  test_arena a{{.actors = 1, .rings = 1, .ring_slots = 4, .starvation_limit = limit, .heap_bytes = 4096}};
  auto const id = a.launch_taker(0, 4);
  scheduler sched{a.ref()};
  note n{0, 0};
  REQUIRE(sched.post(id, note_header(1), &n, sizeof n) == errc::ok);
  REQUIRE(sched.claim(0, actor_word::queued_mask));
  owned_mail mail{sched, id};
  std::uint32_t overtakes = 0;
  for (;; ++overtakes) {
    note const urgent{1, overtakes};
    while (sched.post(id, note_header(255), &urgent, sizeof urgent) == errc::ok) {
    }
    note got{};
    REQUIRE(mail.try_take(got));
    if (got.sender == 0) break;
  }
  CHECK(overtakes == limit);
}

TEST_CASE("the depths of all levels add up to the number of waiting messages", "[priority_lists]") {
  CAPTURE(test_seed());
  random_source random;
  test_arena a{{.actors = 1, .rings = 1, .ring_slots = 64, .heap_bytes = 4096}};
  auto const id = a.launch_taker(0, 64);
  scheduler sched{a.ref()};
  std::vector<std::uint32_t> expected(256, 0);
  for (std::uint32_t i = 0; i < 50; ++i) {
    auto const priority = static_cast<std::uint8_t>(random.below(256) & 0xf1);
    note const n{0, i};
    REQUIRE(sched.post(id, note_header(priority), &n, sizeof n) == errc::ok);
    ++expected[priority];
  }
  REQUIRE(sched.claim(0, actor_word::queued_mask));
  owned_mail mail{sched, id};
  for (int i = 0; i < 20; ++i) {
    note got{};
    std::uint8_t priority = 0;
    REQUIRE(mail.try_take(got, priority));
    --expected[priority];
  }
  mail.priority_lists().link_announced();
  for (std::uint32_t level = 0; level < 256; ++level)
    CHECK(mail.priority_lists().depth_of(level) == expected[level]);
}

TEST_CASE("senders of all priorities lose nothing and keep their order", "[priority_lists][stress][G1][G2]") {
  stress_priority_lists(16, 16, 0);
  stress_priority_lists(16, 7, 0);
}

TEST_CASE("senders of all priorities cross the overflow of the tickets", "[priority_lists][stress][G1][G2]") {
  stress_priority_lists(16, 13, ticket_mask - 4'000);
}
