// The command serve: a process that hosts actors until it is stopped.
#include <fcntl.h>
#include <fmt/chrono.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <boost/asio/post.hpp>
#include <boost/asio/thread_pool.hpp>
#include <condition_variable>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <optional>
#include <thread>

#include "runtime/checkpoint.hpp"
#include "runtime/core/runtime_core.hpp"
#include "runtime/files/file_lock.hpp"
#include "runtime/net/local_socket.hpp"
#include "runtime/net/log_throttle.hpp"
#include "runtime/net/trusted_path.hpp"
#include "runtime/os/start_thread.hpp"
#include "runtime/recording.hpp"
#include "runtime/service/left_out_log.hpp"
#include "runtime/service/monitor/http_server.hpp"
#include "runtime/service/monitor/metrics.hpp"
#include "runtime/service/monitor/report.hpp"
#include "runtime/service/net/descriptor_shares.hpp"
#include "runtime/service/service.hpp"
#include "runtime/text/clean_text.hpp"
#include "tools/commands/command_end.hpp"
#include "tools/commands/command_line.hpp"
#include "tools/commands/commands.hpp"

namespace rondo::service {

namespace {

struct serve_arguments {
  std::string config_file, name, checkpoint, recording, device, nats;
  std::vector<std::string> listen, actors;
  bool quiet = false;
};

/// Writes log lines to standard error. A full disk or a closed pipe must not end the service, and a reader that has
/// stopped reading must not block it: lines that are not written are counted, and the count precedes the next line.
/// Threads: any.
class error_log {
 public:
  void line(std::string const& text) {
    std::lock_guard const lock(mutex_);
    if (left_out_ != 0 &&
        write(fmt::format("log lines were left out: {}; standard error did not accept them", left_out_)))
      left_out_ = 0;
    if (!write(text)) ++left_out_;
  }

 private:
  /// A pipe that is ready takes this many bytes without blocking (PIPE_BUF).
  static constexpr std::size_t most_bytes = 4096;

  /// False if standard error would block, or did not take the line.
  static bool write(std::string const& text) {
    pollfd log{STDERR_FILENO, POLLOUT, 0};
    if (::poll(&log, 1, 0) == 0) return false;
    auto const now = std::chrono::floor<std::chrono::seconds>(std::chrono::system_clock::now());
    auto line = fmt::format("{:%Y-%m-%dT%H:%M:%SZ} {}", fmt::gmtime(now), clean_text(text));
    line.resize(std::min(line.size(), most_bytes - 1));
    line += '\n';
    return ::write(STDERR_FILENO, line.data(), line.size()) == static_cast<ssize_t>(line.size());
  }

