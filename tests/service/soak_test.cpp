// A soak: all hostile clients at once, for a long time. First they fill each table that clients can fill. Another
// client, whose asks are timed, is served as well as without them, and the service does not grow any more. By hand:
// tools/nightly soak.
#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/utsname.h>
#include <sys/wait.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <csignal>
#include <ctime>
#include <fstream>
#include <mutex>
#include <sstream>
#include <thread>

#include "tests/catch.hpp"
#include "tests/certificate.hpp"
#include "tests/seed.hpp"
#include "tests/service/hostile_clients.hpp"
#include "tests/service/http_client.hpp"
#include "tests/service/serve_process.hpp"
#include "tests/service/service_fixture.hpp"

using namespace rondo_test;
using rondo::endpoint;
using rondo::service::name_of;
using rondo::service::table;
using rondo::service::table_count;
using clock_type = std::chrono::steady_clock;

namespace {

constexpr auto admin_word = "the word of the operator";
constexpr auto guest_word = "the word of the hostile clients";
constexpr auto operating_word = "the word of the hostile client that operates";
constexpr auto good_word = "the word of the good client";

constexpr double most_p99_9_ms = 100, most_ms = 1000, most_growth_mb = 16;
constexpr std::chrono::minutes most_filling{10};
constexpr std::size_t places = 400;  // for connections

/// A service on a TLS port with metrics; the process of `rondo serve`. Its tables are small, so that they are soon
/// full.
struct soaked_service {
  soaked_service() {
    auto const folder = files.directory;
    auto const word_file = [&](char const* name, char const* word) {
      std::ofstream(folder / name) << word;
      std::filesystem::permissions(folder / name, std::filesystem::perms::owner_read);
      return folder / name;
    };
    write_certificate(folder / "certificate", folder / "key", "rondo.test");
    auto const port = free_port();
    std::ofstream(folder / "config.json")
        << "{\"listen\": [\"tcp:127.0.0.1:0\", \"unix:" << (folder / "socket").string()
        << "\"], \"token_file\": " << word_file("admin", admin_word)
        << ", \"tokens\": [{\"file\": " << word_file("guest", guest_word)
        << ", \"role\": \"control\"}, {\"file\": " << word_file("operating", operating_word)
        << ", \"role\": \"control\"}, {\"file\": " << word_file("good", good_word)
        << ", \"role\": \"send\"}], \"tls_certificate\": " << folder / "certificate"
        << ", \"tls_key\": " << folder / "key"
        << ", \"metrics\": \"127.0.0.1:" << port << R"(", "limits": {"clients": )" << places
        << R"(, "keys": 2048, "response_bytes": 1048576},
            "runtime": {"device": "cpu", "teams": 2, "asks": 256, "actors": 1024, "mail_blocks": 512, "default_capacity": 32,
                        "state_bytes": 67108864, "trace_hops": 4096},
            "actors": [{"name": "mirror", "behaviour": "echo"}, {"name": "clicks", "behaviour": "counter"},
                       {"name": "silent", "behaviour": "counter", "capacity": 65536, "active": false},
                       {"name": "full", "behaviour": "counter", "capacity": 1, "active": false}]})";
    process.emplace(folder / "config.json");
    if (!process->wait_ready()) throw std::runtime_error("the service has not started: " + process->log());
    std::string const before = "listens on tcp:127.0.0.1:";
    auto const found = process->log().find(before);
    if (found == std::string::npos) throw std::runtime_error("the service has not said its port");
    at = {.port = {false, "127.0.0.1",
                   static_cast<std::uint16_t>(std::stoi(process->log().substr(found + before.size())))},
          .metrics = {false, "127.0.0.1", port},
          .token = guest_word,
          .operating_token = operating_word,
          .connections = places};
  }
  static std::uint16_t free_port() {
    boost::asio::io_context io;
    return boost::asio::ip::tcp::acceptor(io, {boost::asio::ip::address_v4::loopback(), 0})
        .local_endpoint()
        .port();
  }

  scratch_directory files{"soak"};
  std::optional<serve_process> process;
  hostile_target at;
};

/// The figures of a client, in milliseconds.
struct figures {
  std::size_t asks = 0, failed = 0;
  double p50 = 0, p99_9 = 0, longest = 0;
};

