// Messages that an actor stashes: they wait, count as waiting, and come again in order.
#include "runtime/checkpoint.hpp"
#include "runtime/messaging/trace_log.hpp"
#include "runtime/recording.hpp"
#include "runtime/replay.hpp"
#include "tests/conformance/crew.hpp"
#include "tests/scratch_directory.hpp"

using namespace conformance;
using Catch::Matchers::Contains;

namespace {

using numbers = std::vector<std::uint32_t>;

/// Once everything before has had its turn.
template <class Porter>
parcel_log log_of(rondo::actor_ref<Porter> const& actor) {
  return ask_last(actor, read_parcels{});
}
numbers values_of(parcel_log const& log) { return {log.values, log.values + std::min(log.handled, 16u)}; }

/// Without waiting for the outcome, so that a pinned actor gets it directly.
template <class Porter, class Message>
void send(rondo::actor_ref<Porter> const& to, Message const& m, rondo::tell_options options = {}) {
  error_code ec;
  if (!eventually([&] { return ec = to.try_tell(m, options), !ec; }))
    throw std::runtime_error("refused: " + ec.message());
}
template <class Porter>
void send_parcels(rondo::actor_ref<Porter> const& to, std::uint32_t first, std::uint32_t last,
                  std::uint8_t priority = 128) {
  for (auto i = first; i <= last; ++i) send(to, parcel{0, i}, {.priority = priority});
}

template <class Porter>
void check_order(variant const& v, bool pinned) {
  auto const rt = start(v.settings);
  auto const actor = rt->launch<Porter>("porter", {.capacity = 16, .pinned = pinned});
  send_parcels(actor, 1, 3);
  send_parcels(actor, 4, 5, 200);
  send_parcels(actor, 6, 6);
  auto const closed = log_of(actor);
  CHECK(closed.calls == 6);
  CHECK(closed.handled == 0);
  auto const t = at_rest(*rt, 6);
  CHECK(report_of(t, actor.id()).now.waiting == 6);
  auto const found = inspect(actor);
  REQUIRE(found.depths.size() == 2);
  CHECK(found.depths[0].priority == 200);
  CHECK(found.depths[0].messages == 2);
  CHECK(found.depths[1].messages == 4);
  // Other mail is handled, and takes its slots from the stash's end of the mailbox.
  for (int i = 0; i < 40; ++i) CHECK(log_of(actor).calls == 6);

  REQUIRE_FALSE(deactivate(actor));
  send_parcels(actor, 7, 7);
  REQUIRE_FALSE(tell(actor, set_open{1}, {.priority = 255}));
  REQUIRE_FALSE(activate(actor));
  auto const open = log_of(actor);
  CHECK(values_of(open) == numbers{4, 5, 1, 2, 3, 6, 7});
  CHECK(open.calls == 13);
  CHECK(open.disorder == 0);
  CHECK(at_rest(*rt).conserved());
}

}  // namespace

TEST_CASE("stashed messages wait, and come again by priority and in the order sent", "[G1][G2][G3][G6]") {
  auto const v = GENERATE(from_range(variants()));
  bool const pinned = GENERATE(false, true);
  INFO(v.name << (pinned ? ", pinned" : ""));
  check_order<porter>(v, pinned);
  check_order<porters_together>(v, pinned);
}

TEST_CASE("handlers of each kind stash, and a message that is stashed and unstashed comes at once",
          "[G1][G2]") {
  auto const v = GENERATE(from_range(variants()));
  bool const pinned = GENERATE(false, true);
  INFO(v.name << (pinned ? ", pinned" : ""));
  auto const rt = start(v.settings);
  auto const actor = rt->launch<porter>("porter", {.capacity = 16, .pinned = pinned, .active = false});
  crate const crates[] = {{0, 1}, {0, 2}, {0, 3}};
  REQUIRE_FALSE(
      outcome_of([&](auto handler) { actor.tell(std::span<crate const>(crates), {}, std::move(handler)); }));
  REQUIRE_FALSE(tell(actor, load{4, misplaced::nothing}));
  pending<collected> answer;
  actor.ask(collect{5}, patience, answer.handler());
  REQUIRE_FALSE(activate(actor));
  auto const closed = ask(actor, read_parcels{}).value();  // another priority would divide the batch
  CHECK(closed.handled == 0);
  CHECK(closed.calls == 3);
  CHECK_FALSE(answer.is_ready());
  std::uint32_t const forced = GENERATE(6u, 7u);
  send(actor, force{forced});
  CHECK_FALSE(answer.wait());
  CHECK(answer.reply->value == 5);
  CHECK(values_of(log_of(actor)) == numbers{1, 2, 3, 4, 5, forced});
  auto const t = at_rest(*rt);
  CHECK(report_of(t, actor.id()).now.totals.failures == 0);
}

