// A soak: all hostile clients at once, for a long time. First they fill each table that clients can fill. Another client, whose asks are
// timed, is served as well as without them, and the service does not grow any more. By hand: tools/nightly soak.
#include <sys/resource.h>
#include <sys/wait.h>

#include <algorithm>
#include <atomic>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <csignal>
#include <deque>
#include <fstream>
#include <thread>

#include "tests/catch.hpp"
#include "tests/certificate.hpp"
#include "tests/eventually.hpp"
#include "tests/seed.hpp"
#include "tests/service/hostile_clients.hpp"
#include "tests/service/serve_process.hpp"
#include "tests/service/service_fixture.hpp"

using namespace rondo_test;
using rondo::service::endpoint;
using clock_type = std::chrono::steady_clock;

namespace {

constexpr auto admin_word = "the word of the operator";
constexpr auto guest_word = "the word of the hostile clients";
constexpr auto good_word = "the word of the good client";

/// A service on a TLS port with metrics; the process of `rondo serve`.
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
        << ", \"role\": \"control\"}, {\"file\": " << word_file("good", good_word)
        << ", \"role\": \"send\"}], \"tls_certificate\": " << folder / "certificate"
        << ", \"tls_key\": " << folder / "key"
        << ", \"metrics\": \"127.0.0.1:" << port
        << R"(", "runtime": {"device": "cpu", "teams": 2, "actors": 2048, "asks": 4096},
            "actors": [{"name": "mirror", "behaviour": "echo"}, {"name": "clicks", "behaviour": "counter"},
                       {"name": "silent", "behaviour": "counter", "capacity": 8192, "active": false},
                       {"name": "full", "behaviour": "counter", "capacity": 1, "active": false}]})";
    process.emplace(folder / "config.json");
    if (!process->wait_ready()) throw std::runtime_error("the service has not started: " + process->log());
    std::string const before = "listens on tcp:127.0.0.1:";
    auto const found = process->log().find(before);
    if (found == std::string::npos) throw std::runtime_error("the service has not said its port");
    at = {.port = {false, "127.0.0.1",
                   static_cast<std::uint16_t>(std::stoi(process->log().substr(found + before.size())))},
          .metrics = {false, "127.0.0.1", port},
          .token = guest_word};
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
            took_.push_back(std::chrono::duration<float, std::milli>(clock_type::now() - began).count());
            if (!answer || answer->number != i) ++wrong_;
          }
        }) {}
  /// Prints its figures, in milliseconds.
  struct figures {
    std::size_t asks, wrong;
    float p50, p99_9, longest;
    std::uint64_t connections;
  };
  figures end(char const* what) {
    thread_.request_stop();
    thread_.join();
    std::ranges::sort(took_);
    auto const at = [&](double part) {
      return took_[static_cast<std::size_t>(part * static_cast<double>(took_.size() - 1))];
    };
    figures const f{took_.size(), wrong_, at(0.5), at(0.999), took_.back(), client_.connections_made()};
    std::printf("%-8s %zu asks of another client, %zu failed; p50 %.2f ms, p99.9 %.2f ms, longest %.1f ms\n",
                what, f.asks, f.wrong, f.p50, f.p99_9, f.longest);
    std::fflush(stdout);
    return f;
  }

 private:
  rondo::service::client client_;
  rondo::service::client_ref<basics::echo> mirror_;
  std::vector<float> took_;
  std::size_t wrong_ = 0;
  std::jthread thread_;
};

/// A thread for each hostile client.
class hostile_crowd {
 public:
  hostile_crowd(hostile_target const& at, std::uint64_t seed)
      : all_(hostile_clients(at, seed)), filled_(all_.size()) {
    for (std::size_t i = 0; i < all_.size(); ++i)
      threads_.emplace_back([this, i,
                             random = std::mt19937_64(seed + i)](std::stop_token const& stop) mutable {
        for (; !stop.stop_requested(); std::this_thread::sleep_for(10ms)) {
          try {
            all_[i].it->act(random);
          } catch (std::runtime_error const&) {  // the service has hung up; it begins again
          }
          ++acts_;
          filled_[i].store(all_[i].it->has_filled(), std::memory_order_relaxed);  // relaxed: only looked at
        }
      });
  }
  std::string not_filled() const {
    std::string names;
    for (std::size_t i = 0; i < all_.size(); ++i)
      if (!filled_[i].load(std::memory_order_relaxed))
        names += std::string(names.empty() ? "" : ", ") + all_[i].name;
    return names;
  }
  std::uint64_t acts() const noexcept { return acts_.load(std::memory_order_relaxed); }

 private:
  std::vector<named_hostile_client> all_;
  std::deque<std::atomic<bool>> filled_;
  std::atomic<std::uint64_t> acts_{0};
  std::vector<std::jthread> threads_;
};

/// Lets time pass, and reads the service's log meanwhile. Returns the most bytes that it had.
std::size_t pass(std::chrono::seconds length, serve_process& process) {
  std::size_t most = 0;
  for (auto const until = clock_type::now() + length; clock_type::now() < until;
       std::this_thread::sleep_for(100ms)) {
    process.listen();
    most = std::max(most, process.resident_bytes());
  }
  return most;
}

}  // namespace

TEST_CASE(
    "all hostile clients at once, with every table filled, neither slow down another client nor make the "
    "service grow",
    "[.soak]") {
  auto const* const wanted = std::getenv("RONDO_SOAK_SECONDS");
  std::chrono::seconds const length(wanted != nullptr ? std::max(std::atoi(wanted), 1) : 10);
  rlimit files{};
  ::getrlimit(RLIMIT_NOFILE, &files);
  files.rlim_cur = files.rlim_max;
  ::setrlimit(RLIMIT_NOFILE, &files);
  auto const seed = seed_of("soak");

  {
    soaked_service quiet;
    good_client alone(quiet);
    pass(length, *quiet.process);
    CHECK(alone.end("quiet:").wrong == 0);
  }

  soaked_service hostile;
  std::optional<hostile_crowd> crowd(std::in_place, hostile.at, seed);
  auto const filling = clock_type::now();
  while (!crowd->not_filled().empty() && clock_type::now() - filling < 10min) pass(1s, *hostile.process);
  std::printf("filling: %.0f s; not filled: %s\n",
              std::chrono::duration<double>(clock_type::now() - filling).count(),
              crowd->not_filled().empty() ? "none" : crowd->not_filled().c_str());
  CHECK(crowd->not_filled().empty());
  auto const before = pass(std::min<std::chrono::seconds>(length / 10 + 5s, 60s), *hostile.process);

  good_client beside(hostile);
  auto const most = pass(length, *hostile.process);
  auto const figures = beside.end("hostile:");
  auto const growth = static_cast<double>(most) - static_cast<double>(before);
  std::printf(
      "the hostile clients acted %llu times; the service had %.1f MB with its tables filled, and grew by "
      "%.1f MB\n",
      static_cast<unsigned long long>(crowd->acts()), static_cast<double>(before) / 1e6, growth / 1e6);
  crowd.reset();
  CHECK(figures.wrong == 0);
  CHECK(figures.connections == 1);
  CHECK(figures.p99_9 < 100);
  CHECK(figures.longest < 1000);
  CHECK(growth < 16e6);
  auto const status = hostile.process->end(SIGTERM);
  CHECK((WIFEXITED(status) && WEXITSTATUS(status) == 0));
}
