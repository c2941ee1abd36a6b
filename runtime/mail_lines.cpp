#include "runtime/mail_lines.hpp"

#include <boost/asio/bind_executor.hpp>
#include <boost/asio/system_executor.hpp>

#include <algorithm>
#include <utility>

#include "runtime/deliver.hpp"
#include "runtime/device.hpp"

namespace rondo {

namespace {

std::uint64_t key_of(actor_id id) noexcept { return std::uint64_t{id.index} << 32 | id.generation; }

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
  // Into the line first: the note of room may come at any time after the mailbox was found full.
  queue.push_back(std::move(w));
  if (near_ || queue.size() == 1) advance(at, ended);  // else its turn comes with the first one's fate
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

void mail_lines::wait_for_way(outgoing const& m, actor_id ack) {
  std::lock_guard lock(mutex_);
  if (closed()) return;  // its ask has ended
  auto const at = lines_.try_emplace(key_of(m.to)).first;
  at->second.waiting_messages.push_back({.m = m, .ack = ack});
  if (at->second.waiting_messages.size() != 1) return;
  note(at);
  try_later(at->first, at->second);
}

std::optional<errc> mail_lines::detour(actor_id to, message_header const& header, void const* payload,
                                       std::uint32_t bytes, std::uint32_t stride, std::uint32_t count,
                                       actor_id ack) {
  if (closed()) return closed_for();
  if (noted_[to.index % noted_.size()].load(memory_order::relaxed) == 0) return {};  // relaxed: as attention_
  std::lock_guard lock(mutex_);
  auto const at = lines_.find(key_of(to));
  if (at == lines_.end()) return {};
  line& l = at->second;
  // From the end: one of this sender stands there.
  if (std::none_of(l.waiting_messages.rbegin(), l.waiting_messages.rend(),
                   [&](waiting const& w) { return w.m.body.header.priority == header.priority; }))
    return {};
  if (l.full) return errc::mailbox_full;
  if (l.waiting_messages.size() >= line_limit) return errc::device_busy;
  if (bytes > max_payload_bytes) return errc::payload_too_large;
  waiting w{.m = {.to = to, .body = {}}, .ack = ack, .count = count};
  w.m.body.header = header;
  w.m.body.bytes = bytes;
  auto const* const first = static_cast<std::byte const*>(payload);
  if (count == 1) __builtin_memcpy(w.m.body.payload, first, bytes);
  for (std::uint32_t i = 0; count != 1 && i < count; ++i)
    w.batch.insert(w.batch.end(), first + std::uint64_t{i} * stride,
                   first + std::uint64_t{i} * stride + bytes);
  l.waiting_messages.push_back(std::move(w));
  return errc::ok;
}

/// Sends the first one of a line; ok: it is on its way, and if it is patient, on_verdict hears of it.
errc mail_lines::post_first(std::uint64_t key, waiting const& first) {
  auto const& body = first.m.body;
  auto const* const payload = first.count == 1 ? body.payload : first.batch.data();
  auto const send = [&](actor_id ack) {
    return device_.post(first.m.to, body.header, payload, body.bytes, body.bytes, first.count, ack, near_);
  };
  if (closed()) return closed_for();
  if (near_ || !first.patient) {
    auto const outcome = send(first.ack);
    return outcome == errc::arena_full && first.forwarded ? errc::device_busy : outcome;
  }
  // Where the record comes in, not later: at a quiet point all verdicts are known.
  answer_handler judge(boost::asio::bind_executor(
      boost::asio::system_executor(), [this, key](answer const& a) { on_verdict(key, a.reason); }));
  auto const ack = completions_.open(judge, 0);
  if (!ack && first.forwarded && ack.error() == errc::ask_limit) return errc::device_busy;
  if (!ack) return static_cast<errc>(ack.error().value());
  auto const outcome = send(*ack);
  if (outcome == errc::ok) return outcome;
  answer_handler unused;
  return completions_.withdraw(*ack, unused) ? outcome : errc::ok;  // else the runtime's end has judged it
}

/// Sends what waits in a line as far as it goes. The caller holds mutex_, and nothing of the line is on its way.
void mail_lines::advance(lines::iterator at, messages& ended) {
  line& l = at->second;
  auto& all = l.waiting_messages;
  while (!all.empty()) {
    auto const outcome = post_first(at->first, all.front());
    if (outcome == errc::device_busy) return note(at), try_later(at->first, l);
    if (near_ && outcome == errc::mailbox_full) return l.full = true, note(at);  // on_room goes on
    if (!near_ && outcome == errc::ok) {
      if (all.front().patient) return note(at);  // on_verdict goes on
      all.pop_front();                           // the device answers whom it concerns
      continue;
    }
    all.front().outcome = outcome;
    ended.splice(ended.end(), all, all.begin());
  }
  if (l.noted) {
    noted_[(at->first >> 32) % noted_.size()].fetch_sub(1, memory_order::relaxed);  // relaxed: see note
    attention_.fetch_sub(1, memory_order::relaxed);
  }
  lines_.erase(at);
}

/// Makes senders that do not wait look at the line. The caller holds mutex_.
void mail_lines::note(lines::iterator at) {
  if (std::exchange(at->second.noted, true)) return;
  // Relaxed: who sends later, in any order that counts, sees them; the lines themselves are guarded by mutex_.
  noted_[(at->first >> 32) % noted_.size()].fetch_add(1, memory_order::relaxed);
  attention_.fetch_add(1, memory_order::relaxed);
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
  if (near_) resume(key_of(actor));  // elsewhere the first one is on its way, or tries again by itself
}

/// The device says what became of the first one of a line.
void mail_lines::on_verdict(std::uint64_t key, errc verdict) {
  messages ended;
  {
    std::lock_guard lock(mutex_);
    auto const at = lines_.find(key);
    if (at == lines_.end()) return;  // closed meanwhile
    line& l = at->second;
    auto& all = l.waiting_messages;
    l.full = verdict == errc::mailbox_full;
    bool const again = verdict == errc::device_busy || (verdict == errc::arena_full && all.front().forwarded);
    if (l.full || again) {
      // Who does not wait for room hears that there is none.
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

/// A device with its own memory has no way to say when there is room: tries again after a pause that grows to a
/// millisecond.
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

/// Tells whom it concerns what became of messages that have left their lines. The caller does not hold mutex_.
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
  auto seen = attention_.load(memory_order::relaxed);
  // Release: pairs with the acquire loads of closed and closed_for.
  while (seen >> 32 == 0 &&
         !attention_.compare_exchange(seen, seen | std::uint64_t{static_cast<std::uint32_t>(reason)} << 32,
                                      memory_order::acq_rel, memory_order::relaxed)) {
  }
  reason = closed_for();
  messages ended;
  {
    std::lock_guard lock(mutex_);
    for (auto& [actor, l] : lines_) {
      for (auto& w : l.waiting_messages) w.outcome = reason;
      ended.splice(ended.end(), l.waiting_messages);
      if (l.noted) attention_.fetch_sub(1, memory_order::relaxed);
    }
    lines_.clear();
    for (auto& n : noted_) n.store(0, memory_order::relaxed);
  }
  end(ended);
  return reason;
}

}  // namespace rondo
