// How sessions share the network thread's time: their turns, one by one, on a connection in memory.
#include <boost/asio/error.hpp>

#include "runtime/service/service_core.hpp"
#include "runtime/service/session.hpp"
#include "tests/catch.hpp"
#include "tests/service/service_fixture.hpp"

using namespace rondo_test;
namespace wire = rondo::wire;

namespace {

using clock_type = rondo::service::service_core::clock;

/// The clock of the sessions. It only moves when a test moves it.
clock_type::time_point time_of_test{std::chrono::hours(1)};

/// A client that has sent everything in advance, and takes every answer while `takes` is set.
class scripted_transport final : public rondo::service::transport {
 public:
  std::string to_read{}, written{};
  bool takes = true, gone = false;
  std::size_t takes_at_once = std::string::npos;

  std::size_t read(std::span<std::byte> into, rondo::error_code& ec) override {
    auto const n = std::min(into.size(), to_read.size());
    if (n == 0) ec = boost::asio::error::would_block;
    std::memcpy(into.data(), to_read.data(), n);
    to_read.erase(0, n);
    return n;
  }
  std::size_t write(std::span<std::byte const> bytes, rondo::error_code& ec) override {
    if (!takes) return ec = boost::asio::error::would_block, 0;
    auto const n = std::min(bytes.size(), takes_at_once);
    if (n < bytes.size()) ec = boost::asio::error::would_block;
    written.append(reinterpret_cast<char const*>(bytes.data()), n);
    return n;
  }
  void async_readable(ready_handler ready) override { readable_.swap(ready); }
  void async_writable(ready_handler ready) override { writable_.swap(ready); }
  void close() noexcept override {
    ready_handler none, other;
    none.swap(readable_);  // the handlers hold the session
    other.swap(writable_);
  }
  bool hung_up() const noexcept override { return gone; }
  bool writes_from_any_thread() const noexcept override { return false; }

  void tell_readable() {
    ready_handler ready;
    ready.swap(readable_);
    if (ready) std::move(ready)(rondo::error_code());
  }
  void tell_writable() {
    ready_handler ready;
    ready.swap(writable_);
    if (ready) std::move(ready)(rondo::error_code());
  }

 private:
  ready_handler readable_, writable_;
};

/// The part of a service that manages its connections, without limits except those that a test sets.
struct connections {
  connections() {
    core->limits.open_requests = 1'000'000;
    core->log = [](std::string const&) {};
    core->now = []() noexcept { return time_of_test; };
  }
  ~connections() {
    core->abandon_all();
    core->network.poll();  // runs cancelled handlers
  }
  std::uint64_t drops(rondo::service::drop_reason why) const {
    return core->counters.dropped[static_cast<std::size_t>(why)].load();
  }

  std::unique_ptr<rondo::runtime> rt = start_basics({.device = "cpu", .teams = 1});
  std::shared_ptr<rondo::service::service_core> core = std::make_shared<rondo::service::service_core>(*rt);
};

struct one_client {
  explicit one_client(connections& all, bool greets = true)
      : core(*all.core),
        it(std::make_shared<rondo::service::session>(all.core,
                                                     std::unique_ptr<rondo::service::transport>(line),
                                                     rondo::client_address{"a test", "a test"}, false)) {
    core.sessions.insert(it);
    auto& b = rondo::service::frame_builder();
    if (greets) append(rondo::service::request_frame(b, 1, wire::Createhello(b, wire::protocol_version)));
    it->start();
  }

  void append(std::span<std::byte const> frame) {
    line->to_read.append(reinterpret_cast<char const*>(frame.data()), frame.size());
  }
  /// Requests that are answered at once, because the actor does not exist.
  void append_requests(std::uint64_t count) {
    for (std::uint64_t i = 0; i < count; ++i) {
      auto& b = rondo::service::frame_builder();
      append(rondo::service::request_frame(b, 2 + i, wire::Createfind(b, b.CreateString("nobody"))));
    }
  }
  /// One iteration of the network thread; returns the number of handled requests.
  std::uint64_t turn() {
    auto const before = core.counters.requests.load();
    if (!core.take_turns()) line->tell_readable();
    return core.counters.requests.load() - before;
  }
  /// Sends one more request and has it handled.
  void ask_once() {
    append_requests(1);
    line->tell_readable();
  }
  bool was_told(std::string_view text) const { return line->written.find(text) != std::string::npos; }

