#include "runtime/service/service.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <boost/asio/generic/stream_protocol.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <future>
#include <mutex>
#include <random>
#include <thread>

#include "runtime/checkpoint.hpp"
#include "runtime/net/listener.hpp"
#include "runtime/os/prepare_thread.hpp"
#include "runtime/os/start_thread.hpp"
#include "runtime/service/json/qualified_names.hpp"
#include "runtime/service/left_out_log.hpp"
#include "runtime/service/monitor/report.hpp"
#include "runtime/service/net/credentials.hpp"
#include "runtime/service/net/descriptor_shares.hpp"
#include "runtime/service/session.hpp"

namespace rondo::service {

namespace asio = boost::asio;

namespace {

std::uint64_t random_number() {
  std::random_device source;
  return (std::uint64_t{source()} << 32 | source()) | 1;
}

/// Throws config_error if a client could not send the word: `hello` must fit into a frame.
void require_sendable(std::filesystem::path const& file, std::string const& word, std::uint32_t frame_bytes) {
  auto& b = frame_builder();
  auto const sent = b.CreateString(word), program = b.CreateString(std::string(64, 'x'));
  auto const frame =
      request_frame(b, 1, wire::Createhello(b, wire::protocol_version, 1, sent, program)).size();
  if (frame - frame_head_bytes <= frame_bytes) return;
  throw config_error(
      fmt::format("{}: the token has {} characters; a client would send it in a frame of {} bytes, but "
                  "limits.frame_bytes "
                  "is {}; use a shorter token",
                  file.string(), word.size(), frame - frame_head_bytes, frame_bytes));
}

std::vector<token_ptr> read_tokens(service_config const& c) {
  std::vector<token_ptr> all;
  auto const add = [&](std::filesystem::path const& file, access const& allows) {
    auto word = read_token(file);
    require_sendable(file, word, c.limits.frame_bytes);
    for (auto const& other : all)
      if (other->word == word)
        throw config_error(fmt::format("{}: contains the same token as another file", file.string()));
    all.push_back(std::make_shared<token const>(
        token{std::move(word), allows, std::hash<std::string>()(file.string()) | 1}));
  };
  if (!c.token_file.empty()) add(c.token_file, {});
  for (auto const& t : c.tokens) add(t.file, t.allows);
  return all;
}

/// Null: without TLS. Throws config_error.
std::unique_ptr<asio::ssl::context> read_tls(service_config const& c) {
  if (c.tls_certificate.empty() != c.tls_key.empty())
    throw config_error("tls_certificate and tls_key belong together; one of them is missing");
  return c.tls_certificate.empty() ? nullptr : server_tls(c.tls_certificate, c.tls_key);
}

/// Throws config_error for an address that other machines can reach, unless a token and TLS protect it.
void require_guarded(endpoint const& e, bool has_token_and_tls) {
  if (has_token_and_tls || e.is_unix || asio::ip::make_address(e.path).is_loopback()) return;
  throw config_error(
      fmt::format("{}: other machines can reach this address, so it needs token_file, tls_certificate and "
                  "tls_key; set them, or listen on 127.0.0.1 or a unix socket",
                  e.text()));
}

/// Lets another thread run on this processor. False if that took long.
bool yields_soon() {
  auto const began = session::clock::now();
  std::this_thread::yield();
  return session::clock::now() - began < std::chrono::microseconds(50);
}

}  // namespace

struct service::parts {
  parts(rondo::runtime& rt, service_config c)
      : config(std::move(c)), core(std::make_shared<service_core>(rt)) {}

