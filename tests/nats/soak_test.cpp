// A soak test: thousands of connections that come and go, strangers, floods, and senders over TLS, Unix sockets and
// NATS, while the service is killed and restarted; one client asks now and then and measures its latency.
//
// By hand, half an hour with 2,000 connections, which also limits that client's latency: SOAK_SECONDS=1800 test_nats
// "[soak]"
#include <sched.h>
#include <sys/resource.h>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <deque>
#include <fstream>
#include <optional>
#include <random>

#include "tests/certificate.hpp"
#include "tests/nats/publisher.hpp"
#include "tests/seed.hpp"
#include "tests/service/programs.hpp"
#include "tests/service/raw_client.hpp"
#include "tests/service/strangers.hpp"

using namespace rondo_test;

namespace {

using clock = std::chrono::steady_clock;
constexpr char const* token = "a long word that friends know";
constexpr int tallies = 4;  // actors, each with one sender over TLS and one over the Unix socket

/// A service that listens on both, and its clients' options.
struct soak_site : nats_site {
  soak_site() : nats_site("soak") {
    auto const& d = folder.directory;
    std::ofstream(d / "token") << token;
    std::filesystem::permissions(d / "token", std::filesystem::perms::owner_read);
    write_certificate(d / "certificate", d / "key", "rondo.test");
    std::ofstream out(config);
    out << "{\"name\": \"demo\", \"listen\": [\"" << local.text() << "\", \"" << remote.text()
        << "\"], \"nats\": \"" << server.url()
        << "\", \"nats_wait_ms\": 5000, \"token_file\": " << d / "token"
        << ", \"tls_certificate\": " << d / "certificate"
        << ", \"tls_key\": " << d / "key"
        << ", \"checkpoint\": " << d / "checkpoint"
        << R"(, "limits": {"clients": 3000, "hello_ms": 1000}, "runtime": {"device": "cpu", "teams": 2}, "actors": [
              {"name": "clicks", "behaviour": "counter", "durable": true}, {"name": "mirror", "behaviour": "echo"})";
    for (int i = 0; i < tallies; ++i)
      out << ", {\"name\": \"tally-" << i << "\", \"behaviour\": \"counter\"}";
    out << "]}";
  }
  client_options by_tls() const {
    return {.at = remote,
            .token = token,
            .tls = true,
            .authorities = folder.directory / "certificate",
            .server_name = "rondo.test"};
  }
  client_options by_socket() const { return {.at = local}; }

  rondo::endpoint local{true, (folder.directory / "socket").string(), 0},
      remote{false, "127.0.0.1", free_port()};
  std::filesystem::path config = folder.directory / "config.json";
};

bool is_by_hand() { return std::getenv("SOAK_SECONDS") != nullptr; }

/// During its lifetime this thread, and the threads and processes that it starts, run only when no other thread wants
/// to. By hand, on an idle machine, the soak then measures how the service treats its clients, not how many test
/// threads fit on one machine. A low priority alone (nice 19) is not enough: such a thread keeps its processor for
/// milliseconds when another one wakes.
class comes_last {
 public:
  comes_last() { schedule(SCHED_IDLE); }
  ~comes_last() { schedule(SCHED_OTHER); }
  comes_last(comes_last const&) = delete;
  comes_last& operator=(comes_last const&) = delete;

 private:
  static void schedule(int policy) {
    if (!is_by_hand()) return;  // among other tests it would starve
    sched_param const none{};
    ::sched_setscheduler(0, policy, &none);
  }
};

/// Threads that run until they are told to end.
class crew {
 public:
  ~crew() { dismiss(); }
  template <class Work>
  void add(Work work) {
    all_.emplace_back([this, work = std::move(work)]() mutable {
      comes_last const idle;
      while (!ends_) work();
    });
  }
  void dismiss() {
    ends_ = true;
    all_.clear();
  }

 private:
  std::atomic<bool> ends_{false};
  std::deque<std::jthread> all_;
};

