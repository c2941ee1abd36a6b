// The table of asks: each ask is completed exactly once.
#include "runtime/messaging/completions.hpp"

#include <boost/asio/bind_executor.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/system_executor.hpp>
#include <future>
#include <random>
#include <thread>

#include "kernels/base/clock.hpp"
#include "tests/runtime/result_text.hpp"
#include "tests/seed.hpp"

using rondo::actor_id;
using rondo::answer;
using rondo::answer_handler;
using rondo::completions;
using rondo::errc;

namespace {

rondo::message message_of(std::uint32_t type) {
  rondo::message m{};
  m.header.type = type;
  m.bytes = sizeof type;
  __builtin_memcpy(m.payload, &type, sizeof type);
  return m;
}

std::uint32_t value_of(answer const& a) {
  std::uint32_t v = 0;
  __builtin_memcpy(&v, a.body.payload, sizeof v);
  return v;
}

struct table {
  boost::asio::io_context context;
  completions asks;
  completions::kept_slot mine;  // of the test's thread
  explicit table(std::uint32_t capacity) : asks(capacity, context.get_executor()) {}

  actor_id open(std::vector<answer>& out, std::uint64_t deadline_ns = 0) {
    answer_handler handler([&out](answer a) { out.push_back(a); });
    return asks.open(handler, deadline_ns).value();
  }
  void run() {
    context.restart();
    context.run();
  }
};

}  // namespace

TEST_CASE("an ask is completed once, by whichever event comes first", "[completions]") {
  table t{4};
  std::vector<answer> out;
  auto const id = t.open(out);
  CHECK((id.index & rondo::host_ask_bit) != 0);
  CHECK(t.asks.waiting() == 1);
  auto const m = message_of(7);
  CHECK(t.asks.complete(id, errc::ok, &m));
  CHECK_FALSE(t.asks.complete(id, errc::timed_out, nullptr));
  CHECK_FALSE(t.asks.complete(id, errc::ok, &m));
  t.run();
  REQUIRE(out.size() == 1);
  CHECK(out[0].reason == errc::ok);
  CHECK(value_of(out[0]) == 7);
  CHECK(t.asks.waiting() == 0);
  CHECK(t.asks.late() == 1);  // a late answer is counted, a late deadline is not
}

TEST_CASE("a full table refuses, and leaves the handler with its caller", "[completions]") {
  table t{2};
  std::vector<answer> out;
  auto const first = t.open(out);
  t.open(out);
  answer_handler third([&](answer a) { out.push_back(a); });
  CHECK(t.asks.open(third, 0).error() == errc::ask_limit);
  CHECK(third);
  CHECK(t.asks.open_blocking(0, t.mine).error() == errc::ask_limit);
  t.asks.complete(first, errc::cancelled, nullptr);
  CHECK(t.asks.open(third, 0));
}

// Otherwise each answer would allocate memory for a post.
TEST_CASE("a handler of the system executor is called where its answer arrives", "[completions]") {
  table t{2};
  std::vector<answer> out;
  answer_handler handler(
      boost::asio::bind_executor(boost::asio::system_executor(), [&out](answer a) { out.push_back(a); }));
  auto const id = t.asks.open(handler, 0).value();
  auto const m = message_of(7);
  CHECK(t.asks.complete(id, errc::ok, &m));
  REQUIRE(out.size() == 1);  // nobody has run the table's executor
  CHECK(value_of(out[0]) == 7);
}

TEST_CASE("an answer to an earlier ask of the same slot is refused", "[completions]") {
  table t{1};
  std::vector<answer> out;
  auto const old = t.open(out);
  t.asks.complete(old, errc::cancelled, nullptr);
  auto const young = t.open(out);
  CHECK(young.index == old.index);
  CHECK(young.generation != old.generation);
  auto const m = message_of(1);
  CHECK_FALSE(t.asks.complete(old, errc::ok, &m));
  CHECK(t.asks.waiting() == 1);
  CHECK_FALSE(t.asks.complete({rondo::host_ask_bit | 77, 1}, errc::ok, &m));  // no such slot
  CHECK(t.asks.complete(young, errc::ok, &m));
}

TEST_CASE("expire ends the asks whose deadline has passed and returns the nearest remaining one",
          "[completions]") {
  table t{8};
  std::vector<answer> out;
  std::vector<std::uint64_t> nearer;
  t.asks.on_nearer_deadline([&](std::uint64_t ns) { nearer.push_back(ns); });
  t.open(out, 500);
  t.open(out, 300);
  t.open(out, 400);
  t.open(out);
  CHECK(nearer == std::vector<std::uint64_t>{500, 300});
  CHECK(t.asks.expire(299) == 300);
  CHECK(t.asks.expire(400) == 500);
  t.run();
  REQUIRE(out.size() == 2);
  CHECK(out[0].reason == errc::timed_out);
  t.open(out, 450);
  CHECK(nearer.back() == 450);
  CHECK(t.asks.expire(1000) == 0);
  CHECK(t.asks.waiting() == 1);
}

TEST_CASE("close ends open asks and refuses later ones", "[completions]") {
  table t{4};
  std::vector<answer> out;
  t.open(out);
  t.open(out, 100);
  auto const blocking = t.asks.open_blocking(0, t.mine).value();
  t.asks.close(errc::stopped);
  t.run();
  REQUIRE(out.size() == 2);
  CHECK(out[0].reason == errc::stopped);
  CHECK(t.asks.wait(blocking, 0, t.mine).reason == errc::stopped);
  answer_handler late([](answer) {});
  CHECK(t.asks.open(late, 0).error() == errc::stopped);
}

