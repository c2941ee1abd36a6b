// The plan that a seed determines: a configuration, a schedule, faults, and the operations of each host thread.
//
// Operations are drawn before the run and do not depend on each other, so a failing plan can be shortened by leaving
// some out. Threads: none.
#pragma once

#include <string>
#include <vector>

#include "runtime/device/emulated/emulation.hpp"
#include "tests/simulation/world.hpp"

namespace simulation {

enum class action : std::uint8_t {
  tell,           // without waiting
  tell_awaited,   // waits for the mailbox's answer
  tell_patient,   // with wait_for_room; the thread continues
  tell_batch,     // several in one call
  ask,            // the thread continues
  ask_blocking,   // the thread waits
  ask_cancelled,  // and cancelled soon after
  spread,         // a wide message
  sing,           // a message for all lanes
  forward,        // an actor asks another one, then answers
  consult,        // an actor sends a message to itself later
  remind,         // an actor sends to itself later
  repeat,         // a timer sends for a while
  launch,         // in a place without a living actor
  drain,          // terminate; waiting mail is handled
  discard,        // terminate; waiting mail is dead-lettered
  deactivate,
  activate,
  inspect,
  snapshot,
  tell_predecessor,  // to the actor that was in this place before
  checkpoint,
  hold_down,  // the submission ring is not read for a while
  hold_up,    // the completion ring is not read for a while
  rest,       // the thread sleeps
  lose,       // the device is lost
  stop,       // the runtime is stopped
  count
};
char const* name_of(action a) noexcept;

struct operation {
  std::uint32_t number = 0;  // in the plan
  action what{};
  std::uint8_t thread = 0, place = 0, other = 0;  // one place holds one actor after another
  std::uint8_t priority = 128;
  std::uint8_t fails = 0;         // how many attempts to handle it fail
  std::uint32_t count = 1;        // messages, tiles
  std::uint32_t work = 0;         // iterations of a handler's loop
  std::uint32_t deadline_us = 0;  // 0: none
  std::uint32_t pause_us = 0;     // before it, or of the operation itself
};
std::string to_text(operation const& o);

/// How the actor in a place is launched.
struct place_plan {
  std::uint32_t capacity = 8;
  bool pinned = false, starts_active = true;
  std::uint8_t poison_after = 3;
  std::uint8_t rule = 0;  // rondo::on_failure
  std::uint16_t max_restarts = 60'000;
};

struct plan {
  std::uint64_t seed = 1;
  rondo::config settings;
  rondo::fault_plan faults;
  schedule order;
  std::uint32_t threads = 1;
  bool restarts = false;        // from a checkpoint, at the end
  bool leaves_at_once = false;  // destroys the runtime as soon as it has stopped
  std::vector<place_plan> places;
  std::vector<operation> operations;

  bool emulated() const { return settings.device == "emulated"; }
};

plan draw_plan(std::uint64_t seed);
/// The names of the plan's kinds of fault, for `leave_out`.
std::vector<std::string> faults_of(plan const& p);
/// Removes one kind of fault.
void leave_out(plan& p, std::string const& fault);
std::string to_text(plan const& p);

}  // namespace simulation
