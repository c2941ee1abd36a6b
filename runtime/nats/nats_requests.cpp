#include "runtime/nats/nats_requests.hpp"

#include <fmt/format.h>

#include <boost/asio/bind_executor.hpp>
#include <boost/asio/system_executor.hpp>
#include <condition_variable>
#include <mutex>

#include "runtime/net/log_throttle.hpp"
#include "runtime/os/start_thread.hpp"
#include "runtime/text/clean_text.hpp"

namespace rondo::service {
namespace {

using clock = std::chrono::steady_clock;

nats_headers refusal_headers(nats_refusal const& r) {
  nats_headers h;
  h.status = static_cast<std::uint32_t>(r.status);
  h.reason = r.reason;
  return h;
}

std::chrono::microseconds limit_of(nats_headers const& h) {
  return h.deadline_us == 0 ? nats_requests::longest : std::chrono::microseconds(h.deadline_us);
}

}  // namespace

struct nats_requests::state : std::enable_shared_from_this<state> {
  state(rondo::runtime& runtime, nats_link& l, std::function<void(std::string const&)> const& to,
        nats_counters& counts, std::shared_ptr<quotas> all, std::uint32_t limit)
      : rt(runtime),
        refusals(to, "messages from NATS were refused"),
        losses(to, "responses to NATS were lost"),
        link(l),
        counters(counts),
        tables(std::move(all)),
        peer(tables->of("NATS", 0, standing::client)),
        open_limit(limit) {}

  rondo::runtime& rt;
  throttled_log refusals, losses;
  nats_link& link;  // late handlers do not use it: they only `put`
  nats_counters& counters;
  std::shared_ptr<quotas> const tables;  // late handlers give their places back
  quota_peer const peer;                 // all senders of requests
  std::uint32_t const open_limit;

  struct outcome {
    std::string reply_to, subject;
    answer what;
  };

  std::mutex mutex;               // guards everything below
  std::vector<outcome> outcomes;  // at most open_limit; for the thread that responds
  std::condition_variable changed;
  bool ends = false;
  std::uint32_t open = 0;
  std::condition_variable none_open;

