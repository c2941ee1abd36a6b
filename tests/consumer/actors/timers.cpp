// docs/actors.md, "Timers".
#include "runtime/runtime.hpp"
#include "tests/consumer/actors/check.hpp"

using namespace std::chrono_literals;

struct tick {};
struct count_ticks {};
struct count { std::uint32_t ticks; };
struct snooze { std::uint64_t us; };
struct wake_up {};
struct ring_every { std::uint64_t us; };
struct ring {};

struct alarm_clock {
  using messages = rondo::messages<tick, rondo::ask<count_ticks, count>, rondo::ask<snooze, count>, wake_up,
                                   ring_every, ring>;
  count so_far{};
  rondo::reply_token sleeper{};
  std::uint32_t rings = 0;

  RONDO_HD void on(rondo::context&, tick const&) { ++so_far.ticks; }
  RONDO_HD count on(rondo::context&, count_ticks const&) { return so_far; }
  RONDO_HD void on(rondo::context& ctx, snooze const& m) {
    sleeper = ctx.defer();
    ctx.tell_later(m.us, ctx.self_as<alarm_clock>(), wake_up{});
  }
  RONDO_HD void on(rondo::context& ctx, wake_up const&) { ctx.reply_to(sleeper, so_far); }
  RONDO_HD void on(rondo::context& ctx, ring_every const& m) {
    ctx.set_timer(1, m.us, ctx.self_as<alarm_clock>(), ring{}, {.repeats = true});
  }
  RONDO_HD void on(rondo::context& ctx, ring const&) {
    if (++rings == 3) ctx.cancel_timer(1);
  }
};
RONDO_MODULE(alarms, alarm_clock)

int main() {
  rondo::runtime rt{rondo::use<alarms>};
  auto const a = rt.launch<alarm_clock>("a");
  rondo::timer ticking = rt.every(1ms, a, tick{});
  check_soon([&] { return a.ask(count_ticks{}, 1min, rondo::block).value().ticks >= 3; });
  ticking.cancel();  // its destructor does the same

  auto const begun = std::chrono::steady_clock::now();
  check(a.ask(snooze{5000}, 1min, rondo::block).has_value());
  check(std::chrono::steady_clock::now() - begun >= 5ms);

  check(!a.try_tell(ring_every{1000}));
  auto const handled = [&] { return rt.snapshot().live.handled; };
  check_soon([&, before = handled()] { return handled() >= before + 3; });
}
