// Portable behaviours hold the guarantees wherever their handlers run: on teams of each device, and in packs that a
// player runs beside the device `cpu`.
#include "tests/conformance/portable.hpp"
#include "runtime/checkpoint.hpp"
#include "tests/conformance/harness.hpp"
#include "tests/player/host_player.hpp"
#if defined(RONDO_HAS_OPENCL)
#include <filesystem>

#include "runtime/player/opencl_player.hpp"
#include "tests/conformance/portable_kernels.hpp"
#if defined(RONDO_METAL_STAND_IN)
#include "runtime/player/metal_player.hpp"
#endif
#endif

using namespace conformance;

namespace {

/// A device, or `cpu` with a player beside it.
struct place {
  std::string name;
  rondo::config settings;
  std::function<std::shared_ptr<rondo::kernel_player>()> player{};
};

#if defined(RONDO_HAS_OPENCL)
std::shared_ptr<rondo::kernel_player> pocl() {
  // Its kernels are compiled once for all cases.
  static auto const player = std::make_shared<rondo::opencl_player>(
      std::vector<rondo::kernel_program const*>{&portable_kernels}, "Portable Computing Language");
  return player;
}
#endif

#if defined(RONDO_METAL_STAND_IN)
std::shared_ptr<rondo::kernel_player> metal() {
  static auto const player =
      std::make_shared<rondo::metal_player>(std::vector<rondo::kernel_program const*>{&portable_kernels});
  return player;
}
#endif

std::vector<place> places() {
  std::vector<place> all;
  for (auto const& v : variants()) all.push_back({v.name, v.settings});
  if (std::getenv("RONDO_DEVICE") != nullptr || std::getenv("RONDO_CONFORMANCE_PTX") != nullptr) return all;
  rondo::config settings;
  settings.device = "cpu";
  settings.teams = 2;
  settings.handler_limit_ms = 0;
  auto const on_host = [] { return std::make_shared<rondo::host_player>(); };
  all.push_back({"cpu, a cheaper place", settings, on_host});
  settings.portable = "gpu";
  all.push_back({"cpu, packs played by a thread", settings, on_host});
#if defined(RONDO_HAS_OPENCL)
  // pocl ends the process where it finds no processors, as in a chroot without /sys.
  bool runs = std::filesystem::exists("/sys/devices/system/cpu");
#if defined(__SANITIZE_ADDRESS__)
  runs = runs && std::getenv("RONDO_WITH_OPENCL") != nullptr;  // its LLVM leaves memory behind
#endif
  if (runs) {
    all.push_back({"cpu, packs played by OpenCL", settings, pocl});
#if defined(RONDO_METAL_STAND_IN)
    all.push_back({"cpu, packs played by Metal's stand-in", settings, metal});
#endif
    settings.ring_mode = rondo::ring_mode::rounds;
    settings.round_messages = 256;
    all.push_back({"cpu in rounds, packs played by OpenCL", settings, pocl});
  }
#endif
  return all;
}

std::unique_ptr<rondo::runtime> start_at(place const& p) {
  return p.player ? start_beside(p.settings, p.player()) : conformance::start(p.settings);
}
/// Whether all mail that can be packed is.
bool packs_all(place const& p) { return p.player && p.settings.portable == "gpu"; }

rondo::portable_report packs_of(rondo::runtime const& rt, std::string_view behaviour) {
  for (auto const& r : rt.info(0).portable)
    if (r.behaviour == behaviour) return r;
  return {};
}

}  // namespace