TEST_CASE("a stash takes up the mailbox, and reserved room lets in what ends it", "[G5]") {
  auto const v = GENERATE(from_range(variants()));
  bool const pinned = GENERATE(false, true);
  INFO(v.name << (pinned ? ", pinned" : ""));
  auto const rt = start(v.settings);
  auto const actor =
      rt->launch<porter>("porter", {.capacity = 4, .pinned = pinned, .reserve = {.slots = 1, .from = 200}});
  for (std::uint32_t i = 1; i <= 3; ++i) REQUIRE_FALSE(tell(actor, parcel{0, i}));
  CHECK(tell(actor, parcel{0, 99}) == errc::mailbox_full);
  auto const patient = std::make_shared<std::promise<error_code>>();
  auto accepted = patient->get_future();
  actor.tell(parcel{0, 4}, {.wait_for_room = true}, [patient](error_code ec) { patient->set_value(ec); });
  CHECK(eventually([&] {
    // Refused while the one before it is still in the reserved slot.
    auto const report = ask(actor, read_parcels{}, 200);
    return report && report.value().calls == 3;
  }));
  CHECK(accepted.wait_for(0s) != std::future_status::ready);
  // The answer may come before the request has left its slot.
  REQUIRE(eventually([&] { return !tell(actor, set_open{1}, {.priority = 200}); }));
  REQUIRE(accepted.wait_for(patience) == std::future_status::ready);
  CHECK_FALSE(accepted.get());
  CHECK(values_of(log_of(actor)) == numbers{1, 2, 3, 4});
  CHECK(at_rest(*rt).conserved());
}

TEST_CASE("an actor whose mailbox is full of stashed messages stands still", "[G5][G11]") {
  auto const v = GENERATE(from_range(variants()));
  bool const pinned = GENERATE(false, true);
  INFO(v.name << (pinned ? ", pinned" : ""));
  auto const rt = start(v.settings);
  auto const actor = rt->launch<porter>("porter", {.capacity = 2, .pinned = pinned});
  auto const other = rt->launch<adder>("other");
  for (std::uint32_t i = 1; i <= 2; ++i) REQUIRE_FALSE(tell(actor, parcel{0, i}));
  CHECK(tell(actor, parcel{0, 99}) == errc::mailbox_full);
  REQUIRE_FALSE(tell(other, add{1}));
  CHECK(ask(other, get{}).value().value == 1);
  CHECK(inspect(actor).now.waiting == 2);
  CHECK(at_rest(*rt, 2).conserved());
  REQUIRE_FALSE(terminate(actor, rondo::termination::discard));
  CHECK(at_rest(*rt).dead_letters == 2);
}

TEST_CASE("a stashed message whose deadline passes is not handled when it comes again", "[G12]") {
  auto const v = GENERATE(from_range(variants()));
  bool const pinned = GENERATE(false, true);
  INFO(v.name << (pinned ? ", pinned" : ""));
  overheard w(v);
  auto const actor = w.rt->launch<porter>("porter", {.pinned = pinned});
  REQUIRE_FALSE(tell(actor, parcel{0, 1}, {.deadline = 200ms}));
  REQUIRE_FALSE(tell(actor, parcel{0, 2}, {.deadline = 1h}));
  CHECK(actor.ask(collect{3}, 250ms, rondo::block).error() ==
        errc::timed_out);  // by now the first one is late
  REQUIRE_FALSE(tell(actor, set_open{1}));
  CHECK(values_of(log_of(actor)) == numbers{2});
  w.check_letter(1, actor.id(), errc::timed_out);
  auto const t = at_rest(*w.rt);
  CHECK(report_of(t, actor.id()).now.totals.rejected == 1);
}