  std::mutex mutex_;
  std::uint64_t left_out_ = 0;  // guarded by mutex_
};

/// Notifies systemd, if it started this process: see sd_notify(3).
void notify_system(char const* state) {
  auto const* const path = std::getenv("NOTIFY_SOCKET");
  if (path == nullptr || *path == '\0') return;
  sockaddr_un to{};
  to.sun_family = AF_UNIX;
  auto const length = std::strlen(path);
  if (length >= sizeof to.sun_path) return;
  std::memcpy(to.sun_path, path, length);
  if (*path == '@') to.sun_path[0] = '\0';
  auto const s = new_local_socket(SOCK_DGRAM, true);
  if (!s) return;
  [[maybe_unused]] auto const sent =
      ::sendto(s.get(), state, std::strlen(state), without_sigpipe, reinterpret_cast<sockaddr*>(&to),
               static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + length));
}

file_uses files_of(serve_arguments const& a, service_config const& c) {
  file_uses uses;
  uses.reads("--config", a.config_file);
  uses.reads("token_file", c.token_file);
  for (auto const& t : c.tokens) uses.reads("a token's file", t.file);
  uses.reads("tls_certificate", c.tls_certificate);
  uses.reads("tls_key", c.tls_key);
  uses.writes("checkpoint", c.checkpoint);
  uses.writes("recording", c.recording);
  for (auto const& e : c.listen)
    if (e.is_unix) uses.writes("listen", e.path);
  if (!c.checkpoint.empty()) uses.writes("the checkpoint's lock", c.checkpoint.string() + ".lock");
  return uses;
}

service_config configure(serve_arguments const& a) {
  auto c = a.config_file.empty() ? service_config{} : load_service_config(a.config_file);
  c.runtime = config_from_environment(c.runtime);
  if (!a.name.empty()) c.name = a.name;
  if (!a.device.empty()) set_field(c.runtime, "device", a.device, "--device");
  if (!a.checkpoint.empty()) c.checkpoint = a.checkpoint;
  if (!a.recording.empty()) c.recording = a.recording;
  if (!a.nats.empty()) c.nats = a.nats;
  if (!a.listen.empty()) {
    c.listen.clear();
    for (auto const& e : a.listen) c.listen.push_back(endpoint::parse(e, "--listen"));
  }
  for (auto const& actor : a.actors) {
    auto const equals = actor.find('=');
    if (equals == std::string::npos || equals == 0)
      throw config_error(fmt::format("--actor: '{}' must be NAME=BEHAVIOUR", actor));
    c.actors.push_back({actor.substr(0, equals), actor.substr(equals + 1)});
  }
  check_service_config(c);
  require_own_files(files_of(a, c));
  c.drain = std::min(c.drain, c.stop_limit / 2);  // the checkpoint needs time, too
  return c;
}

/// Throws config_error if the checkpoint could not be written, which would otherwise be noticed only when stopping, or
/// if other users could replace it.
void require_writable(std::filesystem::path const& checkpoint) {
  if (checkpoint.empty()) return;
  auto const folder = checkpoint.has_parent_path() ? checkpoint.parent_path() : std::filesystem::path(".");
  if (::faccessat(AT_FDCWD, folder.c_str(), W_OK | X_OK, AT_EACCESS) != 0)
    throw config_error(
        fmt::format("checkpoint: the folder {} is not writable: {}", folder.string(), std::strerror(errno)));
  if (auto const why = why_not_trusted(folder); !why.empty())
    throw config_error(fmt::format("checkpoint: {}", why));
}

/// Raises the limit of open files as far as allowed: each client is one, and the usual limit is low.
void raise_file_limit() {
  rlimit files{};
  if (::getrlimit(RLIMIT_NOFILE, &files) != 0) return;
  files.rlim_cur = files.rlim_max;
  ::setrlimit(RLIMIT_NOFILE, &files);  // if this fails: fewer clients, and a log line
}

/// Throws config_error, or command_error if the device is not available.
std::unique_ptr<rondo::runtime> start(served_module const& m, config const& settings) try {
  return m.start(settings);
} catch (config_error const&) {
  throw;
} catch (std::runtime_error const& e) {
  throw command_error(exit_unavailable, e.what());
}

/// Ends the process when its stop takes too long: otherwise a supervisor would kill it, and the log would not say why.
/// Its thread starts with the service, since a stop must not depend on getting one.
class stop_limit {
 public:
  stop_limit() : waits_(start_thread("the limit of a stop", [this] { run(); })) {}
  ~stop_limit() {
    {
      std::lock_guard const lock(mutex_);
      done_ = true;
      changed_.notify_one();
    }
    waits_.join();
  }
  stop_limit(stop_limit const&) = delete;
  stop_limit& operator=(stop_limit const&) = delete;

  /// The process ends after that time, unless this object does. `late` is called just before, on another thread.
  void begin(std::chrono::milliseconds most, std::function<void()> late) {
    std::lock_guard const lock(mutex_);
    until_ = std::chrono::steady_clock::now() + most;
    late_ = std::move(late);
    changed_.notify_one();
  }

 private:
  void run() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return done_ || late_; });
    if (changed_.wait_until(lock, until_, [this] { return done_; })) return;
    late_();
    std::_Exit(exit_failed);
  }

  std::mutex mutex_;  // guards what follows
  std::condition_variable changed_;
  bool done_ = false;
  std::chrono::steady_clock::time_point until_{};
  std::function<void()> late_;  // empty: no stop has begun
  std::thread waits_;
};

