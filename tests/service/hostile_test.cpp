// Clients that misbehave are answered, or dropped with a reason; other clients are not affected.
#include <boost/asio/use_future.hpp>
#include <fstream>
#include <random>
#include <thread>

#include "runtime/lifecycle.hpp"
#include "runtime/observe/telemetry.hpp"
#include "tests/catch.hpp"
#include "tests/eventually.hpp"
#include "tests/seed.hpp"
#include "tests/service/raw_client.hpp"
#include "tests/service/service_fixture.hpp"

using namespace rondo_test;
using rondo::service::drop_reason;

namespace {

std::uint64_t drops(served const& s, drop_reason why) {
  return s.it->counters().dropped[static_cast<std::size_t>(why)].load();
}

/// A well-behaved client that is answered while the service deals with another one.
class good_client {
 public:
  /// Returns when it is connected: a short limit, which another test needs, may have dropped it before.
  explicit good_client(served& s) : client_(s.options()) {
    REQUIRE(eventually([&] { return client_.find_untyped("mirror").has_value(); }));
  }
  void require_service() {
    auto const mirror = client_.find<basics::echo>("mirror").value();
    for (std::uint64_t i = 0; i < 20; ++i)
      REQUIRE(mirror.ask(basics::ping{i}, 60s, rondo::block).value().number == i);
  }

 private:
  rondo::service::client client_;
};

}  // namespace

TEST_CASE("a silent client is dropped with a reason", "[service][hostile]") {
  served s(with_limits({.hello = 50ms}));
  good_client good(s);
  auto const before = drops(s, drop_reason::idle);
  raw_client silent(s.it->listens_at().front());
  REQUIRE(says(silent.last_words(), "did not say hello in time"));
  REQUIRE(drops(s, drop_reason::idle) == before + 1);
  good.require_service();
}

TEST_CASE("a client whose request never ends is dropped with a reason", "[service][hostile]") {
  served s(with_limits({.frame = 50ms}));
  raw_client slow(s.it->listens_at().front());
  slow.hello();
  REQUIRE(slow.receive()->body_as_welcome() != nullptr);
  REQUIRE(slow.send(slow.frame_for(2, "mirror", basics::ping{1}, true).substr(0, 20)));
  REQUIRE(says(slow.last_words(), "did not arrive completely in time"));
  good_client(s).require_service();
}

TEST_CASE("a frame beyond the limit is not read, and ends the connection with a reason",
          "[service][hostile]") {
  served s(with_limits({.frame_bytes = 1024}));
  raw_client big(s.it->listens_at().front());
  big.hello();
  REQUIRE(big.send(std::string("\x01\x04\x00\x00", 4)));
  REQUIRE(says(big.last_words(), "a frame has 1025 bytes; this service accepts at most 1024"));
  REQUIRE(drops(s, drop_reason::too_large) == 1);
}

TEST_CASE("with arbitrary bytes the service keeps running and says why it hangs up", "[service][hostile]") {
  served s;
  std::mt19937_64 random(rondo_test::seed_of("hostile"));
  rondo::service::client good(s.options());
  auto const mirror = good.find<basics::echo>("mirror").value();
  for (int round = 0; round < 200; ++round) {
    raw_client bad(s.it->listens_at().front());
    bool const greeted = round % 4 != 0;
    if (greeted) bad.hello(round);
    auto bytes = bad.frame_for(2, "mirror", basics::ping{1}, true, 1);
    for (int changes = 1 + static_cast<int>(random() % 4); changes > 0; --changes)
      bytes[4 + random() % (bytes.size() - 4)] = static_cast<char>(random());  // the length is unchanged
    REQUIRE(bad.send(bytes));
    // It may still be a valid request, or one for an unknown actor; then the answer says so.
    auto const* r = bad.receive();
    REQUIRE(r != nullptr);
    if (greeted && r->body_as_welcome() != nullptr) r = bad.receive();
    REQUIRE(r != nullptr);
    REQUIRE(mirror.ask(basics::ping{1}, 60s, rondo::block).value().number == 1);
  }
}

