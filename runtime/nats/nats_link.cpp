#include "runtime/nats/nats_link.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <set>
#include <thread>
#include <utility>
#include <vector>

#include "runtime/nats/nats_servers.hpp"
#include "runtime/os/start_thread.hpp"

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
constexpr std::chrono::milliseconds longest_pause{2000};  // between attempts to connect

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

/// A connection of cnats, until cnats has closed it for good.
struct nats_link::connection {
  explicit connection(state& link) : owner(link) {}
  connection(connection const&) = delete;
  connection& operator=(connection const&) = delete;
  ~connection() {
    if (raw == nullptr) return;  // no callback runs if the first attempt fails
    natsConnection_Close(raw);
    closed.wait();
    natsConnection_Destroy(raw);
  }
  static connection& of(void* closure) { return *static_cast<connection*>(closure); }

  state& owner;
  natsConnection* raw = nullptr;
  bool has_ended = false;  // guarded by the owner's mutex
  event closed;            // after that no callback uses it, nor the owner through it
};

struct nats_subscription::state {
  /// Its part in one connection.
  struct part {
    natsSubscription* raw = nullptr;
    natsConnection* there = nullptr;  // which lives as long as `raw`
    event complete;                   // cnats makes no more calls

    ~part() {
      if (raw == nullptr) return;
      natsSubscription_Unsubscribe(raw);  // an error means that the connection was closed
      complete.wait();
      // cnats up to 3.5 may still use it for a message that it is reading (nats-io/nats.c, issue 637). The answer to
      // this it reads later.
      if (natsConnection_Status(there) == NATS_CONN_STATUS_CONNECTED)
        natsConnection_FlushTimeout(there, 1000);
      natsSubscription_Destroy(raw);
    }
  };

  nats_link::state* link = nullptr;
  std::string subject, queue_group;
  std::function<void(nats_message)> use;
  std::function<void(std::string const&)> trouble;
  std::shared_ptr<part>
      present;  // guarded by the link's mutex for subscriptions; null before the first connection

  ~state();
  /// Subscribes there instead of where it was before. Throws nats_error.
  void move_to(natsConnection* there);
};

struct nats_link::state {
  explicit state(nats_link_options wanted)
      : options(std::move(wanted)), servers(parse_nats_servers(options.url)) {}

  nats_link_options const options;
  nats_servers const servers;
  event connected;
  // Relaxed: it only keeps `changed` from being called when the connection is closed on purpose.
  std::atomic<bool> closing = false;

  mutable std::mutex mutex;
  std::condition_variable_any changed;
  std::shared_ptr<connection> present;  // guarded by the mutex, as the next one
  nats_obstacle obstacle{.why = "it has not connected yet"};
  std::mutex telling;  // held while `changed` runs; locked before the other

  std::mutex subscriptions_mutex;  // locked before the other
  std::set<nats_subscription::state*> subscriptions;

  std::jthread thread;  // keeps it connected; last: it uses all of the above

  std::shared_ptr<connection> now() const {
    std::lock_guard const lock(mutex);
    return present;
  }
  template <class Call>
  natsStatus with(Call call) const {
    auto const c = now();
    return c == nullptr ? NATS_NOT_YET_CONNECTED : call(c->raw);
  }
  /// Callbacks arrive late, so this asks the connection for its present state.
  void look() {
    connected.update([&] {
      auto const c = now();
      return c != nullptr && natsConnection_Status(c->raw) == NATS_CONN_STATUS_CONNECTED;
    });
  }
  /// Tells of the connection's new state, unless it is known.
  void tell(nats_obstacle const& now) {
    std::lock_guard const one_at_a_time(telling);
    bool is_new = false;
    {
      std::lock_guard const lock(mutex);
      is_new = now.why != std::exchange(obstacle, now).why;
    }
    look();  // whoever finds it connected finds no obstacle
    if (!is_new) return;
    if (options.changed && !closing.load(std::memory_order_relaxed))  // relaxed: see its declaration
      guarded(options.trouble, "a change of the connection to NATS", [&] { options.changed(now); });
  }
  void trouble(natsSubscription* subscription, natsStatus status) {
    char const* const subject = subscription == nullptr ? nullptr : natsSubscription_GetSubject(subscription);
    if (status == NATS_CONNECTION_AUTH_FAILED) return tell(reason_of(status));
    guarded(options.trouble, "trouble with NATS", [&] {
      if (options.trouble)
        options.trouble(fmt::format("NATS{}{}: {}", subject == nullptr ? "" : " subject ",
                                    subject == nullptr ? "" : subject, natsStatus_GetText(status)));
    });
  }
  static nats_obstacle reason_of(natsStatus status) {
    if (status == NATS_OK) return {};
    if (status == NATS_CONNECTION_AUTH_FAILED)
      return {.why = "the server refuses the login; are user and password, or the token, right?",
              .is_refusal = true};
    return {.why = nats_reason(status)};
  }

