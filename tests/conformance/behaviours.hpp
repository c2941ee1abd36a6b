// The behaviours of the conformance suite: one module with every kind of handler, and the messages that drive it.
//
// Messages may carry pointers to words that every device can access (in_reach.hpp). A handler reports results to a test
// through these words, never through the actor's state.
#pragma once

#include "kernels/actor/module.hpp"
#include "tests/conformance/channel.hpp"
#include "tests/conformance/editor.hpp"
#include "tests/conformance/exclusive.hpp"
#include "tests/conformance/logger.hpp"
#include "tests/conformance/own_mail.hpp"
#include "tests/conformance/portable.hpp"
#include "tests/conformance/relatives.hpp"
#include "tests/conformance/routing.hpp"
#include "tests/conformance/rows.hpp"
#include "tests/conformance/scaler.hpp"
#include "tests/conformance/stash.hpp"
#include "tests/conformance/states.hpp"
#include "tests/conformance/thrower.hpp"
#include "tests/conformance/width.hpp"

namespace conformance {

using std::uint32_t;
using std::uint64_t;

/// How often starters have started, and how many starts must fail: on_start has no message that could carry a pointer.
struct start_book {
  word starts{}, to_fail{}, failed{};
};
#if defined(__CUDACC__)
static __constant__ start_book* device_start_book;
#endif
inline start_book* host_start_book = nullptr;
RONDO_HD inline start_book& the_start_book() noexcept {
#if defined(__CUDA_ARCH__)
  return *device_start_book;
#else
  return *host_start_book;
#endif
}
/// Makes all devices use this book; call it before any of them starts.
void set_start_book(start_book& book);

// -- messages

struct add {
  uint64_t amount;
};
struct get {};
struct total {
  uint64_t value;
};
/// The handler waits at the gate.
struct hold {
  gate* at;
};
/// Appended to a journal.
struct entry {
  uint32_t value;
};
struct read_from {
  uint32_t first;
};
struct page {
  uint32_t total, count;
  uint32_t values[20];
};
/// The `sequence`-th message of `sender` at one priority.
struct note {
  uint32_t sender, level, sequence;
};
/// Counts handled notes, and those that arrived out of order.
struct tally {
  uint64_t handled, disorder;
};
/// Writes the next number of `clock` to `at`.
struct mark {
  word* clock;
  word* at;
};
struct boom {};
/// Fails until the counter behind `tried` reaches `times`.
struct fail_first {
  word* tried;
  uint32_t times;
};
struct work {
  word* handled;
  uint32_t fails;
};
struct later {};
struct settle {
  uint64_t value;
};
struct relay {
  rondo::actor_id to;
  uint64_t amount;
};
struct consult {
  rondo::actor_id whom;
  uint64_t amount;
};
/// Sends a `reminder` to itself after the delay.
struct remind {
  uint64_t delay_us, amount;
  word* early;
};
/// Adds one to `early` if it is handled before `due_ns` on the device's clock.
struct reminder {
  uint64_t due_ns, amount;
  word* early;
};
/// Sends `count` notes to an `orderly` actor.
struct dictate {
  rondo::actor_id to;
  uint32_t sender, level, count;
};
struct sample {
  uint64_t value;
};
struct dot {
  uint32_t count, seed;
};
struct dot_result {
  uint64_t exact;
  double real;
};
struct wide_dot {
  uint32_t tiles, per_tile, seed;
};
struct full_size {
  unsigned char bytes[96];
};
struct silence {};

// -- behaviours

struct adder {
  using messages =
      rondo::messages<add, hold, boom, mark, fail_first, full_size, remind, reminder, work,
                      rondo::ask<get, total>, rondo::ask<later, total>, settle, rondo::ask<silence, total>>;
  uint64_t sum = 0;
  rondo::reply_token waiting{};

