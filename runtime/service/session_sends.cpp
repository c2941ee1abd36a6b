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

void session::handle_send(std::uint64_t id, wire::send const& s) {
  auto const to = s.actor() != nullptr  ? core_.rt.at({s.actor()->index(), s.actor()->generation()})
                  : s.name() != nullptr ? core_.rt.find_any(s.name()->string_view())
                                        : result<any_ref>(errc::not_found);
  if (!to) return respond(outcome_frame(id, static_cast<errc>(to.error().value())));
  if (allows_.most < role::send || !allows_.covers_all()) {
    auto const known = core_.rt.listed(to->id());
    if (auto const why = allows_.refusal(role::send, known ? known->name : std::string()); !why.empty())
      return respond(outcome_frame(id, errc::service_refuses, why));
  }
  std::span<std::byte const> payload;
  if (s.payload() != nullptr)
    payload = {reinterpret_cast<std::byte const*>(s.payload()->data()), s.payload()->size()};
  if (auto const refused = to->check(s.type(), payload.size()); refused != errc::ok)
    return respond(outcome_frame(id, refused));

  bool const keyed = s.key() != 0 && id_ != 0;
  if (keyed && !open_key(id, s)) return;
  // Initialised, not assigned: completion handlers of Boost 1.81 must not be assigned.
  auto handler = keyed ? on_any_thread([core = shared_core_, who = id_, key = s.key()](answer const& a) {
    for (auto const& w : core->keys.settle(who, key, a))
      if (auto const client = w.connection.lock()) client->respond(frame_of(w.request, a));
  })
                       : on_any_thread([self = shared_from_this(), id](answer const& a) {
                           self->respond(frame_of(id, a));
                         });
  std::chrono::microseconds const limit{s.deadline_us()};
  if (s.wants_reply()) {
    time_limit const timeout =
        s.deadline_us() == 0 ? time_limit() : time_limit(limit);  // on the wire, 0 means none
    auto const ask =
        to->ask(s.type(), payload, {.timeout = timeout, .priority = s.priority(), .trace = s.trace()},
                std::move(handler));
    keyed ? core_.keys.note_ask(id_, s.key(), ask) : remember(ask);
  } else if (to->is_near() && !s.wait_for_room())
    std::move(handler)(answer{
        to->try_tell(s.type(), payload, {.priority = s.priority(), .deadline = limit, .trace = s.trace()}),
        {}});
  else if (!s.wait_for_room())
    to->tell(s.type(), payload, {.priority = s.priority(), .deadline = limit, .trace = s.trace()},
             std::move(handler));
  // Waiting tells outlive their client, so there may be at most as many as asks.
  else if (service_core::relaxed_add(core_.waiting_tells, 1) >= core_.rt.settings().asks) {
    service_core::relaxed_add(core_.waiting_tells, -1);
    std::move(handler)(answer{errc::mailbox_full, {}});
  } else {
    to->tell(s.type(), payload,
             {.priority = s.priority(), .deadline = limit, .wait_for_room = true, .trace = s.trace()},
             on_any_thread([core = shared_core_, then = std::move(handler)](answer const& a) mutable {
               service_core::relaxed_add(core->waiting_tells, -1);
               std::move(then)(a);
             }));
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
  switch (core_.keys.open(id_, s.key(), s.settled_below(), from_.peer, {weak_from_this(), id}, known)) {
    case dedup_cache::entry::fresh:
      return true;
    case dedup_cache::entry::pending:
      break;
    case dedup_cache::entry::known:
      respond(frame_of(id, known));
      break;
    case dedup_cache::entry::settled:
      respond(outcome_frame(id, errc::service_refuses, "the client has already settled this message's key"));
      break;
    case dedup_cache::entry::session_full:
      respond(
          outcome_frame(id, errc::service_refuses,
                        "the session has too many unsettled keys; send settled_below with later messages"));
      break;
    case dedup_cache::entry::peer_full:
      respond(
          outcome_frame(id, errc::service_refuses,
                        "this client's address or user has too many keys or sessions; use one session per "
                        "client, and send settled_below"));
      break;
    case dedup_cache::entry::full:
      respond(outcome_frame(id, errc::service_refuses,
                            "the service cannot remember any more keys; try again later"));
      break;
  }
  return false;
}

}  // namespace rondo::service
