#include "tests/simulation/program.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <thread>

#include "tests/simulation/audit.hpp"
#include "tests/simulation/stage.hpp"

namespace simulation {

using namespace std::chrono_literals;

namespace {

constexpr auto patience = 20s;

void run_threads(plan const& p, stage& s) {
  std::vector<std::thread> threads;
  for (std::uint32_t t = 0; t < p.threads; ++t)
    threads.emplace_back([&p, &s, t] {
      world::get().name_this(("host " + std::to_string(t)).c_str());
      for (auto const& o : p.operations)
        if (o.thread == t) s.perform(o);
    });
  for (auto& t : threads) t.join();
}

/// Waits until `missing()` is empty; fails with its text if that takes too long.
template <class Missing>
void wait_until(char const* guarantee, Missing missing) {
  auto pause = 50us;
  auto const end = std::chrono::steady_clock::now() + patience;
  for (auto text = missing(); !text.empty(); text = missing()) {
    if (std::chrono::steady_clock::now() > end) world::get().fail(fmt::format("{}: {}", guarantee, text));
    std::this_thread::sleep_for(pause);
    pause = std::min(pause * 2, 100'000us);
  }
}

std::string open_operations(stage const& s) {
  return s.pending() == 0 ? std::string() : fmt::format("{} operations have not completed", s.pending());
}

/// Whether everything has come to rest, so that nothing in a checkpoint is also handled in the first runtime.
bool is_quiet(stage& s) {
  std::this_thread::sleep_for(10ms);
  auto const before = s.runtime().snapshot();
  std::this_thread::sleep_for(20ms);
  auto const after = s.runtime().snapshot();
  auto const& book = ledger::get();
  bool const idle = std::ranges::all_of(after.devices, [](auto const& d) {
    return std::ranges::none_of(d.teams, [](auto const& t) { return t.actor_plus_one != 0; });
  });
  bool const asleep = std::ranges::all_of(after.actors, [&](rondo::actor_report const& a) {
    auto const life = book.find({a.now.index, a.now.generation});
    return a.now.waiting == 0 || (life != nobody && book.lives[life].paused);
  });
  return !s.ended() && idle && asleep && after.conserved() && before.live.accepted == after.live.accepted &&
         before.live.handled == after.live.handled && before.retired.handled == after.retired.handled;
}

/// G11: a runtime at rest does next to nothing.
void check_idle(plan const& p) {
  auto const& c = p.settings;
  if (c.polling || c.ring_mode == rondo::ring_mode::rounds || c.handler_limit_ms != 0) return;
  std::this_thread::sleep_for(200ms);
  auto const before = world::get().steps();
  std::this_thread::sleep_for(1s);
  if (auto const steps = world::get().steps() - before; steps > 2000)
    world::get().fail(fmt::format("G11: in a second of rest the threads took {} steps", steps));
  ++ledger::get().counts["idle checks"];
}

}  // namespace

void run_program(plan const& p) {
  auto& w = world::get();
  auto& book = ledger::get();
  w.set_time_limit(w.now_ns() + 300'000'000'000);
  stage s(p);
  for (std::uint32_t i = 0; i < p.places.size(); ++i) s.launch(i);
  s.launch_choir();
  run_threads(p, s);
  w.end_disturbances();
  w.note("the host threads are done");
  if (p.restarts && !s.ended() && is_quiet(s)) s.restart();
  if (!s.ended()) s.activate_all();
  bool const whole = !s.ended();
  if (whole) {
    wait_until("G12", [&] { return open_operations(s); });
    wait_until("G1", [&] {
      if (s.ended()) return std::string();
      auto const t = s.runtime().snapshot();
      auto const missing = what_is_missing(book, t);
      return missing.empty() ? what_disagrees(book, t) : missing;
    });
    if (!s.ended()) {
      ++book.counts["counters checked"];
      check_idle(p);
    }
  }
  bool const complete = !s.ended();
  w.note("stop");
  s.stop();
  if (!p.leaves_at_once) wait_until("G9, G12", [&] { return open_operations(s); });
  s.destroy();
  for (auto const& m : book.letters)
    if (m.how != manner::later && m.outcomes != 1)
      w.fail(fmt::format("G12: message {} (operation {}): its sender was told {} times what became of it",
                         m.number, m.operation, m.outcomes));
  check_letters(book, complete);
  ++book.counts[complete ? "complete programs" : "ended programs"];
}

}  // namespace simulation
