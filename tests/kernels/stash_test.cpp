// Stashed messages compared with a sorted list that marks them: order, capacity, depths, and when an actor with a stash
// is ready.
#include <algorithm>

#include "kernels/mail/scheduler.hpp"
#include "kernels/mail/snapshot.hpp"
#include "tests/kernels/arena_fixture.hpp"

using namespace rondo_test;

namespace {

/// The reference: all waiting messages in the order of their tickets.
class marked_mail {
 public:
  explicit marked_mail(std::uint32_t limit) : limit_(limit) {}

  struct sent {
    std::uint32_t number;
    std::uint8_t priority;
    bool stashed = false;
  };
  void add(sent const& s) { waiting_.push_back(s); }
  std::size_t size() const { return waiting_.size(); }
  std::uint32_t depth_of(std::uint32_t level) const {
    return static_cast<std::uint32_t>(
        std::count_if(waiting_.begin(), waiting_.end(), [=](sent const& s) { return s.priority == level; }));
  }

  /// The next message that is not stashed; null if there is none.
  sent* pick() {
    sent *oldest = nullptr, *best = nullptr;
    for (auto& s : waiting_) {
      if (s.stashed) continue;
      if (oldest == nullptr) oldest = &s;
      if (best == nullptr || s.priority > best->priority) best = &s;
    }
    auto* const chosen = overtakes_ < limit_ ? best : oldest;
    next_overtakes_ = chosen == oldest ? 0 : overtakes_ + 1;
    return chosen;
  }
  void take(sent const* picked) {
    overtakes_ = next_overtakes_;
    waiting_.erase(waiting_.begin() + (picked - waiting_.data()));
  }
  void stash(sent* picked) {
    overtakes_ = next_overtakes_;
    picked->stashed = true;
  }
  void unstash() {
    for (auto& s : waiting_) s.stashed = false;
  }

 private:
  std::vector<sent> waiting_;
  std::uint32_t limit_, overtakes_ = 0, next_overtakes_ = 0;
};

struct stash_case {
  std::uint32_t slots, capacity, limit, start, levels;
};

void against_marked_mail(stash_case const& c) {
  CAPTURE(c.slots, c.capacity, c.limit, c.start, c.levels, test_seed());
  random_source random{c.capacity * 1000 + c.levels};
  test_arena a{
      {.actors = 1, .rings = 1, .ring_slots = c.slots, .starvation_limit = c.limit, .heap_bytes = 4096}};
  a.start_rings_at(c.start);
  auto const id = a.launch_taker(0, c.capacity);
  scheduler sched{a.ref()};
  marked_mail reference{c.limit};
  REQUIRE(sched.claim(0, 0));
  owned_mail mail{sched, id};
  std::uint32_t number = 0;
  for (int step = 0; step < 1000; ++step) {
    auto const what = random.below(20);
    if (what < 9) {
      auto const priority = static_cast<std::uint8_t>(
          c.levels == 256 ? random.below(256) : default_priority + 40 * random.below(c.levels));
      note const n{priority, number};
      auto const outcome = sched.post(id, note_header(priority), &n, sizeof n);
      REQUIRE(outcome == (reference.size() < c.capacity ? errc::ok : errc::mailbox_full));  // exact
      if (outcome == errc::ok) reference.add({number++, priority});
      continue;
    }
    if (!mail.has_ring()) mail.look();
    if (!mail.has_ring()) continue;
    auto lists = mail.priority_lists();
    if (what == 9) {
      lists.unstash();
      reference.unstash();
      continue;
    }
    std::uint32_t ticket = 0;
    auto* const expected = reference.pick();
    REQUIRE((lists.pick(ticket) != 0) == (expected != nullptr));
    REQUIRE(lists.has_more_than_stash(static_cast<std::uint32_t>(reference.size())) == (expected != nullptr));
    if (expected == nullptr) continue;
    note got{};
    std::memcpy(&got, mail.ring().slot(ticket).payload, sizeof got);
    REQUIRE(got.number == expected->number);
    REQUIRE(mail.ring().slot(ticket).header.priority == expected->priority);
    if (what < 14) {
      lists.stash(ticket);
      reference.stash(expected);
    } else {
      lists.take(ticket);
      reference.take(expected);
    }
    REQUIRE(count_waiting(a.ref(), a.ref().cell(id.index), a.word(id)) == reference.size());
  }
  mail.priority_lists().link_announced();
  for (std::uint32_t level = 0; level < 256; ++level)
    REQUIRE(mail.priority_lists().depth_of(level) == reference.depth_of(level));
}

/// Posts a note of the default priority and stashes it.
void post_and_stash(scheduler& sched, owned_mail& mail, actor_id id, std::uint32_t number) {
  note const n{0, number};
  REQUIRE(sched.post(id, note_header(), &n, sizeof n) == errc::ok);
  mail.look();
  std::uint32_t ticket = 0;
  REQUIRE(mail.priority_lists().pick(ticket));
  mail.priority_lists().stash(ticket);
}

}  // namespace