/// Sends to one tally. Acknowledged messages must be in its state; messages with an unknown outcome may be.
struct sender {
  sender(client_options const& options, std::string const& to) : link(options), name(to) {}

  void step() {
    auto const ref = link.find<basics::counter>(name);
    auto const done =
        ref ? ref->ask(basics::add_and_get{1}, 30s, rondo::block) : rondo::result<basics::total>(ref.error());
    if (done)
      ++answered;
    else if (ref)
      ++unknown;
    std::this_thread::sleep_for(done ? 2ms : 20ms);
  }

  client link;
  std::string name;
  std::atomic<std::uint64_t> answered{0}, unknown{0};
};

/// Clients that have logged in, send little, and are replaced one after another.
class crowd {
 public:
  crowd(soak_site const& site, std::size_t size, std::uint64_t seed)
      : site_(site), size_(size), random_(seed) {}

  void step() try {
    if (local_.size() + remote_.size() >= size_) {
      if (random_() % 2 == 0)
        local_.pop_front();
      else
        remote_.pop_front();
    }
    if (local_.size() <= remote_.size()) {
      auto& one = *local_.emplace_back(std::make_unique<raw_client>(site_.local));
      one.hello(random_());
      one.send(one.frame_for(2, "mirror", basics::ping{7}, true));
      return;
    }
    auto& one = *remote_.emplace_back(std::make_unique<tls_peer>(site_.remote));
    if (!one.shake_hands()) return void(remote_.pop_back());
    auto& b = frame_builder();
    auto const hello =
        request_frame(b, 1, wire::Createhello(b, wire::protocol_version, random_(), b.CreateString(token)));
    one.send(one.sealed({reinterpret_cast<char const*>(hello.data()), hello.size()}));
  } catch (std::runtime_error const&) {  // the service is not available for a moment
    local_.clear();
    remote_.clear();
    std::this_thread::sleep_for(10ms);
  }
  std::size_t size() const { return local_.size() + remote_.size(); }

 private:
  soak_site const& site_;
  std::size_t size_;
  std::mt19937_64 random_;
  std::deque<std::unique_ptr<raw_client>> local_;
  std::deque<std::unique_ptr<tls_peer>> remote_;
};

/// Sends a thousand asks at once, whose answers nobody reads.
void flood(soak_site const& site) try {
  raw_client one(site.local);
  one.hello();
  std::string all;
  for (std::uint64_t i = 2; i < 1002; ++i) all += one.frame_for(i, "mirror", basics::ping{i}, true);
  one.send(std::as_bytes(std::span(all)), false);
  std::this_thread::sleep_for(200ms);
} catch (std::runtime_error const&) {
  std::this_thread::sleep_for(20ms);
}

/// The 99th percentile of the latency of a client that asks now and then, in milliseconds; see patient_client.cpp.
double p99_ms(soak_site const& site, std::chrono::milliseconds time) {
  auto const [status, text] =
      service_test::run(PATIENT_CLIENT " " + site.local.path + " " + std::to_string(time.count()));
  INFO(text);
  REQUIRE(status == 0);
  return std::stod(text);
}

}  // namespace

