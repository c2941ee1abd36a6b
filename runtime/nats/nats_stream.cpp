#include "runtime/nats/nats_stream.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <thread>
#include <utility>

namespace rondo::service {
namespace {

constexpr std::int64_t nanoseconds(std::chrono::milliseconds ms) {
  return std::chrono::nanoseconds(ms).count();
}

template <class T, void (*Destroy)(T*)>
struct destroyer {
  void operator()(T* p) const noexcept { Destroy(p); }
};
template <class T, void (*Destroy)(T*)>
using owned = std::unique_ptr<T, destroyer<T, Destroy>>;
using stream_info = owned<jsStreamInfo, jsStreamInfo_Destroy>;
using consumer_info = owned<jsConsumerInfo, jsConsumerInfo_Destroy>;
using context = owned<jsCtx, jsCtx_Destroy>;
using inbox_name = owned<natsInbox, natsInbox_Destroy>;
using subscription = owned<natsSubscription, natsSubscription_Destroy>;

std::string_view owner_of(jsConsumerInfo const& c) {
  return c.Config->Description == nullptr ? "" : c.Config->Description;
}

}  // namespace

stored_message::stored_message(nats_message came, nats_link& through)
    : nats_message(std::move(came)), link_(&through) {
  jsMsgMetaData* raw = nullptr;
  check_nats(natsMsg_GetMetaData(&raw, get()), fmt::format("a message for {}", subject()),
             "it does not come from a stream");
  owned<jsMsgMetaData, jsMsgMetaData_Destroy> const told(raw);
  sequence_ = raw->Sequence.Stream;
  deliveries_ = raw->NumDelivered;
}

// Sends words of JetStream's protocol to the message's reply subject: the functions of cnats require its own kind of
// subscription.
void stored_message::say(std::string_view word, std::string_view what) const {
  std::string const to(reply_to());
  check_nats(
      natsConnection_Publish(link_->get().get(), to.c_str(), word.data(), static_cast<int>(word.size())),
      fmt::format("message {} of the stream: {}", sequence_, what),
      "the server will redeliver it after the consumer's ack_wait");
}
void stored_message::ack() { say("+ACK", "acknowledging it"); }
void stored_message::term() { say("+TERM", "discarding it"); }

struct nats_stream::state {
  nats_link& link;
  nats_stream_options options;
  std::shared_ptr<natsConnection> on = {};
  context js = {};
  std::string inbox = {};     // ends with a dot; the number after it identifies a fetch request
  subscription arrived = {};  // what the consumer has sent to the inbox
  std::uint64_t requests = 0;