  RONDO_HD void on(rondo::context&, add const& m) { sum += m.amount; }
  RONDO_HD void on(rondo::context& ctx, get const&) { ctx.reply(total{sum}); }
  RONDO_HD void on(rondo::context& ctx, hold const& m) {
    m.at->pass();
    ctx.reply(total{sum});
  }
  RONDO_HD void on(rondo::context& ctx, boom const&) {
    ++sum;  // must not survive the restart
    ctx.fail();
  }
  RONDO_HD void on(rondo::context&, mark const& m) {
    m.at->store(m.clock->fetch_add(1, rondo::memory_order::acq_rel) + 1, rondo::memory_order::release);
  }
  RONDO_HD void on(rondo::context& ctx, fail_first const& m) {
    if (m.tried->fetch_add(1, rondo::memory_order::acq_rel) < m.times) ctx.fail();
  }
  RONDO_HD void on(rondo::context&, full_size const& m) {
    for (auto b : m.bytes) sum += b;
  }
  RONDO_HD void on(rondo::context& ctx, remind const& m) {
    ctx.tell_later(m.delay_us, ctx.self_as<adder>(),
                   reminder{ctx.now_ns() + m.delay_us * 1000, m.amount, m.early});
  }
  RONDO_HD void on(rondo::context& ctx, reminder const& m) {
    if (ctx.now_ns() < m.due_ns) m.early->fetch_add(1, rondo::memory_order::relaxed);
    sum += m.amount;
  }
  RONDO_HD void on(rondo::context& ctx, work const& m) {
    if (m.fails != 0) return ctx.fail();
    m.handled->fetch_add(1, rondo::memory_order::relaxed);
    ctx.reply(total{1});
  }
  RONDO_HD void on(rondo::context& ctx, later const&) { waiting = ctx.defer(); }
  RONDO_HD void on(rondo::context& ctx, settle const& m) { ctx.reply_to(waiting, total{m.value}); }
  RONDO_HD void on(rondo::context&, silence const&) {}
};

/// Counts its starts in the start book, because each restart resets its state.
struct starter {
  using messages = rondo::messages<boom, rondo::ask<get, total>>;
  uint64_t started = 0;

  RONDO_HD void on_start(rondo::context& ctx) {
    ++started;
    auto& book = the_start_book();
    book.starts.fetch_add(1, rondo::memory_order::release);
    if (book.failed.load(rondo::memory_order::relaxed) >= book.to_fail.load(rondo::memory_order::acquire))
      return;
    book.failed.fetch_add(1, rondo::memory_order::relaxed);
    ctx.fail();
  }
  RONDO_HD void on(rondo::context& ctx, boom const&) { ctx.fail(); }
  RONDO_HD void on(rondo::context& ctx, get const&) { ctx.reply(total{started}); }
};

/// Remembers the order of its entries.
struct journal {
  using messages = rondo::messages<entry, hold, rondo::ask<read_from, page>>;
  static constexpr uint32_t capacity = 1024;
  uint32_t count = 0;
  uint32_t values[capacity] = {};

  RONDO_HD void on(rondo::context&, entry const& m) {
    if (count < capacity) values[count++] = m.value;
  }
  RONDO_HD void on(rondo::context&, hold const& m) { m.at->pass(); }
  RONDO_HD void on(rondo::context& ctx, read_from const& m) {
    page p{count, 0, {}};
    while (p.count < 20 && m.first + p.count < count) {
      p.values[p.count] = values[m.first + p.count];
      ++p.count;
    }
    ctx.reply(p);
  }
};

/// Checks that the notes of each sender and level arrive in order.
struct orderly {
  using messages = rondo::messages<note, hold, rondo::ask<get, tally>>;
  uint32_t next[16][4] = {};
  uint64_t handled = 0, disorder = 0;

