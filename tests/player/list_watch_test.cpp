// The time limit of lists: each is reported once, by whichever comes first.
#include "runtime/player/list_watch.hpp"

#include <algorithm>
#include <atomic>
#include <future>
#include <random>
#include <thread>

#include "tests/catch.hpp"
#include "tests/player/players.hpp"

using namespace rondo;
using namespace rondo::test;
using namespace std::chrono_literals;
using Catch::Matchers::Contains;

namespace {

struct told_outcome {
  std::promise<outcome> told;
  kernel_player::ended done() {
    return [this](error_code why, std::string const& text) { told.set_value({why, text}); };
  }
  outcome get() { return told.get_future().get(); }
};

}  // namespace

TEST_CASE("a list that ends is reported with what the driver says", "[player]") {
  list_watch watch("the machine", 1h);
  told_outcome good, bad, failed;
  list_watch::end(watch.begin(good.done()));
  CHECK(!good.get().why);
  CHECK(watch.played() == 1);
  list_watch::end(watch.begin(bad.done()), errc::device_lost, "it burns");
  CHECK(bad.get().text == "the machine: it burns");
  CHECK(watch.is_lost());
  list_watch::end(watch.begin(failed.done(), "its second kernel"));
  auto const o = failed.get();
  CHECK(o.why == errc::device_lost);
  CHECK(o.text == "the machine: its second kernel");
  CHECK(watch.wait());
  CHECK_FALSE(watch.is_stuck());
}

TEST_CASE("a list that does not end is lost, and what the driver says later is ignored", "[player]") {
  auto watch = std::make_unique<list_watch>("the machine", 300ms);
  told_outcome first, second;
  auto one = watch->begin(first.done()), two = watch->begin(second.done());
  CHECK(first.get().text == "the machine: a list of kernels did not end within 0.3 s");
  CHECK_THAT(second.get().text, Contains("and this one waited for it"));
  CHECK_FALSE(watch->wait());
  CHECK((watch->is_lost() && watch->is_stuck()));
  list_watch::end(std::move(one));
  CHECK(watch->is_stuck());
  watch.reset();
  list_watch::end(std::move(two), errc::device_lost, "too late");
}

TEST_CASE("the limit of a list counts from the end of the one before", "[player]") {
  // The second begins with the first, and would be late if its time had counted from then.
  list_watch watch("the machine", 400ms);
  std::vector<std::unique_ptr<list_watch::list>> lists;
  std::atomic<int> lost{0}, ended{0};
  auto const done = [&](error_code why, std::string const&) { why ? ++lost : ++ended; };
  for (int i = 0; i < 6; ++i) lists.push_back(watch.begin(done));
  for (auto& l : lists) {
    std::this_thread::sleep_for(100ms);
    list_watch::end(std::move(l));
  }
  CHECK(watch.wait());
  CHECK(ended + lost == 6);
  if (lost == 0) CHECK(watch.played() == 6);  // a busy machine may have been late
}

TEST_CASE("lists are reported in their order, one at a time, however the driver calls back", "[player]") {
  list_watch watch("the machine", 1h);
  constexpr std::size_t lists = 1000, threads = 4;
  std::vector<std::size_t> order;  // a sanitizer sees it if two report at a time
  std::vector<std::unique_ptr<list_watch::list>> given;
  for (std::size_t i = 0; i < lists; ++i)
    given.push_back(watch.begin([&, i](error_code why, std::string const&) {
      if (!why) order.push_back(i);
    }));
  std::shuffle(given.begin(), given.end(), std::minstd_rand{1});
  {
    std::vector<std::jthread> callbacks;
    for (std::size_t t = 0; t < threads; ++t)
      callbacks.emplace_back([&, t] {
        for (std::size_t i = t; i < lists; i += threads) list_watch::end(std::move(given[i]));
      });
  }
  CHECK(watch.wait());
  CHECK(order.size() == lists);
  CHECK(std::ranges::is_sorted(order));
}

TEST_CASE("a list behind one that is late keeps what has come of it", "[player]") {
  list_watch watch("the machine", 300ms);
  std::vector<std::string> told;
  auto const done = [&](error_code why, std::string const& text) { told.push_back(why ? text : "good"); };
  auto late = watch.begin(done), good = watch.begin(done), waits = watch.begin(done);
  list_watch::end(std::move(good));
  CHECK_FALSE(watch.wait());
  auto const limit = std::string("the machine: a list of kernels did not end within 0.3 s");
  CHECK(told == std::vector<std::string>{limit, "good", limit + ", and this one waited for it"});
  list_watch::end(std::move(late));
  list_watch::end(std::move(waits));
  CHECK_FALSE(watch.is_stuck());
}

TEST_CASE("a list may be played, and end, within the end of another", "[player]") {
  list_watch watch("the machine", 1h);
  std::vector<int> order;
  auto first = watch.begin([&](error_code, std::string const&) {
    order.push_back(1);
    list_watch::end(watch.begin([&](error_code, std::string const&) { order.push_back(3); }));
    order.push_back(2);
  });
  list_watch::end(std::move(first));
  CHECK(watch.wait());
  CHECK(order == std::vector{1, 2, 3});
}

TEST_CASE("many lists of many threads are each reported once", "[player]") {
  list_watch watch("the machine", 1ms);
  std::atomic<int> reported{0};
  std::vector<std::jthread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&] {
      for (int i = 0; i < 2000; ++i) {
        auto list = watch.begin([&](error_code, std::string const&) { ++reported; });
        if (i % 500 == 7) std::this_thread::sleep_for(3ms);
        list_watch::end(std::move(list));
      }
    });
  threads.clear();
  CHECK(watch.wait());
  CHECK(reported == 8000);
}
