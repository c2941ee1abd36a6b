#include "runtime/messaging/messenger.hpp"

#include <boost/asio/associated_cancellation_slot.hpp>
#include <boost/asio/bind_executor.hpp>

#include "kernels/base/clock.hpp"
#include "runtime/messaging/deliver.hpp"
#include "runtime/messaging/mail_lines.hpp"
#include "runtime/messaging/trace_log.hpp"
#include "runtime/os/own_threads.hpp"
#include "runtime/os/time_limit.hpp"

namespace rondo {

namespace {

/// Gives a request its deadline. If the header cannot hold it, only the host keeps time.
void set_deadline(message_header& h, std::chrono::nanoseconds timeout, std::uint64_t now) noexcept {
  auto const us = static_cast<std::uint64_t>(std::chrono::ceil<std::chrono::microseconds>(timeout).count());
  if (us > message_header::longest_deadline_us) return;
  h.set_deadline(us);
  h.stamp(now);
}

/// For the table of asks, where 0 means that there is none.
std::uint64_t deadline_of(std::chrono::nanoseconds timeout, std::uint64_t now) noexcept {
  return timeout == no_timeout ? 0 : now + static_cast<std::uint64_t>(timeout.count());
}

}  // namespace

messenger::messenger(route to_device, std::uint32_t mailboxes, completions& asks, trace_log& traces,
                     own_threads const& threads, boost::asio::any_io_executor executor, std::uint64_t spin_ns,
                     dead_end undelivered, actor_control& control)
    : route_(to_device),
      completions_(asks),
      traces_(traces),
      threads_(threads),
      samples_(traces.samples()),
      executor_(std::move(executor)),
      spin_ns_(spin_ns),
      lines_(std::make_unique<mail_lines>(to_device, mailboxes, asks, executor_, obstacles_,
                                          std::move(undelivered))),
      control_(control) {}

messenger::~messenger() = default;

void messenger::finish(answer_handler handler, errc reason) {
  deliver_later(executor_, std::move(handler), answer{reason, {}});
}

bool messenger::takes_next_trace() noexcept { return traces_.takes_next(); }

// -- waiting messages

std::optional<errc> messenger::join_line(mail_view const& mail, actor_id ack) {
  return lines_->join(mail, ack);
}
far_terms messenger::terms_for(mail_view const& mail, actor_id ack) const noexcept {
  return lines_->terms_for(mail.to, mail.header.priority, ack);
}
void messenger::note_launch(actor_id actor, reserved_room reserve) noexcept {
  lines_->note_launch(actor, reserve);
}
void messenger::forward(outgoing m) { lines_->forward(std::move(m)); }
void messenger::put_back(outgoing const& m) { lines_->put_back(m); }
void messenger::take_back(outgoing m, returned_mail about) { lines_->take_back(std::move(m), about); }
void messenger::hold() { lines_->hold(); }
void messenger::release() { lines_->release(); }
std::vector<outgoing> messenger::orphans(std::unique_lock<std::mutex>& held) { return lines_->orphans(held); }
std::size_t messenger::count_orphans() const { return lines_->count_orphans(); }
void messenger::on_room(actor_id actor) { lines_->on_room(actor); }
errc messenger::close(errc reason) { return lines_->close(reason); }

// -- tells

void messenger::post(outgoing m, bool wait_for_room, std::uint64_t trace, answer_handler handler) {
  if (begin_trace(m, trace)) {
    auto noted = noting(m, std::move(handler));
    return post_batch(view_of(m), wait_for_room, std::move(noted));
  }
  post_batch(view_of(m), wait_for_room, std::move(handler));
}

void messenger::post_batch(mail_view const& batch, bool wait_for_room, answer_handler handler) {
  if (batch.count == 0) return finish(std::move(handler), closed_for());
  if (batch.header.deadline == message_header::refused_deadline)
    return finish(std::move(handler), refusal_of(batch.header));
  if (wait_for_room) return lines_->wait_for_room(batch, std::move(handler));
  if (route_.is_near()) return finish(std::move(handler), send(batch));
  // The device reports the mailbox's verdict with a completion, as if the message were an ask.
  auto const ack = completions_.open(handler, 0);
  if (!ack) return finish(std::move(handler), static_cast<errc>(ack.error().value()));
  auto const refused = send(batch, *ack);
  if (refused == errc::device_busy) return lines_->wait_for_route(batch, *ack);
  if (refused != errc::ok) completions_.complete(*ack, refused, nullptr, completer::initiator);
}

// -- asks

void messenger::send_request(outgoing& request, actor_id ask, ask_terms const& terms, std::uint64_t now) {
  auto& h = request.body.header;
  h.reply_to = ask;
  h.flags |= flag_wants_reply;
  set_deadline(h, terms.timeout, now);
  if (terms.wait_for_room) return lines_->wait_for_room(view_of(request));
  auto const refused = send(request);
  if (refused == errc::device_busy && !route_.is_near()) return lines_->wait_for_route(view_of(request), {});
  if (refused != errc::ok) completions_.complete(ask, refused, nullptr, completer::initiator);
}

actor_id messenger::ask(outgoing request, ask_terms terms, answer_handler handler) {
  // The cancellation slot is taken from the handler before that moves into the table. A cancellation that comes after
  // the answer names a past generation and has no effect.
  auto slot = boost::asio::get_associated_cancellation_slot(handler);
  if (begin_trace(request, terms.trace)) {
    auto noted = noting(request, std::move(handler));
    handler.swap(noted);
  }
  if (terms.timeout.count() <= 0) return finish(std::move(handler), errc::timed_out), actor_id{};
  auto const now = now_ns();  // after begin_trace: it may become the message's time of sending
  auto const id = completions_.open(handler, deadline_of(terms.timeout, now));
  if (!id) {
    finish(std::move(handler), static_cast<errc>(id.error().value()));
    return {};
  }
  if (slot.is_connected())
    slot.assign([this, id = *id](boost::asio::cancellation_type) {
      completions_.complete(id, errc::cancelled, nullptr, completer::initiator);
    });
  send_request(request, *id, terms, now);
  return *id;
}

answer messenger::ask_blocking(outgoing request, ask_terms terms) {
  static thread_local completions::kept_slot mine;
  bool const traced = begin_trace(request, terms.trace);
  auto const refuse = [&](errc reason) {
    if (traced) note_call(request, reason);
    return answer{reason, {}};
  };
  if (threads_.would_deadlock()) [[unlikely]]
    return refuse(errc::would_deadlock);
  if (terms.timeout.count() <= 0) return refuse(errc::timed_out);
  auto const now = terms.timeout == no_timeout ? 0 : now_ns();
  auto const id = completions_.open_blocking(deadline_of(terms.timeout, now), mine);
  if (!id) return refuse(static_cast<errc>(id.error().value()));
  send_request(request, *id, terms, now);
  auto const got = completions_.wait(*id, spin_ns_, mine);
  if (traced) note_call(request, got.reason);
  return got;
}

// -- traces

errc messenger::try_post_traced(actor_id to, message_header const& header, void const* payload,
                                std::uint32_t bytes, std::uint64_t trace) {
  outgoing m{.to = to, .body = {}};
  if (bytes > max_traced_bytes) return send({to, header, payload, bytes});
  m.body.header = header;
  m.body.bytes = bytes;
  __builtin_memcpy(m.body.payload, payload, bytes);
  begin_trace(m, trace != 0 ? trace : traces_.new_trace());
  auto const outcome = send(m);
  note_call(m, outcome);
  return outcome;
}

/// Gives the message a tag if `trace` is not 0 or the message is sampled. Returns whether it has one.
bool messenger::begin_trace(outgoing& m, std::uint64_t trace) {
  if (trace == 0 && samples_ && traces_.takes_next()) trace = traces_.new_trace();
  if (trace == 0 || m.body.bytes > max_traced_bytes) return false;
  m.body = tagged(m.body.header, m.body.payload, m.body.bytes, traces_.new_tag(trace));
  return true;
}

/// Precondition: `m` has a tag.
void messenger::note_call(outgoing const& m, errc outcome) {
  auto const now = now_ns(), begun_ns = now - m.body.header.age_ns(now);
  auto const tag = tag_behind(m.body.payload);
  traces_.note({.trace = tag.trace,
                .hop = tag.parent,
                .on_host = true,
                .actor = m.to,
                .type = m.body.header.type,
                .priority = m.body.header.priority,
                .outcome = outcome,
                .sent_ns = begun_ns,
                .begun_ns = begun_ns,
                .ended_ns = now});
}

/// A handler that notes the end of the call, then calls `handler`.
answer_handler messenger::noting(outgoing const& m, answer_handler handler) {
  auto const executor = boost::asio::get_associated_executor(handler, executor_);
  return answer_handler(
      boost::asio::bind_executor(executor, [this, m, handler = std::move(handler)](answer const& a) mutable {
        note_call(m, a.reason);
        std::move(handler)(a);
      }));
}

}  // namespace rondo