  void take(nats_message m);
  void refuse(std::string const& reply_to, std::string_view subject, nats_refusal const& why);
  void respond(std::string const& reply_to, std::span<std::byte const> payload, nats_headers const& headers);
  void send(nats_target const& to, std::span<std::byte const> payload, bool ask,
            answer_handler handler) const;
  void put(outcome o);
  void respond_until_the_end();
  void settle(outcome const& o);
};

void nats_requests::state::take(nats_message m) {
  nats_counters::add(counters.requests);
  std::string const reply_to(m.reply_to());
  auto const found = find_target(rt, last_word(m.subject()), m);
  if (auto const* const why = std::get_if<nats_refusal>(&found)) return refuse(reply_to, m.subject(), *why);
  auto const& to = std::get<nats_target>(found);
  bool const asks = to.has_reply && !reply_to.empty();
  quota_place place;  // as in session_messages.cpp
  if ((asks || !to.actor.is_near()) && !(place = quota_place(peer, table::asks)))
    return refuse(reply_to, m.subject(), {errc::ask_limit, peer->why_refused(table::asks)});
  bool full = false;
  {
    std::lock_guard lock(mutex);
    full = open >= open_limit;
    if (!full) ++open;
  }
  if (full)
    return refuse(
        reply_to, m.subject(),
        {errc::ask_limit,
         fmt::format(
             "this service already has {} open requests; try again, or start another process of its name",
             open_limit)});
  // Runs on the thread that makes the answer, which must not wait for the network.
  auto settled =
      boost::asio::bind_executor(boost::asio::system_executor{},
                                 [self = shared_from_this(), reply_to, subject = std::string(m.subject()),
                                  held = std::move(place)](answer const& a) mutable {
                                   held.give_back();
                                   self->put({reply_to, subject, a});
                                 });
  send(to, m.payload(), asks, answer_handler(std::move(settled)));
}

void nats_requests::state::send(nats_target const& to, std::span<std::byte const> payload, bool ask,
                                answer_handler handler) const {
  auto const& h = to.headers;
  if (ask)
    to.actor.ask(to.type, payload, {.timeout = limit_of(h), .priority = h.priority}, std::move(handler));
  else
    to.actor.tell(to.type, payload,
                  {.priority = h.priority,
                   .deadline = std::chrono::microseconds(h.deadline_us),
                   .wait_for_room = false},
                  std::move(handler));
}

void nats_requests::state::put(outcome o) {
  std::lock_guard lock(mutex);
  if (ends) return;
  outcomes.push_back(std::move(o));
  if (outcomes.size() == 1) changed.notify_one();
}

void nats_requests::state::respond_until_the_end() {
  std::vector<outcome> ready;
  for (;;) {
    {
      std::unique_lock lock(mutex);
      open -= static_cast<std::uint32_t>(ready.size());
      if (open == 0) none_open.notify_all();
      ready.clear();
      changed.wait_for(lock, std::chrono::seconds(1), [&] { return ends || !outcomes.empty(); });
      if (ends) return;
      ready.swap(outcomes);
    }
    for (auto const& o : ready) settle(o);
    refusals.summarise();
    losses.summarise();
  }
}

void nats_requests::state::settle(outcome const& o) {
  auto const& [reason, body] = o.what;
  if (reason != errc::ok) return refuse(o.reply_to, o.subject, {reason, make_error_code(reason).message()});
  if (o.reply_to.empty()) return;
  bool const has_reply = body.header.type != 0;
  nats_headers h;
  h.status = 0;
  if (has_reply) h.type = std::to_string(body.header.type);
  respond(o.reply_to, std::as_bytes(std::span(body.payload, has_reply ? body.bytes : 0)), h);
}

void nats_requests::state::refuse(std::string const& reply_to, std::string_view subject,
                                  nats_refusal const& why) {
  nats_counters::add(counters.requests_refused);
  if (!reply_to.empty()) return respond(reply_to, {}, refusal_headers(why));
  refusals.line(fmt::format("NATS: refused a message for {}: {}", clean_text(subject), why.reason));
}

void nats_requests::state::respond(std::string const& reply_to, std::span<std::byte const> payload,
                                   nats_headers const& headers) {
  try {
    link.publish({reply_to, payload, headers});
  } catch (nats_error const& e) {
    losses.line(fmt::format("NATS: a response was lost: {}", e.what()));
  }
}

nats_requests::nats_requests(rondo::runtime& rt, nats_link& link, std::string const& service,
                             std::function<void(std::string const&)> const& log, nats_counters& counters,
                             std::shared_ptr<quotas> tables, std::uint32_t open_limit)
    : state_(std::make_shared<state>(rt, link, log, counters, std::move(tables), open_limit)) {
  subscription_ = link.subscribe(fmt::format("rondo.{}.*", service), "rondo." + service,
                                 [s = state_.get()](nats_message m) { s->take(std::move(m)); });
  responder_ = make_process_ptr<std::thread>(
      start_thread("answers over NATS", [s = state_.get()] { s->respond_until_the_end(); }));
}

nats_requests::~nats_requests() {
  if (is_of_parent(responder_)) {
    keep_for_ever(std::move(state_));
    return;
  }
  subscription_ = {};
  {
    std::lock_guard lock(state_->mutex);
    state_->ends = true;
    state_->changed.notify_one();
  }
  responder_->join();
}

std::uint64_t nats_requests::drain(std::chrono::milliseconds most) {
  auto const until = clock::now() + most;
  if (state_->link.connected()) subscription_.drain(most);  // otherwise no response could be sent
  subscription_ = {};
  std::unique_lock lock(state_->mutex);
  state_->none_open.wait_until(lock, until, [&] { return state_->open == 0; });
  return state_->open;
}

}  // namespace rondo::service
