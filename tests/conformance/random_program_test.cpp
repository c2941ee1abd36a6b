// Random programs compared with a model: at each safepoint the counters, the depths by priority and the results that
// callers got agree with the model.
//
// RONDO_SEED repeats a run.
#include <map>
#include <random>

#include "runtime/observe/telemetry.hpp"
#include "tests/conformance/harness.hpp"
#include "tests/seed.hpp"

using namespace conformance;

namespace {

using depths = std::map<std::uint32_t, std::uint32_t>;  // messages by priority

/// The outcomes of asks, counted by their completion handlers.
struct ask_counts {
  std::atomic<std::uint64_t> begun{0}, ended{0}, ok{0}, twice{0};
};

/// The model of one life of an actor, kept without reading its counters.
struct life {
  rondo::actor_ref<adder> ref;
  std::string name;
  std::uint32_t capacity = 0;
  bool active = true;
  std::uint64_t accepted = 0;   // a lower bound; the upper bound adds `uncertain`
  std::uint64_t uncertain = 0;  // asks that timed out before it was clear whether the mailbox accepted them
  std::uint64_t failing = 0;    // tells that the actor cannot handle
  depths waiting;               // exact while the actor is not active
  std::shared_ptr<ask_counts> asks = std::make_shared<ask_counts>();
  std::shared_ptr<shared_word> handled = std::make_shared<shared_word>();

  std::uint32_t depth() const {
    std::uint32_t sum = 0;
    for (auto const& [priority, n] : waiting) sum += n;
    return sum;
  }
};

class program {
 public:
  program(variant const& v, std::uint64_t seed) : random_(seed), rt_(start(v.settings)) {
    subscription_ = rt_->on_dead_letter([this](rondo::dead_letter const&) { ++letters_; });
    for (std::size_t i = 0; i < 6; ++i) launch(lives_.emplace_back(), "actor" + std::to_string(i));
  }

  void run(int steps) {
    for (int i = 1; i <= steps; ++i) {
      step();
      if (i % 50 == 0) check();
    }
    for (auto& l : lives_)
      if (!l.active) wake(l);
    check();
    CHECK(ended() == begun());  // no actor sleeps, so no ask is left
  }

 private:
  std::uint32_t roll(std::uint32_t n) { return static_cast<std::uint32_t>(random_() % n); }
  std::uint8_t some_priority() {
    return roll(2) == 0 ? rondo::default_priority : static_cast<std::uint8_t>(roll(256));
  }

  void launch(life& l, std::string name) {
    l = life{};
    l.name = std::move(name);
    l.active = roll(4) != 0;
    l.capacity = 1 + roll(roll(3) == 0 ? 100 : 30);
    rondo::actor_options options{.capacity = l.capacity, .pinned = roll(5) == 0, .active = l.active};
    if (rt_->device_count() > 1) options.device = roll(rt_->device_count());
    options.supervise.poison_after = static_cast<std::uint8_t>(1 + roll(3));
    options.supervise.max_restarts = 60'000;
    l.ref = rt_->launch<adder>(l.name, options);
  }

  void step() {
    life& l = lives_[roll(static_cast<std::uint32_t>(lives_.size()))];
    auto const what = roll(100);
    if (what < 55)
      send(l);
    else if (what < 80)
      begin_ask(l);
    else if (what < 88)
      put_to_sleep(l);
    else if (what < 96)
      wake(l);
    else
      replace(l);
  }

  void send(life& l) {
    bool const fails = roll(10) == 0, had_room = l.active || l.depth() < l.capacity;
    auto const priority = some_priority();
    auto const ec = tell(l.ref, work{l.handled->get(), fails}, {.priority = priority});
    if (!l.active) CHECK(ec == (had_room ? errc::ok : errc::mailbox_full));
    if (ec == errc::mailbox_full) return;
    REQUIRE_FALSE(ec);
    l.failing += fails;
    accepted(l, priority);
  }

  void begin_ask(life& l) {
    auto const priority = some_priority();
    auto const timeout = roll(2) == 0 ? rondo::no_timeout : std::chrono::microseconds(1 + roll(2000));
    bool const had_room = l.active || l.depth() < l.capacity;
    auto const ended_with = std::make_shared<std::atomic<int>>(-1);
    ++l.asks->begun;
    l.ref.ask(get{}, {.timeout = timeout, .priority = priority},
              [counts = l.asks, ended_with](error_code ec, total) {
                if (ended_with->exchange(ec.value()) != -1) return void(++counts->twice);
                if (!ec) ++counts->ok;
                ++counts->ended;
              });
    // This command follows the ask, so by the time it is answered a full mailbox has been reported.
    inspect(l.ref);
    auto const end = static_cast<errc>(ended_with->load());
    if (!l.active) {
      if (had_room)
        CHECK(end != errc::mailbox_full);
      else
        CHECK((end == errc::mailbox_full || end == errc::timed_out));
      if (had_room) accepted(l, priority);
    } else if (end == errc::timed_out) {
      ++l.uncertain;
    } else if (end != errc::mailbox_full) {
      accepted(l, priority);
    }
  }

