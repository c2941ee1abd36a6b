// The behaviours of the conformance suite whose code throws, and one whose replies are wrong.
//
// A GPU has no exceptions: there the same handlers fail with the same reason.
#pragma once

#include "kernels/actor/module.hpp"
#include "tests/conformance/in_reach.hpp"

#if !defined(__CUDA_ARCH__)
#include <stdexcept>
#endif

namespace conformance {

inline constexpr char thrown_text[] = "the fuse was too short";

RONDO_HD inline void throw_in(rondo::context& ctx) {
#if defined(__CUDA_ARCH__)
  ctx.fail(rondo::errc::exception_thrown);
#else
  (void)ctx;
  throw std::runtime_error(thrown_text);
#endif
}

struct count_up {};
struct read_count {};
struct count_is {
  std::uint64_t value;
};
/// Throws until the counter behind `tried` reaches `times`; tells `heard` before that.
struct blow {
  word* tried;
  std::uint32_t times;
  rondo::actor_id heard;
};
/// Throws something that is not a std::exception.
struct blow_odd {};
/// An ask whose handler throws.
struct blow_asked {};
struct blow_batch {};
/// Tile `at` throws; `tiles` of them are none, so that `tiles` throws.
struct blow_wide {
  std::uint32_t tiles, at;
};

/// Counts, and throws when told to. Its handlers return their replies.
struct thrower {
  using messages =
      rondo::messages<count_up, rondo::ask<read_count, count_is>, blow, blow_odd,
                      rondo::ask<blow_asked, count_is>, blow_batch, rondo::ask<blow_wide, count_is>>;
  std::uint64_t count = 0;

  RONDO_HD void on(rondo::context&, count_up const&) { ++count; }
  RONDO_HD count_is on(rondo::context&, read_count const&) { return {count}; }
  RONDO_HD void on(rondo::context& ctx, blow const& m) {
    ++count;  // must not survive the restart
    if (m.tried->fetch_add(1, rondo::memory_order::acq_rel) >= m.times) return;
    if (m.heard.valid()) ctx.tell(rondo::address<thrower>{m.heard}, count_up{});
    throw_in(ctx);
  }
  RONDO_HD void on(rondo::context& ctx, blow_odd const&) {
#if defined(__CUDA_ARCH__)
    throw_in(ctx);
#else
    (void)ctx;
    throw 7;
#endif
  }
  RONDO_HD count_is on(rondo::context& ctx, blow_asked const&) {
    throw_in(ctx);
    return {count};  // on a GPU: a handler that has failed does not reply
  }
  RONDO_HD void on(rondo::context& ctx, rondo::batch<blow_batch> const&) { throw_in(ctx); }
  RONDO_HD std::uint32_t tiles(rondo::context& ctx, blow_wide const& m) {
    if (m.tiles == 0) throw_in(ctx);
    return m.tiles;
  }
  RONDO_HD void tile(rondo::context& ctx, blow_wide const& m, std::uint32_t t) {
    if (t == m.at) throw_in(ctx);
  }
  RONDO_HD void finish(rondo::context& ctx, blow_wide const& m) { ctx.reply(count_is{m.tiles}); }
};

/// All lanes of a team run its handlers, and all of them throw.
struct throwers_together {
  using messages =
      rondo::messages<blow_odd, rondo::ask<blow_asked, count_is>, rondo::ask<read_count, count_is>>;
  static constexpr auto width = rondo::width::whole_team;
  std::uint64_t count = 7;

  RONDO_HD void on(rondo::context& ctx, blow_odd const&) {
    if (ctx.team().lane() == ctx.team().lanes() - 1) throw_in(ctx);
  }
  RONDO_HD void on(rondo::context& ctx, blow_asked const&) { throw_in(ctx); }
  RONDO_HD count_is on(rondo::context&, read_count const&) { return {count}; }
};

struct throws_at_start {
  using messages = rondo::messages<rondo::ask<read_count, count_is>>;
  RONDO_HD void on_start(rondo::context& ctx) { throw_in(ctx); }
  RONDO_HD count_is on(rondo::context&, read_count const&) { return {0}; }
};

/// Cannot be constructed, except on a GPU.
struct throws_when_made {
  using messages = rondo::messages<rondo::ask<read_count, count_is>>;
  std::uint64_t count = 0;
  RONDO_HD throws_when_made() {
#if !defined(__CUDA_ARCH__)
    throw std::runtime_error(thrown_text);
#endif
  }
  RONDO_HD count_is on(rondo::context&, read_count const&) { return {count}; }
};

// -- replies

struct mislead {};
struct promise {};
/// Keeps the promise, with a reply of the declared type or of another.
struct keep_promise {
  bool well;
};
struct reply_outcome {
  std::uint64_t value;
};
struct fail_quietly {};
struct answer_twice {};

struct liar {
  using messages = rondo::messages<rondo::ask<mislead, count_is>, rondo::ask<promise, count_is>, keep_promise,
                                   rondo::ask<read_count, reply_outcome>, rondo::ask<fail_quietly, count_is>,
                                   rondo::ask<answer_twice, count_is>, count_up>;
  rondo::reply_token promised{};
  std::uint64_t last = 0;

  RONDO_HD void on(rondo::context& ctx, mislead const&) { ctx.reply(reply_outcome{1}); }
  RONDO_HD void on(rondo::context& ctx, promise const&) { promised = ctx.defer(); }
  RONDO_HD void on(rondo::context& ctx, keep_promise const& m) {
    if (m.well)
      ctx.reply_to(promised, count_is{5});
    else
      ctx.reply_to(promised, reply_outcome{5});
  }
  RONDO_HD reply_outcome on(rondo::context&, read_count const&) { return {last}; }
  RONDO_HD count_is on(rondo::context& ctx, fail_quietly const&) {
    ctx.fail();
    return {6};
  }
  RONDO_HD count_is on(rondo::context& ctx, answer_twice const&) {
    ctx.reply(count_is{1});
    return {2};
  }
  /// A reply to a tell, of whatever type, is only refused.
  RONDO_HD void on(rondo::context& ctx, count_up const&) {
    auto const now = ctx.reply(reply_outcome{1}), later = ctx.reply_to(ctx.defer(), reply_outcome{1});
    last = static_cast<std::uint64_t>(now) << 32 | static_cast<std::uint64_t>(later);
  }
};

}  // namespace conformance
