// Strangers at a port with TLS: thousands of random steps of handshakes, logins and requests, cut, split, stalled and reset
// anywhere, by clients who have no token. The service stays up, answers others, and does not grow.
//
// By hand, for half an hour, which also bounds how long others may wait: HOSTILE_SECONDS=1800 test_service "[walk]"
#include <sys/wait.h>

#include <atomic>
#include <csignal>
#include <fstream>
#include <random>
#include <thread>

#include "tests/catch.hpp"
#include "tests/certificate.hpp"
#include "tests/seed.hpp"
#include "tests/service/raw_client.hpp"
#include "tests/service/serve_process.hpp"
#include "tests/service/service_fixture.hpp"
#include "tests/service/tls_peer.hpp"

using namespace rondo_test;
using rondo::service::endpoint;

namespace {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool memory_tells = false;  // the sanitizers' own memory grows
#else
constexpr bool memory_tells = true;
#endif

constexpr char const* word = "a long word that strangers do not know";

/// One stranger, and what it would send next.
struct stranger {
  explicit stranger(endpoint const& at) : line(std::make_unique<tls_peer>(at)) {}
  std::unique_ptr<tls_peer> line;
  std::string next{};
};

/// What strangers do, a step at a time.
class walk {
 public:
  walk(endpoint const& at, std::uint64_t seed) : at_(at), random_(seed) {}

  void step() {
    if (all_.size() < 48 && below(4) == 0) return void(all_.emplace_back(at_));
    if (all_.empty()) return;
    auto const who = all_.begin() + static_cast<std::ptrdiff_t>(below(all_.size()));
    if (!goes_on(*who)) all_.erase(who);
  }
  void leave() { all_.clear(); }

 private:
  std::size_t below(std::size_t n) { return random_() % n; }
  std::string noise(std::size_t bytes) {
    std::string all(bytes, '\0');
    for (auto& c : all) c = static_cast<char>(random_());
    return all;
  }

  bool goes_on(stranger& s) {
    auto& line = *s.line;
    switch (below(12)) {
      case 0:  // leaves
        return false;
      case 1:
        line.reset();
        return false;
      case 2:
        return line.send(noise(1 + below(2000)));
      case 3:  // the beginning of a record, and perhaps never its end
        return line.send(std::string("\x16\x03\x01\x02\x00", 5) + noise(below(100)));
      case 4:
        return line.send("GET /metrics HTTP/1.1\r\n\r\n");
      case 5:
        line.end_sending();
        return true;
      case 6:  // says nothing for a while
        return line.take_what_came();
      default:
        return line.take_what_came() && says_more(s);
    }
  }
  /// Some of what comes next in the handshake or, behind it, of a login or a request.
  bool says_more(stranger& s) {
    if (s.next.empty()) s.next = s.line->is_open() ? s.line->sealed(some_frame()) : s.line->step();
    auto const bytes = below(3) == 0 ? below(s.next.size() + 1) : s.next.size();
    bool const sent = s.line->send(std::string_view(s.next).substr(0, bytes));
    s.next.erase(0, bytes);
    return sent;
  }
  std::string some_frame() {
    auto& b = rondo::service::frame_builder();
    auto const text = [](std::span<std::byte const> bytes) {
      return std::string(reinterpret_cast<char const*>(bytes.data()), bytes.size());
    };
    switch (below(6)) {
      case 0:
        return text(rondo::service::request_frame(
            b, 1, wire::Createhello(b, wire::protocol_version, random_(), b.CreateString(noise(below(64))))));
      case 1:  // somebody else's version
        return text(rondo::service::request_frame(b, 1, wire::Createhello(b, 77)));
      case 2:  // before any hello
        return text(rondo::service::request_frame(b, 2, wire::Createwatch(b)));
      case 3:  // a length beyond the limit
        return noise(3) + std::string(1, '\x7f') + noise(below(500));
      case 4: {  // a frame that is damaged somewhere
        auto frame = text(rondo::service::request_frame(
            b, 1, wire::Createhello(b, wire::protocol_version, 0, b.CreateString(word))));
        frame[below(frame.size())] = static_cast<char>(random_());
        return below(2) == 0 ? frame : frame.substr(0, below(frame.size()));
      }
      default:
        return noise(1 + below(300));
    }
  }