/// Another client, which asks every two milliseconds.
class good_client {
 public:
  explicit good_client(soaked_service const& s)
      : client_({.at = s.at.port,
                 .token = good_word,
                 .tls = true,
                 .authorities = s.files.directory / "certificate",
                 .server_name = "rondo.test"}),
        mirror_(client_.find<basics::echo>("mirror").value()),
        thread_([this](std::stop_token const& stop) {
          for (std::uint64_t i = 0; !stop.stop_requested(); ++i, std::this_thread::sleep_for(2ms)) {
            auto const began = clock_type::now();
            auto const answer = mirror_.ask(basics::ping{i}, 60s, rondo::block);
            auto const took = std::chrono::duration<float, std::milli>(clock_type::now() - began).count();
            std::lock_guard const lock(mutex_);
            took_.push_back(took);
            failed_ += !answer || answer->number != i;
          }
        }) {}
  figures so_far() {
    std::unique_lock lock(mutex_);
    auto took = took_;
    figures f{took.size(), failed_};
    lock.unlock();
    if (took.empty()) return f;
    std::ranges::sort(took);
    auto const at = [&](double part) {
      return static_cast<double>(took[static_cast<std::size_t>(part * static_cast<double>(took.size() - 1))]);
    };
    f.p50 = at(0.5), f.p99_9 = at(0.999), f.longest = took.back();
    return f;
  }
  figures end() {
    thread_.request_stop();
    thread_.join();
    return so_far();
  }
  std::uint64_t connections() const { return client_.connections_made(); }

 private:
  rondo::service::client client_;
  rondo::service::client_ref<basics::echo> mirror_;
  std::mutex mutex_;  // guards the next two
  std::vector<float> took_;
  std::size_t failed_ = 0;
  std::jthread thread_;
};

/// A thread for each hostile client.
class acting_crowd {
 public:
  acting_crowd(hostile_crowd all, std::uint64_t seed) : all_(std::move(all)) {
    for (auto& c : all_.fillers) begin(*c.it, ++seed);
    for (auto& [name, it] : all_.others) begin(*it, ++seed);
  }
  std::vector<named_hostile_client> const& fillers() const { return all_.fillers; }
  std::string names() const {
    std::string text;
    for (auto const& c : all_.fillers) text += fmt::format("{}, ", c.name);
    for (auto const& [name, it] : all_.others) text += fmt::format("{}, ", name);
    return text.substr(0, text.size() - 2);
  }
  std::uint64_t acts() const noexcept { return acts_.load(std::memory_order_relaxed); }

 private:
  void begin(hostile_client& it, std::uint64_t seed) {
    threads_.emplace_back([this, &it, random = std::mt19937_64(seed)](std::stop_token const& stop) mutable {
      for (; !stop.stop_requested(); std::this_thread::sleep_for(10ms)) {
        try {
          it.act(random);
        } catch (std::runtime_error const&) {  // the service has hung up; it begins again
        }
        acts_.fetch_add(1, std::memory_order_relaxed);
      }
    });
  }

  hostile_crowd all_;
  std::atomic<std::uint64_t> acts_{0};
  std::vector<std::jthread> threads_;
};

/// What the metrics said of each table.
class table_watch {
 public:
  struct line {
    std::uint64_t most_used = 0, limit = 0, refused = 0;
  };
  /// Reads /metrics. A response that does not come is left out: hostile clients take places there, too.
  void look(std::uint16_t port) {
    std::string text;
    try {
      text = service_test::get(port, "/metrics");
    } catch (std::exception const&) {
      return;
    }
    for (std::size_t i = 0; i < table_count; ++i) {
      auto const* const name = name_of(static_cast<table>(i));
      auto& l = lines_[i];
      l.most_used = std::max(l.most_used, value(text, "rondo_table_used", name));
      l.limit = std::max(l.limit, value(text, "rondo_table_limit", name));
      l.refused = std::max(l.refused, value(text, "rondo_table_refused_total", name));
    }
  }
  line const& of(table t) const { return lines_[static_cast<std::size_t>(t)]; }
  /// One peer gets almost half of a table. It had that, and was refused more.
  bool was_full(table t) const { return of(t).refused != 0 && of(t).most_used * 5 >= of(t).limit * 2; }

