// A channel, and an actor that sends to it as fast as there is room.
#pragma once

#include "actors/channel/channel.hpp"

namespace conformance {

struct tick_news {
  std::uint32_t sender, number;
};
struct tick_channel : rondo::channel<tick_news> {};

/// Sends the numbers 0 to `count` - 1. Its priority is 100, 140, and 180 in turn if it is `uneven`.
struct send_ticks {
  rondo::address<tick_channel> to;
  std::uint32_t sender, count, uneven;
};
struct read_ticks {};
struct ticks_sent {
  std::uint32_t sent, times_full, times_refused;
};
struct tick_source {
  using messages = rondo::messages<send_ticks, rondo::room, rondo::ask<read_ticks, ticks_sent>>;
  send_ticks order{};
  ticks_sent so_far{};

  RONDO_HD void on(rondo::context& ctx, send_ticks const& m) {
    order = m;
    send(ctx);
  }
  RONDO_HD void on(rondo::context& ctx, rondo::room const&) { send(ctx); }
  RONDO_HD ticks_sent on(rondo::context&, read_ticks const&) { return so_far; }

 private:
  RONDO_HD void send(rondo::context& ctx) {
    for (; so_far.sent < order.count; ++so_far.sent) {
      auto const priority = static_cast<std::uint8_t>(order.uneven != 0 ? 100 + 40 * (so_far.sent % 3) : 128);
      auto const refused = ctx.tell(order.to, tick_news{order.sender, so_far.sent}, {.priority = priority});
      if (refused == rondo::errc::mailbox_full) return ++so_far.times_full, ctx.when_room(order.to);
      if (refused != rondo::errc::ok) return static_cast<void>(++so_far.times_refused);
    }
  }
};

}  // namespace conformance