  void set(natsOptions* raw, connection& made) const;
  natsStatus connect();
  void keep_connected(std::stop_token const& stop);
};

/// Sets cnats's options for a new connection. Throws nats_error.
void nats_link::state::set(natsOptions* raw, connection& made) const {
  auto const also = [&](natsStatus status) { check_nats(status, "NATS options", "this value was refused"); };
  std::vector<char const*> urls;
  for (auto const& url : servers.urls) urls.push_back(url.c_str());
  also(natsOptions_SetServers(raw, urls.data(), static_cast<int>(urls.size())));
  if (servers.tls)
    check_nats(natsOptions_SetSecure(raw, true), fmt::format("NATS at '{}'", servers.shown),
               "is libnats built with TLS?");
  also(natsOptions_SetName(raw, options.name.c_str()));
  also(natsOptions_SetTimeout(raw, options.connect_timeout.count()));
  also(natsOptions_SetMaxReconnect(raw, -1));
  also(natsOptions_SetReconnectWait(raw, options.reconnect_wait.count()));
  also(natsOptions_SetReconnectJitter(raw, options.reconnect_wait.count() / 4,
                                      options.reconnect_wait.count() / 4));
  also(natsOptions_SetDisconnectedCB(
      raw, [](natsConnection*, void* c) { connection::of(c).owner.tell({.why = "the connection is lost"}); },
      &made));
  also(natsOptions_SetReconnectedCB(
      raw, [](natsConnection*, void* c) { connection::of(c).owner.tell({}); }, &made));
  also(natsOptions_SetClosedCB(
      raw,
      [](natsConnection*, void* closure) {
        auto& c = connection::of(closure);
        c.owner.look();
        {
          std::lock_guard const lock(c.owner.mutex);
          c.has_ended = true;
          c.owner.changed.notify_all();
        }
        c.closed.set();
      },
      &made));
  also(natsOptions_SetErrorHandler(
      raw,
      [](natsConnection*, natsSubscription* subscription, natsStatus status, void* c) {
        connection::of(c).owner.trouble(subscription, status);
      },
      &made));
}

/// Tries each server once. If one takes the connection, all subscriptions move to it. Otherwise nats_GetLastError has
/// more.
natsStatus nats_link::state::connect() {
  auto const made = std::make_shared<connection>(*this);
  natsOptions* raw = nullptr;
  check_nats(natsOptions_Create(&raw), "NATS options", "out of memory");
  std::unique_ptr<natsOptions, void (*)(natsOptions*)> const wanted(raw, natsOptions_Destroy);
  set(raw, *made);
  if (auto const status = natsConnection_Connect(&made->raw, raw); status != NATS_OK) {
    made->raw = nullptr;
    return status;
  }
  std::shared_ptr<connection> before;  // destroyed without the locks
  std::lock_guard const lock(subscriptions_mutex);
  {
    std::lock_guard const also(mutex);
    before = std::exchange(present, made);  // before callbacks run, which may send
  }
  for (auto* const s : subscriptions) guarded(options.trouble, s->subject, [&] { s->move_to(made->raw); });
  return NATS_OK;
}

/// Connects whenever there is no connection: at the start of a patient link, and after cnats has given one up.
void nats_link::state::keep_connected(std::stop_token const& stop) {
  using clock = std::chrono::steady_clock;
  auto pause = options.reconnect_wait;
  auto since = clock::now();
  std::unique_lock lock(mutex);
  for (bool is_first = present == nullptr;; is_first = false) {
    if (!changed.wait(lock, stop, [&] { return present == nullptr || present->has_ended; })) return;
    // A server that takes a connection and then ends it must not be asked without a pause, either.
    if (clock::now() - since > 2 * longest_pause) pause = options.reconnect_wait;
    if (!is_first) {
      changed.wait_for(lock, stop, pause, [] { return false; });
      if (stop.stop_requested()) return;
      pause = std::min(2 * pause, longest_pause);
    }
    lock.unlock();
    guarded(options.trouble, "connecting to NATS", [&] { tell(reason_of(connect())); });
    since = clock::now();
    lock.lock();
  }
}

void nats_subscription::state::move_to(natsConnection* there) {
  present.reset();  // its last calls end here
  auto const next = std::make_shared<part>();
  next->there = there;
  auto const heard = [](natsConnection*, natsSubscription*, natsMsg* raw, void* closure) {
    nats_message message(raw);
    auto& self = *static_cast<nats_subscription::state*>(closure);
    guarded(self.trouble, self.subject, [&] { self.use(std::move(message)); });
  };
  check_nats(queue_group.empty() ? natsConnection_Subscribe(&next->raw, there, subject.c_str(), heard, this)
                                 : natsConnection_QueueSubscribe(&next->raw, there, subject.c_str(),
                                                                 queue_group.c_str(), heard, this),
             fmt::format("subscribing to '{}' on NATS", subject),
             "a subject is words joined by dots, with * for one word and > for all that follow");
  auto const told = natsSubscription_SetOnCompleteCB(
      next->raw, [](void* closure) { static_cast<part*>(closure)->complete.set(); }, next.get());
  if (told != NATS_OK) next->complete.set();  // the connection has just been closed
  present = next;
}