TEST_CASE("stashed messages wait where they are, and come again in order, before later ones",
          "[stash][G2][G3]") {
  for (std::uint32_t const start : {0u, ticket_mask - 100})
    for (auto const& [slots, capacity] :
         {std::pair{2u, 2u}, std::pair{8u, 8u}, std::pair{8u, 5u}, std::pair{32u, 32u}, std::pair{32u, 17u}})
      for (std::uint32_t const levels : {1u, 2u, 4u, 256u})
        against_marked_mail({slots, capacity, ~0u, start, levels});
}

TEST_CASE("the starvation limit does not look at what is stashed", "[stash][G3]") {
  for (std::uint32_t const limit : {0u, 1u, 3u, 20u})
    for (std::uint32_t const levels : {2u, 256u}) against_marked_mail({16, 13, limit, 0, levels});
}

TEST_CASE("an actor is not ready if all its mail is stashed, and keeps its mail ring", "[stash][G11]") {
  test_arena a{{.actors = 2, .rings = 1, .ring_slots = 2, .heap_bytes = 4096}};
  auto const id = a.launch_taker(0, 2);
  scheduler sched{a.ref()};
  REQUIRE(sched.claim(0, 0));
  owned_mail mail{sched, id};
  post_and_stash(sched, mail, id, 0);
  post_and_stash(sched, mail, id, 1);
  note const n{0, 2};
  CHECK(sched.post(id, note_header(), &n, sizeof n) == errc::mailbox_full);
  actor_totals totals{};
  auto const released = sched.release(0, totals);
  CHECK_FALSE(released.still_owned);
  CHECK_FALSE(released.mail_left);
  CHECK(a.word(id).ring() != 0);
  CHECK_FALSE(a.word(id).queued());
  CHECK(totals.accepted == 2);

  REQUIRE(sched.claim(0, 0));
  mail.priority_lists().unstash();
  CHECK(sched.release(0, totals).mail_left);
  CHECK(a.word(id).queued());
}

TEST_CASE("mail behind a stash makes its actor ready", "[stash][G11]") {
  test_arena a{{.actors = 1, .rings = 1, .ring_slots = 4, .heap_bytes = 4096}};
  auto const id = a.launch_taker(0, 4);
  scheduler sched{a.ref()};
  REQUIRE(sched.claim(0, 0));
  owned_mail mail{sched, id};
  post_and_stash(sched, mail, id, 0);
  note const n{0, 1};
  REQUIRE(sched.post(id, note_header(), &n, sizeof n) == errc::ok);
  CHECK_FALSE(a.word(id).queued());
  actor_totals totals{};
  CHECK(sched.release(0, totals).mail_left);
  CHECK(a.word(id).has(actor_word::queued_in(band_of(default_priority))));
}