/// One run of the service, from its start to SIGTERM or SIGINT.
class server {
 public:
  server(serve_arguments const& a, served_module const& m)
      : arguments_(a),
        config_(configure(a)),
        runtime_(start(m, config_.runtime)),
        failures_(runtime_->on_failure_report([this](std::string const& text) { log_failure(text); })),
        lines_(runtime_->on_log([this](log_line const& line) { log_handlers(line); })),
        service_(*runtime_, config_, m.schemas, [this](std::string const& text) { log(text); }),
        make_nats_(m.nats) {}

  int run() {
    raise_file_limit();
    require_writable(config_.checkpoint);
    guard_checkpoint();
    restore();  // a signal kills until here
    loop_.emplace(true);
    begin_recording();
    connect_nats();
    service_.checkpoint_with([this] { write_checkpoint(); });
    monitor();
    service_.start();
    if (nats_) nats_->start();
    ready_ = true;
    for (auto const& e : service_.listens_at()) log(fmt::format("{} listens on {}", config_.name, e.text()));
    if constexpr (!with_telemetry)
      log("built without telemetry (RONDO_TELEMETRY=OFF): no latencies, and no watchdog for hanging "
          "handlers");
    log(fmt::format("{}: {}; ready", runtime_->info().name, runtime_->info().description));
    notify_system("READY=1");
    follow_signals();
    if (config_.checkpoint_every.count() != 0)
      loop_->every(config_.checkpoint_every, [this] { checkpoint_aside(); });
    loop_->every(std::chrono::seconds(1), [this] { log_left_out(); });
    loop_->run();
    return finish();
  }

 private:
  void log(std::string const& text) {
    if (!arguments_.quiet) log_.line(text);
  }

  /// Limits these lines: an actor that fails with each message would fill the log.
  void log_failure(std::string const& text) {
    std::lock_guard lock(failures_mutex_);
    if (failures_logged_.admits(std::chrono::steady_clock::now())) log(text);
  }
  void log_handlers(log_line const& line) {
    if (line.dropped != 0)
      log(fmt::format("{} lines of handlers were dropped: too many at once", line.dropped));
    log(to_text(line));
  }
  void log_left_out() {
    std::lock_guard lock(failures_mutex_);
    if (auto const n = failures_logged_.take_left_out(std::chrono::steady_clock::now()); n != 0)
      log(fmt::format("{} more actor failures; `rondo top` shows which actors fail", n));
  }

  /// Locks the checkpoint: it belongs to one process, and another one would overwrite what this one has acknowledged.
  void guard_checkpoint() try {
    if (!config_.checkpoint.empty()) lock_.emplace(config_.checkpoint);
  } catch (std::runtime_error const& e) {
    throw command_error(exit_bad_config, fmt::format("checkpoint: {}", e.what()));
  }

  void restore() try {
    if (config_.checkpoint.empty() || !std::filesystem::exists(config_.checkpoint)) return;
    if (auto const why = why_not_own(config_.checkpoint); !why.empty())
      throw command_error(exit_bad_config, fmt::format("checkpoint: {}", why));
    notes_ = rondo::restore(*runtime_, config_.checkpoint);
    log(fmt::format("restored {}", config_.checkpoint.string()));
  } catch (std::runtime_error const& e) {
    throw command_error(exit_bad_config, e.what());
  }

  void begin_recording() try {
    if (config_.recording.empty()) return;
    recording_.emplace(*runtime_, config_.recording);
    log(fmt::format("recording all messages to {}", config_.recording.string()));
    loop_->every(std::chrono::milliseconds(500), [this, is_kept = true]() mutable {
      if (!is_kept) return;
      is_kept = recording_->flush();
      if (!is_kept) service_.count_failed_recording();
    });
  } catch (std::runtime_error const& e) {
    throw command_error(exit_no_output, e.what());
  }

