#include "runtime/nats/nats_link.hpp"

#include <fmt/format.h>

#include <atomic>
#include <condition_variable>
#include <exception>
#include <mutex>

namespace rondo::service {
namespace {

/// A flag that threads can wait for.
class event {
 public:
  void set() {
    update([] { return true; });
  }
  /// Calls `look` under the lock, so that the latest look counts.
  template <class Look>
  void update(Look look) {
    std::lock_guard lock(mutex_);
    value_ = look();
    changed_.notify_all();
  }
  bool get() const {
    std::lock_guard lock(mutex_);
    return value_;
  }
  void wait() const {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return value_; });
  }
  bool wait_for(std::chrono::milliseconds timeout) const {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, timeout, [&] { return value_; });
  }

 private:
  mutable std::mutex mutex_;
  mutable std::condition_variable changed_;
  bool value_ = false;
};

constexpr auto is_there = "is nats-server running there?";
constexpr auto url_form = "give it as nats://host:port";

/// Runs a user's callback. No exception may pass through cnats, which is C.
template <class Trouble, class Call>
void guarded(Trouble const& trouble, std::string_view where, Call call) noexcept {
  try {
    try {
      call();
    } catch (std::exception const& e) {
      if (trouble) trouble(fmt::format("{}: {}", where, e.what()));
    }
  } catch (...) {  // even the report failed
  }
}

}  // namespace

struct nats_link::state {
  nats_link_options options;
  natsConnection* connection = nullptr;
  event connected, closed;
  // Relaxed: it only keeps `lost` from being called when the connection is closed on purpose.
  std::atomic<bool> closing = false;

  static state& of(void* closure) { return *static_cast<state*>(closure); }

  /// Callbacks arrive late, so this asks the connection for its present state.
  void look(natsConnection* c) {
    connected.update([&] { return natsConnection_Status(c) == NATS_CONN_STATUS_CONNECTED; });
  }
  void now_again(natsConnection* c) {
    look(c);
    if (options.again) guarded(options.trouble, "after connecting to NATS", options.again);
  }
  void now_lost(natsConnection* c) {
    look(c);
    if (options.lost && !closing.load(std::memory_order_relaxed))  // relaxed: see above
      guarded(options.trouble, "after losing the connection to NATS", options.lost);
  }
  void trouble(natsSubscription* subscription, natsStatus status) {
    char const* const subject = subscription == nullptr ? nullptr : natsSubscription_GetSubject(subscription);
    guarded(options.trouble, "trouble with NATS", [&] {
      if (options.trouble)
        options.trouble(fmt::format("NATS{}{}: {}", subject == nullptr ? "" : " subject ",
                                    subject == nullptr ? "" : subject, natsStatus_GetText(status)));
    });
  }
};

struct nats_subscription::state {
  std::string subject;
  std::function<void(nats_message)> use;
  std::function<void(std::string const&)> trouble;
  natsSubscription* subscription = nullptr;
  event complete;  // cnats makes no more calls

  ~state() {
    if (subscription == nullptr) return;
    natsSubscription_Unsubscribe(subscription);  // an error means that the connection was closed
    complete.wait();
    natsSubscription_Destroy(subscription);
  }
};

nats_subscription::nats_subscription() noexcept = default;
nats_subscription::nats_subscription(nats_subscription&&) noexcept = default;
nats_subscription& nats_subscription::operator=(nats_subscription&&) noexcept = default;
nats_subscription::~nats_subscription() = default;

void nats_subscription::drain(std::chrono::milliseconds timeout) {
  if (state_ == nullptr) return;
  // An error means that the connection is closed: nothing more arrives.
  if (natsSubscription_DrainTimeout(state_->subscription, timeout.count()) == NATS_OK)
    state_->complete.wait_for(timeout);
}

nats_subscription::nats_subscription(std::unique_ptr<state> made) noexcept : state_(std::move(made)) {}