  void make_stream();
  std::string name() const {
    return fmt::format("the consumer '{}' of the stream '{}'", options.durable, options.stream);
  }
  void make_consumer();
  /// Null when there is none.
  consumer_info find_consumer() const;
  void hear();
  void ask_for(int most, std::chrono::milliseconds timeout);
  bool has_queued() const;
  nats_message next(std::chrono::milliseconds timeout);
  bool ends_request(nats_message const& m) const;
};

void nats_stream::state::make_stream() {
  jsStreamInfo* raw = nullptr;
  auto const status = js_GetStreamInfo(&raw, js.get(), options.stream.c_str(), nullptr, nullptr);
  stream_info const found(raw);
  auto const tried = fmt::format("the JetStream stream '{}'", options.stream);
  std::vector<char const*> subjects;
  for (auto const& subject : options.subjects) subjects.push_back(subject.c_str());
  if (status == NATS_OK) {
    // Others may have added subjects; ours must be among them.
    auto const& there = *raw->Config;
    for (auto const& subject : options.subjects)
      if (std::none_of(there.Subjects, there.Subjects + there.SubjectsLen,
                       [&](char const* s) { return subject == s; }))
        throw nats_error(
            NATS_MISMATCH,
            fmt::format("{}: exists, but does not store '{}'; add that subject, or choose another name",
                        tried, subject));
    if (there.Retention != js_WorkQueuePolicy)
      throw nats_error(
          NATS_MISMATCH,
          fmt::format("{}: exists, but is not a work queue (it has another retention); choose another name",
                      tried));
    return;
  }
  if (status != NATS_NOT_FOUND)
    check_nats(status, tried, "is JetStream enabled (nats-server -js), and may this user use it?");
  jsStreamConfig wanted;
  jsStreamConfig_Init(&wanted);
  wanted.Name = options.stream.c_str();
  wanted.Subjects = subjects.data();
  wanted.SubjectsLen = static_cast<int>(subjects.size());
  wanted.Retention = js_WorkQueuePolicy;
  wanted.Storage = js_FileStorage;
  check_nats(js_AddStream(nullptr, js.get(), &wanted, nullptr, nullptr), tried,
             fmt::format("it cannot be created for the subjects {}; another stream may store them",
                         fmt::join(options.subjects, ", ")));
}

consumer_info nats_stream::state::find_consumer() const {
  jsConsumerInfo* raw = nullptr;
  jsErrCode why{};
  auto const status =
      js_GetConsumerInfo(&raw, js.get(), options.stream.c_str(), options.durable.c_str(), nullptr, &why);
  if (status != NATS_NOT_FOUND && why != JSStreamNotFoundErr)
    check_nats(status, name(), "it cannot be asked for; is JetStream enabled (nats-server -js)?");
  return consumer_info(raw);
}

void nats_stream::state::make_consumer() {
  auto const tried = name();
  if (auto const found = find_consumer(); found != nullptr) {
    if (owner_of(*found) != options.owner && !options.take_over)
      throw nats_error(
          NATS_NOT_PERMITTED,
          fmt::format("{}: belongs to another process now, '{}'; only one process may take messages that "
                      "its state depends on",
                      tried, owner_of(*found)));
    auto const status =
        js_DeleteConsumer(js.get(), options.stream.c_str(), options.durable.c_str(), nullptr, nullptr);
    if (status != NATS_NOT_FOUND) check_nats(status, tried, "it cannot be replaced");
  }
  jsConsumerConfig wanted;
  jsConsumerConfig_Init(&wanted);
  wanted.Durable = options.durable.c_str();
  wanted.Description = options.owner.c_str();
  wanted.DeliverPolicy = js_DeliverAll;
  wanted.AckPolicy = js_AckExplicit;
  wanted.AckWait = nanoseconds(options.ack_wait);
  wanted.MaxAckPending = options.max_ack_pending;
  check_nats(js_AddConsumer(nullptr, js.get(), options.stream.c_str(), &wanted, nullptr, nullptr), tried,
             "a work queue has one consumer per subject; is there another?");
}

// This uses the protocol itself: natsSubscription_Fetch of cnats before 3.8.3 writes beyond its array if an earlier
// fetch has left some of the messages that it asked for.
void nats_stream::state::hear() {
  natsInbox* made = nullptr;
  check_nats(natsInbox_Create(&made), name(), "out of memory");
  inbox = std::string(inbox_name(made).get()) + ".";
  natsSubscription* sub = nullptr;
  check_nats(natsConnection_SubscribeSync(&sub, on.get(), (inbox + "*").c_str()), name(),
             "it cannot be fetched from");
  arrived.reset(sub);
}

/// Requests at most `most` messages. The server sends them as soon as it has some, and forgets the request.
void nats_stream::state::ask_for(int most, std::chrono::milliseconds timeout) {
  auto const subject = fmt::format("$JS.API.CONSUMER.MSG.NEXT.{}.{}", options.stream, options.durable);
  auto const wanted =
      fmt::format(R"({{"batch":{},"expires":{},"no_wait":true}})", most, nanoseconds(timeout));
  link.publish({subject, std::as_bytes(std::span(wanted)), {}, fmt::format("{}{}", inbox, ++requests)});
}

bool nats_stream::state::has_queued() const {
  std::uint64_t count = 0;
  return natsSubscription_QueuedMsgs(arrived.get(), &count) == NATS_OK && count != 0;
}

/// The next message; empty on timeout, or if the server has just gone: `link` reports when it is back.
nats_message nats_stream::state::next(std::chrono::milliseconds timeout) {
  natsMsg* raw = nullptr;
  auto const status =
      natsSubscription_NextMsg(&raw, arrived.get(), std::max<std::int64_t>(timeout.count(), 1));
  if (status != NATS_TIMEOUT && status != NATS_NO_RESPONDERS && status != NATS_CONNECTION_DISCONNECTED)
    check_nats(status, fmt::format("fetching from the stream '{}'", options.stream),
               "was the connection closed?");
  return nats_message(raw);
}

/// Whether this message is the server's status for the current request. A status arrives at the inbox; a message
/// arrives under its own subject.
bool nats_stream::state::ends_request(nats_message const& m) const {
  auto const field = [&](char const* name) -> std::string_view {
    char const* value = nullptr;
    return natsMsgHeader_Get(m.get(), name, &value) == NATS_OK && value != nullptr ? value : "";
  };
  auto const said = field("Description");
  if (said.find("Deleted") != said.npos)
    throw nats_error(NATS_NOT_FOUND, fmt::format("{}: the server says '{}'; was it removed?", name(), said));
  return field("Status") != "100" && m.subject().substr(inbox.size()) == std::to_string(requests);
}

nats_stream::nats_stream(nats_link& link, nats_stream_options options, std::chrono::milliseconds timeout)
    : state_(new state{.link = link, .options = std::move(options)}) {
  if (!link.wait_connected(timeout))
    throw nats_error(NATS_TIMEOUT,
                     fmt::format("the JetStream stream '{}': not connected to NATS; is nats-server running?",
                                 state_->options.stream));
  jsOptions waiting;
  jsOptions_Init(&waiting);
  waiting.Wait = timeout.count();
  jsCtx* js = nullptr;
  state_->on = link.get();
  check_nats(natsConnection_JetStream(&js, state_->on.get(), &waiting), "JetStream",
             "the connection is closed");
  state_->js.reset(js);
  state_->make_stream();
  state_->make_consumer();
  state_->hear();
}

nats_stream::~nats_stream() = default;

std::vector<stored_message> nats_stream::fetch(int most, std::chrono::milliseconds timeout) {
  constexpr std::chrono::milliseconds quiet{2};  // the rest of what the server has would have arrived by then
  constexpr std::chrono::milliseconds pause{10};  // before the server is asked again
  auto& s = *state_;
  std::vector<stored_message> messages;
  if (!s.link.wait_connected(timeout)) return messages;
  auto const until = std::chrono::steady_clock::now() + timeout;
  auto const left = [&] {
    return std::chrono::ceil<std::chrono::milliseconds>(until - std::chrono::steady_clock::now());
  };
  for (bool asked = false; messages.size() < static_cast<std::size_t>(most);) {
    // What arrived too late for an earlier fetch is taken without another request.
    if (!asked && !s.has_queued()) {
      if (!messages.empty() || left() <= left().zero()) break;
      s.ask_for(most, left());
      asked = true;
    }
    auto m = s.next(messages.empty() ? left() : quiet);
    if (m.get() != nullptr && !m.subject().starts_with(s.inbox)) {
      messages.emplace_back(std::move(m), s.link);
    } else if (m.get() == nullptr || s.ends_request(m)) {
      // The server has no more, or is just starting, or max_ack_pending messages are out.
      if (!messages.empty()) break;
      std::this_thread::sleep_for(std::min(left(), pause));
      asked = false;
    }
  }
  return messages;
}

stream_facts nats_stream::look() {
  jsStreamInfo* raw = nullptr;
  auto const& name = state_->options.stream;
  check_nats(js_GetStreamInfo(&raw, state_->js.get(), name.c_str(), nullptr, nullptr),
             fmt::format("the JetStream stream '{}'", name), "was it removed?");
  stream_info const found(raw);
  auto const& s = raw->State;
  return {raw->Created, s.Msgs == 0 ? s.LastSeq + 1 : s.FirstSeq, s.LastSeq};
}

bool nats_stream::is_on_connection() const noexcept { return state_->link.get() == state_->on; }

bool nats_stream::is_mine() {
  auto const found = state_->find_consumer();
  return found != nullptr && owner_of(*found) == state_->options.owner;
}

}  // namespace rondo::service