  void connect_nats() {
    if (config_.nats.empty()) return;
    if (!make_nats_)
      throw config_error(
          "nats: this program was built without NATS; install libnats (Debian: libnats-dev) and "
          "rebuild");
    nats_ = make_nats_({*runtime_, config_, notes_, [this](std::string const& text) { log(text); },
                        nats_counters_, service_.tables()});
    service_.watcher().watch(nats_counters_);
  }

  /// Without NATS the notes are kept as they are, for a later run with it.
  void write_checkpoint() {
    if (nats_) return nats_->checkpoint();
    left_out_.take(rondo::checkpoint(*runtime_, config_.checkpoint, notes_));
  }

  /// Starts before the service accepts clients, so that it is seen as alive and not ready.
  void monitor() {
    if (config_.metrics.empty()) return;
    auto const where = metrics_endpoint(config_);
    // Not ready only while new work cannot be accepted. The rest is in `conditions`.
    auto const why_not_ready = [this]() -> std::string {
      if (!ready_) return "the service is starting or stopping";
      auto const closed = runtime_->core().closed_for();
      return closed == errc::ok ? "" : make_error_code(closed).message();
    };
    auto const conditions = [this] {
      auto all = service_.conditions();
      if (nats_)
        for (auto& line : nats_->conditions()) all.push_back(std::move(line));
      return all;
    };
    if (!boost::asio::ip::make_address(where.path).is_loopback())
      log("metrics: anyone who can reach this address can read them, including all actor names; protect it "
          "with a firewall");
    http_.emplace(monitor_io_.get_executor(), work_.get_executor(),
                  boost::asio::ip::tcp::endpoint(boost::asio::ip::make_address(where.path), where.port),
                  monitoring_routes([this] { return to_metrics(service_.watcher().gather()); },
                                    [this] { return service_.why_not_well(); }, why_not_ready, conditions),
                  http_options{.connections = http_descriptors(descriptor_limit())});
    log(fmt::format("metrics at http://{}:{}/metrics", where.path, http_->port()));
  }

  void follow_signals() {
    loop_->on_stop([this](int signal) {
      log(signal == SIGTERM ? "SIGTERM: stopping" : "interrupted: stopping");
      loop_->end();
    });
    loop_->on_signal(SIGHUP, [this] { boost::asio::post(aside_, [this] { reload(); }); });
  }

  void reload() {
    try {
      auto const next = configure(arguments_);
      service_.reload(next);
      log("SIGHUP: reloaded limits, tokens and, for new connections, the certificate; connections whose "
          "token is gone were dropped; other changes need a restart");
    } catch (std::exception const& e) {
      log(fmt::format("SIGHUP: {}; nothing was changed", e.what()));
    }
  }

  /// A checkpoint may take long, and signals are heard all the time.
  void checkpoint_aside() {
    if (writes_.exchange(true)) return;  // the last one is not done yet
    boost::asio::post(aside_, [this] {
      checkpoint();
      writes_ = false;
    });
  }

  bool checkpoint() {
    try {
      service_.checkpoint();
      return true;
    } catch (std::exception const& e) {
      log(fmt::format("the checkpoint could not be written: {}", e.what()));
      return false;
    }
  }

