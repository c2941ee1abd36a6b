// What becomes of portable behaviours when the GPU beside them fails: no message is lost or handled twice, and they go
// on on the host, which says why.
#include <condition_variable>

#include "runtime/upgrade.hpp"
#include "tests/conformance/harness.hpp"
#include "tests/conformance/portable.hpp"
#include "tests/player/host_player.hpp"

using namespace conformance;

namespace {

/// Plays on a thread of the host, and fails as a test wants.
class faulty_player final : public rondo::kernel_player {
 public:
  enum class fault { none, lost, scribbles, misfits, waits };

  std::string name() const override { return "faulty"; }
  std::string description() const override { return "a faulty GPU"; }
  bool knows(rondo::kernel_entry const& k) override { return unknown.empty() || k.name != unknown; }
  std::pmr::memory_resource& memory() override { return plays_.memory(); }
  bool is_lost() const noexcept override { return false; }
  std::uint64_t played() const noexcept override { return plays_.played(); }
  void play(std::vector<rondo::kernel_call> calls, ended done) override {
    auto const f = next.load();
    auto* const sends = static_cast<rondo::send_list*>(calls.at(0).buffers.of[2]);
    auto* const runs = static_cast<rondo::packed_run*>(calls.at(0).buffers.of[0]);
    plays_.play(std::move(calls), [this, f, sends, runs, done = std::move(done)](auto why, auto const& text) {
      if (f == fault::lost) return done(errc::device_lost, "it fell off the bus");
      if (f == fault::scribbles) runs[0].handled = runs[0].count + 7;
      if (f == fault::misfits) sends->misfit = 1;
      if (f == fault::waits) {
        std::unique_lock lock(mutex_);
        ++waiting_;
        changed_.notify_all();
        changed_.wait_for(lock, patience, [this] { return goes_on_; });
      }
      done(why, text);
    });
  }
  void await_one() {
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, patience, [this] { return waiting_ != 0; });
  }
  void go_on() {
    std::lock_guard const lock(mutex_);
    goes_on_ = true;
    changed_.notify_all();
  }

  std::atomic<fault> next{fault::none};
  std::string unknown;  // a kernel; empty: none

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  int waiting_ = 0;
  bool goes_on_ = false;
  rondo::host_player plays_;  // last: its thread uses the others
};
using fault = faulty_player::fault;

rondo::config packing(std::string where = "gpu") {
  rondo::config settings;
  settings.device = "cpu";
  settings.teams = 2;
  settings.handler_limit_ms = 0;
  settings.portable = std::move(where);
  return settings;
}
rondo::portable_report accounts(rondo::runtime const& rt) {
  for (auto const& r : rt.info(0).portable)
    if (r.behaviour == "conformance::account") return r;
  throw std::runtime_error("no report about accounts");
}

}  // namespace

TEST_CASE("if the GPU fails, what was packed is handled once by teams, and the log says why",
          "[portable][player]") {
  struct example {
    fault what;
    char const* said;
  };
  auto const e = GENERATE(example{fault::lost, "it fell off the bus"},
                          example{fault::scribbles, "what no handler can have done"},
                          example{fault::misfits, "another size"});
  INFO(e.said);
  auto const player = std::make_shared<faulty_player>();
  auto const rt = start_beside(packing(), player);
  listener<std::string> lines;
  auto const subscription = rt->on_failure_report(lines.handler());
  std::vector<rondo::actor_ref<account>> all;
  for (int i = 0; i < 50; ++i)
    all.push_back(rt->launch<account>("account" + std::to_string(i), {.capacity = 256}));
  for (int n = 0; n < 200; ++n) {
    if (n == 100) player->next = e.what;
    for (auto const& a : all) REQUIRE_FALSE(a.try_tell(deposit{1}));
  }
  for (auto const& a : all) {
    auto const b = ask_last(a, read_balance{});
    CHECK(b.value == 200);
    CHECK(b.handled == 200);
  }
  CHECK(at_rest(*rt).conserved());
  auto const r = accounts(*rt);
  CHECK_FALSE(r.is_packed);
  CHECK(r.on_gpu + r.on_host >= 50 * 201);
  REQUIRE(lines.wait_for(1));
  CHECK(lines.all()[0].find(e.said) != std::string::npos);
  CHECK(lines.count() == 1);
}

