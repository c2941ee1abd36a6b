// docs/actors.md, "Behaviours that refer to each other".
#include "runtime/runtime.hpp"
#include "tests/consumer/actors/check.hpp"

using namespace std::chrono_literals;

struct player;  // an address needs only the name
struct wall;

struct hit {
  rondo::address<player> from;
  std::uint32_t left;
};
struct back { std::uint32_t left; };
struct play {
  rondo::address<wall> against;
  std::uint32_t hits;
};
struct played { std::uint32_t returns; };

struct player {
  using messages = rondo::messages<rondo::ask<play, played>, back>;
  rondo::address<wall> against;
  rondo::reply_token asker;
  std::uint32_t returns;

  RONDO_HD void on(rondo::context& ctx, play const& m);
  RONDO_HD void on(rondo::context& ctx, back const& m);
};
struct wall {
  using messages = rondo::messages<hit>;
  RONDO_HD void on(rondo::context& ctx, hit const& m) { ctx.tell(m.from, back{m.left - 1}); }
};

// A handler that sends to a behaviour is defined after it, because sending looks at its list of messages.
RONDO_HD inline void player::on(rondo::context& ctx, play const& m) {
  against = m.against, asker = ctx.defer(), returns = 0;
  ctx.tell(against, hit{ctx.self_as<player>(), m.hits});
}
RONDO_HD inline void player::on(rondo::context& ctx, back const& m) {
  ++returns;
  if (m.left == 0)
    ctx.reply_to(asker, played{returns});
  else
    ctx.tell(against, hit{ctx.self_as<player>(), m.left});
}
RONDO_MODULE(court, player, wall)

int main() {
  rondo::runtime rt{rondo::use<court>};
  auto const w = rt.launch<wall>("w");
  auto const p = rt.launch<player>("p");
  check(p.ask(play{w.where(), 100}, 1min, rondo::block).value().returns == 100);
}