TEST_CASE("under load, kills and restarts every acknowledged message is in its actor's state",
          "[nats][soak]") {
  auto const part =
      std::chrono::milliseconds(is_by_hand() ? std::atoi(std::getenv("SOAK_SECONDS")) * 1000 / 6 : 1000);
  auto const connections = is_by_hand() ? 2000u : 100u;
  rlimit files{};
  ::getrlimit(RLIMIT_NOFILE, &files);
  files.rlim_cur = files.rlim_max;
  ::setrlimit(RLIMIT_NOFILE, &files);
  auto const seed = seed_of("soak");
  std::optional<soak_site> made;
  {
    comes_last const idle;
    made.emplace();  // together with the NATS server
  }
  auto& site = *made;
  auto service = std::make_unique<serve_process>(site.config);
  REQUIRE(service->wait_ready());

  // Part one of six: no other load.
  auto const quiet_ms = p99_ms(site, part);

  std::optional<publisher> to;
  std::atomic<std::uint64_t> stored{0};
  std::deque<sender> senders;
  {
    comes_last const idle;
    to.emplace(site.server.url());
    for (int i = 0; i < tallies; ++i) {
      senders.emplace_back(site.by_tls(), "tally-" + std::to_string(i));
      senders.emplace_back(site.by_socket(), "tally-" + std::to_string(i));
    }
  }
  std::atomic<std::size_t> most_connections{0};
  crew all;
  all.add([&] {
    to->add(amount_of(stored), "number " + std::to_string(stored));
    ++stored;
    std::this_thread::sleep_for(2ms);
  });
  crew tellers;
  // One part: the service is killed repeatedly. Acknowledged messages that are not durable are lost with it, so only
  // durable ones are sent.
  int kills = 0, restarts = 0;
  auto const again = [&](int signal) {
    auto const status = service->end(signal);
    REQUIRE((signal == SIGTERM ? ended_well(status) : WIFSIGNALED(status)));
    service = std::make_unique<serve_process>(site.config);
    REQUIRE(service->wait_ready());
  };
  for (auto const end = clock::now() + part; clock::now() < end; ++kills) {
    std::this_thread::sleep_for(part / 15);
    again(SIGKILL);
  }
  // One part: the service is stopped and restarted under full load.
  for (auto& s : senders) tellers.add([&s] { s.step(); });
  all.add([&, many = crowd(site, connections, seed)]() mutable {
    many.step();
    most_connections = std::max(most_connections.load(), many.size());
    if (many.size() >= connections) std::this_thread::sleep_for(10ms);
  });
  all.add([&] { flood(site); });
  all.add([strange = strangers(site.remote, seed)]() mutable {
    try {
      for (int i = 0; i < 10; ++i) strange.step();
    } catch (std::runtime_error const&) {
    }
    std::this_thread::sleep_for(5ms);
  });
  for (auto const end = clock::now() + part; clock::now() < end; ++restarts) {
    std::this_thread::sleep_for(part / 5);
    again(SIGTERM);
  }
  // Three parts: the service stays up; it must not grow, nor let the patient client wait.
  std::this_thread::sleep_for(part / 2);
  auto const before = service->resident_bytes();
  auto const loud_ms = p99_ms(site, part * 2);
  service->listen();
  auto const after = service->resident_bytes();

  tellers.dismiss();
  all.dismiss();
  std::uint64_t answered = 0, unknown = 0;
  client last(site.by_socket());
  for (int i = 0; i < tallies; ++i) {
    std::uint64_t known = 0, perhaps = 0;
    for (auto const& s : senders)
      if (s.name == "tally-" + std::to_string(i)) known += s.answered, perhaps += s.unknown;
    auto const ref = last.find<basics::counter>("tally-" + std::to_string(i)).value();
    auto const state = ref.ask(basics::get{}, 60s, rondo::block).value().value;
    CHECK(state >= known);
    CHECK(state <= known + perhaps);
    answered += known, unknown += perhaps;
  }
  REQUIRE(to->emptied());
  std::uint64_t wanted = 0;
  for (std::uint64_t i = 0; i < stored; ++i) wanted += amount_of(i);
  CHECK(to->sum() == wanted);
  std::printf(
      "soak: %zu connections, %d kills, %d restarts; %llu durable messages, %llu asks answered, %llu "
      "unknown; "
      "p99 %.3f ms alone, %.3f ms among all; the service grew by %.1f MB from %.1f MB\n",
      most_connections.load(), kills, restarts, static_cast<unsigned long long>(stored.load()),
      static_cast<unsigned long long>(answered), static_cast<unsigned long long>(unknown), quiet_ms, loud_ms,
      (static_cast<double>(after) - static_cast<double>(before)) / 1e6, static_cast<double>(before) / 1e6);
  CHECK(answered > 0);
  if (is_by_hand()) {
    CHECK(most_connections >= connections);
    CHECK(loud_ms <= 2 * quiet_ms);
    CHECK(after < before + 16'000'000);
  }
  CHECK(ended_well(service->end(SIGTERM)));
}