TEST_CASE("a client without the token is refused without a hint", "[service][hostile]") {
  scratch_directory folder("token");
  auto const file = folder.directory / "token";
  std::ofstream(file) << "short\n";
  rondo::service::service_config c;
  c.listen = {rondo::endpoint::parse("tcp:127.0.0.1:0", "test")};
  c.token_file = file;
  REQUIRE_THROWS_WITH(served(c), Catch::Contains("chmod 600"));
  std::filesystem::permissions(file,
                               std::filesystem::perms::owner_read | std::filesystem::perms::owner_write);
  REQUIRE_THROWS_WITH(served(c), Catch::Contains("5 characters"));
  std::ofstream(file) << "open sesame, please\n";
  served s(c);
  for (std::string const token : {"", "open sesame, pleas", "open sesame, please!"}) {
    auto o = s.options();
    o.token = token;
    rondo::service::client wrong(o);
    REQUIRE(wrong.find<basics::echo>("mirror").error() == errc::service_refuses);
    REQUIRE(says(wrong.last_words(), "the token is missing or wrong"));
  }
  auto o = s.options();
  o.token = "open sesame, please";
  rondo::service::client right(o);
  REQUIRE(right.find<basics::echo>("mirror").value().ask(basics::ping{3}, 60s, rondo::block).value().number ==
          3);
  REQUIRE(drops(s, drop_reason::unauthorised) == 3);
}

TEST_CASE("a client that does not read responses is dropped, and its requests take bounded memory",
          "[service][hostile]") {
  served s(with_limits({.open_requests = 16, .reading = 100ms}));
  raw_client slow(s.it->listens_at().front());
  slow.hello();
  auto const one = slow.frame_for(2, "mirror", basics::ping{1}, true);
  auto const& counters = s.it->counters();
  // Until its socket and the service's are full.
  std::uint64_t sent = 0;
  auto const until = std::chrono::steady_clock::now() + 60s;
  while (drops(s, drop_reason::slow_reader) == 0 && std::chrono::steady_clock::now() < until)
    slow.send(std::as_bytes(std::span(one)), false) ? void(++sent) : std::this_thread::yield();
  REQUIRE(drops(s, drop_reason::slow_reader) == 1);
  REQUIRE(counters.requests.load() - counters.responses.load() <= 16 + 1);
  REQUIRE(says(s.log(), "did not read its responses in time"));
  good_client(s).require_service();
}

TEST_CASE("a client that hangs up without reading its responses is gone at once", "[service][hostile]") {
  served s(with_limits({.open_requests = 16, .reading = 1h}));
  {
    raw_client leaver(s.it->listens_at().front());
    leaver.hello();
    auto const one = leaver.frame_for(2, "mirror", basics::ping{1}, true);
    // Until its socket and the service's are full, and stay so.
    auto const refused = [&] { return !leaver.send(std::as_bytes(std::span(one)), false); };
    int full = 0;
    REQUIRE(eventually([&] {
      std::this_thread::sleep_for(100us);
      full = refused() ? full + 1 : 0;
      return full == 20;
    }));
  }
  REQUIRE(eventually([&] { return s.it->connections() == 0; }));
  good_client(s).require_service();
}

TEST_CASE("beyond its limit of connections the service refuses clients, and accepts others later",
          "[service][hostile]") {
  served s(with_limits({.clients = 2}));
  auto const at = s.it->listens_at().front();
  auto first = std::make_unique<raw_client>(at);
  raw_client second(at);
  first->hello();
  second.hello();
  REQUIRE(first->receive()->body_as_welcome() != nullptr);
  REQUIRE(second.receive()->body_as_welcome() != nullptr);
  raw_client third(at);
  REQUIRE(says(third.last_words(), "accepts at most 2 connections"));
  first.reset();
  REQUIRE(eventually([&] { return s.it->connections() == 1; }));
  raw_client fourth(at);
  fourth.hello();
  REQUIRE(fourth.receive()->body_as_welcome() != nullptr);
}