  service_config config;
  std::shared_ptr<service_core> core;
  gpu_monitor gpus;
  std::unique_ptr<reporter> watcher;
  slow_work slow;
  std::unique_ptr<asio::ssl::context> tls;  // of the network thread, while that runs
  bool has_tls = false;                     // since it began to listen
  std::vector<std::unique_ptr<listener>> listeners;
  std::vector<endpoint> endpoints;
  std::uint64_t own_descriptors = 0;   // open files of this process when it began to listen
  std::uint32_t places_for_local = 0;  // connections of local clients beyond limits.clients
  asio::steady_timer clock{core->network};
  bool clock_has_ended = false;  // of the network thread
  std::mutex thread_mutex;       // held while the thread starts, ends, or is waited for
  std::thread thread;
  std::uint64_t unanswered = 0;
  bool stopped = false;
  std::atomic<bool> listening{false};
  std::mutex
      checkpoint_mutex;  // held while a checkpoint is written: clients, timers and the end of a service ask for them
  mutable std::mutex conditions_mutex;
  std::string why_no_checkpoint;  // the last one could not be written; guarded by conditions_mutex
  std::atomic<session::clock::duration> moved{};  // when the network thread last looked at the clock
  // Used only by the network thread:
  unsigned turns = 0;
  session::clock::time_point idle_since{}, polls_again_at{}, ran_handlers{};
  static constexpr std::chrono::milliseconds shortest_pause{1}, longest_pause{1000};
  session::clock::duration polling_pause = shortest_pause;