TEST_CASE("what is stashed when its actor ends becomes dead letters, and askers hear of it", "[G1][G8]") {
  auto const v = GENERATE(from_range(variants()));
  bool const pinned = GENERATE(false, true);
  auto const how = GENERATE(rondo::termination::drain, rondo::termination::discard);
  INFO(v.name << (pinned ? ", pinned" : ""));
  overheard w(v);
  auto const actor = w.rt->launch<porter>("porter", {.pinned = pinned});
  send_parcels(actor, 1, 1);
  send_parcels(actor, 2, 2, 200);
  pending<collected> answer;
  actor.ask(collect{3}, patience, answer.handler());
  CHECK(log_of(actor).calls == 3);
  REQUIRE_FALSE(terminate(actor, how));
  CHECK(answer.wait() == errc::terminated);
  w.letters.wait_for(2);
  w.check_letter(2, actor.id(), errc::terminated);
  CHECK(at_rest(*w.rt).conserved());
}

TEST_CASE("a draining actor may still unstash", "[G8]") {
  auto const v = GENERATE(from_range(variants()));
  INFO(v.name);
  overheard w(v);
  auto const actor = w.rt->launch<porter>("porter");
  send_parcels(actor, 1, 2);
  CHECK(log_of(actor).calls == 2);
  REQUIRE_FALSE(deactivate(actor));
  REQUIRE_FALSE(tell(actor, set_open{1}));
  pending<collected> answer;
  actor.ask(collect{3}, patience, answer.handler());
  REQUIRE_FALSE(terminate(actor, rondo::termination::drain));
  CHECK_FALSE(answer.wait());
  CHECK(at_rest(*w.rt).dead_letters == 0);
}

TEST_CASE("after a restart the fresh state gets what was stashed", "[G2][G9]") {
  auto const v = GENERATE(from_range(variants()));
  bool const pinned = GENERATE(false, true);
  INFO(v.name << (pinned ? ", pinned" : ""));
  overheard w(v);
  auto const actor = w.rt->launch<porter>("porter", {.pinned = pinned, .supervise = {.poison_after = 1}});
  send_parcels(actor, 1, 3);
  CHECK(log_of(actor).calls == 3);
  REQUIRE_FALSE(tell(actor, drop_all{}));
  CHECK(log_of(actor).calls == 3);  // the fresh state counts from zero
  REQUIRE_FALSE(tell(actor, set_open{1}));
  CHECK(values_of(log_of(actor)) == numbers{1, 2, 3});
  w.check_letter(1, actor.id(), errc::handler_failed);
  CHECK(at_rest(*w.rt).conserved());
}

TEST_CASE("a checkpoint keeps stashed messages, which come again after it was restored", "[G2][G7]") {
  auto const v = GENERATE(from_range(variants()));
  bool const pinned = GENERATE(false, true);
  INFO(v.name << (pinned ? ", pinned" : ""));
  scratch_file const file;
  {
    auto const rt = start(v.settings);
    auto const actor = rt->launch<porter>("porter", {.pinned = pinned});
    send_parcels(actor, 1, 3);
    send_parcels(actor, 4, 4, 200);
    CHECK(log_of(actor).calls == 4);
    CHECK(log_of(actor).calls == 4);  // which has moved them in the mailbox
    REQUIRE_FALSE(deactivate(actor));
    send_parcels(actor, 5, 5);
    rondo::checkpoint(*rt, file.path);
  }
  auto const rt = start(v.settings);
  rondo::restore(*rt, file.path);
  auto const actor = rt->find<porter>("porter").value();
  CHECK(at_rest(*rt, 5).conserved());
  REQUIRE_FALSE(activate(actor));
  CHECK(log_of(actor).calls == 9);
  REQUIRE_FALSE(tell(actor, set_open{1}));
  CHECK(values_of(log_of(actor)) == numbers{4, 1, 2, 3, 5});
  CHECK(at_rest(*rt).conserved());
}

TEST_CASE("where no message ends, a handler that stashes fails", "[G9]") {
  auto const v = GENERATE(from_range(variants()));
  bool const pinned = GENERATE(false, true);
  INFO(v.name << (pinned ? ", pinned" : ""));
  auto const rt = start(v.settings);
  listener<std::string> reports;
  auto const subscription = rt->on_failure_report(reports.handler());
  auto const actor = rt->launch<porter>("porter", {.pinned = pinned, .supervise = {.poison_after = 1}});
  REQUIRE_FALSE(tell(actor, stash_again{}));
  REQUIRE(reports.wait_for(1));
  CHECK_THAT(reports.all().back(), Contains("again") && Contains("state does not allow"));
  for (auto const wrong : {misplaced::stash, misplaced::unstash}) {
    auto const before = reports.count();
    REQUIRE_FALSE(tell(actor, set_open{1}));
    REQUIRE_FALSE(tell(actor, load{1, wrong}));
    REQUIRE(reports.wait_for(before + 1));
    CHECK_THAT(reports.all().back(), Contains("load") && Contains("state does not allow"));
  }
  auto const before = reports.count();
  rt->launch<stashes_at_start>("starter", {.supervise = {.rule = rondo::on_failure::stop}});
  REQUIRE(reports.wait_for(before + 1));
  CHECK_THAT(reports.all().back(), Contains("starter") && Contains("state does not allow"));
  CHECK(at_rest(*rt).conserved());
}

