// docs/actors.md, "Stashing, and states".
#include "actors/states/states.hpp"

#include <boost/asio/use_future.hpp>

#include "runtime/runtime.hpp"
#include "tests/consumer/actors/check.hpp"
#include "tests/consumer/actors/journal.hpp"

using namespace std::chrono_literals;
namespace asio = boost::asio;

struct write_to { rondo::address<journal> to; };

struct logger {
  using messages = rondo::messages<line, write_to>;
  rondo::address<journal> to{};
  bool ready = false;

  RONDO_HD void on(rondo::context& ctx, line const& m) {
    if (!ready) return ctx.stash();
    if (auto const e = ctx.forward(to, m); e != rondo::errc::ok) ctx.reject(e);
  }
  RONDO_HD void on(rondo::context& ctx, write_to const& m) {
    to = m.to;
    ready = true;
    ctx.unstash();  // the lines come again, before later ones
  }
};

struct unlock { std::uint32_t key; };
struct lock {};
struct enter {};
struct visitors { std::uint32_t count; };

struct locked {
  using messages = rondo::messages<unlock>;
  std::uint32_t key = 7;
  RONDO_HD void on(rondo::context& ctx, unlock const& m);
};
struct unlocked {
  using messages = rondo::messages<rondo::ask<enter, visitors>, lock>;
  std::uint32_t key, entered = 0;
  RONDO_HD visitors on(rondo::context&, enter const&) { return {++entered}; }
  RONDO_HD void on(rondo::context& ctx, lock const&);
};
struct door : rondo::states<locked, unlocked> {};

// A handler that becomes another state is defined after the door.
RONDO_HD inline void locked::on(rondo::context& ctx, unlock const& m) {
  if (m.key != key) return ctx.reject(rondo::errc::not_found);
  door::become(ctx, unlocked{key});
}
RONDO_HD inline void unlocked::on(rondo::context& ctx, lock const&) { door::become(ctx, locked{key}); }
RONDO_MODULE(house, logger, door, journal)

int main() {
  rondo::runtime rt{rondo::use<house>};
  auto const j = rt.launch<journal>("j");
  auto const l = rt.launch<logger>("logger");
  for (std::uint32_t n = 1; n <= 3; ++n) check(!l.try_tell(line{n}));
  check(!l.try_tell(write_to{j.where()}));
  check(!l.try_tell(line{4}));
  check_soon([&] { return j.ask(read_lines{}, 1min, rondo::block).value().list() == numbers{1, 2, 3, 4}; });

  auto const d = rt.launch<door>("door");
  auto visit = d.ask(enter{}, 1min, asio::use_future);  // a locked door does not take it: it waits
  check(!d.try_tell(unlock{7}));
  check(visit.get().count == 1);
  check(!d.try_tell(lock{}));
  check(d.ask(enter{}, 10ms, rondo::block).error() == rondo::errc::timed_out);
}
