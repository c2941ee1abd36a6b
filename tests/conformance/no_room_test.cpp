// G5: an accepted message is never lost for want of room, and a program is refused the same things on every device.
#include "runtime/checkpoint.hpp"
#include "tests/conformance/harness.hpp"

using namespace conformance;

namespace {

/// Sends `count` notes in order with try_tell, each until it is accepted. Returns the number of refusals for want of
/// room.
std::uint64_t insist(rondo::actor_ref<orderly> const& to, std::uint32_t sender, std::uint32_t count,
                     std::uint8_t priority) {
  std::uint64_t refusals = 0;
  for (std::uint32_t i = 0; i < count; ++i) {
    rondo::tell_options const options{.priority = priority};
    for (auto ec = to.try_tell(note{sender, sender, i}, options); ec;
         ec = to.try_tell(note{sender, sender, i}, options)) {
      if (ec != errc::mailbox_full && ec != errc::device_busy && ec != errc::arena_full)
        throw std::runtime_error("a note was refused: " + ec.message());
      ++refusals;
      std::this_thread::yield();
    }
  }
  return refusals;
}
std::uint64_t insist(rondo::actor_ref<orderly> const& to, std::uint32_t sender, std::uint32_t count) {
  return insist(to, sender, count, static_cast<std::uint8_t>(128 + sender));
}

/// The names of outcomes, in order.
struct transcript {
  std::vector<std::string> lines;
  void add(std::string const& what, error_code ec) { lines.push_back(what + ": " + ec.message()); }
};

}  // namespace

TEST_CASE("what try_tell has accepted is handled, however full the mailbox is", "[G1][G2][G5]") {
  // Regression: a device with its own memory said ok, then made dead letters of what found no room.
  auto const v = GENERATE(from_range(variants()));
  bool const pinned = GENERATE(false, true);
  INFO(v.name << (pinned ? ", pinned" : ""));
  auto const rt = start(v.settings);
  constexpr std::uint32_t senders = 2;
  std::uint32_t const count = v.settings.device == "ptx" ? 150 : 3000;
  auto const actor = rt->launch<orderly>("orderly", {.capacity = 8, .pinned = pinned});
  std::vector<std::thread> threads;
  for (std::uint32_t s = 0; s < senders; ++s) threads.emplace_back([&, s] { insist(actor, s, count); });
  for (auto& t : threads) t.join();
  tally t{};
  CHECK(eventually([&] { return (t = ask_last(actor, get{})).handled == senders * count; }));
  CHECK(t.handled == senders * count);
  CHECK(t.disorder == 0);
  auto const end = at_rest(*rt);
  CHECK(end.conserved());
  CHECK(end.dead_letters == 0);
  CHECK(end.crossing == 0);
}

TEST_CASE("batches that found no room are handled as a whole and in order", "[G1][G2][G5]") {
  auto const v = GENERATE(from_range(variants()));
  INFO(v.name);
  auto const rt = start(v.settings);
  std::uint32_t const rounds = v.settings.device == "ptx" ? 20 : 400;
  auto const actor = rt->launch<orderly>("orderly", {.capacity = 7});
  std::uint32_t sent = 0;
  for (std::uint32_t round = 0; round < rounds; ++round) {
    std::vector<note> batch;
    for (std::uint32_t i = 0; i < 1 + round % 5; ++i) batch.push_back({0, 1, sent + i});
    while (actor.try_tell(std::span<note const>(batch))) std::this_thread::yield();
    sent += static_cast<std::uint32_t>(batch.size());
  }
  tally t{};
  CHECK(eventually([&] { return (t = ask_last(actor, get{})).handled == sent; }));
  CHECK(t.handled == sent);
  CHECK(t.disorder == 0);
  CHECK(at_rest(*rt).dead_letters == 0);
}

TEST_CASE("an actor that ends while messages wait to be sent again leaves a dead letter for each",
          "[G1][G5]") {
  auto const v = GENERATE(from_range(variants()));
  INFO(v.name);
  auto const rt = start(v.settings);
  auto const actor = rt->launch<orderly>("orderly", {.capacity = 2, .active = false});
  std::uint64_t accepted = 0;
  for (std::uint32_t i = 0; i < 40; ++i) accepted += !actor.try_tell(note{0, 1, i});
  CHECK(accepted >= 2);
  REQUIRE_FALSE(terminate(actor, rondo::termination::discard));
  CHECK(eventually([&] { return rt->snapshot().dead_letters == accepted; }));
  auto const t = at_rest(*rt);
  CHECK(t.conserved());
  CHECK(t.dead_letters == accepted);
  CHECK(t.crossing == 0);
}

TEST_CASE("a checkpoint keeps messages that wait to be sent again", "[G1][G5]") {
  auto const v = GENERATE(from_range(variants()));
  INFO(v.name);
  scratch_file const file;
  std::uint64_t accepted = 0;
  {
    auto const rt = start(v.settings);
    auto const actor = rt->launch<orderly>("orderly", {.capacity = 2, .active = false});
    for (std::uint32_t i = 0; i < 20; ++i) accepted += !actor.try_tell(note{0, 1, i});
    rondo::checkpoint(*rt, file.path);
  }
  auto const rt = start(v.settings);
  rondo::restore(*rt, file.path);
  auto const actor = rt->find<orderly>("orderly").value();
  REQUIRE_FALSE(activate(actor));
  tally t{};
  CHECK(eventually([&] { return (t = ask_last(actor, get{})).handled == accepted; }));
  CHECK(t.handled == accepted);
  CHECK(t.disorder == 0);
}

