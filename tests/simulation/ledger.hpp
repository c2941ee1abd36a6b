// Records what happened to each message and actor of a simulated run, as reported by senders, handlers and dead
// letters. Some checks are made at once, the rest at the end (audit.cpp).
//
// Threads: any; one runs at a time.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "kernels/base/message.hpp"
#include "kernels/base/status.hpp"
#include "tests/simulation/plan.hpp"

namespace simulation {

inline constexpr std::uint32_t nobody = ~0u;

/// How a message was sent.
enum class manner : std::uint8_t {
  told,     // try_tell
  awaited,  // a tell that reports its outcome
  patient,  // the same, with wait_for_room
  asked,
  sent,       // by an actor
  requested,  // by an actor that gets an answer: `rejected` if it is not handled, which is not in the ledger
  later,      // by a timer: not ordered with other messages
};

struct letter {
  std::uint32_t number = 0, life = nobody;
  std::uint32_t sender = 0;  // the number of a thread, or 1000 + the life of an actor
  std::uint32_t operation = 0;
  manner how{};
  std::uint8_t priority = 128, fails = 0;
  std::uint32_t work = 0;
  std::uint32_t together = 1;  // messages of its batch
  std::uint32_t deadline_us = 0;
  std::uint64_t limit_ns = never;            // the latest possible deadline; known once it was sent
  std::uint64_t begun = 0, told_at = never;  // steps: when it was sent, when its outcome arrived
  std::uint64_t returned = never;            // step: when the call that sent it returned
  std::uint64_t committed = never,
                finished = never;  // steps: when it was certainly in the mailbox, and certainly out of it
  std::uint32_t outcomes = 0;      // how often its outcome was reported to the sender
  rondo::errc outcome = rondo::errc::ok;
  std::uint32_t attempts = 0, handled = 0, dead = 0;
  rondo::errc why_dead = rondo::errc::ok;
  std::uint32_t pending_before =
      0;  // messages that ended before it was sent, and whose slots may not have been free yet
  std::vector<std::uint8_t> tile_runs;  // of a wide message, in this attempt
  std::uint32_t tiles_inside = 0;
  std::uint64_t overtaken = 0;
  bool tile_failed = false;
};

/// One life of an actor.
struct life {
  rondo::actor_id id{};
  std::uint32_t place = 0;
  place_plan how;
  bool paused = false;        // certainly
  std::uint32_t wakes = 0;    // activations and terminations that have begun
  std::uint32_t waking = 0;   // ... and have not completed
  bool gone = false;          // its termination has completed
  bool name_is_free = false;  // and this has been reported
  bool discarded = false;     // by a caller
  bool has_answers =
      false;  // its mailbox holds answers of other actors or ticks, which are not in the ledger
  std::uint32_t inside = nobody;  // the letter that its handler is handling
  std::uint64_t left = 0;         // step: when the last handler ended
  std::uint64_t left_ns = 0;
  std::uint64_t handled = 0;
  std::uint32_t last_run = 0;  // messages in the last handler call
  bool has_dead = false;       // a message died after that; its slot is released after the report
  std::uint32_t runs = 0;      // handlers run since its state was constructed

  bool may_end_itself() const { return how.rule != 0 || how.max_restarts < 1000; }
};

/// Whether a message with this end was never in a mailbox.
constexpr bool refuses(rondo::errc e) noexcept {
  using enum rondo::errc;
  return e == mailbox_full || e == arena_full || e == actor_gone || e == device_busy || e == ask_limit ||
         e == payload_too_large || e == batch_too_large;
}

/// Whether its sender was told that it never was in a mailbox.
inline bool was_turned_away(letter const& m) noexcept {
  bool const left_its_line = m.how == manner::patient && m.outcome == rondo::errc::timed_out;
  return m.outcomes != 0 && (refuses(m.outcome) || left_its_line);
}

class ledger {
 public:
  static ledger& get() noexcept;

  plan const* of = nullptr;
  std::vector<letter> letters;
  std::vector<life> lives;
  std::map<std::string, std::uint64_t> counts;  // the number of occurrences by name, for coverage
  bool restored =
      false;           // messages that were on their way in the first runtime, and not in a mailbox, are gone
  bool ended = false;  // the device was lost, or the runtime closed: mail may stay in mailboxes

  // -- senders
  std::uint32_t write(std::uint32_t to_life, std::uint32_t sender, manner how, operation const& o,
                      std::uint32_t together = 1);
  /// The call that sent it has returned.
  void sent(std::uint32_t number);
  /// The mailbox's answer to a sender, or the answer to an ask.
  void told(std::uint32_t number, rondo::errc outcome);

  // -- actors' lives
  std::uint32_t born(rondo::actor_id id, std::uint32_t place, place_plan const& how);
  std::uint32_t find(rondo::actor_id id) const;

  // -- handlers
  /// Returns whether the handler must fail. `runs`: the number in the actor's state. `in_batch`: how many messages of
  /// the same batch came before it.
  bool enter(rondo::actor_id self, std::uint32_t number, std::uint32_t runs, std::uint32_t in_batch = 0);
  void leave(rondo::actor_id self, std::uint32_t number, bool failed, std::uint32_t in_batch = 0);
  void begin_tiles(std::uint32_t number, std::uint32_t tiles);
  void begin_tile(rondo::actor_id self, std::uint32_t number, std::uint32_t tile);
  void end_tile(std::uint32_t number, bool failed);
  /// Handles a message that is not in the ledger: an answer to an actor.
  void handle_answer(rondo::actor_id self);

  void dead_letter(std::uint32_t number, rondo::actor_id to, rondo::errc why);

  /// Whether the report that it will not be handled (again) may be on its way: it is late, or has failed too often. An
  /// injected fault is an attempt that no handler has seen.
  bool may_be_dead(letter const& m, life const& l) const;

 private:
  void check_full(letter const& m) const;
  std::uint64_t most_since(letter const& m) const;
  void resume(letter& m) const;
  bool may_hide(letter const& earlier, letter const& m) const;
  void count_overtakes(letter const& m, life const& l);
  void check_priority(letter const& m, life const& l) const;
  [[noreturn]] void fail(char const* guarantee, letter const& m, std::string const& what) const;
};

}  // namespace simulation