TEST_CASE(
    "a behaviour whose kernel the GPU does not have runs on the host, which is said, and others are packed",
    "[portable][player]") {
  auto const player = std::make_shared<faulty_player>();
  player->unknown = "run_account_kernel";
  auto const rt = start_beside(packing(), player);
  auto const a = rt->launch<account>("account");
  auto const keeper = rt->launch<number_keeper>("keeper");
  for (int i = 0; i < 5; ++i) REQUIRE_FALSE(tell(a, deposit{1}));
  for (std::uint32_t i = 0; i < 5; ++i) REQUIRE_FALSE(tell(keeper, numbered{0, i}));
  CHECK(ask(a, read_balance{}, 0).value().value == 5);
  CHECK(ask(keeper, read_numbers{}, 0).value().handled == 5);
  CHECK(accounts(*rt).on_gpu == 0);
  CHECK(accounts(*rt).why == "the program has no kernel 'run_account_kernel' for the GPU");
  auto const all = rt->info(0).portable;
  CHECK(std::ranges::any_of(
      all, [](auto const& r) { return r.behaviour == "conformance::number_keeper" && r.on_gpu != 0; }));
}

namespace upgraded {
RONDO_MODULE(plain, journal)
RONDO_MODULE(with_account, journal, account)
}  // namespace upgraded

TEST_CASE("after an upgrade to a module with portable behaviours their mail is packed",
          "[portable][player]") {
  auto const player = std::make_shared<faulty_player>();
  std::vector<rondo::chosen_device> chosen;
  chosen.push_back(
      rondo::make_cpu_device(rondo::program_of<upgraded::plain>(), packing(), "of a test", player));
  rondo::runtime rt{rondo::use<upgraded::plain>, packing(), std::move(chosen)};
  CHECK(rt.info(0).portable.empty());
  rondo::upgrade(rt, rondo::use<upgraded::with_account>);
  auto const a = rt.launch<account>("account");
  REQUIRE_FALSE(tell(a, deposit{3}));
  CHECK(ask(a, read_balance{}, 0).value().value == 3);
  CHECK(accounts(rt).on_gpu == 2);
}

TEST_CASE("while the GPU runs handlers, other actors are handled, and a stop waits for it and then says so",
          "[G10][portable][player]") {
  auto const player = std::make_shared<faulty_player>();
  auto settings = packing();
  settings.stop_timeout_ms = 50;
  auto rt = start_beside(settings, player);
  player->next = fault::waits;
  auto const a = rt->launch<account>("account");
  auto const other = rt->launch<adder>("other", {.capacity = 256});
  REQUIRE_FALSE(tell(a, deposit{1}));
  player->await_one();
  for (int i = 0; i < 100; ++i) REQUIRE_FALSE(tell(other, add{1}));
  CHECK(ask(other, get{}).value().value == 100);
  pending<balance> answer;
  a.ask(read_balance{}, {.timeout = patience}, answer.handler());
  bool const stops_first = GENERATE(false, true);
  if (stops_first) {
    auto const report = rt->stop();
    CHECK_FALSE(report.stopped);
    REQUIRE_FALSE(report.stuck.empty());
    CHECK(report.stuck.back().find("a GPU is still running handlers") != std::string::npos);
    player->go_on();
    return;
  }
  CHECK_FALSE(answer.is_ready());
  player->go_on();
  REQUIRE_FALSE(answer.wait());
  CHECK(answer.reply->value == 1);
  CHECK(rt->stop().stopped);
}

TEST_CASE("handlers run where a message costs less, which is explained, and can be forced",
          "[portable][player]") {
  auto const load = [](rondo::runtime& rt, std::uint32_t rounds) {
    std::vector<rondo::actor_ref<account>> all;
    for (int i = 0; i < 32; ++i) all.push_back(rt.launch<account>("a" + std::to_string(i)));
    auto const until = std::chrono::steady_clock::now() + 600ms;
    while (std::chrono::steady_clock::now() < until)
      for (auto const& a : all) CHECK(ask(a, work_hard{rounds, 1}).value().result == arithmetic(rounds, 1));
    return accounts(rt);
  };
  auto const player = std::make_shared<faulty_player>();
  {
    auto const slow = std::make_shared<rondo::host_player>(30ms);
    auto const rt = start_beside(packing("auto"), slow);
    auto const r = load(*rt, 1);
    INFO(r.why);
    CHECK_FALSE(r.is_packed);
    CHECK(r.packs >= 2);
    CHECK(r.on_host > r.on_gpu);
    CHECK(r.gpu_ns > 30e6);
    CHECK(r.why.find("ns a message on the GPU") != std::string::npos);
    CHECK(r.why.find("on 2 teams") != std::string::npos);
  }
  {
    auto const rt = start_beside(packing("host"), player);
    auto const r = load(*rt, 1);
    CHECK(r.packs == 0);
    CHECK(r.why == "forced: portable is 'host'");
  }
  {
    auto const rt = start_beside(packing("gpu"), player);
    auto const r = load(*rt, 1);
    CHECK(r.is_packed);
    CHECK(r.on_host == 0);
    CHECK(r.on_gpu > 0);
  }
}