TEST_CASE("one program has the same outcomes on every device, refusals included", "[G5][G6]") {
  auto const run = [](variant const& v) {
    auto const rt = start(v.settings);
    transcript seen;
    auto const sleeper = rt->launch<adder>("sleeper", {.capacity = 3, .active = false});
    for (int i = 0; i < 5; ++i) seen.add("tell", tell(sleeper, add{1}));
    seen.add("ask a full mailbox", ask(sleeper, get{}).error());
    seen.add("urgent tell", tell(sleeper, add{1}, {.priority = 255}));
    seen.add("a name that is taken", rt->try_launch<adder>("sleeper").error());
    seen.add("activate", activate(sleeper));
    auto const sum = ask_last(sleeper, get{});
    seen.lines.push_back("sum " + std::to_string(sum.value));
    auto const frail = rt->launch<adder>("frail", {.supervise = {.poison_after = 1, .max_restarts = 1}});
    seen.add("tell a poison", tell(frail, boom{}));
    seen.add("ask after a restart", ask(frail, get{}).error());
    seen.add("terminate", terminate(sleeper, rondo::termination::drain));
    seen.add("tell who is gone", tell(sleeper, add{1}));
    seen.add("ask who is gone", ask(sleeper, get{}).error());
    seen.add("terminate again", terminate(sleeper, rondo::termination::drain));
    seen.add("find", rt->find<adder>("sleeper").error());
    auto const t = at_rest(*rt);
    seen.lines.push_back(std::to_string(t.retired.handled) + " handled, " + std::to_string(t.dead_letters) +
                         " dead");
    rt->stop();
    seen.add("tell after the stop", tell(frail, add{1}));
    seen.add("ask after the stop", ask(frail, get{}).error());
    return seen.lines;
  };
  variant cpu{"cpu", {}};
  cpu.settings.device = "cpu";
  auto const v = GENERATE(from_range(variants()));
  INFO(v.name);
  CHECK(run(v) == run(cpu));
}

TEST_CASE("urgent messages find their reserved room behind a flood, and are handled first", "[G3][G5]") {
  auto const v = GENERATE(from_range(variants()));
  bool const pinned = GENERATE(false, true);
  INFO(v.name << (pinned ? ", pinned" : ""));
  auto const rt = start(v.settings);
  auto const actor = rt->launch<journal>(
      "journal", {.capacity = 12, .pinned = pinned, .active = false, .reserve = {.slots = 4, .from = 200}});
  for (std::uint32_t i = 0; i < 8; ++i) REQUIRE_FALSE(tell(actor, entry{i}));
  CHECK(tell(actor, entry{99}) == errc::mailbox_full);
  CHECK(tell(actor, entry{99}, {.priority = 199}) == errc::mailbox_full);
  for (std::uint32_t i = 0; i < 4; ++i) REQUIRE_FALSE(tell(actor, entry{200 + i}, {.priority = 200}));
  CHECK(tell(actor, entry{99}, {.priority = 255}) == errc::mailbox_full);
  REQUIRE_FALSE(activate(actor));
  auto const seen = ask_last(actor, read_from{0});
  REQUIRE(seen.total == 12);
  for (std::uint32_t i = 0; i < 4; ++i) CHECK(seen.values[i] == 200 + i);
  for (std::uint32_t i = 0; i < 8; ++i) CHECK(seen.values[4 + i] == i);
  CHECK(at_rest(*rt).conserved());
}

TEST_CASE("what try_tell has accepted for reserved room comes in order beside a flood that finds none",
          "[G1][G2][G3][G5]") {
  auto const v = GENERATE(from_range(variants()));
  bool const pinned = GENERATE(false, true);
  INFO(v.name << (pinned ? ", pinned" : ""));
  auto const rt = start(v.settings);
  std::uint32_t const count = v.settings.device == "ptx" ? 60 : 1000;
  auto const actor =
      rt->launch<orderly>("orderly", {.capacity = 8, .pinned = pinned, .reserve = {.slots = 4, .from = 250}});
  std::thread flood([&] { insist(actor, 0, count); });
  insist(actor, 1, count / 4, 250);
  insist(actor, 2, count, 251);
  flood.join();
  auto const all = 2 * count + count / 4;
  tally t{};
  CHECK(eventually([&] { return (t = ask_last(actor, get{})).handled == all; }));
  CHECK(t.handled == all);
  CHECK(t.disorder == 0);
  auto const end = at_rest(*rt);
  CHECK(end.conserved());
  CHECK(end.dead_letters == 0);
  CHECK(end.crossing == 0);
}

TEST_CASE("a checkpoint keeps reserved room", "[G5][G7]") {
  auto const v = GENERATE(from_range(variants()));
  INFO(v.name);
  scratch_file const file;
  {
    auto const rt = start(v.settings);
    auto const actor = rt->launch<adder>("adder", {.capacity = 3, .active = false, .reserve = {.slots = 2}});
    REQUIRE_FALSE(tell(actor, add{1}, {.priority = 192}));
    rondo::checkpoint(*rt, file.path);
  }
  auto const rt = start(v.settings);
  rondo::restore(*rt, file.path);
  auto const actor = rt->find<adder>("adder").value();
  CHECK(tell(actor, add{1}, {.priority = 191}) == errc::mailbox_full);
  CHECK_FALSE(tell(actor, add{1}, {.priority = 192}));
  CHECK_THROWS_WITH(
      rt->launch<adder>("all of it", {.capacity = 3, .reserve = {.slots = 3}}),
      Catch::Matchers::Contains("3 slots are reserved") && Catch::Matchers::Contains("all of it"));
}