TEST_CASE("portable behaviours handle each message once, in the order sent, wherever they run",
          "[G1][G2][portable]") {
  auto const p = GENERATE(from_range(places()));
  INFO(p.name);
  auto const rt = start_at(p);
  constexpr std::uint32_t actors = 64, senders = 3, each = 200;
  std::vector<rondo::actor_ref<number_keeper>> keepers;
  for (std::uint32_t i = 0; i < actors; ++i)
    keepers.push_back(rt->launch<number_keeper>("keeper" + std::to_string(i), {.capacity = 256}));
  std::vector<std::thread> threads;
  std::atomic<std::uint32_t> refused{0};
  for (std::uint32_t s = 0; s < senders; ++s)
    threads.emplace_back([&, s] {
      for (std::uint32_t n = 0; n < each;)
        if (s == 0) {  // in batches
          std::vector<numbered> batch;
          for (std::uint32_t i = 0; i < 20; ++i) batch.push_back({s, n + i});
          for (auto const& k : keepers)
            while (k.try_tell(std::span<numbered const>(batch))) std::this_thread::yield();
          n += 20;
        } else {
          for (auto const& k : keepers)
            while (k.try_tell(numbered{s, n})) std::this_thread::yield();
          ++n;
        }
    });
  for (auto& t : threads) t.join();
  for (auto const& k : keepers) {
    number_tally n{};
    // A message may still be on its way to another device.
    CHECK(eventually([&] { return (n = ask_last(k, read_numbers{})).handled == senders * each; }));
    CHECK(n.disorder == 0);
  }
  auto const t = at_rest(*rt);
  CHECK(t.conserved());
  CHECK(t.dead_letters == 0);
  for (auto const& k : keepers) {
    auto const& totals = report_of(t, k.id()).now.totals;
    CHECK(totals.handled >= senders * each + 1);
    CHECK(totals.failures == 0);
  }
  // Not all: while each pack is being played, teams handle the mail.
  if (packs_all(p)) CHECK(packs_of(*rt, "conformance::number_keeper").on_gpu > 0);
}

TEST_CASE("what portable handlers send arrives in order, also where it has to wait for room",
          "[G2][G5][portable]") {
  auto const p = GENERATE(from_range(places()));
  if (p.settings.device != "cpu") return;  // elsewhere it becomes a dead letter: see the next case
  INFO(p.name);
  auto const rt = start_at(p);
  constexpr std::uint32_t sources = 8, rounds = 3, count = 40;  // fewer than 1,024 wait
  auto const keeper = rt->launch<number_keeper>("small", {.capacity = 16});
  std::vector<rondo::actor_ref<number_source>> all;
  for (std::uint32_t i = 0; i < sources; ++i)
    all.push_back(rt->launch<number_source>("source" + std::to_string(i)));
  for (std::uint32_t r = 0; r < rounds; ++r)
    for (std::uint32_t i = 0; i < sources; ++i)
      REQUIRE_FALSE(tell(all[i], pass_numbers{keeper.id(), i, r * count, count}));
  REQUIRE(eventually([&] { return ask_last(keeper, read_numbers{}).handled == sources * rounds * count; }));
  CHECK(ask_last(keeper, read_numbers{}).disorder == 0);
  CHECK(at_rest(*rt).dead_letters == 0);
}

TEST_CASE(
    "on a device without threads of the host a portable handler's message that finds no room is a dead "
    "letter",
    "[G5][portable]") {
  auto const v = GENERATE(from_range(variants()));
  if (v.settings.device == "cpu") return;
  INFO(v.name);
  auto const rt = conformance::start(v.settings);
  auto const keeper = rt->launch<number_keeper>("asleep", {.capacity = 16, .active = false});
  auto const source = rt->launch<number_source>("source");
  REQUIRE_FALSE(tell(source, pass_numbers{keeper.id(), 0, 0, 40}));
  REQUIRE(eventually([&] { return rt->snapshot().dead_letters == 24; }));
  REQUIRE_FALSE(activate(keeper));
  auto const n = ask_last(keeper, read_numbers{});
  CHECK(n.handled == 16);
  CHECK(n.disorder == 0);
}

