// A supervised pool: the client keeps 64 jobs on their way to 4 workers. Every 1,000th job fails its worker, which is
// restarted; all other jobs are answered.
#include <chrono>
#include <cstdio>

#include "actors/routing/router.hpp"
#include "actors/supervision/supervisor.hpp"
#include "runtime/runtime.hpp"

using namespace std::chrono_literals;

constexpr std::uint64_t jobs = 2'000'000, in_flight = 64;

struct job {
  std::uint64_t number;
};
struct result {
  std::uint64_t value;
};

struct worker {
  using messages = rondo::messages<rondo::ask<job, result>>;

  RONDO_HD result on(rondo::context& ctx, job const& m) {
    if (m.number % 1000 == 0) ctx.fail();
    return {3 * m.number};
  }
};
struct crew : rondo::supervisor<rondo::one_for_one<100'000>, worker, worker, worker, worker> {};
struct pool : rondo::router<worker, rondo::round_robin> {};

struct start {
  rondo::address<pool> workers;
};
struct outcome {
  std::uint64_t sum, failed;
};

struct client {
  using messages = rondo::messages<rondo::ask<start, outcome>, result, rondo::rejected>;
  rondo::address<pool> workers{};
  rondo::reply_token asker{};
  std::uint64_t sent = 0, ended = 0;
  outcome so_far{};

  RONDO_HD void on(rondo::context& ctx, start const& m) {
    workers = m.workers;
    asker = ctx.defer();
    while (sent < in_flight) send_next(ctx);
  }
  RONDO_HD void on(rondo::context& ctx, result const& m) {
    so_far.sum += m.value;
    go_on(ctx);
  }
  RONDO_HD void on(rondo::context& ctx, rondo::rejected const&) {
    ++so_far.failed;
    go_on(ctx);
  }
  RONDO_HD void go_on(rondo::context& ctx) {
    if (sent < jobs) send_next(ctx);
    if (++ended == jobs) ctx.reply_to(asker, so_far);
  }
  RONDO_HD void send_next(rondo::context& ctx) { ctx.ask(workers, job{++sent}, 0); }
};
RONDO_MODULE(offices, worker, crew, pool, client)

int main() {
  // Room for more than are on their way: a message that is being handled still has its slot.
  rondo::runtime rt{rondo::use<offices>, {.device = "cpu", .teams = 2, .default_capacity = 4 * in_flight}};
  auto const c = rt.launch<crew>("crew");
  auto const p = rt.launch<pool>("pool");
  for (std::uint32_t i = 0; i < crew::count; ++i) {
    auto const place = c.ask(rondo::child_at{i}, 1s, rondo::block).value();
    p.ask(rondo::join<worker>{{place.who}}, 1s, rondo::block).value();
  }
  auto const begun = std::chrono::steady_clock::now();
  auto const [sum, failed] = rt.launch<client>("client").ask(start{p.where()}, 1min, rondo::block).value();
  std::chrono::duration<double> const took = std::chrono::steady_clock::now() - begun;
  std::printf("%.0f jobs/s\n", static_cast<double>(jobs) / took.count());
  constexpr std::uint64_t failing = jobs / 1000;
  constexpr auto expected = 3 * (jobs * (jobs + 1) / 2 - 1000 * (failing * (failing + 1) / 2));
  return sum == expected && failed == failing ? 0 : 1;
}
