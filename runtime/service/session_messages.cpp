// The part of a session that carries messages to actors, and their answers back.
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/system_executor.hpp>
#include <utility>

#include "runtime/service/session.hpp"

namespace rondo::service {

namespace asio = boost::asio;

namespace {

/// Completion handlers of asks run on the thread that makes the answer: no hop to another thread.
template <class Function>
answer_handler on_any_thread(Function f) {
  return answer_handler(asio::bind_executor(asio::system_executor{}, std::move(f)));
}

std::span<std::byte const> frame_of(std::uint64_t id, answer const& a) {
  return a.reason == errc::ok && a.body.header.type != 0 ? reply_frame(id, a.body)
                                                         : outcome_frame(id, a.reason);
}

}  // namespace

/// Why the client may not send this message, whether its actor exists or not. Empty: it may, or the actor's name
/// decides.
std::string session::why_may_not(wire::send const& s) const {
  if (allows_.most >= role::send && (allows_.covers_all() || s.actor() != nullptr)) return {};
  return allows_.refusal(role::send, s.name() != nullptr ? s.name()->str() : std::string());
}

/// The trace that the client wants, if it may have one more traced.
std::uint64_t session::trace_of(wire::send const& s) {
  return s.trace() != 0 && peer_->take(table::traces) ? s.trace() : 0;
}

void session::handle_send(std::uint64_t id, wire::send const& s) {
  if (auto const why = why_may_not(s); !why.empty())
    return respond(outcome_frame(id, errc::service_refuses, why));
  auto const to = s.actor() != nullptr  ? core_.rt.at({s.actor()->index(), s.actor()->generation()})
                  : s.name() != nullptr ? core_.rt.find_any(s.name()->string_view())
                                        : result<any_ref>(errc::not_found);
  if (!to) return respond(outcome_frame(id, static_cast<errc>(to.error().value())));
  if (s.actor() != nullptr && !allows_.covers_all()) {
    auto const known = core_.rt.listed(to->id());
    if (auto const why = allows_.refusal(role::send, known ? known->name : std::string()); !why.empty())
      return respond(outcome_frame(id, errc::service_refuses, why));
  }
  std::span<std::byte const> payload;
  if (s.payload() != nullptr)
    payload = {reinterpret_cast<std::byte const*>(s.payload()->data()), s.payload()->size()};
  if (auto const refused = to->check(s.type(), payload.size()); refused != errc::ok)
    return respond(outcome_frame(id, refused));

  bool const keyed = s.key() != 0 && id_.id != 0;
  if (keyed && !open_key(id, s)) return;
  // Asks and waiting tells may outlive their client, so it holds places for them. A tell to a device with its own
  // memory takes an ask of the runtime until that device has reported the mailbox's verdict.
  bool const waits = s.wants_reply() || s.wait_for_room();
  bool const is_done_here = !waits && to->is_near();
  auto const kind = s.wants_reply() || !waits ? table::asks : table::waiting_tells;
  quota_place place;
  if (!is_done_here && !(place = quota_place(peer_, kind))) {
    if (keyed) core_.keys.withdraw(id_, s.key());  // so that it can be tried again
    return respond(outcome_frame(id, kind == table::asks ? errc::ask_limit : errc::mailbox_full,
                                 peer_->why_refused(kind)));
  }
  // Initialised, not assigned: completion handlers of Boost 1.81 must not be assigned. The place is free before the
  // client knows it.
  auto handler =
      keyed
          ? on_any_thread([core = shared_core_, who = id_, key = s.key(),
                           held = std::move(place)](answer const& a) mutable {
              held.give_back();
              for (auto const& w : core->keys.settle(who, key, a))
                if (auto const client = w.connection.lock()) client->respond(frame_of(w.request, a));
            })
          : on_any_thread([self = shared_from_this(), id, held = std::move(place)](answer const& a) mutable {
              held.give_back();
              self->respond(frame_of(id, a));
            });
  std::chrono::microseconds const limit{s.deadline_us()};
  auto const trace = trace_of(s);
  if (s.wants_reply()) {
    time_limit const timeout =
        s.deadline_us() == 0 ? time_limit() : time_limit(limit);  // on the wire, 0 means none
    auto const ask =
        to->ask(s.type(), payload, {.timeout = timeout, .priority = s.priority(), .trace = trace},
                std::move(handler));
    keyed ? core_.keys.note_ask(id_, s.key(), ask) : remember(ask);
  } else if (is_done_here) {
    std::move(handler)(answer{
        to->try_tell(s.type(), payload, {.priority = s.priority(), .deadline = limit, .trace = trace}), {}});
  } else {
    to->tell(s.type(), payload,
             {.priority = s.priority(), .deadline = limit, .wait_for_room = waits, .trace = trace},
             std::move(handler));
  }
}

/// Remembers an ask, to cancel it when the client goes. Otherwise the asks of clients that come and go would fill the
/// runtime's table of asks.
void session::remember(actor_id ask) {
  if (asked_.size() >= 2 * std::size_t{core_.limits.open_requests})
    std::erase_if(asked_, [this](actor_id a) { return !core_.rt.is_waiting(a); });
  asked_.push_back(ask);
}

/// Whether to send the message of this key. If not, its response was sent, or will be.
bool session::open_key(std::uint64_t id, wire::send const& s) {
  answer known;
  auto const refuse = [&](std::string const& why) { respond(outcome_frame(id, errc::service_refuses, why)); };
  switch (core_.keys.open(id_, s.key(), s.settled_below(), peer_, {weak_from_this(), id}, known)) {
    case dedup_cache::entry::fresh:
      return true;
    case dedup_cache::entry::pending:
      break;
    case dedup_cache::entry::known:
      respond(frame_of(id, known));
      break;
    case dedup_cache::entry::settled:
      refuse("the client has already settled this message's key");
      break;
    case dedup_cache::entry::session_full:
      refuse("the session has too many unsettled keys; send settled_below with later messages");
      break;
    case dedup_cache::entry::no_session:
      refuse(peer_->why_refused(table::key_sessions));
      break;
    case dedup_cache::entry::no_key:
      refuse(peer_->why_refused(table::keys));
      break;
  }
  return false;
}

}  // namespace rondo::service