TEST_CASE("a pack whose handlers send more than there is room for is handled by teams instead, once",
          "[G1][G2][portable]") {
  auto const p = GENERATE(from_range(places()));
  if (!packs_all(p)) return;
  INFO(p.name);
  auto const rt = start_at(p);
  // 32 * 30 * 40 messages are more than the 32,768 of a pack.
  constexpr std::uint32_t sources = 32, rounds = 30, count = 40;
  auto const keeper = rt->launch<number_keeper>("keeper", {.capacity = 65536});
  std::vector<rondo::actor_ref<number_source>> all;
  for (std::uint32_t i = 0; i < sources; ++i) {
    all.push_back(rt->launch<number_source>("source" + std::to_string(i), {.capacity = 64, .active = false}));
    for (std::uint32_t r = 0; r < rounds; ++r)
      REQUIRE_FALSE(tell(all[i], pass_numbers{keeper.id(), i, r * count, count}));
  }
  for (auto const& s : all) REQUIRE_FALSE(activate(s));
  REQUIRE(eventually([&] { return ask_last(keeper, read_numbers{}).handled == sources * rounds * count; }));
  CHECK(ask_last(keeper, read_numbers{}).disorder == 0);
  CHECK(at_rest(*rt).dead_letters == 0);
}

TEST_CASE("portable behaviours are asked: answers, missing and second answers, asks of actors that fail",
          "[G1][G9][portable]") {
  auto const p = GENERATE(from_range(places()));
  INFO(p.name);
  auto const rt = start_at(p);
  auto const a = rt->launch<account>("account");
  CHECK(ask(a, work_hard{1000, 7}).value().result == arithmetic(1000, 7));
  CHECK(ask(a, answer_times{1}).value().number == 0);
  CHECK(ask(a, answer_times{2}).value().number == 0);
  CHECK(ask(a, answer_times{0}).error() == errc::no_reply);
  for (int i = 0; i < 10; ++i) REQUIRE_FALSE(tell(a, deposit{i}));
  auto const b = ask(a, read_balance{}, 0).value();
  CHECK(b.value == 45);
  CHECK(b.handled == 10);
  auto const t = at_rest(*rt);
  auto const& totals = report_of(t, a.id()).now.totals;
  CHECK(totals.handled == 15);
  CHECK(totals.rejected == 0);
  CHECK(t.dead_letters == 0);
}

TEST_CASE("a portable handler that fails restarts its actor, and the messages behind it come in order",
          "[G9][portable]") {
  auto const p = GENERATE(from_range(places()));
  INFO(p.name);
  auto const rt = start_at(p);
  listener<rondo::dead_letter> letters;
  auto const subscription = rt->on_dead_letter(letters.handler());
  auto const a = rt->launch<account>(
      "restarts", {.active = false, .supervise = {.rule = rondo::on_failure::restart, .poison_after = 2}});
  for (int i = 0; i < 10; ++i) REQUIRE_FALSE(tell(a, deposit{100}));
  REQUIRE_FALSE(tell(a, withdraw{-1}));
  for (std::uint32_t i = 0; i < 20; ++i) REQUIRE_FALSE(tell(a, listed{i}));
  REQUIRE_FALSE(activate(a));
  auto const list = ask(a, read_list{}, 0).value();
  REQUIRE(list.count == 20);
  for (std::uint32_t i = 0; i < 20; ++i) CHECK(list.values[i] == i);
  CHECK(ask(a, read_balance{}).value().value == 0);  // the state is fresh
  auto const t = at_rest(*rt);
  auto const& totals = report_of(t, a.id()).now.totals;
  CHECK(totals.failures == 2);
  CHECK(totals.dead == 1);
  CHECK(totals.handled == 32);
  REQUIRE(letters.wait_for(1));
  CHECK(letters.all()[0].reason == errc::quarantined);

  auto const stops =
      rt->launch<account>("stops", {.active = false, .supervise = {.rule = rondo::on_failure::stop}});
  REQUIRE_FALSE(tell(stops, deposit{5}));
  REQUIRE_FALSE(tell(stops, withdraw{-3}));
  for (int i = 0; i < 3; ++i) REQUIRE_FALSE(tell(stops, deposit{1}));
  REQUIRE_FALSE(activate(stops));
  REQUIRE(letters.wait_for(5));
  CHECK(letters.all()[1].reason == errc::handler_failed);
  CHECK(letters.all()[4].reason == errc::terminated);
}

