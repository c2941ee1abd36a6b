// The lines of a far route, beside a device that does as the test says.
#include "runtime/messaging/mail_lines.hpp"

#include <boost/asio/io_context.hpp>
#include <chrono>
#include <vector>

#include "tests/catch.hpp"

using namespace rondo;

namespace {

/// Takes every submission.
struct device_queue final : far_mail {
  struct submission {
    std::uint32_t number;
    far_terms terms;
  };
  std::vector<submission> taken;
  errc submit(mail_view const& mail, far_terms const& terms) override {
    std::uint32_t number = 0;
    __builtin_memcpy(&number, mail.payloads, sizeof number);
    taken.push_back({number, terms});
    return errc::ok;
  }
  std::uint32_t largest_batch() const noexcept override { return 1; }
};

class far_lines {
 public:
  void forward(std::uint32_t number) { lines.forward({to, body_of(number)}); }
  void put_back(std::uint32_t number) { lines.put_back({to, body_of(number)}); }
  /// From a sender that does not wait.
  std::optional<errc> join(std::uint32_t number) {
    auto const body = body_of(number);
    return lines.join({to, body.header, body.payload, body.bytes}, {});
  }
  /// What a checkpoint would save. Precondition: the lines are held.
  std::vector<std::uint32_t> kept() {
    std::unique_lock<std::mutex> held;
    std::vector<std::uint32_t> all;
    for (auto const& m : lines.orphans(held)) all.push_back(number_of(m.body));
    return all;
  }
  /// The device sends a message of a run back. `last`: its verdict follows.
  void take_back(std::uint32_t number, bool last = false) { take_back(number, last ? 2 : 1); }
  /// `resent`: as in returned_mail; 0: it was in no line.
  void take_back(std::uint32_t number, int resent) {
    auto const epoch = queue.taken.back().terms.epoch.bits;
    lines.take_back({to, body_of(number)}, {epoch, static_cast<std::uint16_t>(resent), 1});
  }
  /// The verdict of the last submission.
  void judge(errc verdict) { asks.complete(queue.taken.back().terms.ack, verdict, nullptr); }
  /// Until the device has got `count` submissions.
  void run_until(std::size_t count) {
    auto const end = std::chrono::steady_clock::now() + std::chrono::seconds(10);
    while (queue.taken.size() < count && std::chrono::steady_clock::now() < end) {
      context.restart();
      context.run_for(std::chrono::milliseconds(1));
    }
    REQUIRE(queue.taken.size() == count);
  }
  std::vector<std::uint32_t> sent() const {
    std::vector<std::uint32_t> all;
    for (auto const& s : queue.taken) all.push_back(s.number);
    return all;
  }

  boost::asio::io_context context;
  completions asks{16, context.get_executor()};
  obstacles in_the_way;
  device_queue queue;
  std::vector<std::pair<std::uint32_t, errc>> dead;
  actor_id const to{0, 1};
  mail_lines lines{
      route(queue), 1,
      asks,         context.get_executor(),
      in_the_way,   [this](outgoing const& m, errc why) { dead.emplace_back(number_of(m.body), why); }};

 private:
  static message body_of(std::uint32_t number) {
    message m{};
    m.bytes = sizeof number;
    __builtin_memcpy(m.payload, &number, sizeof number);
    return m;
  }
  static std::uint32_t number_of(message const& m) {
    std::uint32_t number = 0;
    __builtin_memcpy(&number, m.payload, sizeof number);
    return number;
  }
};

using numbers = std::vector<std::uint32_t>;

/// A line with 1, 2 and 3, sent as a run because 1 found no room at first.
struct far_run : far_lines {
  far_run() {
    for (std::uint32_t n : {1u, 2u, 3u}) forward(n);
    REQUIRE(sent() == numbers{1});
    take_back(1, true);
    judge(errc::mailbox_full);
    run_until(2);  // again one, since the mailbox was full
    judge(errc::ok);
    REQUIRE(sent() == numbers{1, 1, 2, 3});
    REQUIRE_FALSE(queue.taken[2].terms.ack.valid());
    REQUIRE(queue.taken[3].terms.ack.valid());
  }
};

}  // namespace

TEST_CASE("messages that find no room are sent again, in order", "[mail_lines][G2][G5]") {
  far_run f;
  f.take_back(2);
  f.take_back(3, true);
  f.judge(errc::mailbox_full);
  f.run_until(5);
  f.judge(errc::ok);
  CHECK(f.sent() == numbers{1, 1, 2, 3, 2, 3});
  f.judge(errc::ok);
  CHECK(f.lines.count_orphans() == 0);
  CHECK(f.dead.empty());
}

TEST_CASE("a message that was sent before a run and comes back meanwhile keeps its place",
          "[mail_lines][G2]") {
  far_lines f;
  f.forward(2);
  REQUIRE(f.sent() == numbers{2});
  f.take_back(1, 0);
  f.take_back(2, true);
  f.judge(errc::mailbox_full);
  f.run_until(2);
  f.judge(errc::ok);
  CHECK(f.sent() == numbers{2, 1, 2});
}

TEST_CASE("what comes back of a run waits, whatever becomes of those behind it", "[mail_lines][G1]") {
  far_run f;
  f.take_back(2);  // the device itself reports the end of 3
  SECTION("its actor ends") {
    f.judge(errc::actor_gone);
    CHECK(f.lines.count_orphans() == 1);
    f.run_until(5);
    CHECK(f.sent() == numbers{1, 1, 2, 3, 2});
  }
  SECTION("the device is lost, and its verdict comes") {
    f.judge(errc::device_lost);
    f.lines.close(errc::device_lost);
    CHECK(f.dead == std::vector{std::pair{2u, errc::device_lost}});
  }
  SECTION("the device is lost without a verdict") {
    f.lines.close(errc::device_lost);
    CHECK(f.dead == std::vector{std::pair{2u, errc::device_lost}});
    f.take_back(3, true);  // it comes back late
    CHECK(f.dead.size() == 2);
  }
}

// Regression: a run was saved although the device had put some of it into the mailbox.
TEST_CASE("a checkpoint finds in a line what the device has not taken, and each message once",
          "[mail_lines][G1][G2][checkpoint]") {
  far_run f;
  f.lines.hold();
  SECTION("the device takes one message of the run and sends the other one back") {
    f.take_back(3, true);
    f.judge(errc::mailbox_full);
    f.forward(4);
    CHECK(f.kept() == numbers{3, 4});
    f.lines.release();
    f.run_until(5);
    CHECK(f.sent() == numbers{1, 1, 2, 3, 3});
  }
  SECTION("the device takes the run, and more messages join the line") {
    CHECK(f.join(4) == errc::ok);  // behind a message that may still be in the ring: not in the image
    f.forward(5);                  // of an actor
    f.judge(errc::ok);
    CHECK(f.kept() == numbers{5});
    CHECK(f.sent() == numbers{1, 1, 2, 3});  // held
    f.lines.release();
    f.run_until(6);
    CHECK(f.sent() == numbers{1, 1, 2, 3, 4, 5});
  }
  CHECK(f.dead.empty());
}

// Regression: those behind the first 1024 were lost, and counted nowhere.
TEST_CASE("everything that a checkpoint has for an actor waits again, however much it is",
          "[mail_lines][G1][checkpoint]") {
  far_lines f;
  for (std::uint32_t n = 0; n < 3000; ++n) f.put_back(n);
  CHECK(f.lines.count_orphans() == 3000);
  CHECK(f.dead.empty());
}
