// The behaviours that bench_gpu runs on the device `cuda`: an echo, a pair that plays ping-pong, producers and a
// consumer, traders that all send to each other, and an actor that is always busy.
//
// Plain structs outside anonymous namespaces, so that nvcc and the host's compiler give them the same names.
#pragma once

#include "kernels/actor/module.hpp"
#include "kernels/buffers/buffer_lease.hpp"

namespace rondo::bench::gpu {

using std::uint32_t;
using std::uint64_t;

// -- round trips

/// A numbered request; every word carries the number, so that the host can check the whole answer.
template <int Words>
struct numbered {
  uint64_t words[Words];

  RONDO_HD static numbered of(uint64_t number) noexcept {
    numbered n;
    for (auto& w : n.words) w = number;
    return n;
  }
  RONDO_HD bool holds(uint64_t number) const noexcept {
    bool all = true;
    for (auto const w : words) all = all && w == number;
    return all;
  }
};
struct small_ping : numbered<4> {};
struct small_pong : numbered<4> {};
struct large_ping : numbered<12> {};
struct large_pong : numbered<12> {};
static_assert(sizeof(small_ping) == 32 && sizeof(large_ping) == max_payload_bytes);

/// A request whose data is in a buffer: the echo writes the number there, and answers with the number that it reads
/// back.
struct buffer_ping {
  buffer_ref where;
  uint64_t number;
};

/// Makes its handler fail, and with it the actor.
struct crash {};
struct lives {};
struct handled_in_this_life {
  uint64_t messages;
};

/// Answers each word plus one.
struct echo {
  using messages =
      rondo::messages<ask<small_ping, small_pong>, ask<large_ping, large_pong>, ask<buffer_ping, small_pong>,
                      ask<crash, small_pong>, ask<lives, handled_in_this_life>>;
  uint64_t handled = 0;

  RONDO_HD void on(context& ctx, small_ping const& m) { answer<small_pong>(ctx, m); }
  RONDO_HD void on(context& ctx, large_ping const& m) { answer<large_pong>(ctx, m); }
  RONDO_HD void on(context& ctx, buffer_ping const& m) {
    write_lease<uint64_t> lease(ctx.buffers(), m.where);
    if (!lease) return ctx.fail(lease.status());
    for (auto& w : lease.view()) w = m.number;
    ++handled;
    auto const read = lease.view()[lease.view().size() - 1];
    lease.end();
    ctx.reply(small_pong{small_pong::of(read + 1)});
  }
  RONDO_HD void on(context& ctx, crash const&) { ctx.fail(); }
  RONDO_HD void on(context& ctx, lives const&) { ctx.reply(handled_in_this_life{handled}); }

 private:
  template <class Pong, class Ping>
  RONDO_HD void answer(context& ctx, Ping const& m) {
    ++handled;
    Pong pong;
    for (uint32_t i = 0; i < sizeof m / sizeof *m.words; ++i) pong.words[i] = m.words[i] + 1;
    ctx.reply(pong);
  }
};

/// Asks when its handler begins, by the device's clock.
struct clock_ping {
  uint64_t number;
};
struct clock_pong {
  uint64_t number, handled_ns;
};
struct timekeeper {
  using messages = rondo::messages<ask<clock_ping, clock_pong>>;

  RONDO_HD void on(context& ctx, clock_ping const& m) { ctx.reply(clock_pong{m.number + 1, ctx.now_ns()}); }
};

// -- actor to actor

struct ball {
  uint64_t value;
};
/// The result of a match: the sum of the values that came back, and its duration on the device's clock.
struct match {
  uint64_t total, ns;
};

/// The player that receives `serve` counts and times the rounds; its partner returns value + 1.
struct player {
  struct serve {
    address<player> partner;
    uint64_t rounds;  // 0: only return balls
  };
  using messages = rondo::messages<ask<serve, match>, ball>;

  address<player> partner{};
  uint64_t left = 0, total = 0, began_ns = 0;
  reply_token asker{};
  bool counts = false;

  RONDO_HD void on(context& ctx, serve const& m) {
    partner = m.partner;
    counts = m.rounds != 0;
    left = m.rounds;
    total = 0;
    if (!counts) return (void)ctx.reply(match{0, 0});
    asker = ctx.defer();
    began_ns = ctx.now_ns();
    pass(ctx, 0);
  }
  RONDO_HD void on(context& ctx, ball const& m) {
    if (!counts) return pass(ctx, m.value + 1);
    total += m.value;
    if (--left != 0) return pass(ctx, m.value);
    ctx.reply_to(asker, match{total, ctx.now_ns() - began_ns});
  }

