// docs/actors.md, "Routers and topics".
#include "actors/routing/router.hpp"
#include "actors/routing/topics.hpp"
#include "runtime/runtime.hpp"
#include "tests/consumer/actors/check.hpp"
#include "tests/consumer/actors/journal.hpp"

using namespace std::chrono_literals;

struct order { std::uint32_t customer; };
struct receipt { rondo::actor_id clerk; };
RONDO_HD inline std::uint32_t key_of(order const& m) { return m.customer; }  // only for by_key

struct clerk {
  using messages = rondo::messages<rondo::ask<order, receipt>>;
  RONDO_HD receipt on(rondo::context& ctx, order const&) { return {ctx.self()}; }
};
struct counters : rondo::router<clerk, rondo::round_robin> {};
struct accounts : rondo::router<clerk, rondo::by_key> {};

struct guard_for { rondo::address<counters> to; };
struct guard {
  using messages = rondo::messages<rondo::ask<order, receipt>, guard_for>;
  rondo::address<counters> to{};

  RONDO_HD void on(rondo::context&, guard_for const& m) { to = m.to; }
  RONDO_HD void on(rondo::context& ctx, order const& m) {
    if (m.customer == 0) return ctx.reject(rondo::errc::not_found);
    if (auto const e = ctx.forward(to, m); e != rondo::errc::ok) ctx.reject(e);  // mailbox_full, actor_gone
  }
};

struct news : rondo::topics<line> {};
RONDO_MODULE(offices, clerk, counters, accounts, guard, news, journal)

int main() {
  rondo::runtime rt{rondo::use<offices>};
  auto const ann = rt.launch<clerk>("ann"), bob = rt.launch<clerk>("bob");
  auto const c = rt.launch<counters>("counters");
  for (auto const& who : {ann, bob})
    check(c.ask(rondo::join<clerk>{who.where()}, 1min, rondo::block).has_value());
  check(c.ask(order{7}, 1min, rondo::block).value().clerk == ann.id());  // the clerk answers
  check(c.ask(order{7}, 1min, rondo::block).value().clerk == bob.id());

  auto const a = rt.launch<accounts>("accounts");
  check(a.ask(order{7}, 1min, rondo::block).error() == rondo::errc::not_found);  // nobody has joined
  for (auto const& who : {ann, bob})
    check(a.ask(rondo::join<clerk>{who.where()}, 1min, rondo::block).has_value());
  auto const owner = a.ask(order{7}, 1min, rondo::block).value().clerk;
  for (int i = 0; i < 3; ++i) check(a.ask(order{7}, 1min, rondo::block).value().clerk == owner);

  auto const g = rt.launch<guard>("guard");
  check(!g.try_tell(guard_for{c.where()}));
  check(g.ask(order{0}, 1min, rondo::block).error() == rondo::errc::not_found);
  check(g.ask(order{9}, 1min, rondo::block).value().clerk == ann.id());

  auto const j = rt.launch<journal>("j");
  auto const n = rt.launch<news>("news");
  constexpr auto sports = rondo::topic_id("sports"), weather = rondo::topic_id("weather");
  check(n.ask(rondo::subscribe<line>{sports, j.where()}, 1min, rondo::block).value().subscribers == 1);
  check(!n.try_tell(rondo::publish<line>{sports, {1}}));
  check(!n.try_tell(rondo::publish<line>{weather, {2}}));  // nobody listens
  check(!n.try_tell(rondo::publish<line>{sports, {3}}));
  check_soon([&] { return j.ask(read_lines{}, 1min, rondo::block).value().list() == numbers{1, 3}; });
}