TEST_CASE("a rate limit delays a client and loses nothing", "[service][hostile]") {
  // In the first case a request takes a fifth of a second, and the last one is not waited for.
  auto const [rate, awaited] = GENERATE(table<std::uint32_t, int>({{5, 2}, {1000, 300}}));
  served s(with_limits({.requests_per_second = rate}));
  raw_client eager(s.it->listens_at().front());
  eager.hello();
  std::string all;
  for (std::uint64_t i = 2; i < 302; ++i) all += eager.frame_for(i, "mirror", basics::ping{i}, true);
  REQUIRE(eager.send(all));
  REQUIRE(eager.receive()->body_as_welcome() != nullptr);
  for (int i = 0; i < awaited; ++i) REQUIRE(eager.receive()->body_as_outcome()->status() == 0);
  auto const handled = s.it->counters().requests.load();
  REQUIRE((handled == 301) == (awaited == 300));
}

TEST_CASE("a message that is resent under its key is handled once", "[service]") {
  served s;
  auto const at = s.it->listens_at().front();
  for (int tries = 0; tries < 3; ++tries) {
    raw_client c(at);
    c.hello(77);
    REQUIRE(c.send(c.frame_for(2, "clicks", basics::add_and_get{5}, true, 1)));
    if (tries == 0) continue;  // the connection is closed before the answer arrives
    REQUIRE(c.receive()->body_as_welcome() != nullptr);
    auto const* const o = c.receive()->body_as_outcome();
    REQUIRE(o->status() == 0);
    REQUIRE(o->payload()->size() == sizeof(basics::total));
    basics::total t{};
    std::memcpy(&t, o->payload()->data(), sizeof t);
    REQUIRE(t.value == 5);
  }
  raw_client other(at);
  other.hello(78);
  REQUIRE(other.send(other.frame_for(2, "clicks", basics::add_and_get{5}, true, 1)));
  REQUIRE(other.receive()->body_as_welcome() != nullptr);
  REQUIRE(other.receive()->body_as_outcome()->status() == 0);
  rondo::service::client good(s.options());
  REQUIRE(good.find<basics::counter>("clicks").value().ask(basics::get{}, 60s, rondo::block).value().value ==
          10);
}

TEST_CASE("a service that shuts down answers open requests, and reports how many it did not", "[service]") {
  served s;
  rondo::service::client c(s.options());
  auto const clicks = c.find<basics::counter>("clicks").value();
  REQUIRE_FALSE(rondo::deactivate(s.rt->at(clicks.id()).value(), rondo::block));
  auto answered = clicks.ask(basics::add_and_get{1}, 30s, boost::asio::use_future);
  REQUIRE(eventually([&] { return s.rt->snapshot().waiting == 1; }));
  std::uint64_t left = 99;
  std::jthread ender([&] { left = s.it->stop(); });
  REQUIRE(eventually([&] { return drops(s, drop_reason::shutdown) != 0; }));
  REQUIRE_FALSE(rondo::activate(s.rt->at(clicks.id()).value(), rondo::block));
  REQUIRE(answered.get().value == 1);
  ender.join();
  REQUIRE(left == 0);
}

TEST_CASE("a request that is still unanswered after shutdown is counted", "[service]") {
  rondo::service::service_config config;
  config.drain = 20ms;
  served s(config);
  raw_client c(s.it->listens_at().front());
  c.hello();
  REQUIRE(c.receive()->body_as_welcome() != nullptr);
  REQUIRE_FALSE(rondo::deactivate(s.rt->find_any("clicks").value(), rondo::block));
  REQUIRE(c.send(c.frame_for(2, "clicks", basics::get{}, true)));
  REQUIRE(eventually([&] { return s.rt->snapshot().waiting == 1; }));
  REQUIRE(s.it->stop() == 1);
  REQUIRE(says(c.last_words(), "the service is stopping"));
}
