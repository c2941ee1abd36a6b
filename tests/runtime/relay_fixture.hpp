// Actors that forward requests, and the answers back: a module for tests of a message's path.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "runtime/runtime.hpp"

namespace rondo_test {

struct link {
  rondo::actor_id next;
};
struct hop {
  std::uint64_t number;
};
struct hopped {
  std::uint64_t number;
};
/// The largest possible message.
struct large {
  std::uint64_t first[11];
  std::uint64_t last;
};

struct relay {
  using messages =
      rondo::messages<link, rondo::ask<hop, hopped>, rondo::ask<large, hopped>, hopped, rondo::rejected>;
  rondo::address<relay> next{};
  rondo::reply_token asker{};

  RONDO_HD void on(rondo::context&, link const& m) { next.id = m.next; }
  RONDO_HD void on(rondo::context& ctx, hop const& m) {
    if (!next.id.valid()) {
      ctx.reply(hopped{m.number});
      return;
    }
    asker = ctx.defer();
    ctx.ask(next, m, 1);
  }
  RONDO_HD void on(rondo::context& ctx, large const& m) { ctx.reply(hopped{m.last}); }
  RONDO_HD void on(rondo::context& ctx, hopped const& m) { ctx.reply_to(asker, m); }
  RONDO_HD void on(rondo::context& ctx, rondo::rejected const&) { ctx.reply_to(asker, hopped{0}); }
};

RONDO_MODULE(relays, relay)

/// Compiled once, in relay_fixture.cpp.
std::unique_ptr<rondo::runtime> start_relays(rondo::config const& settings);

/// Launches `relay 0` to `relay count - 1`, each on the runtime's next device, each with the next one as its target.
std::vector<rondo::actor_ref<relay>> launch_chain(rondo::runtime& rt, std::uint32_t count);

}  // namespace rondo_test
