// The actors of the checkpoint tests, and functions that start a runtime with them.
#pragma once

#include <atomic>
#include <memory>

#include "runtime/runtime.hpp"

namespace checkpoint_test {

inline constexpr std::uint32_t senders = 4;

/// The seq-th message of a sender, from 0.
struct item {
  std::uint32_t sender;
  std::uint64_t seq;
};
struct get_journal {};
struct journal_report {
  std::uint64_t next[senders];  // the next expected seq
  std::uint64_t taken, out_of_turn;
};

/// Takes items; counts items that were lost, duplicated or out of their sender's order.
struct journal {
  using messages = rondo::messages<item, rondo::ask<get_journal, journal_report>>;
  journal_report so_far{};

  RONDO_HD void on(rondo::context&, item const& m) {
    ++so_far.taken;
    if (m.seq != so_far.next[m.sender]) ++so_far.out_of_turn;
    so_far.next[m.sender] = m.seq + 1;
  }
  RONDO_HD void on(rondo::context& ctx, get_journal const&) { ctx.reply(so_far); }
};

struct mark {
  std::uint32_t id;
};
/// Holds its actor until `opened_gates` has reached `id`.
struct gate {
  std::uint32_t id;
};
/// Holds its actor until the teams are stopped.
struct until_stop {};
struct get_marks {};
struct mark_list {
  std::uint32_t count;
  std::uint32_t ids[20];
};
inline std::atomic<std::uint32_t> entered_gate{0}, opened_gates{0};

/// Records the order in which its mail is handled.
struct notebook {
  using messages = rondo::messages<mark, gate, until_stop, rondo::ask<get_marks, mark_list>>;
  mark_list notes{};

  RONDO_HD void on(rondo::context&, mark const& m) {
    if (notes.count < 20) notes.ids[notes.count++] = m.id;
  }
  void on(rondo::context&, gate const& g) {
    entered_gate = g.id;
    while (opened_gates < g.id) rondo::relax();
  }
  void on(rondo::context& ctx, until_stop const&) {
    entered_gate = ~0u;
    while (!ctx.sched().arena().stopping()) rondo::relax();
  }
  RONDO_HD void on(rondo::context& ctx, get_marks const&) { ctx.reply(notes); }
};

struct meet {
  rondo::address<journal> peer;
};
struct pass_on {
  item what;
};
struct ask_peer {};
struct get_answer {};
struct answer_seen {
  std::uint64_t taken;
  std::uint32_t answers, starts;
};
inline std::atomic<std::uint32_t> starts_in_this_process{0};

/// Keeps the address of a journal in its state, sends to it and asks it.
struct courier {
  using messages =
      rondo::messages<meet, pass_on, ask_peer, journal_report, rondo::ask<get_answer, answer_seen>>;
  rondo::address<journal> peer{};
  answer_seen seen{};

  void on_start(rondo::context&) {
    ++seen.starts;
    ++starts_in_this_process;
  }
  RONDO_HD void on(rondo::context&, meet const& m) { peer = m.peer; }
  RONDO_HD void on(rondo::context& ctx, pass_on const& m) { ctx.tell(peer, m.what); }
  RONDO_HD void on(rondo::context& ctx, ask_peer const&) { ctx.ask(peer, get_journal{}, 7); }
  RONDO_HD void on(rondo::context&, journal_report const& m) {
    seen.taken = m.taken;
    ++seen.answers;
  }
  RONDO_HD void on(rondo::context& ctx, get_answer const&) { ctx.reply(seen); }
};

/// A state of another size, for a different module.
struct other_journal {
  using messages = rondo::messages<item>;
  std::uint64_t sum = 0;
  RONDO_HD void on(rondo::context&, item const& m) { sum += m.seq; }
};

/// Few cells and one team, which is enough for these tests. Compiled once, because a module is slow to compile.
rondo::config small_config(std::string device = "cpu");
std::unique_ptr<rondo::runtime> start(rondo::config const& settings = small_config());
std::unique_ptr<rondo::runtime> start_other_module();
/// The descriptions of the modules.
std::vector<rondo::behaviour_info> describe();
/// The devices of this build with which these tests can create runtimes.
std::vector<std::string> devices();

}  // namespace checkpoint_test
