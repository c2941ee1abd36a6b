#include "runtime/service/service.hpp"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <boost/asio/generic/stream_protocol.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/thread_pool.hpp>
#include <future>
#include <random>
#include <thread>

#include "runtime/device/team_threads.hpp"
#include "runtime/service/behaviour_names.hpp"
#include "runtime/service/listener.hpp"
#include "runtime/service/report.hpp"
#include "runtime/service/secrets.hpp"
#include "runtime/service/session.hpp"

namespace rondo::service {

namespace asio = boost::asio;

namespace {

std::uint64_t random_number() {
  std::random_device source;
  return (std::uint64_t{source()} << 32 | source()) | 1;
}

/// Throws config_error for an address that others than this machine can reach, unless a token and TLS guard it.
void require_guarded(endpoint const& e, bool has_token_and_tls) {
  if (has_token_and_tls || e.is_unix || asio::ip::make_address(e.path).is_loopback()) return;
  throw config_error(
      fmt::format("{}: others than this machine can reach it, so it needs token_file, tls_certificate and "
                  "tls_key; or listen on 127.0.0.1 or a unix socket",
                  e.text()));
}

}  // namespace

struct service::parts {
  parts(rondo::runtime& rt, service_config c)
      : config(std::move(c)), core(std::make_shared<service_core>(rt)) {}

  service_config config;
  std::shared_ptr<service_core> core;
  gpu_monitor gpus;
  std::unique_ptr<reporter> watcher;
  asio::thread_pool slow{1};
  std::unique_ptr<asio::ssl::context> tls;
  std::vector<std::unique_ptr<listener>> listeners;
  std::vector<endpoint> endpoints;
  asio::steady_timer clock{core->network};
  std::thread thread;
  std::uint64_t unanswered = 0;
  bool stopped = false;

