#include "tests/simulation/audit.hpp"

#include <fmt/format.h>

#include <map>

#include "runtime/base/errc.hpp"
#include "tests/simulation/behaviours.hpp"

namespace simulation {

using rondo::errc;

namespace {

[[noreturn]] void fail(std::string const& text) { world::get().fail(text); }
[[noreturn]] void fail(char const* guarantee, letter const& m, std::string const& what) {
  fail(fmt::format("{}: message {} (operation {}) to life {}: {}", guarantee, m.number, m.operation, m.life,
                   what));
}

bool was_never_in(letter const& m) { return was_turned_away(m) || (m.dead != 0 && refuses(m.why_dead)); }
/// Whether it was refused, or may have been in a mailbox that was cut off.
bool refused(errc e) { return refuses(e) || e == errc::stopped || e == errc::device_lost; }
bool was_refused(letter const& m) {
  return was_turned_away(m) || (m.outcomes != 0 && refused(m.outcome)) ||
         (m.dead != 0 && refused(m.why_dead));
}
/// Whether its sender gets the outcome; for other messages a dead letter reports it.
bool is_answered(letter const& m) { return m.how == manner::asked; }

bool has_ended(ledger const& l, letter const& m) {
  auto const& life = l.lives[m.life];
  if (m.how == manner::requested && (life.gone || life.may_end_itself() || l.of->faults.fail_handler != 0))
    return true;
  if (m.how == manner::later && l.restored) return true;
  return m.handled != 0 || m.dead != 0 || was_refused(m) || (is_answered(m) && m.outcomes != 0);
}

}  // namespace

std::string what_is_missing(ledger const& l, rondo::telemetry const& t) {
  for (auto const& m : l.letters)
    if (!has_ended(l, m) || (m.how != manner::later && m.outcomes == 0))
      return fmt::format("message {} (operation {}) to life {} has not ended", m.number, m.operation, m.life);
  if (t.waiting != 0) return fmt::format("{} messages wait in mailboxes", t.waiting);
  if (!t.conserved()) return "the counters are not conserved";
  if (t.asks_waiting != 0) return fmt::format("{} asks wait", t.asks_waiting);
  return {};
}

std::string what_disagrees(ledger const& l, rondo::telemetry const& t) {
  std::uint64_t handled_of_gone = 0;
  std::vector<bool> seen(l.lives.size());
  for (auto const& a : t.actors) {
    auto const index = l.find({a.now.index, a.now.generation});
    if (index == nobody) fail("G7: a living actor that was not launched");
    seen[index] = true;
    auto const& n = a.now.totals;
    auto const& life = l.lives[index];
    auto const who = fmt::format("life {} ({} accepted, {} handled, {} rejected, {} dead, {} wait)", index,
                                 n.accepted, n.handled, n.rejected, n.dead, a.now.waiting);
    if (n.accepted != n.handled + n.rejected + n.dead + a.now.waiting) return "the counters of " + who;
    if (n.handled != life.handled) return fmt::format("{}; its handlers say {}", who, life.handled);
    std::uint64_t least = 0, dead = 0;
    for (auto const& m : l.letters) {
      if (m.life != index || was_never_in(m)) continue;
      least += m.handled != 0 || m.dead != 0 || m.committed != never;
      dead += m.dead;
    }
    if (n.accepted < least) return fmt::format("{}; it had at least {}", who, least);
    if (!life.has_answers && n.dead != dead) return fmt::format("{}; {} dead letters came", who, dead);
  }
  for (std::size_t i = 0; i < seen.size(); ++i)
    if (!seen[i]) handled_of_gone += l.lives[i].handled;
  if (t.retired.handled != handled_of_gone)
    return fmt::format("actors that are gone have handled {}, their counters say {}", handled_of_gone,
                       t.retired.handled);
  return {};
}

namespace {

/// G2, and for each message that the outcome reported to its sender is what happened.
void check_letter(ledger const& l, letter const& m, bool complete) {
  bool const done = m.handled != 0;
  if (was_turned_away(m) && complete) {
    if (done)
      fail("G5", m, std::string("it was handled, but its sender was told ") + rondo::name_of(m.outcome));
    if (m.dead != 0)
      fail("G5", m, std::string("it is a dead letter, but its sender was told ") + rondo::name_of(m.outcome));
  }
  if (m.how == manner::asked) {
    bool const says_handled = m.outcome == errc::ok || m.outcome == errc::no_reply;
    bool const says_not =
        m.outcome == errc::handler_failed || m.outcome == errc::quarantined || m.outcome == errc::terminated;
    if (m.outcomes == 1 && says_handled && !done) fail("G1", m, "it was answered, but not handled");
    if (m.outcomes == 1 && says_not && !l.ended && done)
      fail("G9", m, std::string("it was handled, but its sender was told ") + rondo::name_of(m.outcome));
    if (m.dead != 0 && !l.restored) fail("G1", m, "it is an ask, and a dead letter");
    if (m.outcome == errc::timed_out && m.deadline_us == 0)
      fail("G12", m, "it timed out, but has no deadline");
  }
  if (m.dead == 0) return;
  bool const from_host = m.how == manner::told || m.how == manner::awaited || m.how == manner::patient;
  if (from_host && (m.why_dead == errc::mailbox_full || m.why_dead == errc::arena_full))
    fail("G5", m, "it was accepted, and is dead for want of room");
  auto const& life = l.lives[m.life];
  if (m.why_dead == errc::timed_out && m.deadline_us == 0)
    fail("G12", m, "it is dead for a deadline that it has not");
  if (m.why_dead == errc::quarantined && m.fails == 0 && l.of->faults.fail_handler == 0)
    fail("G9", m, "it is quarantined, but has never failed");
  if (m.why_dead == errc::terminated && !life.discarded && life.how.rule == 0 && life.how.max_restarts > 1000)
    fail("G8", m, "it was discarded, but its actor was not");
}

}  // namespace

void check_letters(ledger const& l, bool complete) {
  std::map<std::tuple<std::uint32_t, std::uint32_t, std::uint8_t>, letter const*>
      last;  // by sender, life, priority
  for (auto const& m : l.letters) {
    check_letter(l, m, complete);
    if (m.handled == 0 || m.how == manner::later) continue;
    auto const*& before = last[{m.sender, m.life, m.priority}];
    if (before != nullptr && before->finished > m.finished)
      fail("G2", m,
           fmt::format("message {} of the same sender was sent before it, and handled after it",
                       before->number));
    before = &m;
  }
}

namespace {

/// Whether the ledger has no letter of it: an answer to an actor, or a tick.
bool is_unwritten(rondo::message const& body) {
  return body.header.type == rondo::type_id<answered> ||
         body.header.type == rondo::type_id<rondo::rejected> || body.header.type == rondo::type_id<tick>;
}

letter const& letter_of(ledger const& l, rondo::message const& body) {
  std::uint32_t number = 0;
  __builtin_memcpy(&number, body.payload, sizeof number);
  if (number >= l.letters.size()) fail("G1: a checkpoint has a message that nobody has sent");
  return l.letters[number];
}

/// Checks the mail of one actor, and adds it to `saved`, by number.
void check_mail(ledger const& l, rondo::saved_actor const& a, std::uint64_t begun, std::vector<bool>& saved) {
  auto const index = l.find(a.id);
  if (index == nobody) return;  // its launch has not returned
  if (a.totals.accepted != a.totals.handled + a.totals.rejected + a.totals.dead + a.mail.size())
    fail(fmt::format(
        "G1: in a checkpoint, life {} has accepted {}, but handled {}, rejected {}, {} are dead, {} wait",
        index, a.totals.accepted, a.totals.handled, a.totals.rejected, a.totals.dead, a.mail.size()));
  std::map<std::tuple<std::uint32_t, std::uint8_t>, std::uint32_t> last;  // by sender, priority
  for (auto const* part : {&a.mail, &a.arriving})
    for (auto const& s : *part) {
      if (is_unwritten(s.body)) continue;
      auto const& m = letter_of(l, s.body);
      if (m.life != index) fail("G7", m, fmt::format("a checkpoint has it in the mail of life {}", index));
      if (saved[m.number]) fail("G1", m, "it is twice in a checkpoint");
      saved[m.number] = true;
      if (m.finished < begun) fail("G1", m, "it had ended, and is in the mail of a checkpoint begun later");
      if (m.how == manner::later) continue;
      auto const [before, first] = last.try_emplace({m.sender, m.priority}, m.number);
      if (!first && before->second > m.number)
        fail("G2", m,
             fmt::format("in a checkpoint, message {} of the same sender is before it", before->second));
      before->second = m.number;
    }
}

}  // namespace

void check_checkpoint(ledger const& l, rondo::checkpoint_image const& image, std::uint64_t begun) {
  std::vector<bool> saved(l.letters.size()), lives(l.lives.size());
  for (auto const& a : image.actors) {
    check_mail(l, a, begun, saved);
    for (std::uint32_t i = 0; i <= a.followers.count(); ++i)
      if (auto const index = l.find(a.id_of(i)); index != nobody) lives[index] = true;
  }
  for (auto const& r : image.requests) {
    if (r.kind != rondo::event_kind::send_later || is_unwritten(r.body)) continue;
    auto const& m = letter_of(l, r.body);
    if (saved[m.number]) fail("G1", m, "it is twice in a checkpoint, once as a timer's");
    saved[m.number] = true;
  }
  for (auto const& m : l.letters) {
    bool const was_accepted = m.how != manner::asked && m.how != manner::requested &&
                              m.how != manner::later && m.outcomes != 0 && m.outcome == errc::ok &&
                              m.told_at < begun;
    if (!was_accepted || m.finished != never || m.life == nobody || !lives[m.life]) continue;
    auto const& life = l.lives[m.life];
    if (life.discarded || life.gone || life.may_end_itself() || l.may_be_dead(m, life)) continue;
    if (!saved[m.number]) fail("G1", m, "it was accepted, has not ended, and is not in the checkpoint");
  }
}

}  // namespace simulation