TEST_CASE("a waiting thread gets its answer, whether it spins or sleeps", "[completions]") {
  auto const spin_ns = GENERATE(std::uint64_t{0}, std::uint64_t{1'000'000});
  table t{1};
  for (std::uint32_t i = 0; i < 500; ++i) {
    auto const id = t.asks.open_blocking(0, t.mine).value();
    std::thread other([&] {
      auto const m = message_of(i);
      t.asks.complete(id, errc::ok, &m);
    });
    auto const a = t.asks.wait(id, spin_ns, t.mine);
    other.join();
    REQUIRE(a.reason == errc::ok);
    REQUIRE(value_of(a) == i);
  }
  CHECK(t.asks.waiting() == 0);
}

TEST_CASE("a thread keeps its slot, other threads get the other ones, and its end gives it back",
          "[completions]") {
  table t{32};
  auto const m = message_of(7);
  auto const ask = [&](completions::kept_slot& slot) {
    auto const id = t.asks.open_blocking(0, slot).value();
    CHECK(t.asks.waiting() == 1);
    t.asks.complete(id, errc::ok, &m);
    CHECK(value_of(t.asks.wait(id, 0, slot)) == 7);
    CHECK(t.asks.waiting() == 0);
    CHECK_FALSE(t.asks.complete(id, errc::ok, &m));  // its generation is past
    return id.index;
  };
  auto const all_free = [&] {  // how many are not kept
    std::vector<actor_id> ids;
    while (true) {
      answer_handler handler([](answer) {});
      auto const id = t.asks.open(handler, 0);
      if (!id) break;
      ids.push_back(*id);
    }
    for (auto const id : ids) t.asks.complete(id, errc::cancelled, nullptr);
    t.run();
    return ids.size();
  };
  auto const first = ask(t.mine);
  CHECK(ask(t.mine) == first);
  CHECK(all_free() == 31);
  {
    completions::kept_slot second, third;
    CHECK(ask(second) != first);
    CHECK(all_free() == 30);
    ask(third);  // two of 32 slots are kept
    CHECK(all_free() == 30);
    {  // asked while an ask waits, as from a signal handler
      auto const outer = t.asks.open_blocking(0, second).value();
      auto const inner = t.asks.open_blocking(0, second).value();
      for (auto const id : {inner, outer}) {
        t.asks.complete(id, errc::ok, &m);
        t.asks.wait(id, 0, second);
      }
    }
    CHECK(all_free() == 30);
    table other{32};
    auto const id = other.asks.open_blocking(0, second).value();
    other.asks.complete(id, errc::ok, &m);
    other.asks.wait(id, 0, second);  // it already has one elsewhere
    CHECK(all_free() == 30);
  }
  CHECK(all_free() == 31);
  completions::kept_slot survivor;
  {
    table other{32};
    for (int i = 0; i < 2; ++i) {
      auto const id = other.asks.open_blocking(0, survivor).value();
      other.asks.complete(id, errc::ok, &m);
      other.asks.wait(id, 0, survivor);
    }
  }
  ask(survivor);  // from now on it keeps one here
  CHECK(all_free() == 30);
}

TEST_CASE("replies, deadlines and close race for asks of many threads, and each ends once",
          "[completions][stress]") {
  auto const seed = static_cast<std::uint32_t>(rondo_test::seed_of("completions"));
  table t{16};
  auto work = boost::asio::make_work_guard(t.context);
  std::thread service([&] { t.context.run(); });
  std::atomic<bool> ends{false};
  std::vector<std::atomic<std::uint64_t>> ids(4);
  std::atomic<std::uint64_t> opened{0}, ended{0};
  std::vector<std::thread> threads;
  for (std::uint32_t k = 0; k < 2; ++k)
    threads.emplace_back([&, k] {
      std::mt19937 random{seed + k};
      completions::kept_slot mine;
      for (int i = 0; i < 3000; ++i) {
        auto const deadline = random() % 2 == 0 ? 0 : rondo::now_ns() + random() % 100'000;
        if (k == 0) {
          answer_handler handler([&](answer) { ++ended; });
          auto const id = t.asks.open(handler, deadline);
          if (!id) continue;
          ++opened;
          ids[random() % 4] = std::uint64_t{id->index} << 32 | id->generation;
          if (random() % 3 == 0) t.asks.complete(*id, errc::cancelled, nullptr);
        } else {
          auto const id = t.asks.open_blocking(deadline == 0 ? rondo::now_ns() + 200'000 : deadline, mine);
          if (!id) continue;
          ++opened;
          ids[random() % 4] = std::uint64_t{id->index} << 32 | id->generation;
          t.asks.wait(*id, random() % 2 == 0 ? 0 : 20'000, mine);
          ++ended;
        }
      }
    });
  std::thread replier([&] {
    std::mt19937 random{seed + 9};
    auto const m = message_of(3);
    while (!ends) {
      auto const id = ids[random() % 4].load();
      t.asks.complete({static_cast<std::uint32_t>(id >> 32), static_cast<std::uint32_t>(id)}, errc::ok, &m);
      t.asks.expire(rondo::now_ns());
    }
  });
  for (auto& thread : threads) thread.join();
  ends = true;
  replier.join();
  t.asks.close(errc::stopped);
  work.reset();  // the service ends after all posted work
  service.join();
  CHECK(ended == opened);
  CHECK(t.asks.waiting() == 0);
}