TEST_CASE("priorities, deadlines and lifecycle are those of any actor", "[G3][G8][G12][portable]") {
  auto const p = GENERATE(from_range(places()));
  INFO(p.name);
  auto const rt = start_at(p);
  auto const a = rt->launch<account>("sorted", {.active = false});
  for (std::uint32_t i = 0; i < 8; ++i) REQUIRE_FALSE(tell(a, listed{100 + i}));
  for (std::uint32_t i = 0; i < 4; ++i) REQUIRE_FALSE(tell(a, listed{200 + i}, {.priority = 200}));
  for (std::uint32_t i = 0; i < 4; ++i) REQUIRE_FALSE(tell(a, listed{i}, {.priority = 3}));
  REQUIRE_FALSE(tell(a, deposit{1}, {.deadline = 1us}));
  std::this_thread::sleep_for(1ms);
  REQUIRE_FALSE(activate(a));
  auto const list = ask(a, read_list{}, 0).value();
  std::vector<std::uint32_t> expected = {200, 201, 202, 203, 100, 101, 102, 103,
                                         104, 105, 106, 107, 0,   1,   2,   3};
  CHECK(std::vector<std::uint32_t>(list.values, list.values + list.count) == expected);
  CHECK(ask(a, read_balance{}).value().value == 0);  // the deposit's time was over
  CHECK(at_rest(*rt).dead_letters == 1);

  REQUIRE_FALSE(deactivate(a));
  for (int i = 0; i < 20; ++i) REQUIRE_FALSE(tell(a, deposit{1}));
  CHECK(inspect(a).now.waiting == 20);
  CHECK_FALSE(terminate(a, rondo::termination::drain));
  CHECK(tell(a, deposit{1}) == errc::actor_gone);
  auto const b = rt->launch<account>("discarded", {.active = false});
  for (int i = 0; i < 20; ++i) REQUIRE_FALSE(tell(b, deposit{1}));
  CHECK_FALSE(terminate(b, rondo::termination::discard));
  CHECK(rt->snapshot().conserved());
}

TEST_CASE("portable actors tell each other, and stop while they do", "[G10][portable]") {
  auto const p = GENERATE(from_range(places()));
  INFO(p.name);
  auto rt = start_at(p);
  auto const a = rt->launch<token_ring>("a"), b = rt->launch<token_ring>("b");
  REQUIRE_FALSE(tell(a, token{b.id(), 100}));
  REQUIRE(
      eventually([&] { return ask(a, read_hops{}).value().seen + ask(b, read_hops{}).value().seen == 101; }));
  for (int i = 0; i < 8; ++i) REQUIRE_FALSE(tell(a, token{b.id(), ~0u}));
  CHECK(rt->stop().stopped);
}

TEST_CASE("a checkpoint has what portable handlers have done", "[checkpoint][portable]") {
  auto const p = GENERATE(from_range(places()));
  INFO(p.name);
  scratch_file const file;
  constexpr int actors = 40;
  std::uint64_t told = 0;
  {
    auto const rt = start_at(p);
    std::vector<rondo::actor_ref<account>> all;
    for (int i = 0; i < actors; ++i)
      all.push_back(rt->launch<account>("account" + std::to_string(i), {.capacity = 512}));
    std::atomic<bool> ends{false};
    std::thread sender([&] {
      while (!ends)
        for (auto const& a : all) told += !a.try_tell(deposit{1});
    });
    std::this_thread::sleep_for(5ms);
    rondo::checkpoint(*rt, file.path);
    ends = true;
    sender.join();
  }
  auto const rt = start_at(p);
  rondo::restore(*rt, file.path);
  std::uint64_t sum = 0;
  for (int i = 0; i < actors; ++i) {
    auto const b = ask_last(rt->find<account>("account" + std::to_string(i)).value(), read_balance{});
    CHECK(b.value == b.handled);
    sum += static_cast<std::uint64_t>(b.value);
  }
  CHECK(sum > 0);
  CHECK(sum <= told);
}
