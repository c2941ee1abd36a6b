// How a session shares the network thread's time with others: its turns, one by one, on a connection made of memory.
#include <boost/asio/error.hpp>

#include "runtime/service/service_core.hpp"
#include "runtime/service/session.hpp"
#include "tests/catch.hpp"
#include "tests/service/service_fixture.hpp"

using namespace rondo_test;
namespace wire = rondo::wire;
namespace service = rondo::service;

namespace {

/// A client that has sent everything before it is looked at, and takes every answer.
class scripted_transport final : public service::transport {
 public:
  std::string to_read{};

  std::size_t read(std::span<std::byte> into, rondo::error_code& ec) override {
    auto const n = std::min(into.size(), to_read.size());
    if (n == 0) ec = boost::asio::error::would_block;
    std::memcpy(into.data(), to_read.data(), n);
    to_read.erase(0, n);
    return n;
  }
  std::size_t write(std::span<std::byte const> bytes, rondo::error_code&) override { return bytes.size(); }
  void async_readable(ready_handler ready) override { waiting_.swap(ready); }
  void async_writable(ready_handler) override {}
  void close() noexcept override {
    ready_handler none;
    none.swap(waiting_);  // which holds the session
  }
  bool writes_from_any_thread() const noexcept override { return false; }

  void tell_readable() {
    ready_handler ready;
    ready.swap(waiting_);
    if (ready) std::move(ready)(rondo::error_code());
  }

 private:
  ready_handler waiting_;
};

struct one_session {
  one_session() {
    core->limits.open_requests = 1'000'000;
    core->log = [](std::string const&) {};
    core->sessions.insert(it);
    auto& b = service::frame_builder();
    append(service::request_frame(b, 1, wire::Createhello(b, wire::protocol_version)));
    it->start();
  }
  ~one_session() {
    it->abandon();
    core->unfinished.clear();  // which the network thread does at its end
    core->network.poll();      // what was cancelled
  }

  void append(std::span<std::byte const> frame) {
    line->to_read.append(reinterpret_cast<char const*>(frame.data()), frame.size());
  }
  /// Requests that are answered at once: there is no such actor.
  void append_requests(std::uint64_t count) {
    for (std::uint64_t i = 0; i < count; ++i) {
      auto& b = service::frame_builder();
      append(service::request_frame(b, 2 + i, wire::Createfind(b, b.CreateString("nobody"))));
    }
  }
  /// What the network thread does once around; returns the requests that were handled.
  std::uint64_t turn() {
    auto const before = core->counters.requests.load();
    auto const unfinished = std::exchange(core->unfinished, {});
    if (unfinished.empty()) line->tell_readable();
    for (auto const& s : unfinished) s->take_requests();
    return core->counters.requests.load() - before;
  }

  std::unique_ptr<rondo::runtime> rt = start_basics({.device = "cpu", .teams = 1});
  std::shared_ptr<service::service_core> core = std::make_shared<service::service_core>(*rt);
  scripted_transport* line = new scripted_transport;
  std::shared_ptr<service::session> it =
      std::make_shared<service::session>(core, std::unique_ptr<service::transport>(line), "a test", false);
};

}  // namespace

TEST_CASE("what a client has sent at once is handled in turns of bounded length", "[service][session]") {
  one_session s;
  s.append_requests(100);
  std::uint64_t handled = 0;
  for (int turns = 0; handled < 101 && turns < 100; ++turns) {
    auto const n = s.turn();
    CHECK(n <= 32);
    handled += n;
  }
  REQUIRE(handled == 101);
  s.turn();
  REQUIRE(s.core->unfinished.empty());  // it waits for more
}

TEST_CASE("a client that always has more gets short turns while others ask, and long ones else",
          "[service][session]") {
  one_session s;
  s.append_requests(3000);
  auto const longest_of = [&](int turns) {
    std::uint64_t longest = 0;
    for (int i = 0; i < turns; ++i) longest = std::max(longest, s.turn());
    return longest;
  };
  REQUIRE(longest_of(8) > 4);  // nothing is known of it yet
  s.core->others_ask = 4;
  REQUIRE(longest_of(20) == 4);
  s.core->others_ask = 0;
  REQUIRE(longest_of(20) > 4);
  s.core->others_ask = 1;
  REQUIRE(longest_of(20) == 4);
}

TEST_CASE("a client that has come to the end of its requests gets long turns again", "[service][session]") {
  one_session s;
  s.append_requests(1000);
  while (s.line->to_read.size() != 0) s.turn();
  while (s.turn() != 0) continue;
  s.append_requests(20);
  s.core->others_ask = 4;
  REQUIRE(s.turn() > 4);
}

TEST_CASE("a client that has used up its rate waits once, however often it is looked at",
          "[service][session]") {
  one_session s;
  s.core->limits.requests_per_second = 1;
  s.append_requests(10);
  s.turn();
  for (int i = 0; i < 10; ++i) s.it->take_requests();
  REQUIRE(s.core->network.poll() <= 1);  // the one wait, if its time has passed
}
