// Behaviours that forward and reject messages, and the routers and topics of the suite.
#pragma once

#include "actors/routing/router.hpp"
#include "actors/routing/topics.hpp"
#include "kernels/actor/module.hpp"
#include "tests/conformance/gate.hpp"

namespace conformance {

inline constexpr std::uint32_t job_keys = 32;

/// The `sequence`-th job of its key.
struct job {
  std::uint32_t key, sequence;
};
/// Which worker answers for this key, and with which priority and time limit it was asked.
struct whose {
  std::uint32_t key;
};
struct mine {
  rondo::actor_id worker;
  std::uint64_t left_ns;
  std::uint32_t priority;
};
/// An ask without a key.
struct read_work {};
struct work_done {
  std::uint32_t jobs, disorder;
  std::uint32_t keys;  // one bit for each
};
RONDO_HD inline std::uint32_t key_of(job const& m) noexcept { return m.key; }
RONDO_HD inline std::uint32_t key_of(whose const& m) noexcept { return m.key; }

struct worker {
  using messages = rondo::messages<job, rondo::ask<whose, mine>, rondo::ask<read_work, work_done>>;
  work_done done{};
  std::uint32_t next[job_keys] = {};

  RONDO_HD void on(rondo::context&, job const& m) {
    auto const key = m.key % job_keys;
    done.disorder += m.sequence < next[key];
    next[key] = m.sequence + 1;
    done.keys |= 1u << key;
    ++done.jobs;
  }
  RONDO_HD mine on(rondo::context& ctx, whose const&) {
    return {ctx.self(), ctx.time_left_ns(), ctx.header().priority};
  }
  RONDO_HD work_done on(rondo::context&, read_work const&) { return done; }
};

struct in_turn : rondo::router<worker, rondo::round_robin> {};
struct at_random : rondo::router<worker, rondo::random_member> {};
struct to_idlest : rondo::router<worker, rondo::least_loaded> {};
struct to_owner : rondo::router<worker, rondo::by_key> {};
struct to_all : rondo::router<worker, rondo::broadcast, 4> {};
static_assert(rondo::takes<in_turn, read_work> && !rondo::takes<to_owner, read_work>, "it has no key");
static_assert(rondo::takes<to_all, job> && !rondo::takes<to_all, whose>, "it has a reply");

struct job_topics : rondo::topics<job, 4> {};

/// Asks a worker, perhaps through a router, for its asker.
struct inquire {
  rondo::actor_id whom;
  std::uint32_t key;
};
struct inquirer {
  using messages = rondo::messages<rondo::ask<inquire, mine>, mine, rondo::rejected>;
  rondo::reply_token asker{};

  RONDO_HD void on(rondo::context& ctx, inquire const& m) {
    asker = ctx.defer();
    auto const refused = ctx.ask(rondo::address<worker>{m.whom}, whose{m.key}, 7, {.priority = 30});
    if (refused != rondo::errc::ok) ctx.reply_to(asker, mine{{}, 0, static_cast<std::uint32_t>(refused)});
  }
  RONDO_HD void on(rondo::context& ctx, mine const& m) {
    ctx.reply_to(asker, ctx.header().correlation == 7 ? m : mine{});
  }
  RONDO_HD void on(rondo::context& ctx, rondo::rejected const& m) {
    ctx.reply_to(asker, mine{{}, 0, static_cast<std::uint32_t>(m.reason)});
  }
};

/// Forwards to a worker what is not this message: `whose`, which has the declared reply, or else read_work, which does
/// not.
struct pass_on {
  rondo::actor_id to;
  std::uint32_t well;
};
struct sort_of {
  std::uint32_t rejected;
};
struct tile_of {
  std::uint32_t rejected;
};
struct choice {
  std::uint32_t number, rejected;
};
struct read_choices {};
struct choices {
  std::uint32_t handled, disorder;
};
/// Rejects some of the numbers that it gets, and counts the others, and those that come out of turn. One at a time.
struct choosy {
  using messages = rondo::messages<choice, rondo::ask<read_choices, choices>>;
  choices so_far{};
  std::uint32_t next = 0;

  RONDO_HD bool enter(choice const& m) {
    if (m.number != next) ++so_far.disorder;
    next = m.number + 1;
    return m.rejected == 0;
  }
  RONDO_HD void on(rondo::context& ctx, choice const& m) {
    if (!enter(m)) return ctx.reject(rondo::errc::wrong_size);
    ++so_far.handled;
  }
  RONDO_HD choices on(rondo::context&, read_choices const&) { return so_far; }
};
/// The same in batches, of which it rejects all if it rejects one.
struct choosy_of_batches : choosy {
  RONDO_HD void on(rondo::context& ctx, rondo::batch<choice> const& some) {
    bool all = true;
    for (auto const& m : some) all = enter(m) && all;
    if (!all) return ctx.reject(rondo::errc::wrong_size);
    so_far.handled += static_cast<std::uint32_t>(some.size());
  }
  RONDO_HD choices on(rondo::context&, read_choices const&) { return so_far; }
};

/// Rejects some messages, with each kind of handler, on all lanes.
struct picky {
  using messages =
      rondo::messages<rondo::ask<pass_on, mine>, sort_of, tile_of, rondo::ask<read_work, work_done>>;
  static constexpr auto width = rondo::width::whole_team;
  std::uint32_t calls = 0;

  RONDO_HD void on(rondo::context& ctx, pass_on const& m) {
    rondo::address<worker> const to{m.to};
    if (!m.well) return static_cast<void>(ctx.forward(to, read_work{}));
    auto const first = ctx.forward(to, whose{0}), second = ctx.forward(to, whose{0});
    if (first != rondo::errc::ok || second != rondo::errc::wrong_state) ctx.fail();
  }
  RONDO_HD void on(rondo::context& ctx, rondo::batch<sort_of> const& batch) {
    if (ctx.team().leader()) ++calls;
    if (batch[0].rejected) ctx.reject(rondo::errc::wrong_size);
  }
  RONDO_HD std::uint32_t tiles(rondo::context& ctx, tile_of const& m) {
    if (m.rejected) ctx.reject(rondo::errc::wrong_size);
    return 3;
  }
  RONDO_HD void tile(rondo::context&, tile_of const&, std::uint32_t) {}
  RONDO_HD void finish(rondo::context& ctx, tile_of const&) {
    if (ctx.team().leader()) ++calls;
  }
  RONDO_HD work_done on(rondo::context&, read_work const&) { return {calls, 0, 0}; }
};

}  // namespace conformance