nats_link::nats_link(nats_link_options options) : state_(std::make_unique<state>()) {
  state_->options = std::move(options);
  auto const& wanted = state_->options;
  natsOptions* raw = nullptr;
  check_nats(natsOptions_Create(&raw), "NATS options", "out of memory");
  std::unique_ptr<natsOptions, void (*)(natsOptions*)> const set(raw, natsOptions_Destroy);
  check_nats(natsOptions_SetURL(raw, wanted.url.c_str()), fmt::format("NATS at '{}'", wanted.url), url_form);
  void* const self = state_.get();
  auto const also = [&](natsStatus status) { check_nats(status, "NATS options", "this value was refused"); };
  also(natsOptions_SetName(raw, wanted.name.c_str()));
  also(natsOptions_SetTimeout(raw, wanted.connect_timeout.count()));
  also(natsOptions_SetMaxReconnect(raw, -1));
  also(natsOptions_SetReconnectWait(raw, wanted.reconnect_wait.count()));
  also(natsOptions_SetReconnectJitter(raw, wanted.reconnect_wait.count() / 4,
                                      wanted.reconnect_wait.count() / 4));
  also(natsOptions_SetDisconnectedCB(
      raw, [](natsConnection* c, void* s) { state::of(s).now_lost(c); }, self));
  also(natsOptions_SetReconnectedCB(
      raw, [](natsConnection* c, void* s) { state::of(s).now_again(c); }, self));
  also(natsOptions_SetClosedCB(
      raw, [](natsConnection*, void* s) { state::of(s).closed.set(); }, self));
  also(natsOptions_SetErrorHandler(
      raw,
      [](natsConnection*, natsSubscription* subscription, natsStatus status, void* s) {
        state::of(s).trouble(subscription, status);
      },
      self));
  if (wanted.patient)
    also(natsOptions_SetRetryOnFailedConnect(
        raw, true, [](natsConnection* c, void* s) { state::of(s).now_again(c); }, self));
  auto const status = natsConnection_Connect(&state_->connection, raw);
  if (status == NATS_NOT_YET_CONNECTED && wanted.patient) return;
  check_nats(status, fmt::format("connecting to NATS at '{}'", wanted.url),
             status == NATS_INVALID_ARG ? url_form : is_there);
  state_->look(get());
}

nats_link::~nats_link() {
  state_->closing.store(true, std::memory_order_relaxed);  // relaxed: see its declaration
  natsConnection_Close(state_->connection);
  state_->closed.wait();
  natsConnection_Destroy(state_->connection);
}

bool nats_link::connected() const noexcept { return state_->connected.get(); }

bool nats_link::wait_connected(std::chrono::milliseconds timeout) const {
  return state_->connected.wait_for(timeout);
}

natsConnection* nats_link::get() const noexcept { return state_->connection; }

nats_subscription nats_link::subscribe(std::string const& subject, std::string const& queue_group,
                                       std::function<void(nats_message)> use) {
  auto made = std::make_unique<nats_subscription::state>();
  made->subject = subject;
  made->use = std::move(use);
  made->trouble = state_->options.trouble;
  auto const heard = [](natsConnection*, natsSubscription*, natsMsg* raw, void* closure) {
    nats_message message(raw);
    auto& self = *static_cast<nats_subscription::state*>(closure);
    guarded(self.trouble, self.subject, [&] { self.use(std::move(message)); });
  };
  auto const tried = fmt::format("subscribing to '{}' on NATS", subject);
  auto const advice = "a subject is words joined by dots, with * for one word and > for all that follow";
  check_nats(queue_group.empty()
                 ? natsConnection_Subscribe(&made->subscription, get(), subject.c_str(), heard, made.get())
                 : natsConnection_QueueSubscribe(&made->subscription, get(), subject.c_str(),
                                                 queue_group.c_str(), heard, made.get()),
             tried, advice);
  auto const told = natsSubscription_SetOnCompleteCB(
      made->subscription,
      [](void* closure) { static_cast<nats_subscription::state*>(closure)->complete.set(); }, made.get());
  if (told != NATS_OK) made->complete.set();  // the connection has just been closed
  nats_subscription subscription(std::move(made));
  if (connected())
    natsConnection_Flush(get());  // an error: the server has gone, and gets the subscription when it is back
  return subscription;
}

void nats_link::publish(nats_message const& message) {
  check_nats(natsConnection_PublishMsg(get(), message.get()),
             fmt::format("publishing to '{}' on NATS", message.subject()),
             "the message may exceed the server's limit, or the buffer is full because the server is away");
}

void nats_link::reply(nats_message const& to, std::span<std::byte const> payload,
                      nats_headers const& headers) {
  publish(nats_message(std::string(to.reply_to()), payload, headers));
}

nats_message nats_link::request(nats_message const& message, std::chrono::milliseconds timeout) {
  natsMsg* answer = nullptr;
  check_nats(natsConnection_RequestMsg(&answer, get(), message.get(), timeout.count()),
             fmt::format("requesting '{}' on NATS", message.subject()),
             "is a service subscribed to this subject, and does it answer in time?");
  return nats_message(answer);
}

void nats_link::flush(std::chrono::milliseconds timeout) {
  check_nats(natsConnection_FlushTimeout(get(), timeout.count()), "flushing to NATS", is_there);
}

}  // namespace rondo::service
