// Finds outliers in the samples of many sensors, and counts them. Samples flood the detectors and a journal; alerts are
// urgent, have reserved room, and none of them is lost.
#include <cmath>
#include <cstdio>
#include <thread>
#include <vector>
#include "runtime/device/emulated/emulated_module.hpp"
#include "runtime/runtime.hpp"

struct sample { std::uint32_t sensor, number; double value; };
struct alert { std::uint32_t sensor, number; };
struct chatter { std::uint32_t sensor; };
struct count_alerts {};
struct alerts { std::uint32_t count, sum_of_numbers, chatter; };

/// Where all alerts go, and much that is less important.
struct journal {
  using messages = rondo::messages<alert, chatter, rondo::ask<count_alerts, alerts>>;
  alerts seen{};
  RONDO_HD void on(rondo::context&, alert const& m) { ++seen.count, seen.sum_of_numbers += m.number; }
  RONDO_HD void on(rondo::context&, chatter const&) { ++seen.chatter; }
  RONDO_HD alerts on(rondo::context&, count_alerts const&) { return seen; }
};

struct watch { rondo::address<journal> reports_to; };
struct count_samples {};
struct samples { std::uint32_t handled, unsent; };

/// Keeps the mean and the variance of its sensor's samples (Welford).
struct detector {
  using messages = rondo::messages<watch, sample, rondo::room, rondo::ask<count_samples, samples>>;
  static constexpr std::uint32_t most = 16;
  rondo::address<journal> to{};
  alert waiting[most];
  std::uint32_t unsent = 0, handled = 0;
  double mean = 0, squares = 0;

  RONDO_HD void on(rondo::context&, watch const& m) { to = m.reports_to; }
  RONDO_HD void on(rondo::context& ctx, sample const& m) {
    double const off = m.value - mean;
    if (handled > 50 && off * off > 100 * squares / handled) {
      if (unsent == most) return ctx.fail();  // it does not happen: the test would see the dead letter
      waiting[unsent++] = {m.sensor, m.number};
      send(ctx);
    } else {
      mean += off / (handled + 1);
      squares += off * (m.value - mean);
      static_cast<void>(ctx.tell(to, chatter{m.sensor}));  // when there is room
    }
    ++handled;
  }
  RONDO_HD void on(rondo::context& ctx, rondo::room const&) { send(ctx); }
  RONDO_HD void send(rondo::context& ctx) {
    for (; unsent != 0; --unsent)
      if (ctx.tell(to, waiting[unsent - 1], {.priority = 255}) != rondo::errc::ok) return ctx.when_room(to);
  }
  RONDO_HD samples on(rondo::context&, count_samples const&) { return {handled, unsent}; }
};
RONDO_MODULE(detectors, journal, detector)
RONDO_EMULATED_MODULE(detectors)

namespace {

constexpr std::uint32_t sensors = 8, per_sensor = 5000;
constexpr std::chrono::minutes limit{1};

bool is_planted(std::uint32_t sensor, std::uint32_t number) { return number > 100 && (number + sensor) % 500 == 0; }

double value_of(std::uint32_t sensor, std::uint32_t number) {
  return 20.0 + sensor + std::sin(number * 0.7) + (is_planted(sensor, number) ? 1000 : 0);
}

bool finds_all_on(char const* device) {
  rondo::runtime rt{rondo::use<detectors>, {.device = device, .teams = 2}};
  auto const j = rt.launch<journal>("journal", {.capacity = 16, .reserve = {.slots = 8, .from = 250}});
  std::vector<rondo::actor_ref<detector>> all;
  for (std::uint32_t s = 0; s < sensors; ++s) {
    all.push_back(rt.launch<detector>("detector " + std::to_string(s), {.capacity = 64}));
    if (all.back().try_tell(watch{{j.id()}})) return false;
  }
  std::vector<std::thread> senders;
  for (std::uint32_t s = 0; s < sensors; ++s)
    senders.emplace_back([&, s] {
      for (std::uint32_t n = 0; n < per_sensor; n += 10) {
        std::vector<sample> ten;
        for (std::uint32_t i = n; i < n + 10; ++i) ten.push_back({s, i, value_of(s, i)});
        while (all[s].try_tell(std::span<sample const>(ten))) std::this_thread::yield();
      }
    });
  for (auto& t : senders) t.join();
  alerts planted{};
  for (std::uint32_t s = 0; s < sensors; ++s)
    for (std::uint32_t n = 0; n < per_sensor; ++n)
      if (is_planted(s, n)) ++planted.count, planted.sum_of_numbers += n;

  auto const end = std::chrono::steady_clock::now() + limit;
  alerts seen{};
  for (bool over = false; !over && std::chrono::steady_clock::now() < end;) {
    over = true;
    for (auto const& d : all) {
      auto const so_far = d.ask(count_samples{}, {.timeout = limit, .priority = 0, .wait_for_room = true}, rondo::block).value();
      over = over && so_far.handled == per_sensor && so_far.unsent == 0;
    }
    seen = j.ask(count_alerts{}, {.timeout = limit, .priority = 0, .wait_for_room = true}, rondo::block).value();
  }
  std::printf("%s: %u of %u alerts, beside %u less important messages\n", device, seen.count, planted.count, seen.chatter);
  auto const t = rt.snapshot();
  return seen.count == planted.count && seen.sum_of_numbers == planted.sum_of_numbers && t.dead_letters == 0;
}

}  // namespace

int main() { return finds_all_on("cpu") && finds_all_on("emulated") ? 0 : 1; }
