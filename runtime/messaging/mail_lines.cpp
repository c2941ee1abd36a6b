#include "runtime/messaging/mail_lines.hpp"

#include <boost/asio/bind_executor.hpp>
#include <boost/asio/system_executor.hpp>

#include <algorithm>
#include <utility>

#include "runtime/messaging/deliver.hpp"

namespace rondo {

namespace {

std::uint64_t key_of(actor_id id) noexcept { return std::uint64_t{id.index} << 32 | id.generation; }
std::uint32_t actor_of(std::uint64_t key) noexcept { return static_cast<std::uint32_t>(key >> 32); }

bool is_ask(message_header const& h) noexcept {
  return (h.flags & flag_wants_reply) != 0 && (h.reply_to.index & host_ask_bit) != 0;
}

}  // namespace

void mail_lines::wait_for_room(outgoing const& m, answer_handler handler) {
  messages ended;
  {
    std::lock_guard lock(mutex_);
    if (closed()) return finish(std::move(handler), closed_for());
    stand_in_line({.m = m, .patient = true, .handler = std::move(handler)}, ended);
  }
  end(ended);
}

/// Precondition: the caller holds mutex_; `w` is patient.
void mail_lines::stand_in_line(waiting w, messages& ended) {
  auto const at = lines_.try_emplace(key_of(w.m.to)).first;
  auto& queue = at->second.waiting_messages;
  // Into the line first: on_room may be called at any time after the mailbox was found full.
  queue.push_back(std::move(w));
  if (route_.is_near() || queue.size() == 1)
    advance(at, ended);  // otherwise its turn comes after the first one's verdict
}

void mail_lines::forward(outgoing m) {
  messages ended;
  auto refused = errc::ok;
  {
    std::lock_guard lock(mutex_);
    auto const at = lines_.find(key_of(m.to));
    if (closed())
      refused = closed_for();
    else if (at != lines_.end() && at->second.waiting_messages.size() >= line_limit)
      refused = errc::mailbox_full;
    else
      stand_in_line({.m = m, .patient = true, .forwarded = true}, ended);
  }
  if (refused != errc::ok) return undelivered_(m, refused);
  end(ended);
}

std::vector<outgoing> mail_lines::forwarded(std::unique_lock<std::mutex>& held) const {
  std::vector<outgoing> all;
  held = std::unique_lock(mutex_);
  for (auto const& [key, l] : lines_)
    for (auto const& w : l.waiting_messages)
      if (w.forwarded) all.push_back(w.m);
  return all;
}

std::size_t mail_lines::count_forwarded() const {
  std::size_t all = 0;
  std::lock_guard lock(mutex_);
  for (auto const& [key, l] : lines_)
    all += static_cast<std::size_t>(std::ranges::count_if(l.waiting_messages, &waiting::forwarded));
  return all;
}

void mail_lines::wait_for_route(outgoing const& m, actor_id ack) {
  std::lock_guard lock(mutex_);
  if (closed()) return;  // its ask has been completed
  auto const at = lines_.try_emplace(key_of(m.to)).first;
  at->second.waiting_messages.push_back({.m = m, .ack = ack});
  if (at->second.waiting_messages.size() != 1) return;
  make_obstacle(at);
  try_later(at->first, at->second);
}

std::optional<errc> mail_lines::join(mail_view const& mail, actor_id ack) {
  if (closed()) return closed_for();
  if (!obstacles_.may_have_line(mail.to.index)) return {};
  std::lock_guard lock(mutex_);
  auto const at = lines_.find(key_of(mail.to));
  if (at == lines_.end()) return {};
  line& l = at->second;
  // From the end, where the sender's own last message is.
  if (std::none_of(l.waiting_messages.rbegin(), l.waiting_messages.rend(),
                   [&](waiting const& w) { return w.m.body.header.priority == mail.header.priority; }))
    return {};
  if (l.full) return errc::mailbox_full;
  if (l.waiting_messages.size() >= line_limit) return errc::device_busy;
  if (mail.bytes > max_payload_bytes) return errc::payload_too_large;
  waiting w{.m = {.to = mail.to, .body = {}}, .ack = ack, .count = mail.count};
  w.m.body.header = mail.header;
  w.m.body.bytes = mail.bytes;
  auto const* payload = static_cast<std::byte const*>(mail.payloads);
  if (mail.count == 1) __builtin_memcpy(w.m.body.payload, payload, mail.bytes);
  for (std::uint32_t i = 0; mail.count != 1 && i < mail.count; ++i, payload += mail.stride)
    w.batch.insert(w.batch.end(), payload, payload + mail.bytes);
  l.waiting_messages.push_back(std::move(w));
  return errc::ok;
}

/// Sends the first message of a line. Ok on a far route: it is in transit; if it is patient, on_verdict will be called.
errc mail_lines::post_first(std::uint64_t key, waiting const& first) {
  auto const& body = first.m.body;
  auto const* const payload = first.count == 1 ? body.payload : first.batch.data();
  auto const send = [&](actor_id ack) {
    return route_.post({first.m.to, body.header, payload, body.bytes, body.bytes, first.count}, ack, true);
  };
  if (closed()) return closed_for();
  if (route_.is_near() || !first.patient) {
    auto const outcome = send(first.ack);
    return outcome == errc::arena_full && first.forwarded ? errc::device_busy : outcome;
  }
  // On the system executor it runs where the event is received, so at a safepoint all verdicts are known.
  answer_handler on_event(boost::asio::bind_executor(
      boost::asio::system_executor(), [this, key](answer const& a) { on_verdict(key, a.reason); }));
  auto const ack = completions_.open(on_event, 0);
  if (!ack && first.forwarded && ack.error() == errc::ask_limit) return errc::device_busy;
  if (!ack) return static_cast<errc>(ack.error().value());
  auto const outcome = send(*ack);
  if (outcome == errc::ok) return outcome;
  answer_handler unused;
  return completions_.withdraw(*ack, unused) ? outcome : errc::ok;  // else the runtime's end has completed it
}

/// Sends as many messages of a line as possible. Precondition: the caller holds mutex_, and none of them is in transit.
void mail_lines::advance(lines::iterator at, messages& ended) {
  line& l = at->second;
  auto& all = l.waiting_messages;
  bool const near = route_.is_near();
  while (!all.empty()) {
    auto const outcome = post_first(at->first, all.front());
    if (outcome == errc::device_busy) return make_obstacle(at), try_later(at->first, l);
    if (near && outcome == errc::mailbox_full) return l.full = true, make_obstacle(at);  // on_room continues
    if (!near && outcome == errc::ok) {
      if (all.front().patient) return make_obstacle(at);  // on_verdict continues
      all.pop_front();                                    // the device reports its outcome
      continue;
    }
    all.front().outcome = outcome;
    ended.splice(ended.end(), all, all.begin());
  }
  if (l.is_obstacle) obstacles_.remove_line(actor_of(at->first));
  lines_.erase(at);
}

/// Makes senders that do not wait check the line. Precondition: the caller holds mutex_.
void mail_lines::make_obstacle(lines::iterator at) {
  if (!std::exchange(at->second.is_obstacle, true)) obstacles_.add_line(actor_of(at->first));
}

void mail_lines::resume(std::uint64_t key) {
  messages ended;
  {
    std::lock_guard lock(mutex_);
    if (auto const at = lines_.find(key); at != lines_.end()) advance(at, ended);
  }
  end(ended);
}

void mail_lines::on_room(actor_id actor) {
  if (route_.is_near())
    resume(key_of(actor));  // on a far route the first message is in transit or will be retried
}

/// The device reports the outcome of a line's first message.
void mail_lines::on_verdict(std::uint64_t key, errc verdict) {
  messages ended;
  {
    std::lock_guard lock(mutex_);
    auto const at = lines_.find(key);
    if (at == lines_.end()) return;  // it was closed
    line& l = at->second;
    auto& all = l.waiting_messages;
    l.full = verdict == errc::mailbox_full;
    bool const again = verdict == errc::device_busy || (verdict == errc::arena_full && all.front().forwarded);
    if (l.full || again) {
      // Messages whose senders do not wait for room fail.
      for (auto w = all.begin(); l.full && w != all.end();) {
        auto const next = std::next(w);
        w->outcome = errc::mailbox_full;
        if (!w->patient) ended.splice(ended.end(), all, w);
        w = next;
      }
      try_later(key, l);
    } else {
      all.front().outcome = verdict;
      ended.splice(ended.end(), all, all.begin());
      l.pause = line{}.pause;
      advance(at, ended);
    }
  }
  end(ended);
}

/// A far device does not report room, so this retries after a pause that grows to a millisecond.
void mail_lines::try_later(std::uint64_t key, line& l) {
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
    auto const& header = w.m.body.header;
    if (w.forwarded) {
      if (w.outcome != errc::ok) undelivered_(w.m, w.outcome);
    } else if (w.patient) {
      finish(std::move(w.handler), w.outcome);
    } else if (w.ack.valid() || is_ask(header)) {
      completions_.complete(w.ack.valid() ? w.ack : header.reply_to, w.outcome, nullptr,
                            completer::initiator);
    } else {
      for (std::uint32_t i = 0; i < w.count; ++i) {
        if (w.count != 1)
          __builtin_memcpy(w.m.body.payload, w.batch.data() + std::uint64_t{i} * w.m.body.bytes,
                           w.m.body.bytes);
        undelivered_(w.m, w.outcome);
      }
    }
  }
}

errc mail_lines::close(errc reason) {
  reason = obstacles_.close(reason);
  messages ended;
  {
    std::lock_guard lock(mutex_);
    for (auto& [key, l] : lines_) {
      for (auto& w : l.waiting_messages) w.outcome = reason;
      ended.splice(ended.end(), l.waiting_messages);
      if (l.is_obstacle) obstacles_.remove_line(actor_of(key));
    }
    lines_.clear();
  }
  end(ended);
  return reason;
}

}  // namespace rondo
