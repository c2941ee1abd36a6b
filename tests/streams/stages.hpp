// Stages for tests: frames hold numbers, each of which says of which tick it is, and what has been done to it.
#pragma once

#include <memory>
#include <stdexcept>
#include <string>

#include "actors/streams/transfers.hpp"
#include "kernels/streams/stage.hpp"
#include "runtime/streams/kinds/stage_spec.hpp"

namespace stream_test {

using namespace rondo;
namespace streams = rondo::streams;

/// Any number of restarts: a graph with a rate of 0 fails as often as its machine lets it, and the window in which the
/// restarts are counted is the shortest possible.
constexpr supervision always_restarted{.max_restarts = 0xffff, .within_ms = 1};

/// `count` numbers.
struct numbers {
  std::uint32_t count = 0;
  RONDO_HD std::uint64_t bytes() const noexcept { return std::uint64_t{count} * sizeof(std::uint32_t); }
};

RONDO_HD inline std::uint32_t* items(std::byte* data) { return reinterpret_cast<std::uint32_t*>(data); }
RONDO_HD inline std::uint32_t const* items(std::byte const* data) {
  return reinterpret_cast<std::uint32_t const*>(data);
}

/// Number i of the frame of tick n is n + i.
struct counter {
  using ports = streams::ports<streams::out<"numbers", numbers>>;
  struct options {
    std::uint32_t count = 16;
    std::uint64_t ends_after = 0;  // 0: never
  };
  static void spec(options const& o, streams::spec_of<counter>& s) { s.out<"numbers">({o.count}); }

  RONDO_HD void process(streams::stage_context<counter>& ctx, streams::tick const& t) {
    auto const to = ctx.output<"numbers">({ctx.options().count});
    if (!to) return;
    for (std::uint32_t i = 0; i < to.about.count; ++i)
      items(to.data)[i] = static_cast<std::uint32_t>(t.number) + i;
    if (ctx.options().ends_after != 0 && t.number + 1 >= ctx.options().ends_after) ctx.end();
  }
};

/// Adds a number to each, in place if it can. May fail now and then.
struct adder {
  using ports = streams::ports<streams::in<"numbers", numbers>, streams::out<"numbers", numbers, "numbers">>;
  struct options {
    std::uint32_t by = 1;
    std::uint32_t fails_every = 0;      // at these ticks, once
    std::uint32_t fails_always_at = 0;  // not 0: at this tick
    std::uint32_t spins = 0;            // takes longer
  };
  std::uint32_t calls = 0;

  RONDO_HD void process(streams::stage_context<adder>& ctx, streams::tick const& t) {
    auto const& o = ctx.options();
    for (std::uint32_t volatile i = 0; i < o.spins;) i = i + 1;
    if (o.fails_always_at != 0 && t.number == o.fails_always_at) return ctx.fail();
    // A restarted state has made no call yet.
    if (o.fails_every != 0 && t.number % o.fails_every == 1 && calls != 0) return ctx.fail();
    ++calls;
    auto const f = ctx.edit<"numbers">();
    if (!f) return;
    for (std::uint32_t i = 0; i < f.about.count; ++i) items(f.data)[i] += o.by;
  }
};

/// Checks and counts what it gets, in its scratch memory, which lasts.
struct checker {
  using ports = streams::ports<streams::in<"numbers", numbers>, streams::optional_in<"more", numbers>>;
  struct options {
    std::uint32_t added = 0;  // to each number, on the way
    std::uint32_t spins = 0;
    std::uint64_t step_ns = 0;  // between the times of two ticks; 0: any
  };
  struct found {
    std::uint64_t frames, wrong, out_of_order, missing, last, more;
  };
  static void spec(options const&, streams::spec_of<checker>& s) { s.scratch(sizeof(found)); }

  RONDO_HD void process(streams::stage_context<checker>& ctx, streams::tick const& t) {
    for (std::uint32_t volatile i = 0; i < ctx.options().spins;) i = i + 1;
    auto& f = *reinterpret_cast<found*>(ctx.scratch());
    auto const in = ctx.input<"numbers">();
    auto const expected = static_cast<std::uint32_t>(in.number) + ctx.options().added;
    bool good = static_cast<bool>(in) && in.number == t.number;
    for (std::uint32_t i = 0; good && i < in.about.count; ++i) good = items(in.data)[i] == expected + i;
    if (auto const step = ctx.options().step_ns; step != 0 && f.frames != 0 && t.since_ns != step)
      good = false;
    if (!good) ++f.wrong;
    if (f.frames != 0 && t.number <= f.last) ++f.out_of_order;
    if (t.number > (f.frames != 0 ? f.last + 1 : 0)) f.missing += t.number - (f.frames != 0 ? f.last + 1 : 0);
    f.last = t.number;
    ++f.frames;
    if (auto const more = ctx.input<"more">(); more && more.is_new) ++f.more;
    ctx.log(log_level::trace, "frame {}", t.number);
  }
  // What was found is told at the end, in the log.
  RONDO_HD void on_stop(streams::stage_context<checker>& ctx) {
    auto const& f = *reinterpret_cast<found const*>(ctx.scratch());
    ctx.log(log_level::info, "found {} {} {} {}", f.frames, f.wrong, f.out_of_order, f.missing);
  }
};

/// Fails before it has begun.
struct stillborn {
  using ports = streams::ports<streams::out<"numbers", numbers>>;
  struct options {};
  static void spec(options const&, streams::spec_of<stillborn>& s) { s.out<"numbers">({1}); }
  RONDO_HD void on_start(streams::stage_context<stillborn>& ctx) { ctx.fail(); }
  RONDO_HD void process(streams::stage_context<stillborn>&, streams::tick const&) {}
};

/// As adder, with all lanes, a larger state, and other options.
struct wide_adder {
  using ports = adder::ports;
  struct options {
    std::uint64_t unused[8] = {};
    std::uint32_t by = 1;
    std::uint32_t spins = 0;
  };
  static constexpr auto width = rondo::width::whole_team;
  std::uint64_t room[64] = {};
  std::uint32_t begun = 0;