TEST_CASE("many senders keep their order while their actor stashes and unstashes", "[G1][G2][G3]") {
  auto const v = GENERATE(from_range(variants()));
  bool const pinned = GENERATE(false, true);
  INFO(v.name << (pinned ? ", pinned" : ""));
  auto const rt = start(v.settings);
  std::uint32_t const count = few_on_ptx(v, 40, 2000);
  auto const actor =
      rt->launch<porter>("porter", {.capacity = 16, .pinned = pinned, .reserve = {.slots = 2, .from = 240}});
  std::vector<std::thread> threads;
  for (std::uint32_t s = 0; s < parcel_senders; ++s)
    threads.emplace_back([&, s] {
      for (std::uint32_t i = 0; i < count; ++i) {
        rondo::tell_options const options{.priority = static_cast<std::uint8_t>(100 + 40 * (i % 3))};
        s % 2 == 0 ? send(actor, parcel{s, i}, options) : send(actor, crate{s, i}, options);
      }
    });
  parcel_log log{};
  for (std::uint32_t is_open = 1; log.handled < parcel_senders * count; is_open ^= 1) {
    REQUIRE_FALSE(outcome_of([&](auto handler) {
      actor.tell(set_open{is_open}, {.priority = 240, .wait_for_room = true}, std::move(handler));
    }));
    log =
        actor.ask(read_parcels{}, {.timeout = patience, .priority = 240, .wait_for_room = true}, rondo::block)
            .value();
  }
  for (auto& t : threads) t.join();
  CHECK(log.disorder == 0);
  CHECK(log.calls > log.handled / 64);
  auto const t = at_rest(*rt);
  CHECK(t.conserved());
  CHECK(t.dead_letters == 0);
}

TEST_CASE("a recording with stashed messages is replayed", "[G6]") {
  auto const v = GENERATE(from_range(variants()));
  INFO(v.name);
  rondo_test::scratch_directory const dir("stash");
  auto const file = dir.directory / "run.recording";
  {
    auto const rt = start(v.settings);
    auto const actor = rt->launch<porter>("porter");
    rondo::recording tape(*rt, file);
    send_parcels(actor, 1, 3);
    CHECK(log_of(actor).calls == 3);
    REQUIRE_FALSE(tell(actor, set_open{1}));
    CHECK(values_of(log_of(actor)) == numbers{1, 2, 3});
    at_rest(*rt);
    tape.end();
  }
  auto const rt = start(v.settings);
  auto const report = rondo::replay(*rt, file);
  CHECK(report.differences == std::vector<std::string>{});
  CHECK(report.complete);
  auto const log = log_of(rt->find<porter>("porter").value());
  CHECK(values_of(log) == numbers{1, 2, 3});
  CHECK(log.calls == 6);
  CHECK(at_rest(*rt).conserved());
}

TEST_CASE("a trace shows a stashed message once, when it was handled", "[G6]") {
  auto const v = GENERATE(from_range(variants()));
  INFO(v.name);
  auto const rt = start(v.settings);
  auto const actor = rt->launch<porter>("porter");
  auto const trace = rt->traces().new_trace();
  REQUIRE_FALSE(tell(actor, parcel{0, 1}, {.trace = trace}));
  CHECK(log_of(actor).calls == 1);
  REQUIRE_FALSE(tell(actor, set_open{1}));
  CHECK(log_of(actor).calls == 2);
  REQUIRE(eventually([&] { return rt->traces().read(trace).size() >= 1; }));
  auto const hops = rt->traces().read(trace);
  CHECK(std::ranges::count_if(hops, [](auto const& h) { return !h.on_host; }) == 1);
  CHECK(hops.front().outcome == errc::ok);
}