  rondo::service::service_core& core;
  scripted_transport* line = new scripted_transport;
  std::shared_ptr<rondo::service::session> it;
};

}  // namespace

TEST_CASE("requests that a client sends at once are handled in turns of bounded length",
          "[service][session]") {
  connections all;
  one_client c(all);
  c.append_requests(100);
  std::uint64_t handled = 0;
  for (int turns = 0; handled < 101 && turns < 100; ++turns) {
    auto const n = c.turn();
    CHECK(n <= 32);
    handled += n;
  }
  REQUIRE(handled == 101);
  c.turn();
  REQUIRE_FALSE(all.core->take_turns());  // it waits for more
}

TEST_CASE("a client that always has more gets short turns while others ask, and long ones otherwise",
          "[service][session]") {
  connections all;
  one_client flood(all), other(all);
  flood.append_requests(3000);
  auto const longest_of = [&](int turns) {
    std::uint64_t longest = 0;
    for (int i = 0; i < turns; ++i) longest = std::max(longest, flood.turn());
    return longest;
  };
  auto const forget_others = [&] {
    for (int looks = 0; looks < 4; ++looks) all.core->look_at_clock(time_of_test);
  };
  REQUIRE(longest_of(8) > 4);  // its history is still empty
  other.ask_once();
  REQUIRE(longest_of(20) == 4);
  forget_others();
  REQUIRE(longest_of(20) > 4);
  other.ask_once();
  for (int looks = 0; looks < 3; ++looks) all.core->look_at_clock(time_of_test);
  REQUIRE(longest_of(20) == 4);
}

TEST_CASE("a client that runs out of requests gets long turns again", "[service][session]") {
  connections all;
  one_client c(all), other(all);
  c.append_requests(1000);
  while (c.line->to_read.size() != 0) c.turn();
  while (c.turn() != 0) continue;
  c.append_requests(20);
  other.ask_once();
  REQUIRE(c.turn() > 4);
}

TEST_CASE("a client that has used up its rate waits once, however often it is looked at",
          "[service][session]") {
  connections all;
  all.core->limits.requests_per_second = 1;
  one_client c(all);
  c.append_requests(10);
  c.turn();
  for (int i = 0; i < 10; ++i) c.it->take_requests();
  REQUIRE(all.core->network.poll() <= 1);  // the one wait, if its time has passed
}

TEST_CASE("a client gets its full rate, and never more", "[service][session]") {
  connections all;
  constexpr int rate = 100;
  all.core->limits.requests_per_second = rate;
  one_client c(all);
  c.append_requests(50);
  REQUIRE(c.turn() == 0);
  auto const began = time_of_test;
  auto const& handled = all.core->counters.requests;
  for (int step = 0; handled.load() < 51; ++step) {
    time_of_test += std::chrono::milliseconds(1 + 7 * step % 40);
    c.it->take_requests();
    auto const allowed = std::chrono::duration<double>(time_of_test - began).count() * rate;
    CAPTURE(step, allowed);
    REQUIRE(static_cast<double>(handled.load()) <= allowed + 0.001);
    REQUIRE(static_cast<double>(handled.load()) >= std::min(allowed - 1.001, 51.0));
  }
  time_of_test += std::chrono::hours(1);
  c.append_requests(50);
  c.turn();
  c.it->take_requests();
  REQUIRE(handled.load() == 51 + rate / 10);  // the most that a client can save up
}

TEST_CASE("a silent client is dropped after its time limit, and not before", "[service][session]") {
  connections all;
  all.core->limits.hello = 50ms;
  one_client silent(all, false), other(all);
  other.turn();
  all.core->look_at_clock(time_of_test + 50ms);
  REQUIRE_FALSE(silent.it->ended());
  all.core->look_at_clock(time_of_test + 51ms);
  REQUIRE(silent.it->ended());
  REQUIRE(silent.was_told("did not say hello in time"));
  REQUIRE(all.drops(rondo::service::drop_reason::idle) == 1);
}

