// The behaviours that the benches run, and the runtime that hosts them. They run on the CPU device only.
#pragma once

#include <memory>
#include <stdexcept>
#include <string>

#include "bench/harness/cpus.hpp"
#include "bench/peers/raw_queues.hpp"
#include "bench/peers/urgent.hpp"
#include "runtime/runtime.hpp"

namespace rondo::bench {

/// Binds the thread that handles it: the team of a pinned actor, or the only team of a runtime.
struct sit_on {
  int cpu;
};
struct seated {};
struct sum_so_far {};
struct sum {
  std::uint64_t value;
};
struct number {
  std::uint64_t value;
};
struct number_plus_one {
  std::uint64_t value;
};

/// Answers value + 1.
struct echo {
  using messages = rondo::messages<ask<number, number_plus_one>, ask<sit_on, seated>>;
  void on(context& ctx, number const& m) { ctx.reply(number_plus_one{m.value + 1}); }
  void on(context& ctx, sit_on const& m) {
    pin_to(m.cpu);
    ctx.reply(seated{});
  }
};

struct ball {
  std::uint64_t value;
};

/// Ping-pong: the actor that receives `serve` counts the rounds; its partner returns value + 1.
struct player {
  struct serve {
    address<player> partner;
    std::uint64_t rounds;  // 0: only return balls
  };
  using messages = rondo::messages<ask<serve, sum>, ball, ask<sit_on, seated>>;

  address<player> partner{};
  bool counts = false;
  std::uint64_t left = 0, total = 0;
  reply_token asker{};

  void on(context& ctx, serve const& m) {
    partner = m.partner;
    counts = m.rounds != 0;
    left = m.rounds;
    total = 0;
    if (!counts) return (void)ctx.reply(sum{0});
    asker = ctx.defer();
    pass(ctx, 0);
  }
  void on(context& ctx, ball const& m) {
    if (!counts) return pass(ctx, m.value + 1);
    total += m.value;
    if (--left != 0) return pass(ctx, m.value);
    ctx.reply_to(asker, sum{total});
  }
  void on(context& ctx, sit_on const& m) {
    pin_to(m.cpu);
    ctx.reply(seated{});
  }

 private:
  void pass(context& ctx, std::uint64_t value) {
    if (auto const refused = ctx.tell(partner, ball{value}); refused != errc::ok) ctx.fail(refused);
  }
};

/// Passes a token to the next actor; the last hop answers with the sum of the hop numbers.
struct ring_member {
  struct next_is {
    address<ring_member> next;
  };
  struct begin {
    std::uint64_t hops;
  };
  struct token {
    std::uint64_t hop, hops, total;
    reply_token asker;
  };
  using messages = rondo::messages<token, next_is, ask<begin, sum>, ask<sit_on, seated>>;

  address<ring_member> next{};

  void on(context&, next_is const& m) { next = m.next; }
  void on(context& ctx, begin const& m) { on(ctx, token{0, m.hops, 0, ctx.defer()}); }
  void on(context& ctx, token const& m) {
    auto const total = m.total + m.hop;
    if (m.hop + 1 == m.hops) return (void)ctx.reply_to(m.asker, sum{total});
    if (auto const refused = ctx.tell(next, token{m.hop + 1, m.hops, total, m.asker}); refused != errc::ok)
      ctx.fail(refused);
  }
  void on(context& ctx, sit_on const& m) {
    pin_to(m.cpu);
    ctx.reply(seated{});
  }
};

/// Adds up the numbers that producers send, one message at a time.
struct sink {
  using messages = rondo::messages<payload, ask<sum_so_far, sum>, ask<sit_on, seated>>;
  std::uint64_t total = 0;
  void on(context&, payload const& m) { total += m.value; }
  void on(context& ctx, sum_so_far const&) { ctx.reply(sum{total}); }
  void on(context& ctx, sit_on const& m) {
    pin_to(m.cpu);
    ctx.reply(seated{});
  }
};

/// The same, but takes messages that are next to each other as one batch.
struct batch_sink {
  using messages = rondo::messages<payload, ask<sum_so_far, sum>, ask<sit_on, seated>>;
  std::uint64_t total = 0;
  void on(context&, batch<payload> const& some) {
    for (auto const& m : some) total += m.value;
  }
  void on(context& ctx, sum_so_far const&) { ctx.reply(sum{total}); }
  void on(context& ctx, sit_on const& m) {
    pin_to(m.cpu);
    ctx.reply(seated{});
  }
};

/// Works a microsecond per ordinary message. The race outlives the actor.
struct busy_worker {
  struct ordinary {
    urgent_race* race;
  };
  struct urgent {
    urgent_race* race;
  };
  using messages = rondo::messages<ordinary, urgent>;
  void on(context&, ordinary const& m) { m.race->handle_ordinary(); }
  void on(context&, urgent const& m) { m.race->handle_urgent(); }
};

/// The behaviour that the spawn case launches: a number that grows and is returned.
struct counter {
  using messages = rondo::messages<ask<number, sum>>;
  std::uint64_t total = 0;
  void on(context& ctx, number const& m) { ctx.reply(sum{total += m.value}); }
};

RONDO_MODULE(bench_actors, echo, player, ring_member, sink, batch_sink, busy_worker, counter)

/// The default settings, on the CPU device with `teams` teams.
inline config with_teams(std::uint32_t teams) {
  config c;
  c.device = "cpu";
  c.teams = teams;
  return c;
}

/// Starts a runtime of these actors.
std::unique_ptr<runtime> start(config const& settings);

/// The answer of an ask that fails only if something is broken; then throws std::runtime_error naming `what`.
template <class T>
T expect(std::string_view what, result<T> const& outcome) {
  if (!outcome) throw std::runtime_error(std::string(what) + ": " + outcome.error().message());
  return *outcome;
}

/// The time limit for answers that end a long piece of work.
inline constexpr std::chrono::seconds patience{20};

/// Binds the thread of `actor`, which must be pinned or the runtime's only team.
template <class Behaviour>
void seat(actor_ref<Behaviour> const& actor, int cpu) {
  expect("seating a team", actor.ask(sit_on{cpu}, patience, block));
}

}  // namespace rondo::bench
