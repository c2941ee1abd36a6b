#include "runtime/messaging/mail_lines.hpp"

#include <boost/asio/associated_cancellation_slot.hpp>

#include <algorithm>
#include <utility>

#include "runtime/messaging/deliver.hpp"

namespace rondo {

namespace {

bool is_ask(message_header const& h) noexcept {
  return (h.flags & flag_wants_reply) != 0 && (h.reply_to.index & host_ask_bit) != 0;
}

/// Calls f(outgoing) for each message of a batch, as far as it has come back, or for the one message.
template <class Waiting, class F>
void for_each(Waiting const& w, F f) {
  outgoing m = w.m;
  auto const count = w.count == 1 ? 1 : w.batch.size() / m.body.bytes;
  for (std::size_t i = 0; i < count; ++i) {
    if (w.count != 1) __builtin_memcpy(m.body.payload, w.batch.data() + i * m.body.bytes, m.body.bytes);
    f(m);
  }
}

}  // namespace

// -- into a line, and out of it without the mailbox

mail_lines::waiting mail_lines::entry_of(mail_view const& mail) {
  waiting w{.m = {.to = mail.to, .body = {}}, .count = mail.count};
  w.m.body.header = mail.header;
  w.m.body.bytes = mail.bytes;
  auto const* payload = static_cast<std::byte const*>(mail.payloads);
  if (mail.count == 1) __builtin_memcpy(w.m.body.payload, payload, mail.bytes);
  for (std::uint32_t i = 0; mail.count != 1 && i < mail.count; ++i, payload += mail.stride)
    w.batch.insert(w.batch.end(), payload, payload + mail.bytes);
  return w;
}

void mail_lines::wait_for_room(mail_view const& mail, answer_handler handler) {
  messages ended;
  {
    std::lock_guard lock(mutex_);
    if (closed()) return finish(std::move(handler), closed_for());
    auto slot = boost::asio::get_associated_cancellation_slot(handler);
    auto w = entry_of(mail);
    w.awaits_room = true;
    w.handler.swap(handler);  // not assigned: see completions.cpp
    if (slot.is_connected() || mail.header.deadline != 0) w.number = ++last_number_;
    if (auto const& h = mail.header; h.deadline != 0) {
      auto const now = now_ns(), limit = h.deadline_ns(), age = h.age_ns(now);
      w.deadline_ns = age < limit ? now + (limit - age) : now;
      deadlines_.emplace(w.deadline_ns, w.number);
      expect(w.deadline_ns);
    }
    if (slot.is_connected())
      slot.assign([this, number = w.number](boost::asio::cancellation_type) { cancel(number); });
    enqueue(std::move(w), ended);
  }
  end(ended);
}

void mail_lines::wait_for_room(mail_view const& request) {
  messages ended;
  {
    std::lock_guard lock(mutex_);
    if (closed()) return;  // its ask has been completed
    auto w = entry_of(request);
    w.awaits_room = true;
    enqueue(std::move(w), ended);
  }
  end(ended);
}

/// Whether the message is the request of an ask that was answered, cancelled, or timed out.
bool mail_lines::is_over(waiting const& w) const noexcept {
  return !w.orphan && !w.ack.valid() && is_ask(w.m.body.header) &&
         !completions_.is_waiting(w.m.body.header.reply_to);
}

/// Those that are over leave. Precondition: the caller holds mutex_.
void mail_lines::purge(line& l, messages& ended) {
  auto& all = l.waiting_messages;
  if (all.size() < l.purge_at) return;
  for (auto next = all.begin(); next != all.end();)
    if (auto const w = next++; !w->in_transit && is_over(*w)) leave(l, w, errc::ok, ended);
  l.purge_at = std::max(line{}.purge_at, 2 * all.size());
}

/// Precondition: the caller holds mutex_.
void mail_lines::push(line& l, waiting w) {
  l.waiting_messages.push_back(std::move(w));
  l.count(l.waiting_messages.back());
}

/// Into `ended`. Precondition: the caller holds mutex_.
void mail_lines::leave(line& l, messages::iterator w, errc outcome, messages& ended) {
  l.let_go(w);
  if (w->number != 0) {
    numbered_.erase(w->number);
    deadlines_.erase({w->deadline_ns, w->number});
  }
  w->outcome = outcome;
  ended.splice(ended.end(), l.waiting_messages, w);
}

void mail_lines::cancel(std::uint64_t number) {
  messages ended;
  {
    std::lock_guard lock(mutex_);
    auto const found = numbered_.find(number);
    if (found == numbered_.end() || found->second.message->in_transit) return;
    auto const at = found->second.line;
    leave(at->second, found->second.message, errc::cancelled, ended);
    close_up(at);
  }
  end(ended);
}

/// Precondition: the caller holds mutex_.
void mail_lines::expect(std::uint64_t deadline_ns) {
  if (deadline_ns >= nearest_deadline_ns_) return;
  nearest_deadline_ns_ = deadline_ns;
  auto const now = now_ns();
  deadline_timer_.expires_after(std::chrono::nanoseconds(deadline_ns > now ? deadline_ns - now : 0));
  deadline_timer_.async_wait([this](boost::system::error_code ec) {
    if (!ec) expire();
  });
}

/// Messages whose deadline has passed leave their lines. Of one in transit, the verdict decides.
void mail_lines::expire() {
  messages ended;
  {
    std::lock_guard lock(mutex_);
    nearest_deadline_ns_ = ~0ull;
    auto const now = now_ns();
    while (!deadlines_.empty() && deadlines_.begin()->first <= now) {
      auto const [at, message] = numbered_.at(deadlines_.begin()->second);
      deadlines_.erase(deadlines_.begin());
      if (message->in_transit) continue;
      leave(at->second, message, errc::timed_out, ended);
      close_up(at);
    }
    if (!deadlines_.empty()) expect(deadlines_.begin()->first);
  }
  end(ended);
}

/// Removes a line if it is empty.
void mail_lines::close_up(lines::iterator at) {
  if (!at->second.waiting_messages.empty()) return;
  if (at->second.is_obstacle) obstacles_.remove_line(at->first.to.index);
  lines_.erase(at);
}

/// Precondition: the caller holds mutex_; `w` awaits room.
void mail_lines::enqueue(waiting w, messages& ended) {
  auto const at = lines_.try_emplace(key_of(w.m)).first;
  auto& queue = at->second.waiting_messages;
  // Into the line first: on_room may be called at any time after the mailbox was found full.
  auto const number = w.number;
  push(at->second, std::move(w));
  if (number != 0) numbered_.emplace(number, place{at, std::prev(queue.end())});
  bool const is_first = queue.size() == 1;
  purge(at->second, ended);
  if (queue.empty()) return close_up(at);
  if (route_.is_near() || is_first)
    advance(at, ended);  // otherwise its turn comes after the first one's verdict
}

void mail_lines::forward(outgoing m) {
  messages ended;
  auto refused = errc::ok;
  {
    std::lock_guard lock(mutex_);
    auto const at = lines_.find(key_of(m));
    if (closed())
      refused = closed_for();
    else if (at != lines_.end() && at->second.waiting_messages.size() >= line_limit)
      refused = errc::mailbox_full;
    else
      enqueue({.m = m, .awaits_room = true, .orphan = true}, ended);
  }
  if (refused != errc::ok) return undelivered_(m, refused);
  end(ended);
}

void mail_lines::put_back(outgoing const& m) {
  messages ended;
  {
    std::lock_guard lock(mutex_);
    if (!closed()) enqueue({.m = m, .awaits_room = true, .orphan = true}, ended);
  }
  end(ended);
}

std::vector<outgoing> mail_lines::orphans(std::unique_lock<std::mutex>& held) {
  std::vector<outgoing> all;
  held = std::unique_lock(mutex_);
  for (auto& [key, l] : lines_) {
    end_run(l);  // one whose last message was not sent, because the route had no room or the lines were held
    for (auto const& w : l.waiting_messages)
      if (w.orphan && !w.late) for_each(w, [&](outgoing const& m) { all.push_back(m); });
  }
  return all;
}

void mail_lines::hold() {
  std::lock_guard lock(mutex_);
  held_ = !route_.is_near();  // a near route is told the outcome of a message as it takes it
}

void mail_lines::release() {
  messages ended;
  {
    std::lock_guard lock(mutex_);
    if (!std::exchange(held_, false)) return;
    for (auto next = lines_.begin(); next != lines_.end();) {
      auto const at = next++;  // it may end
      for (auto& w : at->second.waiting_messages) w.late = false;
      if (!at->second.awaits_verdict) advance(at, ended);
    }
  }
  end(ended);
}

std::size_t mail_lines::count_orphans() const {
  std::size_t all = 0;
  std::lock_guard lock(mutex_);
  for (auto const& [key, l] : lines_)
    for (auto const& w : l.waiting_messages) all += w.orphan ? w.count : 0;
  return all;
}

void mail_lines::wait_for_route(mail_view const& mail, actor_id ack) {
  std::lock_guard lock(mutex_);
  if (closed()) return;  // its ask has been completed
  auto const at = lines_.try_emplace(key_of(mail)).first;
  auto& all = at->second.waiting_messages;
  auto w = entry_of(mail);
  w.ack = ack;
  push(at->second, std::move(w));
  if (all.size() != 1) return;
  make_obstacle(at);
  try_later(at->first, at->second);
}

std::optional<errc> mail_lines::join(mail_view const& mail, actor_id ack) {
  if (closed()) return closed_for();
  if (!obstacles_.may_have_line(mail.to.index)) return {};
  std::lock_guard lock(mutex_);
  auto const at = lines_.find(key_of(mail));
  if (at == lines_.end()) return {};
  line& l = at->second;
  // A sender that has another priority may have sent a message that is yet to come back.
  if (l.full && !route_.is_near()) return errc::mailbox_full;
  if (!l.by_priority.contains(mail.header.priority)) return {};
  if (l.full) return errc::mailbox_full;
  if (l.waiting_messages.size() >= line_limit) return errc::device_busy;
  if (mail.bytes > max_payload_bytes) return errc::payload_too_large;
  if (!route_.takes(mail.count)) return errc::batch_too_large;
  auto w = entry_of(mail);
  w.ack = ack;
  w.awaits_room = w.orphan = !ack.valid() && !is_ask(mail.header);
  w.late = held_;
  push(l, std::move(w));
  return errc::ok;
}

errc mail_lines::send(waiting const& w, far_terms const& terms) const {
  auto const& body = w.m.body;
  return route_.post({w.m.to, body.header, w.payloads(), body.bytes, body.bytes, w.count}, terms, true);
}

/// Sends the first message of a line, and on a far route perhaps others. Ok on a far route: it is in transit, and if it
/// awaits room, on_verdict will be called.
errc mail_lines::send_first(line_key key, line& l) {
  auto& first = l.waiting_messages.front();
  if (closed()) return closed_for();
  if (route_.is_near()) {
    auto const outcome = send(first, {});
    return outcome == errc::arena_full && first.orphan ? errc::device_busy : outcome;
  }
  if (first.orphan) return send_run(key, l);
  auto const terms = terms_for(first.m.to, first.m.body.header.priority, first.ack);
  return first.awaits_room ? send_for_verdict(key, l, first, terms) : send(first, terms);
}

/// Sends as many messages of a line as possible. Precondition: the caller holds mutex_, and no verdict is awaited.
void mail_lines::advance(lines::iterator at, messages& ended) {
  line& l = at->second;
  auto& all = l.waiting_messages;
  bool const near = route_.is_near();
  if (held_ && !all.empty()) return make_obstacle(at);  // release continues
  while (!all.empty()) {
    if (l.run == 0 && is_over(all.front())) {
      leave(l, all.begin(), errc::ok, ended);
      continue;
    }
    auto const outcome = send_first(at->first, l);
    if (outcome == errc::device_busy) return make_obstacle(at), try_later(at->first, l);
    if (near && outcome == errc::mailbox_full) return l.full = true, make_obstacle(at);  // on_room continues
    if (!near && outcome == errc::ok) {
      if (l.awaits_verdict) return make_obstacle(at);
      leave(l, all.begin(), errc::ok, ended);  // the device reports its outcome
      continue;
    }
    if (l.run != 0) return;  // closed: close() ends the line
    leave(l, all.begin(), outcome, ended);
  }
  close_up(at);
}

/// Makes senders that do not wait check the line. Precondition: the caller holds mutex_.
void mail_lines::make_obstacle(lines::iterator at) {
  if (!std::exchange(at->second.is_obstacle, true)) obstacles_.add_line(at->first.to.index);
}

void mail_lines::resume(line_key key) {
  messages ended;
  {
    std::lock_guard lock(mutex_);
    if (auto const at = lines_.find(key); at != lines_.end() && !at->second.awaits_verdict)
      advance(at, ended);
  }
  end(ended);
}

void mail_lines::on_room(actor_id actor) {
  if (route_.is_near())
    for (bool const reserved : {true, false})
      resume({actor, reserved});  // on a far route the first message is in transit or will be retried
}

/// A far device does not report room, so this retries after a pause that grows to a millisecond.
void mail_lines::try_later(line_key key, line& l) {
  if (!l.timer) l.timer = std::make_unique<boost::asio::steady_timer>(executor_);
  l.timer->expires_after(l.pause);
  l.pause = std::min(l.pause * 2, std::chrono::microseconds{1000});
  l.timer->async_wait([this, key](boost::system::error_code ec) {
    if (!ec) resume(key);
  });
}

void mail_lines::finish(answer_handler handler, errc reason) {
  deliver_later(executor_, std::move(handler), answer{reason, {}});
}

/// Reports the outcomes of messages that have left their lines. Precondition: the caller does not hold mutex_.
void mail_lines::end(messages& ended) {
  for (auto& w : ended) {
    if (w.handler)
      finish(std::move(w.handler), w.outcome);
    else if (w.outcome == errc::ok)
      continue;  // it is in the mailbox, which an ack has heard, and an ask's answer is to come
    else if (w.orphan)
      for_each(w, [&](outgoing const& m) { undelivered_(m, w.outcome); });
    else
      completions_.complete(w.ack.valid() ? w.ack : w.m.body.header.reply_to, w.outcome, nullptr,
                            completer::initiator);
  }
}

errc mail_lines::close(errc reason) {
  reason = obstacles_.close(reason);
  messages ended;
  {
    std::lock_guard lock(mutex_);
    for (auto& [key, l] : lines_) {
      auto& all = l.waiting_messages;
      end_run(l);
      for (auto& w : all) w.outcome = reason;
      ended.splice(ended.end(), all);
      if (l.is_obstacle) obstacles_.remove_line(key.to.index);
    }
    lines_.clear();
    numbered_.clear();
    deadlines_.clear();
  }
  end(ended);
  return reason;
}

}  // namespace rondo
