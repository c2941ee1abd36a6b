// Strangers at a TLS port: thousands of random steps of handshakes, logins and requests, cut, split, stalled and reset
// anywhere, by clients without a token. Between the walks, clients with a token fill the tables that clients share. The
// service stays up, answers operators at a port and at its socket, and does not grow.
//
// By hand, for half an hour, which also limits how long other clients may wait: HOSTILE_SECONDS=1800 test_service
// "[walk]"
#include <sys/wait.h>

#include <atomic>
#include <csignal>
#include <fstream>
#include <map>
#include <thread>

#include "runtime/service/monitor/report.hpp"
#include "runtime/service/wire/frame.hpp"
#include "runtime/service/wire/wire.hpp"
#include "tests/catch.hpp"
#include "tests/certificate.hpp"
#include "tests/eventually.hpp"
#include "tests/seed.hpp"
#include "tests/service/hostile_clients.hpp"
#include "tests/service/serve_process.hpp"
#include "tests/service/service_fixture.hpp"
#include "tests/service/strangers.hpp"

using namespace rondo_test;
using rondo::endpoint;

namespace {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool memory_tells = false;  // the sanitizers' own memory grows
#else
constexpr bool memory_tells = true;
#endif

constexpr std::size_t places = 160;  // for connections

/// How many requests got no place, by the name of the table, as an operator on the Unix socket reads it.
std::map<std::string, std::uint64_t> refusals(rondo::service::client& owner) {
  namespace wire = rondo::wire;
  auto& b = rondo::service::frame_builder();
  auto const r = owner.request(rondo::service::request_frame(b, 1, wire::Createwatch(b)), 60s);
  REQUIRE_FALSE(r.ec);
  auto const* const bytes =
      rondo::service::verified<wire::response>(r.frame)->body_as_telemetry_report()->report();
  std::map<std::string, std::uint64_t> all;
  for (auto const& t : rondo::service::decode({bytes->data(), bytes->size()}).tables)
    all[t->name] = t->refused;
  return all;
}

/// Has clients act that fill every table, and asks as an operator meanwhile, until each table has been full. Not that
/// of unread responses: whoever fills it waits until the service reads again, and the others with it. tables_test.cpp
/// and the soak fill that.
void fill_tables(hostile_target const& at, std::uint64_t seed, rondo::service::client& owner) {
  auto crowd = table_fillers(at, seed);
  std::erase_if(crowd, [](auto const& c) { return c.fills == rondo::service::table::response_bytes; });
  std::mt19937_64 random(seed);
  auto const mirror = owner.find<basics::echo>("mirror").value();
  std::string not_full;
  bool const full = eventually([&] {
    for (auto& c : crowd) try {
        c.it->act(random);
      } catch (std::runtime_error const&) {  // the service has hung up; it begins again
      }
    auto const answer = mirror.ask(basics::ping{seed}, 60s, rondo::block);
    REQUIRE((answer && answer->number == seed));
    auto const now = refusals(owner);
    not_full.clear();
    for (auto const& c : crowd)
      if (now.at(name_of(c.fills)) == 0) not_full += std::string(" ") + name_of(c.fills);
    return not_full.empty();
  });
  INFO("not full:" << not_full);
  CHECK(full);
}

}  // namespace

TEST_CASE("strangers who do random things harm nobody", "[service][tls][hostile][walk]") {
  using clock = std::chrono::steady_clock;
  scratch_directory const files("walk");
  auto const folder = files.directory;
  std::string const filler = "the word of those who fill tables", operating = "the word of one who operates";
  for (auto const& [file, word] : {std::pair<char const*, std::string>{"token", strangers::word},
                                   {"filler", filler},
                                   {"operating", operating}}) {
    std::ofstream(folder / file) << word;
    std::filesystem::permissions(folder / file, std::filesystem::perms::owner_read);
  }
  write_certificate(folder / "certificate", folder / "key", "rondo.test");
  std::ofstream(folder / "config.json")
      << "{\"listen\": [\"tcp:127.0.0.1:0\", \"unix:" << (folder / "socket").string() << "\"]"
      << ", \"token_file\": " << folder / "token"
      << ", \"tokens\": [{\"role\": \"control\", \"file\": " << folder / "filler"
      << "}, {\"role\": \"control\", \"file\": " << folder / "operating"
      << "}]"
      << ", \"tls_certificate\": " << folder / "certificate"
      << ", \"tls_key\": " << folder / "key"
      << ", \"limits\": {\"clients\": " << places
      << R"(, "hello_ms": 500, "keys": 256, "response_bytes": 1048576},
            "runtime": {"device": "cpu", "teams": 2, "asks": 256, "actors": 256, "mail_blocks": 128, "default_capacity": 32,
                        "state_bytes": 33554432, "trace_hops": 1024},
            "actors": [{"name": "mirror", "behaviour": "echo"}, {"name": "clicks", "behaviour": "counter"},
                       {"name": "silent", "behaviour": "counter", "capacity": 8192, "active": false},
                       {"name": "full", "behaviour": "counter", "capacity": 1, "active": false}]})";
  serve_process service(folder / "config.json");
  REQUIRE(service.wait_ready());
  std::string const before_port = "listens on tcp:127.0.0.1:";
  auto const port = service.log().find(before_port);
  REQUIRE(port != std::string::npos);
  endpoint const at{false, "127.0.0.1",
                    static_cast<std::uint16_t>(std::stoi(service.log().substr(port + before_port.size())))};

  rondo::service::client_options const good_options{.at = at,
                                                    .token = strangers::word,
                                                    .tls = true,
                                                    .authorities = folder / "certificate",
                                                    .server_name = "rondo.test"};
  rondo::service::client good(good_options);
  auto const mirror = good.find<basics::echo>("mirror").value();
  rondo::service::client owner({.at = {true, (folder / "socket").string(), 0}});
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
  // A walk has at most 10,000 steps and its own seed; by hand there are as many walks as the time allows.
  for (std::uint64_t walks = 0; walks == 0 || clock::now() < until || (by_hand == nullptr && walks < 3);
       ++walks) {
    strangers all(at, seed + walks);
    for (int i = by_hand != nullptr ? 10'000 : 1'000; i > 0; --i, ++steps) all.step();
    all.leave();
    fill_tables(
        {.port = at, .metrics = {}, .token = filler, .operating_token = operating, .connections = places},
        seed + walks, owner);
    service.listen();
    auto const now = service.resident_bytes();
    if (walks == 0) after_first_walk = now;  // then every service has allocated its buffers
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
