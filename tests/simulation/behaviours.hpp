// The actors of a simulated run. Each handler records in the ledger which message it handles; see ledger.hpp.
//
// Messages carry pointers to the plan: the simulation's devices run handlers in this process.
#pragma once

#include "kernels/actor/module.hpp"
#include "tests/simulation/ledger.hpp"

namespace simulation {

/// The beginning of every message.
struct stamp {
  std::uint32_t number;  // in the ledger
  operation const* of;
};

struct parcel : stamp {};
struct item : stamp {};  // handled in batches
struct question : stamp {};
struct spread : stamp {};  // wide
struct verse : stamp {};   // for all lanes
/// Makes the actor send a parcel to another one.
struct errand : stamp {
  rondo::actor_id to;
  std::uint32_t to_life;
};
/// Makes the actor ask another one, and reply with that one's answer.
struct consultation : errand {};
/// Makes the actor send itself a parcel later.
struct reminder : stamp {};
/// The message of a timer, which is not in the ledger.
struct tick {};
struct answered {
  std::uint32_t number;
  std::uint32_t value;
};

/// Does the work that an operation prescribes for its handler.
inline void work(operation const& o) {
  for (std::uint32_t i = 0; i < o.work; ++i) rondo::relax();
}

struct worker {
  using messages = rondo::messages<parcel, item, errand, reminder, rondo::ask<question, answered>,
                                   rondo::ask<spread, answered>, rondo::ask<consultation, answered>, answered,
                                   rondo::rejected, tick>;
  std::uint32_t runs = 0;
  rondo::reply_token askers[8] = {};

  void on(rondo::context& ctx, parcel const& m) {
    handle(ctx, m, [] {});
  }
  void on(rondo::context& ctx, question const& m) {
    handle(ctx, m, [&] { ctx.reply(answered{m.number, 7}); });
  }
  void on(rondo::context& ctx, rondo::batch<item> const& items) {
    std::uint32_t before = 0;
    for (auto const& m : items) {
      ledger::get().enter(ctx.self(), m.number, runs, before);
      work(*m.of);
      ++runs;
      ledger::get().leave(ctx.self(), m.number, false, before++);
    }
  }
  void on(rondo::context& ctx, errand const& m) {
    handle(ctx, m, [&] {
      auto& l = ledger::get();
      parcel p{{l.write(m.to_life, sender(ctx), manner::sent, told(m)), m.of}};
      l.told(p.number, ctx.tell(rondo::address<worker>{m.to}, p, {.priority = m.of->priority}));
    });
  }
  void on(rondo::context& ctx, consultation const& m) {
    handle(ctx, m, [&] {
      auto& l = ledger::get();
      auto const slot = m.number % 8;
      l.lives[l.find(ctx.self())].has_answers = true;
      question q{{l.write(m.to_life, sender(ctx), manner::requested, told(m)), m.of}};
      askers[slot] = ctx.defer();
      auto const refused = ctx.ask(rondo::address<worker>{m.to}, q, slot, {.priority = m.of->priority});
      l.told(q.number, refused);
      if (refused != rondo::errc::ok) ctx.reply_to(askers[slot], answered{m.number, 0});
    });
  }
  void on(rondo::context& ctx, reminder const& m) {
    handle(ctx, m, [&] {
      parcel const p{
          {ledger::get().write(ledger::get().find(ctx.self()), sender(ctx), manner::later, told(m)), m.of}};
      ctx.tell_later(m.of->pause_us, ctx.self_as<worker>(), p, {.priority = m.of->priority});
    });
  }
  void on(rondo::context& ctx, answered const& m) {
    ledger::get().handle_answer(ctx.self());
    ctx.reply_to(askers[ctx.header().correlation % 8], answered{m.number, 9});
  }
  void on(rondo::context& ctx, rondo::rejected const&) {
    ledger::get().handle_answer(ctx.self());
    ctx.reply_to(askers[ctx.header().correlation % 8], answered{0, 0});
  }

  void on(rondo::context& ctx, tick const&) { ledger::get().handle_answer(ctx.self()); }

  std::uint32_t tiles(rondo::context& ctx, spread const& m) {
    auto& l = ledger::get();
    l.enter(ctx.self(), m.number, runs);
    l.begin_tiles(m.number, m.of->count);
    return m.of->count;
  }
  void tile(rondo::context& ctx, spread const& m, std::uint32_t t) {
    auto& l = ledger::get();
    l.begin_tile(ctx.self(), m.number, t);
    work(*m.of);
    bool const fails = t == 0 && l.letters[m.number].attempts <= m.of->fails;
    l.end_tile(m.number, fails);
    if (fails) ctx.fail();
  }
  void finish(rondo::context& ctx, spread const& m) {
    auto& l = ledger::get();
    for (auto const runs_of_tile : l.letters[m.number].tile_runs)
      if (runs_of_tile != 1)
        world::get().fail("G4: a wide message is finished before each of its tiles has run");
    ++runs;
    l.leave(ctx.self(), m.number, false);
    ctx.reply(answered{m.number, 7});
  }

 private:
  /// The operation in the form in which the actor forwards it.
  static operation told(stamp const& m) {
    auto o = *m.of;
    o.deadline_us = 0;
    o.fails = 0;
    return o;
  }
  static std::uint32_t sender(rondo::context const& ctx) { return 1000 + ledger::get().find(ctx.self()); }

  template <class Then>
  void handle(rondo::context& ctx, stamp const& m, Then then) {
    auto& l = ledger::get();
    bool const fails = l.enter(ctx.self(), m.number, runs);
    work(*m.of);
    if (!fails) ++runs, then();
    l.leave(ctx.self(), m.number, fails);
    if (fails) ctx.fail();
  }
};

/// All lanes of a team handle a verse together.
struct choir {
  using messages = rondo::messages<rondo::ask<verse, answered>>;
  static constexpr auto width = rondo::width::whole_team;
  std::uint32_t runs = 0;

  void on(rondo::context& ctx, verse const& m) {
    auto const& team = ctx.team();
    bool fails = team.leader() && ledger::get().enter(ctx.self(), m.number, runs);
    work(*m.of);
    fails = team.broadcast(fails);
    auto const voices = team.sum(std::uint32_t{1});
    if (voices != team.lanes()) world::get().fail("G4: a lane did not take part");
    if (team.leader()) {
      if (!fails) ++runs;
      ledger::get().leave(ctx.self(), m.number, fails);
    }
    if (fails && team.lane() == team.lanes() - 1) ctx.fail();
    if (!fails) ctx.reply(answered{m.number, voices});
  }
};

RONDO_MODULE(cast, worker, choir)

}  // namespace simulation