 private:
  static std::uint64_t value(std::string const& text, char const* metric, char const* name) {
    auto const label = fmt::format("{}{{table=\"{}\"}} ", metric, name);
    auto const at = text.find(label);
    return at == std::string::npos
               ? 0
               : static_cast<std::uint64_t>(std::stod(text.substr(at + label.size(), 32)));
  }
  std::array<line, table_count> lines_{};
};

std::string not_filled(acting_crowd const& crowd, table_watch const& tables) {
  std::string names;
  for (auto const& c : crowd.fillers())
    if (!tables.was_full(c.fills)) names += fmt::format("{}{}", names.empty() ? "" : ", ", name_of(c.fills));
  return names;
}

void say(std::string const& line) {
  std::printf("%s\n", line.c_str());
  std::fflush(stdout);
}

/// Lets time pass, reads the service's log meanwhile, and says each minute how far it is. Returns the most bytes that
/// it had.
std::size_t pass(char const* what, std::chrono::seconds length, serve_process& process, good_client* client,
                 std::function<void()> const& each_second = {}) {
  std::size_t most = 0;
  auto const began = clock_type::now();
  auto next_second = began, next_minute = began + 1min;
  for (auto now = began; now < began + length; now = clock_type::now()) {
    std::this_thread::sleep_for(100ms);
    process.listen();
    most = std::max(most, process.resident_bytes());
    if (now >= next_second && each_second) next_second = now + 1s, each_second();
    if (now < next_minute) continue;
    next_minute += 1min;
    auto const f = client != nullptr ? client->so_far() : figures{};
    say(fmt::format("{}: minute {} of {}: {} asks, {} failed, p99.9 {:.2f} ms, longest {:.1f} ms; {:.1f} MB",
                    what, std::chrono::floor<std::chrono::minutes>(now - began).count(),
                    std::chrono::ceil<std::chrono::minutes>(length).count(), f.asks, f.failed, f.p99_9,
                    f.longest, static_cast<double>(most) / 1e6));
  }
  return most;
}

/// The result, as a table in Markdown.
class result_table {
 public:
  /// Without a limit, every value passes.
  void row(std::string const& what, std::string const& quiet, std::string const& hostile,
           std::string const& limit = {}, bool passes = true) {
    rows_ += fmt::format("| {} | {} | {} | {} | {} |\n", what, quiet, hostile, limit,
                         limit.empty() ? ""
                         : passes      ? "passed"
                                       : "FAILED");
    all_pass_ = all_pass_ && passes;
  }
  bool all_pass() const { return all_pass_; }
  /// Prints it, and writes it to the file that the environment names.
  void publish(std::string const& head) const {
    auto const text =
        fmt::format("{}\n| | quiet | hostile | limit | |\n| --- | --- | --- | --- | --- |\n{}\n{}\n", head,
                    rows_, all_pass_ ? "Passed." : "FAILED.");
    say("\n" + text);
    auto const* const file = std::getenv("SERVICE_SOAK_RESULT");
    if (file == nullptr) return;
    std::ofstream(file) << text;
    CHECK(std::filesystem::file_size(file) == text.size());
  }

 private:
  std::string rows_;
  bool all_pass_ = true;
};

std::string provenance(std::chrono::seconds length, std::uint64_t seed, std::string const& crowd) {
  utsname machine{};
  ::uname(&machine);
  std::string cpu = "unknown processor";
  std::ifstream in("/proc/cpuinfo");
  for (std::string line; std::getline(in, line);)
    if (line.starts_with("model name")) {
      cpu = line.substr(line.find(": ") + 2);
      break;
    }
  auto const now = std::time(nullptr);
  char date[32] = {};
  std::strftime(date, sizeof date, "%Y-%m-%d", std::gmtime(&now));
  auto const* const commit = std::getenv("SERVICE_SOAK_COMMIT");
  return fmt::format(
      "# Soak of a service\n\n`tools/nightly soak`: {} s without, and {} s with all hostile clients; commit "
      "{}, {}, {} cores "
      "of {}, Linux {}, seed {}.\n\nHostile clients: {}.\n",
      length.count(), length.count(), commit != nullptr ? commit : "unknown", date,
      std::thread::hardware_concurrency(), cpu, machine.release, seed, crowd);
}

}  // namespace