  RONDO_HD void on_start(streams::stage_context<wide_adder>& ctx) {
    if (ctx.team().leader()) ++begun;
    ctx.team().sync();
  }
  RONDO_HD void process(streams::stage_context<wide_adder>& ctx, streams::tick const&) {
    for (std::uint32_t volatile i = 0; i < ctx.options().spins;) i = i + 1;
    if (begun != 1) return ctx.fail();  // on_start comes once, before the first frame
    auto const f = ctx.edit<"numbers">();
    if (!f) return;
    for (auto const i : ctx.lanes(f.about.count)) items(f.data)[i] += ctx.options().by;
  }
};

/// As adder, in tiles on all teams: the first phase copies, the second one adds.
struct tiled_adder {
  using ports = streams::ports<streams::in<"numbers", numbers>, streams::out<"numbers", numbers>>;
  enum class at : std::uint32_t { nowhere, tiles, first_phase, second_phase, process };
  struct options {
    std::uint32_t by = 1;
    std::uint32_t count = 5;            // of tiles
    at fails = at::nowhere;             // there, at every tenth tick, once
    std::uint64_t fails_always_at = 0;  // not 0: at this tick
    std::uint32_t spins = 0;
  };
  static constexpr std::uint32_t phases = 2;
  std::uint32_t calls = 0;
  std::uint32_t const* from = nullptr;
  std::uint32_t* to = nullptr;
  std::uint32_t items_each = 0;

  RONDO_HD bool fails(streams::stage_context<tiled_adder>& ctx, streams::tick const& t, at here) const {
    auto const& o = ctx.options();
    bool const now = o.fails == here && (o.fails_always_at != 0 ? t.number == o.fails_always_at
                                                                : t.number % 10 == 1 && calls > 1);
    if (now) ctx.fail();
    return now;
  }
  RONDO_HD std::uint32_t tiles(streams::stage_context<tiled_adder>& ctx, streams::tick const& t,
                               std::uint32_t phase) {
    if (phase == 0) {
      ++calls;  // since the last restart
      if (fails(ctx, t, at::tiles)) return 0;
      auto const in = ctx.input<"numbers">();
      auto const out = ctx.output<"numbers">(in.about);
      if (!out) return 0;
      from = items(in.data);
      to = items(out.data);
      items_each = (in.about.count + ctx.options().count - 1) / ctx.options().count;
    }
    return ctx.options().count;
  }
  RONDO_HD void tile(streams::stage_context<tiled_adder>& ctx, streams::tick const& t, std::uint32_t phase,
                     std::uint32_t number) {
    for (std::uint32_t volatile i = 0; i < ctx.options().spins;) i = i + 1;
    if (number == ctx.options().count / 2 && fails(ctx, t, phase == 0 ? at::first_phase : at::second_phase))
      return;
    auto const count = ctx.input<"numbers">().about.count;
    for (auto i = number * items_each; i < (number + 1) * items_each && i < count; ++i)
      if (phase == 0)
        to[i] = from[i];
      else
        to[i] += ctx.options().by;
  }
  RONDO_HD void process(streams::stage_context<tiled_adder>& ctx, streams::tick const& t) {
    static_cast<void>(fails(ctx, t, at::process));
  }
};

/// Passes frames on, and takes long on one device.
struct fussy {
  using ports = streams::ports<streams::in<"numbers", numbers>, streams::out<"numbers", numbers, "numbers">>;
  struct options {
    std::uint32_t slow_on = 0;
    std::uint32_t fails = 0;  // always
  };
  RONDO_HD void process(streams::stage_context<fussy>& ctx, streams::tick const&) {
    if (ctx.options().fails != 0) return ctx.fail();
    if (ctx.device() == ctx.options().slow_on)
      for (std::uint32_t volatile i = 0; i < 2'000'000;) i = i + 1;
    ctx.pass<"numbers">();
  }
};

/// Counts frames in its scratch memory.
template <class Self>
struct counts_frames {
  using ports = streams::ports<streams::in<"numbers", numbers>>;
  struct options {
    std::uint64_t scratch_bytes = 8;
  };
  static void spec(options const& o, streams::spec_of<Self>& s) { s.scratch(o.scratch_bytes); }
  RONDO_HD void process(streams::stage_context<Self>& ctx, streams::tick const&) {
    ++*reinterpret_cast<std::uint64_t*>(ctx.scratch());
  }
  RONDO_HD void on_stop(streams::stage_context<Self>& ctx) {
    ctx.log(log_level::info, "found {} 0 0 0", *reinterpret_cast<std::uint64_t const*>(ctx.scratch()));
  }
};
struct tally : counts_frames<tally> {};
struct next_tally : counts_frames<next_tally> {
  using upgrades = tally;
};
struct other_tally : counts_frames<other_tally> {};
struct unlisted_tally : counts_frames<unlisted_tally> {};  // in no module

/// Works with what it has opened on the host.
struct desk {
  using ports = tally::ports;
  static constexpr auto where = streams::works::on_host;
  struct options {
    std::uint64_t number = 0;
    atomic<std::uint64_t>* open = nullptr;       // so many are
    atomic<std::uint64_t>* last_used = nullptr;  // its number
  };
  struct host {
    explicit host(options const& o) : of(o) {
      if (o.number == 13) throw std::runtime_error("there is no number 13");
      of.open->fetch_add(1, memory_order::relaxed);
    }
    ~host() { of.open->fetch_sub(1, memory_order::relaxed); }
    options of;
  };
  void process(streams::stage_context<desk>& ctx, streams::tick const&) {
    auto const& at = ctx.host();
    at.of.last_used->store(at.of.number, memory_order::relaxed);
  }
};

/// What a source says of its frames, in the host's memory.
struct board {
  atomic<std::uint64_t> passed{0};    // frames before this number were passed on
  atomic<std::uint64_t> complete{0};  // those before this number are complete
};

/// As counter, and says on a board how far it is.
struct announcer {
  using ports = counter::ports;
  struct options {
    board* on = nullptr;
    std::uint32_t fails_every = 0;  // at these ticks, once
  };
  static void spec(options const&, streams::spec_of<announcer>& s) { s.out<"numbers">({16}); }
  std::uint32_t calls = 0;

