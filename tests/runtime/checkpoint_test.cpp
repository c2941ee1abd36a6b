// Checkpoints: a restored runtime has the actors, mail, ids and counters of the saved one.
#include "runtime/checkpoint.hpp"
#include "runtime/lifecycle.hpp"
#include "runtime/observe/telemetry.hpp"
#include "tests/runtime/checkpoint_fixture.hpp"

using namespace checkpoint_test;
using rondo::errc;

namespace {

rondo::actor_report const& report_named(rondo::telemetry const& t, std::string const& name) {
  for (auto const& a : t.actors)
    if (a.name == name) return a;
  throw std::runtime_error("no actor is named " + name);
}

bool same(rondo::actor_totals const& a, rondo::actor_totals const& b) {
  return a.accepted == b.accepted && a.handled == b.handled && a.rejected == b.rejected && a.dead == b.dead &&
         a.failures == b.failures && a.latency_sum_ns == b.latency_sum_ns &&
         a.latency_samples == b.latency_samples && a.peak_depth == b.peak_depth;
}

template <class Behaviour>
rondo::actor_ref<Behaviour> find(rondo::runtime& rt, std::string_view name) {
  return rt.find<Behaviour>(name).value();
}

}  // namespace

TEST_CASE("a restored actor has its name, id, state, counters and latencies", "[checkpoint][G1][G7]") {
  auto const device = GENERATE(from_range(devices()));
  CAPTURE(device);
  scratch s;
  auto first = start(small_config(device));
  auto const gone = first->launch<journal>("gone");
  auto const gap = first->launch<journal>("gap");
  auto const kept = first->launch<journal>("kept", {.capacity = 1000});
  auto const owner = first->launch<journal>("owner", {.capacity = 7, .pinned = true});
  tell(gone, item{0, 0});
  report_of(gone);
  REQUIRE_FALSE(rondo::terminate(gone, rondo::termination::drain, rondo::block));
  auto const second_life = first->launch<journal>("second life");
  REQUIRE(second_life.id().index == gone.id().index);
  REQUIRE_FALSE(rondo::terminate(gap, rondo::termination::drain, rondo::block));
  for (std::uint64_t i = 0; i < 500; ++i)
    for (auto const& j : {kept, owner, second_life}) tell(j, item{1, i});
  for (auto const& j : {kept, owner, second_life}) report_of(j);
  rondo::checkpoint(*first, s.file);
  auto const before = first->snapshot();
  first.reset();

  auto second = start(small_config(device));
  rondo::restore(*second, s.file);
  auto const after = second->snapshot();
  REQUIRE(after.actors.size() == 3);
  REQUIRE(before.conserved());
  REQUIRE(after.conserved());
  REQUIRE(same(after.retired, before.retired));
  for (auto const& ref : {kept, owner, second_life}) {
    auto const entry = second->list();
    auto const e = std::ranges::find_if(entry, [&](auto const& x) { return x.id == ref.id(); });
    REQUIRE(e != entry.end());
    auto const& was = report_named(before, e->name);
    auto const& is = report_named(after, e->name);
    CAPTURE(e->name);
    REQUIRE(same(was.now.totals, is.now.totals));
    REQUIRE(std::ranges::equal(was.now.latency_counts, is.now.latency_counts));
    REQUIRE(e->options.pinned == (e->name == "owner"));
    REQUIRE(e->spec.capacity == (e->name == "owner" ? 7u : e->name == "kept" ? 1000u : 32u));
    auto const again = find<journal>(*second, e->name);
    tell(again, item{1, 500});
    auto const r = report_of(again);
    REQUIRE(r.taken == 501);
    REQUIRE(r.out_of_turn == 0);
  }
  // The free cell is still free. Its next actor is not taken for one that had ended [G7]: its generation is above all
  // in the file.
  REQUIRE(second->launch<journal>("new").id() ==
          rondo::actor_id{gap.id().index, second_life.id().generation + 1});
  REQUIRE_FALSE(
      rondo::terminate(find<journal>(*second, "second life"), rondo::termination::drain, rondo::block));
  REQUIRE(second->launch<journal>("third life").id().generation == second_life.id().generation + 1);
  at_rest(*second);
}