nats_subscription::state::~state() {
  if (link == nullptr) return;
  std::lock_guard const lock(link->subscriptions_mutex);
  link->subscriptions.erase(this);
  present.reset();
}

nats_subscription::nats_subscription() noexcept = default;
nats_subscription::nats_subscription(nats_subscription&&) noexcept = default;
nats_subscription& nats_subscription::operator=(nats_subscription&&) noexcept = default;
nats_subscription::~nats_subscription() = default;

void nats_subscription::drain(std::chrono::milliseconds timeout) {
  if (state_ == nullptr) return;
  std::shared_ptr<state::part> here;
  {
    std::lock_guard const lock(state_->link->subscriptions_mutex);
    here = state_->present;
  }
  // An error means that the connection is closed: nothing more arrives.
  if (here != nullptr && natsSubscription_DrainTimeout(here->raw, timeout.count()) == NATS_OK)
    here->complete.wait_for(timeout);
}

nats_subscription::nats_subscription(process_ptr<state> made) noexcept : state_(std::move(made)) {}

nats_link::nats_link(nats_link_options options) : state_(make_process_ptr<state>(std::move(options))) {
  open_nats_library();
  auto& s = *state_;
  if (!s.options.patient) {
    check_nats(s.connect(), fmt::format("connecting to NATS at '{}'", s.servers.shown), is_there);
    s.obstacle = {};
    s.look();
  }
  s.thread =
      start_jthread("a connection to NATS", [&s](std::stop_token const& stop) { s.keep_connected(stop); });
}

nats_link::~nats_link() {
  if (is_of_parent(state_)) return;
  state_->closing.store(true, std::memory_order_relaxed);  // relaxed: see its declaration
  state_->thread = {};
  std::shared_ptr<connection> last;  // closed without the lock
  std::lock_guard const lock(state_->mutex);
  last = std::exchange(state_->present, nullptr);
}

bool nats_link::connected() const noexcept { return state_->connected.get(); }

bool nats_link::wait_connected(std::chrono::milliseconds timeout) const {
  return state_->connected.wait_for(timeout);
}

nats_obstacle nats_link::obstacle() const {
  std::lock_guard const lock(state_->mutex);
  return state_->obstacle;
}

std::shared_ptr<natsConnection> nats_link::get() const {
  auto const c = state_->now();
  return c == nullptr ? nullptr : std::shared_ptr<natsConnection>(c, c->raw);
}

nats_subscription nats_link::subscribe(std::string const& subject, std::string const& queue_group,
                                       std::function<void(nats_message)> use) {
  auto made = make_process_ptr<nats_subscription::state>();
  made->link = state_.get();
  made->subject = subject;
  made->queue_group = queue_group;
  made->use = std::move(use);
  made->trouble = state_->options.trouble;
  {
    std::lock_guard const lock(state_->subscriptions_mutex);
    try {
      if (auto const here = get()) made->move_to(here.get());
    } catch (nats_error const& e) {
      if (e.status != NATS_CONNECTION_CLOSED) throw;  // it moves to the next connection
    }
    state_->subscriptions.insert(made.get());
  }
  nats_subscription subscription(std::move(made));
  if (connected())
    state_->with([](natsConnection* c) {
      return natsConnection_Flush(
          c);  // an error: the server has gone, and gets the subscription when it is back
    });
  return subscription;
}

void nats_link::publish(nats_message const& message) {
  check_nats(state_->with([&](natsConnection* c) { return natsConnection_PublishMsg(c, message.get()); }),
             fmt::format("publishing to '{}' on NATS", message.subject()),
             "the message may exceed the server's limit, or the buffer is full because the server is away");
}

void nats_link::reply(nats_message const& to, std::span<std::byte const> payload,
                      nats_headers const& headers) {
  publish(nats_message(std::string(to.reply_to()), payload, headers));
}

nats_message nats_link::request(nats_message const& message, std::chrono::milliseconds timeout) {
  natsMsg* answer = nullptr;
  check_nats(state_->with([&](natsConnection* c) {
    return natsConnection_RequestMsg(&answer, c, message.get(), timeout.count());
  }),
             fmt::format("requesting '{}' on NATS", message.subject()),
             "is a service subscribed to this subject, and does it answer in time?");
  return nats_message(answer);
}

void nats_link::flush(std::chrono::milliseconds timeout) {
  check_nats(state_->with([&](natsConnection* c) { return natsConnection_FlushTimeout(c, timeout.count()); }),
             "flushing to NATS", is_there);
}

}  // namespace rondo::service
