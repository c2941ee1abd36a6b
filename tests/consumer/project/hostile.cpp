// Threads do all that a program can do to a few actors, at random: they send, ask, give up, deactivate, end and replace
// them. Then every accepted message must be accounted for, those of each sender and priority must have come in order,
// and every ask must have ended once.
#include <atomic>
#include <cstdio>
#include <mutex>
#include <random>
#include <thread>
#include <vector>
#include "runtime/device/emulated/emulated_module.hpp"
#include "runtime/lifecycle.hpp"
#include "runtime/runtime.hpp"

constexpr std::uint32_t senders = 3, levels = 3;
constexpr std::uint8_t priority_of[levels] = {50, 128, 240};

struct numbered { std::uint32_t sender, level, number; };
struct fail_once {};
struct question {};
struct answer { std::uint64_t handled; };
struct never {};
struct inspect_order {};
struct order { std::uint64_t handled, disorder; };

struct victim {
  using messages = rondo::messages<numbered, fail_once, rondo::ask<question, answer>, rondo::ask<never, answer>,
                                   rondo::ask<inspect_order, order>, rondo::again>;
  order seen{};
  std::uint32_t last[senders][levels] = {};

  RONDO_HD void on(rondo::context& ctx, numbered const& m) {
    auto& last_one = last[m.sender][m.level];
    if (m.number <= last_one) ++seen.disorder;  // some were refused, so numbers are missing
    last_one = m.number;
    if (++seen.handled % 8 == 0) ctx.again();
  }
  RONDO_HD void on(rondo::context&, rondo::again const&) {}
  RONDO_HD void on(rondo::context& ctx, fail_once const&) { ctx.fail(); }
  RONDO_HD answer on(rondo::context&, question const&) { return {seen.handled}; }
  RONDO_HD void on(rondo::context& ctx, never const&) { ctx.defer(); }
  RONDO_HD order on(rondo::context&, inspect_order const&) { return seen; }
};
RONDO_MODULE(victims, victim)
RONDO_EMULATED_MODULE(victims)

namespace {

using victim_ref = rondo::actor_ref<victim>;
constexpr std::chrono::minutes limit{1};

struct battle {
  rondo::runtime& rt;
  std::mutex mutex{};
  std::vector<victim_ref> living{};  // guarded by mutex
  std::atomic<std::uint64_t> accepted{0}, asked{0}, answered{0}, began{0}, ended{0}, wrong{0};