TEST_CASE("waiting mail of all priorities is handled after a restore in its original order",
          "[checkpoint][G2][G3]") {
  auto const device = GENERATE(from_range(devices()));
  CAPTURE(device);
  scratch s;
  entered_gate = opened_gates = 0;
  auto first = start(small_config(device));
  auto const n = first->launch<notebook>("n", {.capacity = 16});
  tell(n, gate{1});
  REQUIRE(eventually([] { return entered_gate == 1; }));
  struct sent {
    std::uint32_t id;
    std::uint8_t priority;
  };
  // The messages above 150 are handled before the second gate closes: the priority lists then have holes and moved
  // messages.
  sent const mail[] = {{1, 128}, {2, 10},  {3, 255}, {4, 128}, {5, 140},
                       {6, 10},  {7, 200}, {8, 255}, {9, 140}};
  for (auto const& m : mail) tell(n, mark{m.id}, {.priority = m.priority});
  tell(n, gate{2}, {.priority = 150});
  opened_gates = 1;
  REQUIRE(eventually([] { return entered_gate == 2; }));
  // These arrive after the last scan.
  tell(n, mark{10}, {.priority = 140});
  mark const together[] = {{11}, {13}, {14}};
  REQUIRE_FALSE(n.try_tell(std::span<mark const>{together}));
  std::atomic<bool> inactive{false};
  rondo::deactivate(n, [&](rondo::error_code) { inactive = true; });
  tell(n, mark{12}, {.priority = 255});  // on every device it is taken after the signal to deactivate
  opened_gates = 2;
  REQUIRE(eventually([&] { return inactive.load(); }));
  rondo::checkpoint(*first, s.file);
  auto const before = first->snapshot();
  REQUIRE_FALSE(rondo::activate(n, rondo::block));
  auto const expected = marks_of(n);
  REQUIRE(before.waiting == 11);
  REQUIRE(expected == std::vector<std::uint32_t>{3, 8, 7, 12, 5, 9, 10, 1, 4, 11, 13, 14, 2, 6});
  first.reset();

  auto second = start(small_config(device));
  rondo::restore(*second, s.file);
  auto const after = second->snapshot();
  REQUIRE(after.conserved());
  REQUIRE(after.waiting == before.waiting);
  REQUIRE(report_named(after, "n").now.state == rondo::lifecycle::deactivated);
  auto const again = find<notebook>(*second, "n");
  REQUIRE_FALSE(rondo::activate(again, rondo::block));
  REQUIRE(marks_of(again) == expected);
}

TEST_CASE("an inactive actor is inactive after a restore, and its mailbox is as full as before",
          "[checkpoint][G5][G8]") {
  scratch s;
  auto first = start();
  auto const full = first->launch<journal>("full", {.capacity = 5, .active = false});
  auto const large = first->launch<journal>("large", {.capacity = 300, .active = false});
  first->launch<journal>("empty", {.active = false});
  for (std::uint64_t i = 0; i < 5; ++i) tell(full, item{0, i});
  for (std::uint64_t i = 0; i < 299; ++i) tell(large, item{2, i});
  rondo::checkpoint(*first, s.file);
  first.reset();

  auto second = start();
  rondo::restore(*second, s.file);
  auto const f = find<journal>(*second, "full");
  auto const l = find<journal>(*second, "large");
  REQUIRE(report_named(second->snapshot(), "full").now.waiting == 5);
  REQUIRE(report_named(second->snapshot(), "large").now.waiting == 299);
  REQUIRE(report_named(second->snapshot(), "full").now.state == rondo::lifecycle::launched);
  REQUIRE(f.try_tell(item{0, 5}) == errc::mailbox_full);
  REQUIRE_FALSE(l.try_tell(item{2, 299}));
  REQUIRE(l.try_tell(item{2, 300}) == errc::mailbox_full);
  for (auto const& j : {f, l, find<journal>(*second, "empty")})
    REQUIRE_FALSE(rondo::activate(j, rondo::block));
  at_rest(*second);
  REQUIRE(report_of(f).next[0] == 5);
  REQUIRE(report_of(l).next[2] == 300);
  REQUIRE(report_of(l).out_of_turn == 0);
  REQUIRE(report_of(find<journal>(*second, "empty")).taken == 0);
  at_rest(*second);
}