  RONDO_HD void on(rondo::context&, note const& m) {
    auto& expected = next[m.sender & 15][m.level & 3];
    if (m.sequence != expected) ++disorder;
    expected = m.sequence + 1;
    ++handled;
  }
  RONDO_HD void on(rondo::context&, hold const& m) { m.at->pass(); }
  RONDO_HD void on(rondo::context& ctx, get const&) { ctx.reply(tally{handled, disorder}); }
};

RONDO_HD constexpr std::uint8_t note_priority(uint32_t level) noexcept {
  constexpr std::uint8_t of_level[] = {10, 128, 129, 250};
  return of_level[level & 3];
}

/// Sends to other actors; asks them on behalf of its askers.
struct messenger {
  using messages = rondo::messages<relay, dictate, total, rondo::rejected, rondo::ask<consult, total>>;
  rondo::reply_token asker{};

  RONDO_HD void on(rondo::context& ctx, relay const& m) {
    if (ctx.tell(rondo::address<adder>{m.to}, add{m.amount}) != rondo::errc::ok) ctx.fail();
  }
  RONDO_HD void on(rondo::context& ctx, dictate const& m) {
    for (uint32_t i = 0; i < m.count; ++i)
      if (ctx.tell(rondo::address<orderly>{m.to}, note{m.sender, m.level, i},
                   {.priority = note_priority(m.level)}) != rondo::errc::ok)
        ctx.fail();
  }
  RONDO_HD void on(rondo::context& ctx, consult const& m) {
    asker = ctx.defer();
    auto const refused = m.amount == 0 ? ctx.ask(rondo::address<adder>{m.whom}, silence{}, 7)
                                       : ctx.ask(rondo::address<adder>{m.whom}, get{}, 7);
    if (refused != rondo::errc::ok) ctx.reply_to(asker, total{~0ull});
  }
  RONDO_HD void on(rondo::context& ctx, total const& m) {
    ctx.reply_to(asker, total{m.value + ctx.header().correlation});
  }
  RONDO_HD void on(rondo::context& ctx, rondo::rejected const& m) {
    ctx.reply_to(asker, total{1000 + static_cast<uint64_t>(m.reason)});
  }
};

/// Sends notes to an orderly actor, and waits when that has no room.
struct feed {
  rondo::actor_id to;
  uint32_t sender, count;
};
struct feeder_report {
  uint32_t left, rooms, gone;
};
struct feeder {
  using messages = rondo::messages<feed, rondo::room, rondo::ask<get, feeder_report>>;
  rondo::address<orderly> to{};
  uint32_t sender = 0, next = 0, count = 0, rooms = 0, gone = 0;

  RONDO_HD void on(rondo::context& ctx, feed const& m) {
    to = {m.to};
    sender = m.sender;
    count = m.count;
    send(ctx);
  }
  RONDO_HD void on(rondo::context& ctx, rondo::room const&) {
    ++rooms;
    send(ctx);
  }
  RONDO_HD void send(rondo::context& ctx) {
    for (; next < count; ++next) {
      auto const refused = ctx.tell(to, note{sender, 1, next});
      if (refused == rondo::errc::mailbox_full) return ctx.when_room(to);
      if (refused != rondo::errc::ok) ++gone, next = count;
    }
  }
  RONDO_HD void on(rondo::context& ctx, get const&) { ctx.reply(feeder_report{count - next, rooms, gone}); }
};

/// Passes notes on to an orderly actor, in order; stashes them while that has no room.
struct pass_to {
  rondo::actor_id to;
};
struct note_relay {
  using messages = rondo::messages<pass_to, note, rondo::room>;
  rondo::address<orderly> to{};
  uint32_t waits = 0;

  RONDO_HD void on(rondo::context&, pass_to const& m) { to = {m.to}; }
  RONDO_HD void on(rondo::context& ctx, note const& m) {
    if (waits == 0 && ctx.tell(to, m, {.priority = ctx.header().priority}) != rondo::errc::mailbox_full)
      return;
    if (waits == 0) ctx.when_room(to);
    waits = 1;
    ctx.stash();
  }
  RONDO_HD void on(rondo::context& ctx, rondo::room const&) {
    waits = 0;
    ctx.unstash();
  }
};

/// Takes samples in batches.
struct batcher {
  using messages = rondo::messages<sample, hold, rondo::ask<get, tally>>;
  uint64_t sum = 0, calls = 0;