  void launch_actors();
  void listen();
  void look_at_clock();
  void run_network();
  void look_for_work();
  std::size_t run_handlers();
  void add(stream_socket socket, client_address from, bool with_tls, bool asks_for_token);
  void make_room_for(session& s);
  bool drop_a_stranger(session const& newcomer);
  void set_limits(client_limits const& wanted);
  void set_tls(std::unique_ptr<asio::ssl::context> with);
  /// Runs `f` on the network thread and waits for it; here if there is no such thread.
  template <class F>
  auto there(F f) {
    std::lock_guard lock(thread_mutex);
    if (!thread.joinable()) return f();
    std::packaged_task<decltype(f())()> task(std::move(f));
    auto done = task.get_future();
    asio::post(core->network, std::move(task));
    return done.get();
  }
};

void service::parts::launch_actors() {
  auto& rt = core->rt;
  for (auto const& a : config.actors) {
    std::string why;
    auto const behaviour = full_behaviour_name(rt.behaviours(), a.behaviour, why);
    auto const refuse = [&](std::string_view text) {
      throw config_error(fmt::format("actor '{}' could not be launched: {}", a.name, text));
    };
    if (behaviour.empty()) refuse(why);
    if (auto const there = rt.find_any(a.name)) {
      // It was restored from a checkpoint.
      if (there->behaviour().name != behaviour)
        refuse(fmt::format("an actor of this name already exists, a {}", there->behaviour().name));
      continue;
    }
    try {
      if (auto const launched = rt.try_launch_untyped(a.name, behaviour, a.options); !launched)
        refuse(launched.error().message());
    } catch (std::invalid_argument const& e) {
      refuse(e.what());
    }
  }
}

void service::parts::listen() {
  if (config.listen.empty()) config.listen.push_back(default_socket(config.name));
  core->tokens = read_tokens(config);
  set_tls(read_tls(config));
  has_tls = tls != nullptr;
  for (auto const& e : config.listen) {
    require_guarded(e, !core->tokens.empty() && tls);
    make_default_socket_folder(e);
    listeners.push_back(make_listener(core->network, e));
    endpoints.push_back(listeners.back()->where());
  }
  own_descriptors = descriptors_open();
  set_limits(config.limits);
  for (auto& l : listeners)
    l->accept([this, is_unix = l->where().is_unix](stream_socket s, client_address from) {
      add(std::move(s), std::move(from), !is_unix && tls, !is_unix);
    });
}

void service::parts::add(stream_socket socket, client_address from, bool with_tls, bool asks_for_token) {
  std::unique_ptr<transport> stream;
  try {
    stream = with_tls ? make_tls_transport(std::move(socket), *tls, true)
                      : make_plain_transport(std::move(socket), core->readable);
  } catch (std::exception const& e) {
    return core->log_drop(drop_reason::too_many_connections,
                          fmt::format("{} could not be accepted: {}", from.text, e.what()));
  }
  service_counters::add(core->counters.connections_total);
  service_counters::add(core->counters.connections_open);
  auto const s = std::make_shared<session>(core, std::move(stream), std::move(from), asks_for_token);
  core->sessions.insert(s);
  core->strangers.push_back(s);
  make_room_for(*s);
  if (!s->ended()) s->start();
}

/// Connections that have not said hello cannot keep others out: beyond a quarter of all places, or if there is no other
/// place, one of them is dropped. If other machines can connect, some places are reserved for local clients, so that an
/// operator can always look in.
void service::parts::make_room_for(session& s) {
  auto const most = std::size_t{core->limits.clients};
  auto& strangers = core->strangers;
  auto const is_none = [](std::weak_ptr<session> const& one) {
    auto const it = one.lock();
    return !it || it->ended() || it->greeted();
  };
  while (!strangers.empty() && is_none(strangers.front())) strangers.pop_front();
  auto const places = core->tables.read(table::strangers).limit;
  if (strangers.size() > places) std::erase_if(strangers, is_none);
  if (strangers.size() > places) drop_a_stranger(s);
  bool const is_apart = s.from().is_local && !std::ranges::all_of(endpoints, &endpoint::is_unix);
  auto const all = most + (is_apart ? places_for_local : 0);
  if (core->sessions.size() > all && !drop_a_stranger(s))
    s.drop(drop_reason::too_many_connections,
           fmt::format("this service accepts at most {} connections (limits.clients)", most));
}

/// Drops the connection that has been silent longest, without hello, of the address that has most of them; not
/// `newcomer`. False if there is none.
bool service::parts::drop_a_stranger(session const& newcomer) {
  std::shared_ptr<session> found;
  for (auto const& one : core->strangers) {
    auto const s = one.lock();
    if (!s || s->ended() || s->greeted() || s.get() == &newcomer) continue;
    if (!found || s->peer()->held(table::strangers) > found->peer()->held(table::strangers)) found = s;
  }
  if (!found) return false;
  core->tables.count_refusal(table::strangers);
  found->drop(drop_reason::idle, "it has not said hello, and its place is needed");
  return true;
}

/// Applies the limits, but allows no more clients than this process may have open files. Throws config_error.
void service::parts::set_limits(client_limits const& wanted) {
  auto const limit = descriptor_limit();
  auto const shares = share_descriptors(limit, own_descriptors, wanted.clients);
  auto allowed = wanted;
  allowed.clients = shares.clients;
  core->set_limits(allowed);
  places_for_local = shares.local;
  if (shares.clients == wanted.clients) return;
  core->log(fmt::format(
      "accepts at most {} connections, not {} (limits.clients): this process may open only {} files "
      "(ulimit -n, LimitNOFILE)",
      shares.clients, wanted.clients, limit));
}

/// For new connections.
void service::parts::set_tls(std::unique_ptr<asio::ssl::context> with) {
  tls = std::move(with);
  core->counters.certificate_expires.store(tls ? expiry_of(*tls).time_since_epoch().count() : 0,
                                           std::memory_order_relaxed);  // relaxed: read alone, for reports
}

void service::parts::look_at_clock() {
  moved.store(session::clock::now().time_since_epoch(),
              std::memory_order_relaxed);  // relaxed: see why_not_well
  clock.expires_after(std::chrono::milliseconds(250));
  clock.async_wait([this](error_code ec) {
    if (ec || clock_has_ended) return;
    core->look_at_clock(core->now());
    look_at_clock();
  });
}

/// Takes requests from all connections, then runs handlers itself, since that wakes no other thread, then sends all
/// answers. After a slow handler it leaves handlers to the teams for a while: clients wait for this thread.
void service::parts::run_network() {
  using time = session::clock;
  constexpr std::chrono::microseconds share{500};
  constexpr std::chrono::seconds pause{1};
  auto const work = asio::make_work_guard(core->network);
  auto const host = core->rt.make_guest();
  service_core::of_this_thread = core.get();
  time::time_point not_before{};
  while (!core->network.stopped()) {
    bool const helps = host && (not_before == time::time_point{} || time::now() >= not_before);
    {
      quiet_posts const quiet(helps);
      look_for_work();
    }
    if (!helps) continue;
    auto const began = time::now();
    core->handling = true;
    host->run(share);
    core->handling = false;
    not_before = time::now() - began > 4 * share ? time::now() + pause : time::time_point{};
    for (auto const& s : std::exchange(core->answered, {})) s->flush();
  }
  core->unfinished.clear();
  service_core::of_this_thread = nullptr;
}

/// While busy, it serves the sockets, and runs Asio's handlers only every fourth turn. When idle, it polls for spin_us
/// before it sleeps, as teams do. It does not poll while other threads need its processor: after a yield it runs again
/// only when they have used up their time, which may take milliseconds, but a sleeping thread runs as soon as it is
/// woken. Each slow yield doubles the pause before it polls again.
void service::parts::look_for_work() {
  if (core->take_turns()) {
    idle_since = {};
    if (++turns % 4 == 0) run_handlers();
    return;
  }
  auto const now = session::clock::now();
  if (idle_since == session::clock::time_point{}) idle_since = now;
  if (now >= polls_again_at && now - idle_since < std::chrono::microseconds(core->rt.settings().spin_us)) {
    if (run_handlers() != 0) {
      idle_since = {};
    } else if (yields_soon()) {
      polling_pause = shortest_pause;
    } else {
      polls_again_at = session::clock::now() + polling_pause;
      polling_pause = std::min<session::clock::duration>(2 * polling_pause, longest_pause);
    }
    return;
  }
  core->readable.sleep(core->network);
  idle_since = {};
  ran_handlers = session::clock::now();  // time asleep does not count
}

/// Runs Asio's handlers: timers, what other threads have posted, and all TLS connections, whose handshakes are
/// expensive. They get as much time as everything else had since the last call, so neither side can stall the other.
/// Returns how many ran.
std::size_t service::parts::run_handlers() {
  constexpr std::chrono::microseconds least{100};
  auto const began = session::clock::now();
  auto const until = began + std::max<session::clock::duration>(least, began - ran_handlers);
  std::size_t ran = 0;
  while (core->network.poll_one() != 0) {
    ++ran;
    if ((ran_handlers = session::clock::now()) >= until) return ran;
  }
  ran_handlers = session::clock::now();
  return ran;
}

service::service(rondo::runtime& rt, service_config config, std::vector<std::span<std::byte const>> schemas,
                 std::function<void(std::string const&)> log)
    : parts_(make_process_ptr<parts>(rt, std::move(config))) {
  auto& core = *parts_->core;
  core.name = parts_->config.name;
  core.incarnation = random_number();
  for (auto const& s : schemas) {
    auto const* const bytes = reinterpret_cast<std::uint8_t const*>(s.data());
    core.schemas.emplace_back(bytes, bytes + s.size());
  }
  core.checkpoint_file = parts_->config.checkpoint;
  core.log_to(std::move(log));
  core.set_limits(parts_->config.limits);
  core.slow = &parts_->slow;
  checkpoint_with([&core, left_out = left_out_log([&core](std::string const& line) {
                            core.log(line);
                          })]() mutable { left_out.take(rondo::checkpoint(core.rt, core.checkpoint_file)); });
  parts_->watcher = std::make_unique<reporter>(rt, service_identity{core.name, core.incarnation},
                                               &core.counters, &parts_->gpus);
  parts_->watcher->watch(core.tables);
  core.report = [watcher = parts_->watcher.get()] { return encode(watcher->gather()); };
}

service::~service() {
  if (is_of_parent(parts_)) return;
  parts_->config.drain = {};
  stop();
}

void service::checkpoint_with(std::function<void()> write) {
  parts_->core->write_checkpoint = [write = std::move(write), p = parts_.get()] {
    slow_work::reads_wait const first(p->slow);
    std::lock_guard const alone(p->checkpoint_mutex);
    auto& counters = p->core->counters;
    auto const note = [p, &counters](std::string const& why) {
      counters.checkpoint_failing.store(!why.empty(), std::memory_order_relaxed);  // relaxed: a report
      std::lock_guard const lock(p->conditions_mutex);
      p->why_no_checkpoint = why;
    };
    try {
      write();
      service_counters::add(counters.checkpoints);
      note({});
    } catch (std::exception const& e) {
      service_counters::add(counters.checkpoints_failed);
      note(e.what());
      throw;
    }
  };
}

std::vector<std::string> service::conditions() const {
  std::vector<std::string> all;
  {
    std::lock_guard const lock(parts_->conditions_mutex);
    if (auto const& why = parts_->why_no_checkpoint; !why.empty())
      all.push_back(fmt::format("the last checkpoint could not be written: {}", why));
  }
  if (parts_->core->counters.recordings_failed.load(std::memory_order_relaxed) != 0)  // relaxed: a report
    all.push_back("the recording has ended, because its file could not be written");
  return all;
}

void service::checkpoint() { parts_->core->write_checkpoint(); }
void service::count_failed_recording() { service_counters::add(parts_->core->counters.recordings_failed); }

std::string service::why_not_well(std::chrono::milliseconds longest) const {
  auto const& p = *parts_;
  if (!p.listening.load(std::memory_order_acquire)) return {};  // /readyz reports that
  // Relaxed: nothing else depends on this time.
  auto const still =
      session::clock::now() - session::clock::time_point(p.moved.load(std::memory_order_relaxed));
  if (still < longest) return {};
  return fmt::format("the network thread has been stuck for {} s: clients get no answers",
                     std::chrono::floor<std::chrono::seconds>(still).count());
}

void service::start() {
  parts_->launch_actors();
  parts_->listen();
  parts_->look_at_clock();
  parts_->listening.store(true, std::memory_order_release);
  std::lock_guard lock(parts_->thread_mutex);
  parts_->thread = start_thread("the network of the service", [this] {
    prepare_thread("rondo-network", -1);
    parts_->run_network();
  });
}

std::uint64_t service::stop() {
  auto& p = *parts_;
  if (is_of_parent(parts_)) return p.unanswered;  // its threads and clients are the parent's
  if (std::exchange(p.stopped, true)) return p.unanswered;
  p.listening.store(false, std::memory_order_release);
  p.slow.stop_reading();
  if (p.thread.joinable()) {
    auto const until = session::clock::now() + p.config.drain;
    p.there([&] {
      p.listeners.clear();
      auto const all = p.core->sessions;
      for (auto const& s : all) s->drain();
    });
    while (p.there([&] { return !p.core->sessions.empty(); }) && session::clock::now() < until)
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
    p.unanswered = p.there([&] {
      p.clock_has_ended = true;  // it may have fired before it was cancelled, and would begin again
      p.clock.cancel();
      return p.core->abandon_all();
    });
    std::lock_guard lock(p.thread_mutex);
    p.core->network.stop();
    p.thread.join();
    // Handlers that were posted and not run own their sessions, and those own the core: release them.
    p.core->network.restart();
    p.core->network.poll();
  }
  p.slow.end();
  return p.unanswered;
}

std::vector<endpoint> const& service::listens_at() const noexcept { return parts_->endpoints; }
service_counters const& service::counters() const noexcept { return parts_->core->counters; }
reporter& service::watcher() noexcept { return *parts_->watcher; }
std::shared_ptr<quotas> service::tables() const noexcept { return {parts_->core, &parts_->core->tables}; }
std::size_t service::connections() const {
  return parts_->there([&] { return parts_->core->sessions.size(); });
}

void service::reload(service_config const& config) {
  auto tokens = read_tokens(config);
  auto tls = read_tls(config);
  if (!parts_->endpoints.empty() && parts_->has_tls != (tls != nullptr))
    throw config_error("tls_certificate: TLS cannot be turned on or off while the service runs; restart it");
  for (auto const& e : parts_->endpoints) require_guarded(e, !tokens.empty() && tls);
  parts_->there([&] {
    parts_->set_limits(config.limits);
    parts_->set_tls(std::move(tls));
    auto& core = *parts_->core;
    core.tokens = std::move(tokens);
    auto const all = core.sessions;  // a copy: dropped sessions leave the set
    for (auto const& s : all) s->take_new_tokens();
  });
}

}  // namespace rondo::service
