#include "runtime/messenger.hpp"

#include <boost/asio/associated_cancellation_slot.hpp>
#include <boost/asio/steady_timer.hpp>

#include "kernels/clock.hpp"
#include "runtime/deliver.hpp"

namespace rondo {

namespace {

std::uint64_t key_of(actor_id id) noexcept { return std::uint64_t{id.index} << 32 | id.generation; }

/// Gives a request its deadline. Beyond what the header can hold the host alone keeps time.
void set_deadline(message_header& h, std::uint64_t timeout_ns, std::uint64_t now) noexcept {
  auto const us = (timeout_ns + 999) / 1000;
  if (timeout_ns == 0 || us > 0xffff'ffffu) return;
  h.deadline_us = static_cast<std::uint32_t>(us);
  h.stamp(now);
}

}  // namespace

errc messenger::post_one(outgoing const& m, actor_id ack, bool want_room) {
  if (stopped_.load(memory_order::relaxed) != 0) return errc::stopped;
  return device_.post(m.to, m.body.header, m.body.payload, m.body.bytes, m.body.bytes, 1, ack, want_room);
}

void messenger::finish(answer_handler handler, errc reason) {
  deliver_later(executor_, std::move(handler), answer{reason, {}});
}

void messenger::post(outgoing m, bool wait_for_room, answer_handler handler) {
  if (arena_ != nullptr) {
    if (!wait_for_room) return finish(std::move(handler), post_one(m, {}, false));
    std::vector<std::pair<answer_handler, errc>> finished;
    {
      std::lock_guard lock(rooms_mutex_);
      // Into the line first: the note of room may come at any time after the mailbox was found full.
      rooms_[key_of(m.to)].push_back({m, std::move(handler)});
      drain(m.to, finished);
    }
    for (auto& [done, reason] : finished) finish(std::move(done), reason);
    return;
  }
  // The device acknowledges with a completion, as if the message were an ask.
  if (wait_for_room) return post_patiently(m, true, std::move(handler));
  auto const ack = completions_.open(handler, 0);
  if (!ack) return finish(std::move(handler), static_cast<errc>(ack.error().value()));
  auto const refused = post_one(m, *ack, false);
  if (refused == errc::ok) return;
  answer_handler back;
  if (!completions_.withdraw(*ack, back)) return;  // the runtime's end was faster
  if (refused != errc::device_busy) return finish(std::move(back), refused);
  post_patiently(m, false, std::move(back));
}

void messenger::post_patiently(outgoing m, bool wait_for_room, answer_handler handler) {
  // A device with its own memory has no way to say when there is room: try again after a pause that grows to a
  // millisecond.
  struct attempt {
    messenger& self;
    outgoing m;
    bool wait_for_room;
    answer_handler handler;
    boost::asio::steady_timer timer;
    std::chrono::microseconds pause{20};
    attempt(messenger& s, outgoing o, bool wait, answer_handler h)
        : self(s), m(o), wait_for_room(wait), handler(std::move(h)), timer(s.executor_) {}
  };
  auto state = std::make_shared<attempt>(*this, m, wait_for_room, std::move(handler));
  auto step = [](auto const& again, std::shared_ptr<attempt> a) -> void {
    auto& table = a->self.completions_;
    answer_handler judge([a, again](answer outcome) {
      bool const later =
          outcome.reason == errc::device_busy || (outcome.reason == errc::mailbox_full && a->wait_for_room);
      if (!later) return a->self.finish(std::move(a->handler), outcome.reason);
      a->timer.expires_after(a->pause);
      a->pause = std::min(a->pause * 2, std::chrono::microseconds{1000});
      a->timer.async_wait([a, again](boost::system::error_code) { again(again, a); });
    });
    auto const ack = table.open(judge, 0);
    if (!ack) return a->self.finish(std::move(a->handler), static_cast<errc>(ack.error().value()));
    if (auto const refused = a->self.post_one(a->m, *ack, false); refused != errc::ok)
      table.complete(*ack, refused, nullptr, completer::initiator);
  };
  step(step, state);
}

void messenger::drain(actor_id actor, std::vector<std::pair<answer_handler, errc>>& finished) {
  auto const line = rooms_.find(key_of(actor));
  if (line == rooms_.end()) return;
  while (!line->second.empty()) {
    auto& first = line->second.front();
    auto const outcome = post_one(first.m, {}, true);
    if (outcome == errc::mailbox_full) return;
    finished.emplace_back(std::move(first.handler), outcome);
    line->second.pop_front();
  }
  rooms_.erase(line);
}

void messenger::on_room(actor_id actor) {
  std::vector<std::pair<answer_handler, errc>> finished;
  {
    std::lock_guard lock(rooms_mutex_);
    drain(actor, finished);
  }
  for (auto& [handler, reason] : finished) finish(std::move(handler), reason);
}

void messenger::on_gone(actor_id actor) { on_room(actor); }  // each post now fails with actor_gone

void messenger::ask(outgoing request, std::uint64_t timeout_ns, answer_handler handler) {
  // The slot is taken from the handler before it moves into the table; a cancellation that comes after the
  // answer names a past generation and does nothing.
  auto slot = boost::asio::get_associated_cancellation_slot(handler);
  auto const now = now_ns();
  auto const id = completions_.open(handler, timeout_ns == 0 ? 0 : now + timeout_ns);
  if (!id) return finish(std::move(handler), static_cast<errc>(id.error().value()));
  if (slot.is_connected())
    slot.assign([this, id = *id](boost::asio::cancellation_type) {
      completions_.complete(id, errc::cancelled, nullptr, completer::initiator);
    });
  auto& h = request.body.header;
  h.reply_to = *id;
  h.flags |= flag_wants_reply;
  set_deadline(h, timeout_ns, now);
  if (auto const refused = post_one(request, {}, false); refused != errc::ok)
    completions_.complete(*id, refused, nullptr, completer::initiator);
}

answer messenger::ask_blocking(outgoing request, std::uint64_t timeout_ns) {
  auto const now = timeout_ns == 0 ? 0 : now_ns();
  auto const id = completions_.open_blocking(timeout_ns == 0 ? 0 : now + timeout_ns);
  if (!id) return {static_cast<errc>(id.error().value()), {}};
  auto& h = request.body.header;
  h.reply_to = *id;
  h.flags |= flag_wants_reply;
  set_deadline(h, timeout_ns, now);
  auto const refused = try_post(request.to, h, request.body.payload, request.body.bytes);
  if (refused != errc::ok) completions_.complete(*id, refused, nullptr, completer::initiator);
  return completions_.wait(*id, spin_ns_);
}

void messenger::close(errc reason) {
  stopped_.store(1, memory_order::release);
  completions_.close(reason);
  std::vector<waiting_sender> left;
  {
    std::lock_guard lock(rooms_mutex_);
    for (auto& [actor, line] : rooms_)
      for (auto& sender : line) left.push_back(std::move(sender));
    rooms_.clear();
  }
  for (auto& sender : left) finish(std::move(sender.handler), reason);
}

}  // namespace rondo
