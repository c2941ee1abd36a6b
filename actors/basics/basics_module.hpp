// The built-in module: minimal actors to try a service with. Their messages are in schemas/basics.fbs.
#pragma once

#include "generated/basics_messages.hpp"
#include "kernels/actor/module.hpp"

namespace rondo::basics {

/// Sums the amounts it receives.
struct counter {
  using messages = rondo::messages<add, rondo::ask<get, total>, rondo::ask<add_and_get, total>>;
  std::uint64_t sum = 0;
  RONDO_HD void on(context&, add const& m) { sum += m.amount; }
  RONDO_HD void on(context& ctx, get const&) { ctx.reply(total{sum}); }
  RONDO_HD void on(context& ctx, add_and_get const& m) { ctx.reply(total{sum += m.amount}); }
};

/// Keeps 64 bytes.
struct cell {
  using messages = rondo::messages<rondo::ask<put, stored>, rondo::ask<fetch, fetched>>;
  fetched now{};
  RONDO_HD void on(context& ctx, put const& m) {
    __builtin_memcpy(now.bytes, m.bytes, sizeof now.bytes);
    ctx.reply(stored{++now.version});
  }
  RONDO_HD void on(context& ctx, fetch const&) { ctx.reply(now); }
};

/// Answers with the number it receives.
struct echo {
  using messages = rondo::messages<rondo::ask<ping, pong>>;
  RONDO_HD void on(context& ctx, ping const& m) { ctx.reply(pong{m.number}); }
};

/// Forwards hops to the next relay and answers back; the last one answers. It has at most 64 hops in flight.
struct relay {
  using messages = rondo::messages<link, rondo::ask<hop, hopped>, hopped, rejected>;
  static constexpr std::uint32_t limit = 64;
  address<relay> next{};
  reply_token waiting[limit]{};
  std::uint64_t taken = 0;  // one bit per entry of `waiting`

  RONDO_HD void on(context&, link const& m) { next.id = {m.next.index, m.next.generation}; }
  RONDO_HD void on(context& ctx, hop const& m) {
    if (!next.id.valid()) {
      ctx.reply(hopped{m.number, 1});
      return;
    }
    if (taken == ~0ull) return ctx.fail(errc::mailbox_full);
    std::uint32_t place = 0;
    while ((taken >> place & 1) != 0) ++place;
    auto const token = ctx.defer();
    if (auto const refused = ctx.ask(next, m, place); refused != errc::ok) return ctx.fail(refused);
    waiting[place] = token;
    taken |= 1ull << place;
  }
  RONDO_HD void on(context& ctx, hopped const& m) {
    answer(ctx, {m.number, m.relays == 0 ? 0 : m.relays + 1});
  }
  RONDO_HD void on(context& ctx, rejected const&) { answer(ctx, {0, 0}); }

  RONDO_HD void answer(context& ctx, hopped const& m) {
    auto const place = ctx.header().correlation;
    if (place >= limit || (taken >> place & 1) == 0) return;
    taken &= ~(1ull << place);
    ctx.reply_to(waiting[place], m);
  }
};

RONDO_MODULE(basics_module, counter, cell, echo, relay)

}  // namespace rondo::basics
