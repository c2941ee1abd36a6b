// The small protocols inside a kernel: counters that others read, lanes that synchronise, tiles that teams share.
#include "kernels/base/counters.hpp"
#include "kernels/base/team.hpp"
#include "kernels/mail/wide_job.hpp"
#include "tests/model/scenarios.hpp"

namespace model {

using namespace rondo;

namespace {

// -- totals

actor_totals moment(std::uint32_t n) {
  return {.accepted = n,
          .handled = n,
          .rejected = n,
          .dead = n,
          .failures = n,
          .latency_sum_ns = n,
          .latency_samples = n,
          .peak_depth = n};
}

void totals_are_of_one_moment(execution& x) {
  auto& totals = x.shared<published_totals>();
  x.thread("owner", [&] {
    for (std::uint32_t n = 1; n <= 2; ++n) {
      totals.publish(moment(n));
      x.require(totals.own().handled == n && totals.own().peak_depth == n, "the owner sees its own");
    }
  });
  x.thread("reader", [&] {
    std::uint32_t last = 0;
    for (int i = 0; i < 2; ++i) {
      actor_totals t;
      if (!totals.try_read(t)) continue;
      auto const n = static_cast<std::uint32_t>(t.accepted);
      x.require(t.handled == n && t.rejected == n && t.dead == n && t.failures == n &&
                    t.latency_sum_ns == n && t.latency_samples == n && t.peak_depth == n,
                "a reader sees one moment");
      x.require(n >= last, "time does not run backwards");
      last = n;
    }
  });
  x.run();
  actor_totals t;
  x.require(totals.try_read(t) && t.accepted == 2, "what was published last stands");
}

// -- teams

/// Lanes write plain memory, synchronise, and read the others' writes; repeatedly, with the same words.
void lanes_meet(execution& x, std::uint32_t lanes) {
  static constexpr char const* names[] = {"lane 0", "lane 1", "lane 2"};
  auto& shared = x.shared<team_shared>();
  auto* const written = reinterpret_cast<std::uint32_t*>(x.memory(lanes * 64, 64));
  for (std::uint32_t l = 0; l < lanes; ++l)
    x.thread(names[l], [&x, &shared, written, l, lanes] {
      team const t{0, l, lanes, shared};
      for (std::uint32_t round = 1; round <= 2; ++round) {
        written[l * 16] = round;
        t.sync();
        for (std::uint32_t other = 0; other < lanes; ++other)
          x.require(written[other * 16] == round, "after a sync, all lanes have done what came before it");
        t.sync();
      }
    });
  x.run();
}
void two_lanes_meet(execution& x) { lanes_meet(x, 2); }
void three_lanes_meet(execution& x) { lanes_meet(x, 3); }

void lanes_agree(execution& x) {
  static constexpr char const* names[] = {"lane 0", "lane 1", "lane 2"};
  auto& shared = x.shared<team_shared>();
  for (std::uint32_t l = 0; l < 3; ++l)
    x.thread(names[l], [&x, &shared, l] {
      team const t{0, l, 3, shared};
      x.require(t.broadcast(10 + l, 1) == 11, "all lanes get the value of one");
      x.require(t.sum(1u << l) == 7, "all lanes get the sum");
      x.require(t.any(l == 2) && !t.all(l == 2), "all lanes agree");
    });
  x.run();
}

// -- wide jobs

/// The results of a message's tiles; not atomic, read by the last finisher.
struct work_sheet {
  static constexpr std::uint32_t tiles = 2;
  std::uint32_t done[tiles];
  std::uint32_t finished;
};

struct wide_world {
  wide_job job;
  work_sheet sheets[2];  // by message
  atomic<std::uint32_t> ended;
};

/// Runs one claimed tile; the thread that runs the last one ends the job.
void run_tile(execution& x, wide_world& w, std::uint32_t tile) {
  auto& sheet = w.sheets[w.job.ticket];
  x.require(w.job.actor == 100 + w.job.ticket, "the fields are those of one message");
  x.require(tile < work_sheet::tiles && sheet.done[tile]++ == 0, "each tile runs once");
  if (!w.job.finish_one()) return;
  for (auto const done : sheet.done) x.require(done == 1, "the last finisher sees all tiles");
  ++sheet.finished;
  w.job.release();
  w.ended.fetch_add(1, memory_order::relaxed);
}

/// Two owners have one message each and share one job; a helper takes tiles of either.
void tiles_are_shared(execution& x) {
  auto& w = x.shared<wide_world>();
  for (std::uint32_t m = 0; m < 2; ++m)
    x.thread(m == 0 ? "owner 0" : "owner 1", [&w, &x, m] {
      while (!w.job.try_own()) relax();
      w.job.actor = 100 + m;
      w.job.ticket = m;
      auto const epoch = w.job.open(work_sheet::tiles);
      std::uint32_t tile = 0;
      while (w.job.try_claim_of(epoch, tile)) {
        x.require(w.job.ticket == m, "an owner claims tiles of its own message only");
        run_tile(x, w, tile);
      }
    });
  x.thread("helper", [&] {
    std::uint32_t tile = 0;
    for (int looks = 0; looks < 3 && w.ended.load(memory_order::relaxed) < 2; ++looks)
      while (w.job.try_claim(tile)) run_tile(x, w, tile);
  });
  x.run();
  for (auto const& sheet : w.sheets) x.require(sheet.finished == 1, "each message ends once");
}

}  // namespace

std::vector<scenario> small_scenarios() {
  return {
      {"totals", "a reader sees one moment of the counters, and never an earlier one than before",
       totals_are_of_one_moment, bounds{2, 1, 1}, bounds{2, 1}},
      {"team_sync", "after a sync two lanes see each other's writes, time and again", two_lanes_meet,
       bounds{2, 1}, bounds{1, 1}},
      {"team_sync_of_three", "the same with three lanes", three_lanes_meet, bounds{2, 0}, bounds{1, 1}},
      {"team_values", "three lanes broadcast and reduce, and agree", lanes_agree, bounds{1, 1}, bounds{1, 0}},
      {"wide_job", "each tile runs once, the last finisher sees all, and nobody touches a successor",
       tiles_are_shared, bounds{2, 1, 1}, bounds{2, 1}},
  };
}

}  // namespace model