TEST_CASE("addresses in states and requests between actors stay valid, and on_start does not run again",
          "[checkpoint]") {
  auto const device = GENERATE(from_range(devices()));
  CAPTURE(device);
  scratch s;
  auto first = start(small_config(device));
  // The journal's cell is not the first one, which a new runtime would use first.
  auto const filler = first->launch<journal>("");
  auto const j = first->launch<journal>("journal");
  auto const c = first->launch<courier>("courier");
  REQUIRE_FALSE(rondo::terminate(filler, rondo::termination::drain, rondo::block));
  tell(c, meet{j.where()});
  tell(c, pass_on{{0, 0}});
  REQUIRE(eventually([&] { return report_of(j).taken == 1; }));
  REQUIRE_FALSE(rondo::deactivate(j, rondo::block));
  tell(c, ask_peer{});
  tell(c, pass_on{{0, 1}});
  REQUIRE(eventually([&] { return first->snapshot().waiting == 2; }));
  REQUIRE(c.ask(get_answer{}, 30s, rondo::block)->starts == 1);
  rondo::checkpoint(*first, s.file);
  first.reset();

  starts_in_this_process = 0;
  auto second = start(small_config(device));
  rondo::restore(*second, s.file);
  auto const j2 = find<journal>(*second, "journal");
  auto const c2 = find<courier>(*second, "courier");
  REQUIRE(c2.ask(get_answer{}, 30s, rondo::block)->answers == 0);
  REQUIRE_FALSE(rondo::activate(j2, rondo::block));
  REQUIRE(eventually([&] { return c2.ask(get_answer{}, 30s, rondo::block)->answers == 1; }));
  REQUIRE(c2.ask(get_answer{}, 30s, rondo::block)->taken == 1);
  tell(c2, pass_on{{0, 2}});
  REQUIRE(eventually([&] { return report_of(j2).next[0] == 3; }));
  REQUIRE(report_of(j2).out_of_turn == 0);
  REQUIRE(c2.ask(get_answer{}, 30s, rondo::block)->starts == 1);
  REQUIRE(starts_in_this_process == 0);
}

TEST_CASE("a waiting ask of the host is handled after a restore, but not answered", "[checkpoint][G1]") {
  scratch s;
  auto first = start();
  auto const n = first->launch<notebook>("n", {.active = false});
  std::atomic<int> ended{0};
  n.ask(get_marks{}, rondo::no_timeout,
        [&](rondo::error_code ec, mark_list) { ended = ec == errc::stopped ? 1 : 2; });
  tell(n, mark{1});
  rondo::checkpoint(*first, s.file);
  first.reset();
  REQUIRE(ended != 2);

  auto second = start();
  rondo::restore(*second, s.file);
  auto const again = find<notebook>(*second, "n");
  REQUIRE_FALSE(rondo::activate(again, rondo::block));
  REQUIRE(marks_of(again) == std::vector<std::uint32_t>{1});
  auto const t = at_rest(*second);
  REQUIRE(t.live.handled == 3);
  REQUIRE(t.live.rejected == 0);
  REQUIRE(t.late_answers == 0);
}

TEST_CASE("a deadline continues while its message is in a file", "[checkpoint][G12]") {
  scratch s;
  // The message must still be alive when the file is complete. A busy machine may need longer for that.
  auto deadline = 500ms;
  for (;; deadline *= 2) {
    auto first = start();
    auto const n = first->launch<notebook>("n", {.active = false});
    auto const told = std::chrono::steady_clock::now();
    tell(n, mark{1}, {.deadline = deadline});
    tell(n, mark{2}, {.deadline = 1h});
    tell(n, mark{3});
    rondo::checkpoint(*first, s.file);
    if (std::chrono::steady_clock::now() < told + deadline) break;
  }
  std::this_thread::sleep_for(deadline);

  auto second = start();
  std::atomic<errc> reason{errc::ok};
  auto const letters = second->on_dead_letter([&](rondo::dead_letter const& l) { reason = l.reason; });
  rondo::restore(*second, s.file);
  auto const again = find<notebook>(*second, "n");
  REQUIRE_FALSE(rondo::activate(again, rondo::block));
  REQUIRE(marks_of(again) == std::vector<std::uint32_t>{2, 3});
  REQUIRE(eventually([&] { return reason == errc::timed_out; }));
  REQUIRE(at_rest(*second).live.dead == 1);  // counted when the actor's turn is over
}

TEST_CASE("an actor that was draining continues to drain and ends after a restore", "[checkpoint][G8]") {
  scratch s;
  entered_gate = opened_gates = 0;
  auto first = start();
  auto const n = first->launch<notebook>("n");
  tell(n, until_stop{});
  REQUIRE(eventually([] { return entered_gate == ~0u; }));
  for (std::uint32_t i = 0; i < 5; ++i) tell(n, mark{i});
  std::atomic<bool> over{false};
  rondo::terminate(n, rondo::termination::drain, [&](rondo::error_code) { over = true; });
  rondo::checkpoint(*first, s.file);
  REQUIRE(eventually([&] { return over.load(); }));
  first.reset();

  auto second = start();
  rondo::restore(*second, s.file);
  REQUIRE(eventually([&] { return second->list().empty(); }));
  auto const t = second->snapshot();
  REQUIRE(t.retired.accepted == 6);
  REQUIRE(t.retired.handled == 6);
  REQUIRE(t.conserved());
}