  void accepted(life& l, std::uint8_t priority) {
    ++l.accepted;
    if (!l.active) ++l.waiting[priority];
  }

  depths depths_of(life const& l) {
    depths found;
    for (auto const& d : inspect(l.ref).depths) found[d.priority] += d.messages;
    return found;
  }

  void put_to_sleep(life& l) {
    REQUIRE_FALSE(deactivate(l.ref));
    if (l.active) l.waiting = depths_of(l);  // from here on the model tracks it
    l.active = false;
  }

  void wake(life& l) {
    REQUIRE_FALSE(activate(l.ref));
    l.active = true;
    l.waiting.clear();
  }

  void replace(life& l) {
    bool const drains = roll(2) == 0;
    REQUIRE_FALSE(terminate(l.ref, drains ? rondo::termination::drain : rondo::termination::discard));
    CHECK(tell(l.ref, add{1}) == errc::actor_gone);
    past_.push_back(l);
    launch(l, past_.back().name);
  }

  template <class Each>
  std::uint64_t sum(Each each) const {
    std::uint64_t n = 0;
    for (auto const* group : {&lives_, &past_})
      for (auto const& l : *group) n += each(l);
    return n;
  }
  std::uint64_t begun() const {
    return sum([](life const& l) { return l.asks->begun.load(); });
  }
  std::uint64_t ended() const {
    return sum([](life const& l) { return l.asks->ended.load(); });
  }

  void check() {
    for (auto const& l : lives_) inspect(l.ref);  // wait for its launch, if that is still in progress
    std::uint64_t asleep = 0;
    for (auto const& l : lives_) asleep += l.active ? 0 : l.depth();
    auto const t = at_rest(*rt_, asleep);
    CHECK(t.conserved());
    // Answers may still be on their way to their handlers.
    CHECK(eventually([&] { return begun() - ended() == rt_->snapshot().asks_waiting; }));
    CHECK(sum([](life const& l) { return l.asks->twice.load(); }) == 0);

    for (auto const& l : lives_) {
      INFO(l.name);
      auto const& n = report_of(t, l.ref.id()).now.totals;
      CHECK(report_of(t, l.ref.id()).now.waiting == l.depth());  // counted from the mailbox
      CHECK(n.accepted >= l.accepted);
      CHECK(n.accepted <= l.accepted + l.uncertain);
      CHECK(n.accepted == n.handled + n.rejected + n.dead + l.depth());
      CHECK(n.handled >= *l.handled + l.asks->ok);
      if (l.active) CHECK(n.dead == l.failing);
      if (!l.active) CHECK(depths_of(l) == l.waiting);
    }
    std::uint64_t least = 0, most = 0, handled = 0;
    for (auto const& l : past_) {
      least += l.accepted;
      most += l.accepted + l.uncertain;
      handled += *l.handled + l.asks->ok;
    }
    CHECK(t.retired.accepted >= least);
    CHECK(t.retired.accepted <= most);
    CHECK(t.retired.accepted == t.retired.handled + t.retired.rejected + t.retired.dead);
    CHECK(t.retired.handled >= handled);  // an ask may be handled, and its answer arrive too late
    auto const dead = t.live.dead + t.retired.dead;
    // The host counts a dead letter when the device reports it, after the actor has counted its message.
    CHECK(eventually([&] { return rt_->snapshot().dead_letters == dead; }));
    CHECK(eventually([&] { return letters_ == dead; }));
  }

  std::mt19937_64 random_;
  std::atomic<std::uint64_t> letters_{0};
  std::vector<life> lives_, past_;
  std::unique_ptr<rondo::runtime> rt_;
  rondo::subscription subscription_;
};

}  // namespace

TEST_CASE("random programs keep every guarantee that the model checks", "[G1][G5][G7][G8][G9][G12]") {
  auto const v = GENERATE(from_range(variants()), from_range(variants_of_several()));
  auto const seed = rondo_test::seed_of("random_program");
  INFO(v.name << ", RONDO_SEED=" << seed);
  program{v, seed}.run(600);
}