  victim_ref pick(std::mt19937& random) {
    std::lock_guard lock(mutex);
    return living[random() % living.size()];
  }
  rondo::result<victim_ref> launch(std::uint32_t number) {
    return rt.try_launch<victim>("victim " + std::to_string(number),
                                 {.capacity = 1 + number % 40,
                                  .pinned = number % 5 == 0,
                                  .supervise = {.poison_after = static_cast<std::uint8_t>(1 + number % 3),
                                                .max_restarts = 60'000}});
  }
  /// Another actor takes the place of one that is gone, or is to go; not while too many of those before are still to
  /// end.
  void replace(std::mt19937& random, std::uint32_t number) {
    auto const next = launch(number);
    if (!next) {
      if (next.error() != rondo::errc::actor_limit) ++wrong;
      return;
    }
    victim_ref old = *next;
    {
      std::lock_guard lock(mutex);
      std::swap(old, living[random() % living.size()]);
    }
    auto const how = random() % 2 != 0 ? rondo::termination::drain : rondo::termination::discard;
    ++began;
    rondo::terminate(old, how, [this](rondo::error_code) { ++ended; });
  }

  void send(victim_ref const& to, std::uint32_t sender, std::uint32_t level, std::uint32_t& number) {
    rondo::tell_options const options{.priority = priority_of[level]};
    if (auto const e = to.try_tell(numbered{sender, level, ++number}, options); !e)
      ++accepted;
    else if (e != rondo::errc::mailbox_full && e != rondo::errc::actor_gone && e != rondo::errc::device_busy &&
             e != rondo::errc::arena_full)
      ++wrong, std::printf("a message was refused: %s\n", e.message().c_str());
  }

  void fight(std::uint32_t sender, std::chrono::steady_clock::time_point until) {
    std::mt19937 random(sender + 1);
    std::uint32_t number[levels] = {}, launched = 100'000'000 * (sender + 1);
    auto const count = [this](auto const&...) { ++answered; };
    while (std::chrono::steady_clock::now() < until) {
      auto const to = pick(random);
      auto const what = random() % 1000;
      if (what < 700) {
        auto const level = static_cast<std::uint32_t>(random() % levels);
        send(to, sender, level, number[level]);
      } else if (what < 850) {
        ++asked, to.ask(question{}, std::chrono::microseconds(random() % 2000), count);
      } else if (what < 880) {
        ++asked, to.ask(never{}, std::chrono::microseconds(1 + random() % 500), count);
      } else if (what < 930) {
        if (!to.try_tell(fail_once{})) ++accepted;
      } else if (what < 990) {
        ++began;
        auto const over = [this](rondo::error_code) { ++ended; };
        random() % 2 != 0 ? rondo::deactivate(to, over) : rondo::activate(to, over);
      } else {
        replace(random, launched++);
      }
    }
  }
};

/// Waits until `holds()`, at most a minute.
template <class F>
bool soon(F holds) {
  auto const end = std::chrono::steady_clock::now() + limit;
  while (!holds())
    if (std::chrono::steady_clock::now() > end)
      return false;
    else
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
  return true;
}

bool survives(char const* device, bool rounds) {
  rondo::runtime rt{rondo::use<victims>,
                    {.device = device,
                     .teams = 2,
                     .pinned_teams = 64,
                     .lanes = 1,
                     .ring_mode = rounds ? rondo::ring_mode::rounds : rondo::ring_mode::persistent}};
  battle b{rt};
  for (std::uint32_t i = 1; i <= 8; ++i) b.living.push_back(b.launch(i).value());
  std::vector<std::thread> threads;
  auto const until = std::chrono::steady_clock::now() + std::chrono::milliseconds(500);
  for (std::uint32_t s = 0; s < senders; ++s) threads.emplace_back([&b, s, until] { b.fight(s, until); });
  for (auto& t : threads) t.join();
  for (auto const& v : b.living) static_cast<void>(rondo::activate(v, rondo::block));

  bool good = soon([&] { return b.asked == b.answered && b.began == b.ended; });
  if (!good) std::printf("%s: asks or operations have not ended\n", device);
  std::uint64_t disorder = 0;
  for (auto const& v : b.living)
    disorder += v.ask(inspect_order{}, {.timeout = limit, .priority = 0, .wait_for_room = true}, rondo::block).value().disorder;
  rondo::telemetry t;
  bool const whole = soon([&] {
    auto const before = t.live.handled;  // one snapshot reads actor by actor, while messages may move
    t = rt.snapshot();
    return t.conserved() && t.waiting == 0 && t.crossing == 0 && t.live.handled == before;
  });
  auto all = t.live;
  all += t.retired;
  std::printf("%s%s: %llu messages and %llu asks, %llu operations on actors: %s\n", device, rounds ? ", rounds" : "",
              static_cast<unsigned long long>(b.accepted), static_cast<unsigned long long>(b.asked),
              static_cast<unsigned long long>(b.began), whole && disorder == 0 ? "all accounted for, in order" : "WRONG");
  // Asks are among them, too; a message whose actor ended before it reached the mailbox is only a dead letter.
  return good && whole && disorder == 0 && b.wrong == 0 && all.handled + all.rejected + t.dead_letters >= b.accepted;
}

}  // namespace

int main() {
  bool good = true;
  for (bool const rounds : {false, true})
    for (char const* device : {"cpu", "emulated"}) good = survives(device, rounds) && good;
  return good ? 0 : 1;
}