TEST_CASE("a stopped runtime can still write a checkpoint, and stays stopped", "[checkpoint][G10]") {
  auto const device = GENERATE(from_range(devices()));
  CAPTURE(device);
  scratch s;
  auto first = start(small_config(device));
  auto const j = first->launch<journal>("j");
  for (std::uint64_t i = 0; i < 30; ++i) tell(j, item{0, i});
  REQUIRE(report_of(j).taken == 30);
  REQUIRE(first->stop().stopped);
  rondo::checkpoint(*first, s.file);
  REQUIRE(j.try_tell(item{0, 30}) == errc::stopped);
  REQUIRE(error_of([&] { rondo::restore(*first, s.file); }).find("has stopped") != std::string::npos);

  auto second = start(small_config(device));
  rondo::restore(*second, s.file);
  REQUIRE(report_of(find<journal>(*second, "j")).next[0] == 30);
}

TEST_CASE("a runtime can restore its own checkpoint, and its refs then work again", "[checkpoint][G7]") {
  scratch s;
  auto rt = start();
  auto const j = rt->launch<journal>("j");
  auto const k = rt->launch<journal>("k");
  tell(j, item{0, 0});
  report_of(j);
  rondo::checkpoint(*rt, s.file);
  tell(j, item{0, 1});
  for (auto const& r : {j, k}) REQUIRE_FALSE(rondo::terminate(r, rondo::termination::drain, rondo::block));
  rondo::restore(*rt, s.file);
  REQUIRE(report_of(j).taken == 1);
  REQUIRE(report_of(k).taken == 0);
  at_rest(*rt);

  for (auto const& r : {j, k}) REQUIRE_FALSE(rondo::terminate(r, rondo::termination::drain, rondo::block));
  auto const successor = rt->launch<journal>("successor");
  REQUIRE_FALSE(rondo::terminate(successor, rondo::termination::drain, rondo::block));
  REQUIRE(error_of([&] { rondo::restore(*rt, s.file); }).find("now belongs to another actor") !=
          std::string::npos);
  REQUIRE(rt->list().empty());
}

TEST_CASE("checkpoints under running senders hold a prefix of each sender's messages without duplicates",
          "[checkpoint][G1][G2]") {
  auto const device = GENERATE(from_range(devices()));
  CAPTURE(device);
  scratch s;
  constexpr int rounds = 12, journals = 3;
  auto rt = start(small_config(device));
  std::vector<rondo::actor_ref<journal>> targets;
  for (int i = 0; i < journals; ++i)
    targets.push_back(
        rt->launch<journal>("j" + std::to_string(i), {.capacity = 8u << (3 * i), .pinned = i == 2}));
  std::atomic<bool> over{false};
  // A far deadline. Regression: a message sent while its mailbox was read seemed to be 78 hours old.
  rondo::tell_options const in_time{.deadline = 1h};
  std::atomic<std::uint64_t> begun[senders][journals]{}, accepted[senders][journals]{};
  std::vector<std::thread> threads;
  for (std::uint32_t id = 0; id < 3; ++id)
    threads.emplace_back([&, id] {
      for (std::uint64_t i = 0; !over; ++i)
        for (int t = 0; t < journals; ++t) {
          begun[id][t] = i + 1;
          auto const& to = targets[static_cast<std::size_t>(t)];
          device == "cpu" ? tell_eagerly(to, item{id, i}, in_time) : tell(to, item{id, i}, in_time);
          accepted[id][t] = i + 1;
        }
    });
  for (int round = 0; round < rounds; ++round) {
    std::uint64_t least[senders][journals];
    for (std::uint32_t id = 0; id < 3; ++id)
      for (int t = 0; t < journals; ++t) least[id][t] = accepted[id][t];
    rondo::checkpoint(*rt, s.file);
    std::uint64_t most[senders][journals];
    for (std::uint32_t id = 0; id < 3; ++id)
      for (int t = 0; t < journals; ++t) most[id][t] = begun[id][t];

    auto copy = start(small_config(device));
    rondo::restore(*copy, s.file);
    auto const now = at_rest(*copy);
    for (int t = 0; t < journals; ++t) {
      auto const name = "j" + std::to_string(t);
      auto const totals = report_named(now, name).now.totals;
      auto const r = report_of(find<journal>(*copy, name));
      CAPTURE(round, name);
      REQUIRE(r.out_of_turn == 0);
      REQUIRE(r.taken == r.next[0] + r.next[1] + r.next[2]);
      REQUIRE(totals.accepted == r.taken);
      REQUIRE(totals.handled == r.taken);
      for (std::uint32_t id = 0; id < 3; ++id) {
        REQUIRE(r.next[id] >= least[id][t]);
        REQUIRE(r.next[id] <= most[id][t]);
      }
    }
  }
  over = true;
  for (auto& t : threads) t.join();
  at_rest(*rt);
  for (auto const& t : targets) REQUIRE(report_of(t).out_of_turn == 0);
  at_rest(*rt);
}
