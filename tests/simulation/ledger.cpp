#include "tests/simulation/ledger.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "runtime/base/errc.hpp"

namespace simulation {

using rondo::errc;

ledger& ledger::get() noexcept {
  static ledger& only = *new ledger;
  return only;
}

void ledger::fail(char const* guarantee, letter const& m, std::string const& what) const {
  world::get().fail(fmt::format("{}: message {} (operation {}) to life {}: {}", guarantee, m.number,
                                m.operation, m.life, what));
}

// -- senders

std::uint32_t ledger::write(std::uint32_t to_life, std::uint32_t sender, manner how, operation const& o,
                            std::uint32_t together) {
  letter m;
  m.number = static_cast<std::uint32_t>(letters.size());
  m.life = to_life;
  m.sender = sender;
  m.operation = o.number;
  m.how = how;
  m.priority = o.priority;
  m.fails = o.fails;
  m.work = o.work;
  m.together = together;
  m.begun = world::get().steps();
  m.deadline_us = o.deadline_us;
  if (to_life != nobody) m.pending_before = lives[to_life].last_run + (lives[to_life].has_dead ? 1 : 0);
  letters.push_back(m);
  return m.number;
}

void ledger::sent(std::uint32_t number) {
  letter& m = letters[number];
  m.returned = world::get().steps();
  if (m.deadline_us != 0) m.limit_ns = world::get().now_ns() + std::uint64_t{m.deadline_us} * 1000;
}

void ledger::told(std::uint32_t number, errc outcome) {
  letter& m = letters[number];
  world::get().note(fmt::format("  message {} to life {}: {}", number, m.life, rondo::name_of(outcome)));
  ++counts[std::string("outcome ") + rondo::name_of(outcome)];
  m.outcome = outcome;
  m.told_at = world::get().steps();
  m.returned = std::min(m.returned, m.told_at);
  if (++m.outcomes > 1) fail("G12", m, "its sender was told twice what became of it");
  bool const at_once = !of->emulated() || m.how == manner::awaited || m.how == manner::patient ||
                       m.how == manner::sent || m.how == manner::requested;
  if (outcome == errc::ok && m.how != manner::asked && at_once) m.committed = m.told_at;
  if (outcome == errc::mailbox_full) check_full(m);
  if (outcome == errc::mailbox_full && m.how == manner::patient)
    fail("G5", m, "it waits for room, and was told that there is none");
}

/// G5: at some moment since the message was sent, the mailbox must have been full, as far as its host had heard.
void ledger::check_full(letter const& m) const {
  constexpr std::uint64_t longest_way = 50'000;  // of a verdict to the host, in steps
  life const& l = lives[m.life];
  if (l.has_answers) return;
  for (auto const& other : letters) {
    auto const is_over =
        of->emulated() && other.finished != never ? other.finished + longest_way : other.finished;
    if (other.life != m.life || other.number == m.number || is_over < m.begun) continue;
    if (other.how == manner::patient && other.told_at >= m.begun)
      return;  // nobody overtakes a message that waits for room
    // Nor one that has come back from a device with its own memory, because there was no room for it, or no free mail
    // block, until the host has heard that it was taken. Blocks that are enough may be short for a moment, while
    // threads hold some.
    bool const blocks_lack = of->settings.mail_blocks != 0 || counts.contains("outcome arena_full");
    bool const found_none = most_since(other) > l.how.capacity || blocks_lack;
    // The one whose call began later may have been submitted first.
    if (of->emulated() && other.begun < m.told_at && found_none) return;
  }
  if (auto const most = most_since(m); most < l.how.capacity)
    fail("G5", m,
         fmt::format("its mailbox was said to be full with at most {} of {} messages", most, l.how.capacity));
}

/// The most messages, without this one, that may have been in its mailbox since it was sent.
std::uint64_t ledger::most_since(letter const& m) const {
  std::uint64_t most = m.pending_before;
  for (auto const& other : letters) {
    if (other.life != m.life || other.number == m.number || other.finished < m.begun) continue;
    most += !was_turned_away(other) || other.told_at >= m.begun;
  }
  return most;
}

// -- lives

std::uint32_t ledger::born(rondo::actor_id id, std::uint32_t place, place_plan const& how) {
  life l;
  l.id = id;
  l.place = place;
  l.how = how;
  l.paused = !how.starts_active;
  if (find(id) != nobody) world::get().fail("G7: two lives have one id");
  lives.push_back(l);
  return static_cast<std::uint32_t>(lives.size() - 1);
}

std::uint32_t ledger::find(rondo::actor_id id) const {
  for (std::uint32_t i = 0; i < lives.size(); ++i)
    if (lives[i].id == id) return i;
  return nobody;
}

// -- handlers

bool ledger::enter(rondo::actor_id self, std::uint32_t number, std::uint32_t runs, std::uint32_t in_batch) {
  auto& w = world::get();
  if (number >= letters.size()) w.fail("G1: a handler got a message that nobody has sent");
  letter& m = letters[number];
  auto const index = find(self);
  if (index == nobody) fail("G7", m, "a handler runs in an actor that was not launched");
  life& l = lives[index];
  w.note(fmt::format("life {} begins with message {}", index, number));
  if (m.life != index) fail("G7", m, fmt::format("it came to life {}", index));
  resume(m);
  if (l.inside != nobody && letters[l.inside].tile_failed && letters[l.inside].tiles_inside == 0) {
    // A wide message whose tiles have failed has not been left yet: nobody has reported its end.
    auto const left = l.left, left_ns = l.left_ns;
    leave(self, l.inside, true);
    l.left = left;
    l.left_ns = left_ns;
  }
  if (l.inside != nobody) fail("G4", m, fmt::format("a handler of message {} runs already", l.inside));
  if (m.handled != 0) fail("G1", m, "it was handled before");
  if (m.dead != 0) fail("G1", m, "it was a dead letter before");
  if (l.paused) fail("G8", m, "it is handled by an actor that is deactivated");
  if (l.gone) fail("G8", m, "it is handled by an actor that has terminated");
  if (++m.attempts > l.how.poison_after)
    fail("G9", m, fmt::format("it is tried for the {}th time", m.attempts));
  if (of->faults.fail_handler == 0 && runs != l.runs)
    fail("G9", m, fmt::format("its actor's state says {} runs, not {}", runs, l.runs));
  if (m.limit_ns != never && m.limit_ns + 2000 < l.left_ns && of->order.skew_ppm == 0)
    fail("G12", m, "it is handled, but its deadline passed before the handler before it ended");
  if (in_batch == 0) check_priority(m, l);
  if (m.attempts == 1) count_overtakes(m, l);
  l.inside = number;
  l.has_dead = false;
  ++counts["handlers"];
  return m.attempts <= m.fails;
}

/// Whether `m` may have been in the mailbox behind a message that was still being written, where no pick could see it.
bool ledger::may_hide(letter const& earlier, letter const& m) const {
  bool const by_actor = earlier.how == manner::sent || earlier.how == manner::requested;
  if (of->emulated() && !by_actor) return m.how == manner::sent || m.how == manner::requested;
  return earlier.life == m.life && earlier.begun < m.committed && earlier.returned > lives[m.life].left;
}

bool ledger::may_be_dead(letter const& m, life const& l) const {
  // A far device finds out that a batch is too large, and its subscriber hears of that later.
  return m.together > l.how.capacity || m.deadline_us != 0 ||
         m.attempts + (of->faults.fail_handler != 0 ? 1 : 0) >= l.how.poison_after;
}

/// G3: when the last handler ended, nothing more urgent was certainly in the mailbox.
void ledger::check_priority(letter const& m, life const& l) const {
  if (of->settings.starvation_limit < 1'000'000) return;
  if (l.has_answers) return;  // an answer that is being written may hide the messages behind it
  for (auto const& other : letters) {
    if (other.life != m.life || other.priority <= m.priority || other.finished != never) continue;
    if (other.committed == never || other.committed >= l.left) continue;
    if (may_be_dead(other, l)) continue;
    if (std::ranges::any_of(letters, [&](letter const& earlier) { return may_hide(earlier, other); }))
      continue;
    fail("G3", m,
         fmt::format("it is handled at priority {} while message {} of priority {} waits", m.priority,
                     other.number, other.priority));
  }
}

/// G3: limits how many later messages are handled before an earlier one. While a message is the oldest, at most as many
/// as the starvation limit overtake it; before that, each older one may wait as long.
void ledger::count_overtakes(letter const& m, life const& l) {
  auto const most = std::uint64_t{l.how.capacity} * (of->settings.starvation_limit + 1);
  for (auto& other : letters) {
    if (other.life != m.life || other.finished != never || other.committed >= m.begun) continue;
    if (other.number != m.number && !may_be_dead(other, l) && ++other.overtaken > most)
      fail("G3", other, fmt::format("{} messages that came later are handled before it", other.overtaken));
  }
}

void ledger::leave(rondo::actor_id self, std::uint32_t number, bool failed, std::uint32_t in_batch) {
  auto& w = world::get();
  letter& m = letters[number];
  life& l = lives[find(self)];
  w.note(fmt::format("life {} {} message {}", m.life, failed ? "fails with" : "has handled", number));
  if (l.inside != number) fail("G4", m, "another handler of its actor has begun meanwhile");
  l.inside = nobody;
  l.last_run = in_batch + 1;
  l.left = w.steps();
  l.left_ns = w.now_ns();
  if (failed) {
    l.runs = 0;
    ++counts["failures"];
    return;
  }
  ++l.runs;
  ++l.handled;
  m.finished = w.steps();
  if (++m.handled > 1) fail("G1", m, "it was handled twice");
}

void ledger::begin_tiles(std::uint32_t number, std::uint32_t tiles) {
  letters[number].tile_runs.assign(tiles, 0);
  letters[number].tile_failed = false;
}

void ledger::begin_tile(rondo::actor_id self, std::uint32_t number, std::uint32_t t) {
  letter& m = letters[number];
  if (lives[find(self)].inside != number) fail("G4", m, "one of its tiles runs, but its message does not");
  if (t >= m.tile_runs.size()) fail("G4", m, "a tile runs that it does not have");
  if (m.tile_runs[t]++ != 0) fail("G4", m, fmt::format("its tile {} runs twice", t));
  ++m.tiles_inside;
  ++counts["tiles"];
}

void ledger::end_tile(std::uint32_t number, bool failed) {
  --letters[number].tiles_inside;
  letters[number].tile_failed = letters[number].tile_failed || failed;
}

void ledger::handle_answer(rondo::actor_id self) {
  life& l = lives[find(self)];
  if (l.inside != nobody && !letters[l.inside].tile_failed)
    fail("G4", letters[l.inside], "its handler runs, and that of an answer");
  ++l.handled;
  ++counts["answers to actors"];
}

/// A message that waited in the first runtime's host when that stopped goes on in the second one: the checkpoint has
/// it.
void ledger::resume(letter& m) const {
  if (!restored || m.dead == 0 || m.why_dead != errc::stopped) return;
  m.dead = 0;
  m.finished = never;
}

void ledger::dead_letter(std::uint32_t number, rondo::actor_id to, errc why) {
  if (number >= letters.size()) world::get().fail("G1: a dead letter that nobody has sent");
  letter& m = letters[number];
  world::get().note(fmt::format("message {} is a dead letter: {}", number, rondo::name_of(why)));
  ++counts[std::string("dead ") + rondo::name_of(why)];
  if (m.life != find(to)) fail("G7", m, fmt::format("it is a dead letter of life {}", find(to)));
  if (m.life != nobody) lives[m.life].has_dead = true;
  if (m.handled != 0) fail("G1", m, "it was handled, and is a dead letter");
  resume(m);
  m.why_dead = why;
  m.finished = std::min(m.finished, world::get().steps());
  if (++m.dead > 1) fail("G1", m, "it is a dead letter twice");
}

}  // namespace simulation