  endpoint at_;
  std::mt19937_64 random_;
  std::vector<stranger> all_;
};

}  // namespace

TEST_CASE("strangers who do what they like harm nobody", "[service][tls][hostile][walk]") {
  using clock = std::chrono::steady_clock;
  scratch_directory const files("walk");
  auto const folder = files.directory;
  std::ofstream(folder / "token") << word;
  std::filesystem::permissions(folder / "token", std::filesystem::perms::owner_read);
  write_certificate(folder / "certificate", folder / "key", "rondo.test");
  std::ofstream(folder / "config.json")
      << "{\"listen\": [\"tcp:127.0.0.1:0\"], \"token_file\": " << folder / "token"
      << ", \"tls_certificate\": " << folder / "certificate"
      << ", \"tls_key\": " << folder / "key"
      << R"(, "limits": {"hello_ms": 500}, "runtime": {"device": "cpu", "teams": 2},
            "actors": [{"name": "mirror", "behaviour": "echo"}]})";
  serve_process service(folder / "config.json");
  REQUIRE(service.wait_ready());
  std::string const before_port = "listens at tcp:127.0.0.1:";
  auto const port = service.log().find(before_port);
  REQUIRE(port != std::string::npos);
  endpoint const at{false, "127.0.0.1",
                    static_cast<std::uint16_t>(std::stoi(service.log().substr(port + before_port.size())))};

  rondo::service::client good({.at = at,
                               .token = word,
                               .tls = true,
                               .authorities = folder / "certificate",
                               .server_name = "rondo.test"});
  auto const mirror = good.find<basics::echo>("mirror").value();
  std::atomic<bool> ends{false};
  std::atomic<std::uint64_t> asked{0}, wrong{0};
  std::chrono::nanoseconds longest{0};
  std::thread asker([&] {
    for (std::uint64_t i = 0; !ends; ++i) {
      auto const began = clock::now();
      auto const answer = mirror.ask(basics::ping{i}, 60s, rondo::block);
      longest = std::max<std::chrono::nanoseconds>(longest, clock::now() - began);
      if (!answer || answer->number != i) ++wrong;
      ++asked;
      std::this_thread::sleep_for(2ms);
    }
  });

  auto const* const by_hand = std::getenv("HOSTILE_SECONDS");
  auto const until = clock::now() + std::chrono::seconds(by_hand != nullptr ? std::atoi(by_hand) : 0);
  auto const seed = seed_of("hostile_walk");
  std::uint64_t steps = 0;
  std::size_t after_first_walk = 0;
  std::ptrdiff_t growth = 0;
  // A walk of at most 10,000 steps each, from its own seed; by hand as many as the time allows.
  for (std::uint64_t walks = 0; walks == 0 || clock::now() < until || (by_hand == nullptr && walks < 3);
       ++walks) {
    walk strangers(at, seed + walks);
    for (int i = by_hand != nullptr ? 10'000 : 1'000; i > 0; --i, ++steps) strangers.step();
    strangers.leave();
    service.listen();
    auto const now = service.resident_bytes();
    if (walks == 0) after_first_walk = now;  // buffers that every service has in the end
    growth =
        std::max(growth, static_cast<std::ptrdiff_t>(now) - static_cast<std::ptrdiff_t>(after_first_walk));
  }
  ends = true;
  asker.join();
  std::printf(
      "hostile walk: %llu steps, %llu asks of another client, the longest took %.1f ms; the service grew by "
      "%.1f MB\n",
      static_cast<unsigned long long>(steps), static_cast<unsigned long long>(asked.load()),
      std::chrono::duration<double, std::milli>(longest).count(), static_cast<double>(growth) / 1e6);
  CHECK(wrong == 0);
  CHECK(good.connections_made() == 1);
  if (by_hand != nullptr) CHECK(longest <= 100ms);
  if (memory_tells) CHECK(growth < 16'000'000);
  auto const status = service.end(SIGTERM);
  CHECK((WIFEXITED(status) && WEXITSTATUS(status) == 0));
}