  void launch_actors();
  void listen();
  void look_at_clock();
  void run_network();
  void look_for_work(unsigned& turns, session::clock::time_point& idle_since);
  void add(stream_socket socket, std::string peer, bool with_tls, bool asks_for_token);
  /// Runs `f` on the network thread, and waits for it.
  template <class F>
  auto there(F f) {
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
      // A checkpoint brought it back.
      if (there->behaviour().name != behaviour)
        refuse(fmt::format("an actor of this name lives already, a {}", there->behaviour().name));
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
  if (config.tls_certificate.empty() != config.tls_key.empty())
    throw config_error("tls_certificate and tls_key belong together; one of them is missing");
  if (!config.token_file.empty()) core->token = read_token(config.token_file);
  if (!config.tls_certificate.empty()) tls = server_tls(config.tls_certificate, config.tls_key);
  for (auto const& e : config.listen) {
    require_guarded(e, !core->token.empty() && tls);
    listeners.push_back(make_listener(core->network, e));
    endpoints.push_back(listeners.back()->where());
  }
  for (auto& l : listeners)
    l->accept([this, is_unix = l->where().is_unix](stream_socket s, std::string peer) {
      add(std::move(s), std::move(peer), !is_unix && tls, !is_unix);
    });
}

void service::parts::add(stream_socket socket, std::string peer, bool with_tls, bool asks_for_token) {
  std::unique_ptr<transport> stream;
  try {
    stream = with_tls ? make_tls_transport(std::move(socket), *tls, true)
                      : make_plain_transport(std::move(socket), core->readable);
  } catch (std::exception const& e) {
    return core->log_drop(drop_reason::too_many_connections,
                          fmt::format("{} could not be taken: {}", peer, e.what()));
  }
  service_counters::add(core->counters.connections_total);
  service_counters::add(core->counters.connections_open);
  auto const s = std::make_shared<session>(core, std::move(stream), std::move(peer), asks_for_token);
  core->sessions.insert(s);
  if (core->sessions.size() > core->limits.clients)
    return s->drop(
        drop_reason::too_many_connections,
        fmt::format("this service takes {} connections at once (limits.clients)", core->limits.clients));
  s->start();
}

void service::parts::look_at_clock() {
  clock.expires_after(std::chrono::milliseconds(250));
  clock.async_wait([this](error_code ec) {
    if (ec) return;
    core->look_at_clock(core->now());
    look_at_clock();
  });
}

/// What has come is taken from all connections; then this thread runs the handlers itself, as no other has to be woken for
/// them; then all answers are sent. One that took long is not run here again for a while, but by the teams: clients wait for
/// this thread.
void service::parts::run_network() {
  using time = session::clock;
  constexpr std::chrono::microseconds share{500};
  constexpr std::chrono::seconds pause{1};
  auto const work = asio::make_work_guard(core->network);
  auto const host = core->rt.make_guest();
  service_core::of_this_thread = core.get();
  time::time_point not_before{}, idle_since{};
  for (unsigned turns = 0; !core->network.stopped();) {
    bool const helps = host && (not_before == time::time_point{} || time::now() >= not_before);
    {
      quiet_posts const quiet(helps);
      look_for_work(turns, idle_since);
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

/// Busy, it looks after its sockets itself, and only now and then after timers and what others have posted; idle, it goes on
/// looking for spin_us, as teams do, before it sleeps.
void service::parts::look_for_work(unsigned& turns, session::clock::time_point& idle_since) {
  auto& network = core->network;
  if (core->take_turns()) {
    idle_since = {};
    if (++turns % 4 == 0) network.poll();
    return;
  }
  auto const now = session::clock::now();
  if (idle_since == session::clock::time_point{}) idle_since = now;
  if (now - idle_since < std::chrono::microseconds(core->rt.settings().spin_us)) {
    if (network.poll() == 0) std::this_thread::yield();
    return;
  }
  core->readable.sleep(network);
  idle_since = {};
}

service::service(rondo::runtime& rt, service_config config, std::vector<std::span<std::byte const>> schemas,
                 std::function<void(std::string const&)> log)
    : parts_(std::make_unique<parts>(rt, std::move(config))) {
  auto& core = *parts_->core;
  core.name = parts_->config.name;
  core.limits = parts_->config.limits;
  core.incarnation = random_number();
  for (auto const& s : schemas) {
    auto const* const bytes = reinterpret_cast<std::uint8_t const*>(s.data());
    core.schemas.emplace_back(bytes, bytes + s.size());
  }
  core.checkpoint_file = parts_->config.checkpoint;
  core.write_checkpoint = [&core] { core.rt.checkpoint(core.checkpoint_file); };
  core.log = log ? std::move(log) : [](std::string const&) {};
  core.slow_work = parts_->slow.get_executor();
  parts_->watcher = std::make_unique<reporter>(rt, service_identity{core.name, core.incarnation},
                                               &core.counters, &parts_->gpus);
  core.report = [watcher = parts_->watcher.get()] { return encode(watcher->gather()); };
}

service::~service() {
  parts_->config.drain = {};
  stop();
}

void service::checkpoint_with(std::function<void()> write) {
  parts_->core->write_checkpoint = std::move(write);
}

void service::start() {
  parts_->launch_actors();
  parts_->listen();
  parts_->look_at_clock();
  parts_->thread = std::thread([this] {
    prepare_team_thread("rondo-network", -1);
    parts_->run_network();
  });
}

std::uint64_t service::stop() {
  auto& p = *parts_;
  if (std::exchange(p.stopped, true)) return p.unanswered;
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
      p.clock.cancel();
      return p.core->abandon_all();
    });
    p.core->network.stop();
    p.thread.join();
    // What was posted and not run keeps its connection, which keeps all this.
    p.core->network.restart();
    p.core->network.poll();
  }
  p.slow.join();
  return p.unanswered;
}

std::vector<endpoint> const& service::listens_at() const noexcept { return parts_->endpoints; }
service_counters const& service::counters() const noexcept { return parts_->core->counters; }
reporter& service::watcher() noexcept { return *parts_->watcher; }
std::size_t service::connections() const {
  return parts_->thread.joinable() ? parts_->there([&] { return parts_->core->sessions.size(); }) : 0;
}

void service::reload(service_config const& config) {
  auto token = config.token_file.empty() ? std::string() : read_token(config.token_file);
  for (auto const& e : parts_->endpoints) require_guarded(e, !token.empty() && parts_->tls);
  parts_->there([&] {
    parts_->core->limits = config.limits;
    parts_->core->token = std::move(token);
  });
}

}  // namespace rondo::service