  RONDO_HD void process(streams::stage_context<announcer>& ctx, streams::tick const& t) {
    auto const& o = ctx.options();
    o.on->passed.store(t.number, memory_order::release);
    if (o.fails_every != 0 && t.number % o.fails_every == 1 && calls != 0) return ctx.fail();
    ++calls;
    auto const to = ctx.output<"numbers">({16});
    if (!to) return;
    for (std::uint32_t i = 0; i < 16; ++i) items(to.data)[i] = static_cast<std::uint32_t>(t.number) + i;
    o.on->complete.store(t.number + 1, memory_order::release);
  }
};

/// Reads the newest frame of an announcer, and compares it with what the board said before it looked for the frame.
struct follower {
  using ports = streams::ports<streams::in<"numbers", numbers, streams::delivery::latest>>;
  struct options {
    board* on = nullptr;
    std::uint32_t fails_every = 0;  // frames, once
    std::uint32_t spins = 0;
  };
  struct memory {
    std::uint64_t frames, too_old, behind, passed, complete;
  };
  static void spec(options const&, streams::spec_of<follower>& s) { s.scratch(sizeof(memory)); }
  std::uint32_t calls = 0;

  RONDO_HD void process(streams::stage_context<follower>& ctx, streams::tick const&) {
    auto const& o = ctx.options();
    auto& m = *reinterpret_cast<memory*>(ctx.scratch());
    auto const f = ctx.input<"numbers">();
    if (f.number + 1 < m.passed) ++m.too_old;   // a newer one was there
    if (f.number + 2 < m.complete) ++m.behind;  // by more than one tick
    for (std::uint32_t volatile i = 0; i < o.spins;) i = i + 1;
    // What it gets next, at another attempt, too, was looked for later.
    m.passed = o.on->passed.load(memory_order::acquire);
    m.complete = o.on->complete.load(memory_order::acquire);
    if (o.fails_every != 0 && m.frames % o.fails_every == 1 && calls != 0) return ctx.fail();
    ++calls;
    ++m.frames;
  }
  RONDO_HD void on_stop(streams::stage_context<follower>& ctx) {
    auto const& m = *reinterpret_cast<memory const*>(ctx.scratch());
    ctx.log(log_level::info, "found {} {} {} {}", m.frames, m.too_old, m.behind, 0u);
  }
};

struct numbers_to_device : streams::to_device<numbers, "numbers"> {};
struct numbers_to_host : streams::to_host<numbers, "numbers"> {};

RONDO_STAGES(test_stages, tiled_adder, numbers_to_device, numbers_to_host, counter, adder, checker,
             wide_adder, fussy, announcer, follower, tally, next_tally, other_tally, desk, stillborn)

}  // namespace stream_test