TEST_CASE(
    "all hostile clients at once, with every table filled, neither slow down another client nor make the "
    "service grow",
    "[.soak]") {
  auto const* const wanted = std::getenv("SERVICE_SOAK_SECONDS");
  std::chrono::seconds const length(wanted != nullptr ? std::max(std::atoi(wanted), 1) : 10);
  rlimit files{};
  ::getrlimit(RLIMIT_NOFILE, &files);
  files.rlim_cur = files.rlim_max;
  ::setrlimit(RLIMIT_NOFILE, &files);
  auto const seed = seed_of("soak");

  figures quiet;
  double quiet_growth = 0;
  {
    soaked_service service;
    good_client alone(service);
    auto const before = pass("quiet", 5s, *service.process, &alone);
    auto const most = pass("quiet", length, *service.process, &alone);
    quiet = alone.end();
    quiet_growth = (static_cast<double>(most) - static_cast<double>(before)) / 1e6;
  }

  soaked_service service;
  std::optional<acting_crowd> crowd(std::in_place, hostile_clients(service.at, seed), seed);
  auto const names = crowd->names();
  table_watch tables;
  auto const look = [&] { tables.look(service.at.metrics.port); };
  auto const filling = clock_type::now();
  while (!not_filled(*crowd, tables).empty() && clock_type::now() - filling < most_filling) {
    pass("filling", 5s, *service.process, nullptr, look);
    say(fmt::format("filling: not filled: {}", not_filled(*crowd, tables)));
  }
  auto const filled_in = std::chrono::duration<double>(clock_type::now() - filling).count();
  // Until buffers and tables have their size.
  auto const before =
      pass("settling", std::min<std::chrono::seconds>(length / 10 + 5s, 60s), *service.process, nullptr);

  good_client beside(service);
  auto const most = pass("hostile", length, *service.process, &beside, look);
  auto const hostile = beside.end();
  auto const growth = (static_cast<double>(most) - static_cast<double>(before)) / 1e6;
  auto const acts = crowd->acts();

  result_table all;
  auto const ms = [](double v) { return fmt::format("{:.2f} ms", v); };
  all.row("asks of another client", fmt::to_string(quiet.asks), fmt::to_string(hostile.asks));
  all.row("of these, failed", fmt::to_string(quiet.failed), fmt::to_string(hostile.failed), "0",
          quiet.failed + hostile.failed == 0);
  all.row("its connections", "", fmt::to_string(beside.connections()), "1", beside.connections() == 1);
  all.row("p50", ms(quiet.p50), ms(hostile.p50));
  all.row("p99.9", ms(quiet.p99_9), ms(hostile.p99_9), "below " + ms(most_p99_9_ms),
          hostile.p99_9 < most_p99_9_ms);
  all.row("longest", ms(quiet.longest), ms(hostile.longest), "below " + ms(most_ms),
          hostile.longest < most_ms);
  all.row("the service's memory, once tables were full", "",
          fmt::format("{:.1f} MB", static_cast<double>(before) / 1e6));
  all.row("its growth from then on", fmt::format("{:.1f} MB", quiet_growth), fmt::format("{:.1f} MB", growth),
          fmt::format("below {:.0f} MB", most_growth_mb), growth < most_growth_mb);
  all.row("acts of hostile clients", "", fmt::to_string(acts));
  all.row("time until all tables had been full", "", fmt::format("{:.0f} s", filled_in));
  for (auto const& c : crowd->fillers()) {
    auto const& t = tables.of(c.fills);
    all.row(fmt::format("table `{}` ({}): most used, refused", name_of(c.fills), c.name), "",
            fmt::format("{} of {}, {}", t.most_used, t.limit, t.refused), "40 % used, 1 refused",
            tables.was_full(c.fills));
  }
  crowd.reset();
  auto const status = service.process->end(SIGTERM);
  all.row("the service's exit status", "",
          fmt::to_string(WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status)), "0",
          WIFEXITED(status) && WEXITSTATUS(status) == 0);
  all.publish(provenance(length, seed, names));
  CHECK(all.all_pass());
}