 private:
  RONDO_HD void pass(context& ctx, uint64_t value) {
    if (auto const refused = ctx.tell(partner, ball{value}); refused != errc::ok) ctx.fail(refused);
  }
};

// -- many to one, all to all, host to device

/// 32 bytes, of which the receiver adds up one word.
struct parcel {
  uint64_t value, rest[3];
};
struct count {};
struct counted {
  uint64_t messages, sum;
};

/// Counts the parcels that it receives, one message at a time.
struct consumer {
  using messages = rondo::messages<parcel, ask<count, counted>>;
  counted so_far{};
  RONDO_HD void on(context&, parcel const& m) {
    ++so_far.messages;
    so_far.sum += m.value;
  }
  RONDO_HD void on(context& ctx, count const&) { ctx.reply(so_far); }
};

/// The same, but takes messages that are next to each other as one batch.
struct batch_consumer {
  using messages = rondo::messages<parcel, ask<count, counted>>;
  counted so_far{};
  RONDO_HD void on(context&, batch<parcel> const& some) {
    so_far.messages += some.size();
    for (auto const& m : some) so_far.sum += m.value;
  }
  RONDO_HD void on(context& ctx, count const&) { ctx.reply(so_far); }
};

/// Ends a producer's burst, so that its team can run other actors.
struct go_on {};
inline constexpr uint32_t burst = 32;

/// Sends the parcels 0, 1, ... `parcels - 1` to one consumer, as fast as the consumer has room for them.
struct producer {
  struct produce {
    address<consumer> to;
    uint64_t parcels;
  };
  struct produced {
    uint64_t refusals;  // how often the mailbox was full
  };
  using messages = rondo::messages<ask<produce, produced>, go_on>;

  address<consumer> to{};
  uint64_t sent = 0, wanted = 0, refusals = 0;
  reply_token asker{};

  RONDO_HD void on(context& ctx, produce const& m) {
    to = m.to;
    sent = refusals = 0;
    wanted = m.parcels;
    asker = ctx.defer();
    send_burst(ctx);
  }
  RONDO_HD void on(context& ctx, go_on const&) { send_burst(ctx); }

 private:
  RONDO_HD void send_burst(context& ctx) {
    for (uint32_t i = 0; i < burst && sent < wanted; ++i) {
      auto const outcome = ctx.tell(to, parcel{sent, {}});
      if (outcome == errc::mailbox_full || outcome == errc::arena_full) {
        ++refusals;
        break;
      }
      if (outcome != errc::ok) return ctx.fail(outcome);
      ++sent;
    }
    if (sent == wanted) return (void)ctx.reply_to(asker, produced{refusals});
    if (auto const outcome = ctx.tell(ctx.self_as<producer>(), go_on{}); outcome != errc::ok)
      ctx.fail(outcome);
  }
};

/// Sends parcels to all other traders in turn, and counts the parcels that it receives from them.
struct trader {
  struct trade {
    actor_id first;  // the traders are the cells from this one on, in their first life
    uint32_t traders;
    uint64_t parcels;
  };
  struct traded {
    uint64_t refusals;
  };
  using messages = rondo::messages<ask<trade, traded>, parcel, go_on, ask<count, counted>>;

  trade order{};
  uint64_t sent = 0, refusals = 0;
  uint32_t next = 0;
  reply_token asker{};
  counted so_far{};
  bool waits_for_mail = false;

  RONDO_HD void on(context& ctx, trade const& m) {
    order = m;
    sent = refusals = 0;
    next = ctx.self().index - m.first.index;
    asker = ctx.defer();
    send_burst(ctx);
  }
  RONDO_HD void on(context& ctx, batch<parcel> const& some) {
    so_far.messages += some.size();
    for (auto const& m : some) so_far.sum += m.value;
    if (waits_for_mail) send_burst(ctx);
  }
  RONDO_HD void on(context& ctx, go_on const&) { send_burst(ctx); }
  RONDO_HD void on(context& ctx, count const&) { ctx.reply(so_far); }

 private:
  RONDO_HD void send_burst(context& ctx) {
    waits_for_mail = false;
    for (uint32_t i = 0; i < burst && sent < order.parcels; ++i) {
      next = next + 1 < order.traders ? next + 1 : 0;
      if (next == ctx.self().index - order.first.index) continue;
      auto const outcome =
          ctx.tell(address<trader>{{order.first.index + next, order.first.generation}}, parcel{sent, {}});
      if (outcome == errc::mailbox_full || outcome == errc::arena_full)
        ++refusals;  // the next trader may have room
      else if (outcome != errc::ok)
        return ctx.fail(outcome);
      else
        ++sent;
    }
    if (sent == order.parcels) return (void)ctx.reply_to(asker, traded{refusals});
    auto const outcome = ctx.tell(ctx.self_as<trader>(), go_on{});
    if (outcome == errc::mailbox_full)
      waits_for_mail = true;  // then its mailbox holds parcels, and the next one resumes this loop
    else if (outcome != errc::ok)
      ctx.fail(outcome);
  }
};

// -- load

struct chore {};
struct rest {};

/// Each chore takes a microsecond and resends itself until `rest`, so the number of waiting chores stays constant.
struct busy {
  using messages = rondo::messages<ask<small_ping, small_pong>, chore, ask<rest, counted>>;
  uint64_t done = 0;
  bool rests = false;

  RONDO_HD void on(context& ctx, small_ping const& m) {
    small_pong pong;
    for (uint32_t i = 0; i < 4; ++i) pong.words[i] = m.words[i] + 1;
    ctx.reply(pong);
  }
  RONDO_HD void on(context& ctx, chore const&) {
    for (auto const began_ns = ctx.now_ns(); ctx.now_ns() - began_ns < 1000;) {
    }
    ++done;
    if (rests) return;
    if (auto const refused = ctx.tell(ctx.self_as<busy>(), chore{}); refused != errc::ok) ctx.fail(refused);
  }
  RONDO_HD void on(context& ctx, rest const&) {
    rests = true;
    ctx.reply(counted{done, 0});
  }
};

RONDO_MODULE(bench_actors, echo, player, consumer, batch_consumer, producer, trader, busy, timekeeper)

}  // namespace rondo::bench::gpu