  /// Answers what is open within drain_ms, then writes the checkpoint, and does it all within stop_limit_ms.
  int finish() {
    stop_limit_.begin(config_.stop_limit, [this] {
      log(fmt::format("not stopped within {} ms (stop_limit_ms), while {}; the process ends now",
                      config_.stop_limit.count(), stage_.load()));
    });
    auto const until = std::chrono::steady_clock::now() + config_.drain;
    notify_system("STOPPING=1");
    ready_ = false;
    auto left = service_.stop();
    if (nats_) {
      auto const rest =
          std::chrono::ceil<std::chrono::milliseconds>(until - std::chrono::steady_clock::now());
      left += nats_->drain(std::max(rest, std::chrono::milliseconds(100)));
    }
    stage_ = "writing the checkpoint";
    aside_.join();
    bool const kept = config_.checkpoint.empty() || checkpoint();
    stage_ = "stopping the actors";
    if (http_) http_->stop();
    monitor_io_.join();
    work_.join();
    nats_.reset();  // after its last acknowledgements; nobody asks it for conditions any more
    auto const stopped = runtime_->stop();
    log_left_out();
    for (auto const& line : stopped.stuck) log("did not stop: " + line);
    auto const t = runtime_->snapshot();
    auto const& c = service_.counters();
    auto const relaxed = std::memory_order_relaxed;  // all threads that count have ended
    log(fmt::format(
        "{} connections, {} requests, {} left unanswered; actors handled {} messages, {} failures, {} dead "
        "letters",
        c.connections_total.load(relaxed), c.requests.load(relaxed), left, t.live.handled + t.retired.handled,
        t.live.failures + t.retired.failures, t.dead_letters));
    return left == 0 && kept && stopped.stopped ? exit_done : exit_failed;
  }

  error_log log_;
  serve_arguments const& arguments_;
  service_config config_;
  std::unique_ptr<rondo::runtime> runtime_;
  std::optional<rondo::recording> recording_;
  std::mutex failures_mutex_;
  log_throttle failures_logged_;  // guarded by failures_mutex_
  subscription failures_, lines_;
  nats_counters nats_counters_;
  service service_;
  bridge_maker const& make_nats_;
  std::vector<std::byte> notes_;  // of the restored checkpoint
  left_out_log left_out_{[this](std::string const& text) { log(text); }};
  std::optional<file_lock> lock_;  // before the bridge, which writes the file
  std::unique_ptr<bridge> nats_;
  std::atomic<bool> ready_{false};
  boost::asio::thread_pool monitor_io_ = started("metrics", [] { return boost::asio::thread_pool(1); });
  boost::asio::thread_pool work_ = started("metrics", [] { return boost::asio::thread_pool(1); });
  boost::asio::thread_pool aside_ =
      started("checkpoints and reloads", [] { return boost::asio::thread_pool(1); });
  std::atomic<bool> writes_{false};  // a periodic checkpoint is being written, or waits
  std::atomic<char const*> stage_{"answering open requests"};  // of the stop, for its limit
  std::optional<http_server> http_;
  std::optional<tools::command_loop> loop_;  // until its end, a second signal kills
  stop_limit stop_limit_;
};

}  // namespace

void add_serve_command(CLI::App& app, served_module module, int& exit_status) {
  auto const a = std::make_shared<serve_arguments>();
  auto& c =
      add_command(app, "serve", "Host actors and serve clients over a socket until SIGTERM", exit_status,
                  [a, module = std::move(module), &exit_status] { exit_status = server(*a, module).run(); });
  c.add_option("--config", a->config_file, "JSON configuration file; the fields are listed below");
  c.add_option("--name", a->name, "name of the service");
  c.add_option("--listen", a->listen, "unix:PATH or tcp:ADDRESS:PORT; can be repeated");
  c.add_option("--actor", a->actors, "launch an actor, NAME=BEHAVIOUR; can be repeated");
  c.add_option("--device", a->device,
               "auto, cpu, emulated, cuda, cuda:N, opencl, opencl:NAME, metal, or a comma-separated list");
  c.add_option(
      "--nats", a->nats,
      "also answer the subjects rondo.NAME.ACTOR on this NATS server, nats://HOST:PORT or tls://HOST:PORT; "
      "see docs/nats.md");
  c.add_option("--checkpoint", a->checkpoint, "file to restore at start and to write when stopping");
  c.add_option("--recording", a->recording, "new file to record all messages to; see rondo replay");
  c.add_flag("--quiet", a->quiet, "do not log");
  c.footer([] {
    return "Examples:\n  rondo serve --actor clicks=counter\n  rondo serve --config service.json\n\n"
           "SIGTERM answers open requests, writes the checkpoint and stops. SIGHUP reloads limits, "
           "tokens and the certificate.\n\n"
           "Configuration (one JSON object):\n\n" +
           describe_service_config();
  });
}

}  // namespace rondo::service