  RONDO_HD void on(rondo::context&, rondo::batch<sample> const& samples) {
    ++calls;
    for (auto const& s : samples) sum += s.value;
  }
  RONDO_HD void on(rondo::context&, hold const& m) { m.at->pass(); }
  RONDO_HD void on(rondo::context& ctx, get const&) { ctx.reply(tally{sum, calls}); }
};

/// Pseudo-random but equal on every device; small enough that the exact sum cannot overflow.
RONDO_HD constexpr uint64_t term(uint32_t i, uint32_t seed) noexcept {
  uint64_t x = (uint64_t{i} + 1) * 0x9e37'79b9'7f4a'7c15ull + seed;
  x ^= x >> 29;
  return (x * 0xbf58'476d'1ce4'e5b9ull) >> 40;
}
RONDO_HD constexpr double real_term(uint32_t i, uint32_t seed) noexcept {
  return 1.0 / (1.0 + static_cast<double>(term(i, seed)));
}

/// All lanes of a team run one handler together.
struct lanes_together {
  using messages = rondo::messages<rondo::ask<dot, dot_result>, boom, rondo::ask<get, total>>;
  static constexpr auto width = rondo::width::whole_team;
  uint64_t calls = 0;

  RONDO_HD void on(rondo::context& ctx, dot const& m) {
    uint64_t exact = 0;
    double real = 0;
    for (auto i : ctx.lanes(m.count)) {
      exact += term(i, m.seed);
      real += real_term(i, m.seed);
    }
    exact = ctx.team().sum(exact);
    real = ctx.team().sum(real);
    if (ctx.team().leader()) ++calls;
    ctx.reply(dot_result{exact, real});
  }
  RONDO_HD void on(rondo::context& ctx, boom const&) {
    if (ctx.team().lane() == ctx.team().lanes() - 1) ctx.fail();  // any lane may fail
  }
  RONDO_HD void on(rondo::context& ctx, get const&) { ctx.reply(total{calls}); }
};

/// Wide messages: many teams share the tiles of one.
struct wide {
  using messages = rondo::messages<rondo::ask<wide_dot, dot_result>, rondo::ask<get, total>>;
  uint64_t exact = 0, done = 0;

  RONDO_HD uint32_t tiles(rondo::context&, wide_dot const& m) {
    exact = 0;
    return m.tiles;
  }
  RONDO_HD void tile(rondo::context&, wide_dot const& m, uint32_t t) {
    uint64_t part = 0;
    for (uint32_t i = 0; i < m.per_tile; ++i) part += term(t * m.per_tile + i, m.seed);
    rondo::as_atomic(exact).fetch_add(part, rondo::memory_order::relaxed);
  }
  RONDO_HD void finish(rondo::context& ctx, wide_dot const&) {
    ++done;
    ctx.reply(dot_result{exact, 0});
  }
  RONDO_HD void on(rondo::context& ctx, get const&) { ctx.reply(total{done}); }
};

RONDO_MODULE(testbed, adder, starter, journal, orderly, messenger, batcher, lanes_together, wide, exclusive,
             editor, scaler, walker, walkers_together, forgetful, feeder, worker, in_turn, at_random,
             to_idlest, to_owner, to_all, job_topics, inquirer, picky, thrower, throwers_together,
             throws_at_start, throws_when_made, liar, brittle, note_relay, relative, one_office, all_office,
             rest_office, logger, loggers_together, porter, porters_together, stashes_at_start, valve,
             valve_together, tick_channel, tick_source, table_of_rows, number_keeper, number_source, account,
             token_ring, choosy, choosy_of_batches, guest, host_of_guests)

}  // namespace conformance