TEST_CASE("no byte that a stranger sends moves the limit for its hello", "[service][session]") {
  connections all;
  all.core->limits.hello = 50ms;
  one_client stranger(all);
  auto const hello = std::exchange(stranger.line->to_read, {});
  auto const connected = time_of_test;
  for (std::size_t i = 0; i < 4; ++i) {
    time_of_test += 10ms;
    stranger.line->to_read = hello.substr(i, 1);
    stranger.turn();
  }
  all.core->look_at_clock(connected + 50ms);
  REQUIRE_FALSE(stranger.it->ended());
  all.core->look_at_clock(connected + 51ms);
  REQUIRE(stranger.it->ended());
}

TEST_CASE("a client with an incomplete request is dropped after its time limit, and not before",
          "[service][session]") {
  connections all;
  all.core->limits.frame = 50ms;
  one_client slow(all);
  slow.turn();
  slow.append_requests(1);
  auto const rest = slow.line->to_read.substr(20);
  slow.line->to_read.resize(20);
  time_of_test += 1min;  // nothing arrived in this time
  slow.turn();
  all.core->look_at_clock(time_of_test + 50ms);
  REQUIRE_FALSE(slow.it->ended());
  SECTION("it ends in time") {
    slow.line->to_read = rest;
    REQUIRE(slow.turn() == 1);
    all.core->look_at_clock(time_of_test + 1h);
    REQUIRE_FALSE(slow.it->ended());
  }
  SECTION("it does not") {
    all.core->look_at_clock(time_of_test + 51ms);
    REQUIRE(slow.it->ended());
    REQUIRE(slow.was_told("did not arrive completely in time"));
    REQUIRE(all.drops(rondo::service::drop_reason::idle) == 1);
  }
}

TEST_CASE("a client that does not read responses is dropped after its time limit, and not before",
          "[service][session]") {
  connections all;
  all.core->limits.reading = 50ms;
  one_client slow(all);
  slow.turn();
  slow.line->takes = false;
  slow.ask_once();
  all.core->look_at_clock(time_of_test + 50ms);
  REQUIRE_FALSE(slow.it->ended());
  all.core->look_at_clock(time_of_test + 51ms);
  REQUIRE(slow.it->ended());
  REQUIRE(all.drops(rondo::service::drop_reason::slow_reader) == 1);
}

TEST_CASE("a client that reads its responses byte by byte is dropped like one that reads none",
          "[service][session]") {
  auto const at_once = GENERATE(std::size_t{1}, std::size_t{4096});
  connections all;
  all.core->limits.reading = 50ms;
  one_client slow(all);
  slow.turn();
  slow.line->takes_at_once = at_once;
  slow.append_requests(1000);
  for (int turns = 0; turns < 50; ++turns) slow.turn();
  for (int i = 0; i < 10; ++i) {
    time_of_test += 40ms;
    slow.line->tell_writable();
    all.core->look_at_clock(time_of_test);
  }
  REQUIRE(slow.it->ended() == (at_once == 1));
  REQUIRE(all.drops(rondo::service::drop_reason::slow_reader) == (at_once == 1));
}

TEST_CASE("dropped clients are logged individually up to ten a second per reason, then counted",
          "[service][session]") {
  connections all;
  std::vector<std::string> lines;
  all.core->log = [&](std::string const& line) { lines.push_back(line); };
  auto const drop_one = [&] {
    one_client c(all, false);
    c.line->to_read = std::string("\x04\x00\x00\x00\xff\xff\xff\xff", 8);
    c.line->tell_readable();
  };
  for (int i = 0; i < 100; ++i) drop_one();
  REQUIRE(all.drops(rondo::service::drop_reason::malformed) == 100);
  REQUIRE(lines.size() == 10);
  all.core->look_at_clock(time_of_test += 999ms);
  REQUIRE(lines.size() == 10);
  all.core->look_at_clock(time_of_test += 1ms);
  REQUIRE(lines.size() == 11);
  REQUIRE(lines.back() == "90 more clients were dropped (malformed)");
  drop_one();
  REQUIRE(lines.size() == 12);
  all.core->look_at_clock(time_of_test += 1s);
  REQUIRE(lines.size() == 12);  // none is missing
}
