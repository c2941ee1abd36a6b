// The lines of a far route: messages that have come back, runs of orphans, and the verdicts of mailboxes.
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/system_executor.hpp>

#include <algorithm>
#include <utility>

#include "kernels/base/clock.hpp"
#include "runtime/messaging/mail_lines.hpp"

namespace rondo {

void mail_lines::take_back(outgoing m, returned_mail about) {
  {
    std::lock_guard lock(mutex_);
    if (!closed()) {
      mail_epoch const in{about.epoch};
      auto const at = lines_.try_emplace({m.to, in.reserved()}).first;
      line& l = at->second;
      bool const is_new = l.waiting_messages.empty();
      l.full = true;
      make_obstacle(at);  // before the epoch changes: see terms_for
      add_returned(l, about.resent != 0 && l.run != 0 ? l.returned : l.waiting_messages, m, about.count);
      if (about.resent == 2) return;  // its verdict follows, and its epoch goes on
      l.settled = false;
      auto& epoch = mailboxes_[cell_of(m.to)].epochs[in.reserved()];
      if (epoch.load(memory_order::relaxed) == in.bits)
        epoch.store(in.next().bits, memory_order::release);  // see terms_for
      if (is_new) try_later(at->first, l);  // otherwise its turn comes after a verdict, or at the next try
      return;
    }
  }
  undelivered_(m, closed_for());
}

/// Behind those that have come back before. `count`: as in returned_mail.
void mail_lines::add_returned(line& l, messages& to, outgoing const& m, std::uint32_t count) {
  bool const waits = &to == &l.waiting_messages;
  auto const behind = !waits ? to.end() : l.last_returned ? std::next(*l.last_returned) : to.begin();
  if (count != 0) {
    auto const w =
        to.insert(behind, {.m = m, .awaits_room = true, .orphan = true, .returned = true, .count = count});
    if (waits) l.count(*w), l.last_returned = w;
  }
  if (count == 1 || behind == to.begin()) return;
  auto& batch = std::prev(behind)->batch;
  batch.insert(batch.end(), m.body.payload, m.body.payload + m.body.bytes);
}

/// On a far route. Ok: on_verdict will be called.
errc mail_lines::send_for_verdict(line_key key, line& l, waiting& w, far_terms terms) {
  // On the system executor it runs where the event is received, so at a safepoint all verdicts are known.
  answer_handler on_event(boost::asio::bind_executor(
      boost::asio::system_executor(), [this, key](answer const& a) { on_verdict(key, a.reason); }));
  auto const ack = completions_.open(on_event, 0);
  if (!ack && w.orphan && ack.error() == errc::ask_limit) return errc::device_busy;
  if (!ack) return static_cast<errc>(ack.error().value());
  terms.ack = *ack;
  l.epoch = terms.epoch;
  auto const outcome = send(w, terms);
  answer_handler unused;
  // If it cannot be withdrawn, the runtime's end has completed it.
  if (outcome != errc::ok && completions_.withdraw(*ack, unused)) return outcome;
  w.in_transit = l.awaits_verdict = true;
  return errc::ok;
}

/// On a far route, whose first message is an orphan: sends it, or continues the run that has begun. Ok: on_verdict will
/// be called.
errc mail_lines::send_run(line_key key, line& l) {
  auto& all = l.waiting_messages;
  if (l.run == 0) l.epoch = epoch_of(key);
  auto const begun = run_of(l);
  for (auto next = begun.empty() ? all.begin() : std::next(begun.back());; ++next, ++l.run) {
    if (!next->is_whole()) return errc::device_busy;
    auto const after = std::next(next);
    bool const goes_on = l.run + 1 < l.longest_run && after != all.end() && after->orphan &&
                         after->is_whole() && (l.settled || after->returned);
    far_terms const terms{.how = post_order::resent, .epoch = l.epoch};
    auto const outcome = goes_on ? send(*next, terms) : send_for_verdict(key, l, *next, terms);
    if (outcome != errc::ok) return outcome;
    next->in_transit = true;
    if (!goes_on) return ++l.run, errc::ok;
  }
}

/// The messages of the run, in their order. They are close to the line's begin: only what has come back is before them.
std::vector<mail_lines::messages::iterator> mail_lines::run_of(line& l) {
  std::vector<messages::iterator> all;
  for (auto w = l.waiting_messages.begin(); all.size() < l.run; ++w)
    if (w->in_transit) all.push_back(w);
  return all;
}

/// What has come back of the run waits again: usually its end, so it takes the places of that, between which others may
/// have returned. The rest is in the mailbox, or the device reports its end.
void mail_lines::end_run(line& l) {
  auto const run = run_of(l);
  for (auto at = run.rbegin(); at != run.rend(); ++at) {
    auto const w = *at;
    if (l.returned.empty()) {
      l.let_go(w);
      l.waiting_messages.erase(w);
      continue;
    }
    l.uncount(*w);
    auto& back = l.returned.back();
    w->m = back.m;
    w->count = back.count;
    w->batch.swap(back.batch);
    w->in_transit = false;
    l.count(*w);
    l.returned.pop_back();
  }
  l.run = 0;
}

/// The device has told what became of the run, or tells the outcome of the one message in transit.
void mail_lines::on_verdict(line_key key, errc verdict) {
  messages ended;
  {
    std::lock_guard lock(mutex_);
    auto const at = lines_.find(key);
    if (at == lines_.end()) return;  // it was closed
    line& l = at->second;
    auto& all = l.waiting_messages;
    auto const taken = l.run - static_cast<std::uint32_t>(l.returned.size());
    bool again = !l.returned.empty(), stays = again;
    l.settled = l.settled || l.epoch == epoch_of(key);
    l.full = again || verdict == errc::mailbox_full || !l.settled;
    l.awaits_verdict = false;
    if (l.run != 0) {
      end_run(l);
    } else {  // one message alone, behind what has come back
      auto const judged = std::ranges::find(all, true, &waiting::in_transit);
      judged->in_transit = false;
      again = verdict == errc::mailbox_full || verdict == errc::device_busy;
      stays = again && judged->deadline_ns > now_ns();
      if (!stays) leave(l, judged, again ? errc::timed_out : verdict, ended);
    }
    l.longest_run = l.full ? std::max(taken, 1u) : std::min(2 * l.longest_run, run_limit);
    if (!stays || taken != 0) l.pause = line{}.pause;
    if (!again) {
      advance(at, ended);
    } else {
      if (l.full) fail_unable_to_wait(l, ended);
      all.empty() ? void(close_up(at)) : try_later(key, l);
    }
  }
  end(ended);
}

/// A mailbox is full: messages whose senders do not wait for room fail.
void mail_lines::fail_unable_to_wait(line& l, messages& ended) {
  for (auto next = l.waiting_messages.begin(); l.unable_to_wait != 0;)
    if (auto const w = next++; !w->awaits_room) leave(l, w, errc::mailbox_full, ended);
}

}  // namespace rondo
