// Handlers that block the threads on which the runtime calls them. rondo::block is refused there: see
// would_deadlock_test.cpp.
#include <boost/asio/detached.hpp>
#include <boost/asio/post.hpp>
#include <latch>

#include "runtime/lifecycle.hpp"
#include "runtime/memory/unified_buffer.hpp"
#include "tests/caught_stderr.hpp"
#include "tests/runtime/counter_fixture.hpp"
#include "tests/scratch_directory.hpp"

using namespace rondo_test;
using Catch::Matchers::Contains;

namespace {

std::size_t count_of(std::string const& word, std::string const& text) {
  std::size_t found = 0;
  for (auto at = text.find(word); at != text.npos; at = text.find(word, at + 1)) ++found;
  return found;
}

/// A handler blocks in it until the test lets it go on.
struct barrier {
  std::latch begun{1}, open{1};
  void block() {
    begun.count_down();
    open.wait();
  }
  void let_go() {
    if (!open.try_wait()) open.count_down();
  }
};
/// Before the runtime ends, also where a test fails.
struct opener {
  barrier& of;
  ~opener() { of.let_go(); }
};

std::unique_ptr<rondo::runtime> start_watched(std::uint32_t limit_ms) {
  return start({.device = "cpu", .teams = 1, .handler_limit_ms = limit_ms});
}

}  // namespace

TEST_CASE(
    "whatever blocks the runtime's own thread is reported once, while it blocks, and to subscribers after it",
    "[block]") {
  auto const kind = GENERATE(as<std::string>{}, "a future", "a subscriber", "a task");
  INFO(kind);
  scratch_directory const folder("handler-watch");
  caught_stderr const errors(folder.directory / "stderr");
  barrier at;
  std::atomic<int> reports = 0;
  std::promise<bool> came;  // the answer, while the handler waited for it
  auto const rt = start_watched(200);
  opener const at_the_end{at};
  auto const c = rt->launch<counter>("c");
  auto const reported = rt->on_failure_report([&](std::string const& text) {
    if (count_of("rondo-service", text) != 0) ++reports;
  });
  auto const letters = rt->on_dead_letter([&](rondo::dead_letter const&) { at.block(); });
  if (kind == "a future") {
    c.ask(get{}, 60s, [&](error_code, total const&) {
      auto const answered = std::make_shared<std::promise<void>>();
      c.ask(get{}, 60s, [answered](error_code, total const&) { answered->set_value(); });
      at.block();
      came.set_value(answered->get_future().wait_for(0s) == std::future_status::ready);
    });
  } else if (kind == "a subscriber") {
    auto const ends = rt->launch<counter>("ends", {.active = false});
    REQUIRE_FALSE(ends.try_tell(add{1}));
    rondo::terminate(ends, rondo::termination::discard, boost::asio::detached);
  } else {
    boost::asio::post(rt->executor(), [&] { at.block(); });
  }
  at.begun.wait();
  REQUIRE(eventually([&] { return count_of("rondo-service", errors.text()) != 0; }));
  CHECK_THAT(errors.text(), Contains("handler_limit_ms") && Contains("future") && Contains("coroutine") &&
                                Contains("bind_executor"));
  std::this_thread::sleep_for(500ms);  // two more looks, which say nothing
  CHECK(count_of("rondo-service", errors.text()) == 1);
  CHECK(reports == 0);
  at.let_go();
  if (kind == "a future") CHECK_FALSE(soon(came.get_future()));  // it could not come
  CHECK(eventually([&] { return reports == 1; }));
}

TEST_CASE("a handler that blocks the thread for copies is reported", "[block]") {
  barrier at;
  auto const rt = start({.device = "emulated", .teams = 1, .handler_limit_ms = 50});
  opener const at_the_end{at};
  std::promise<std::string> said;
  std::atomic<bool> once = false;
  auto const reported = rt->on_failure_report([&](std::string const& text) {
    if (count_of("rondo-copier", text) != 0 && !once.exchange(true)) said.set_value(text);
  });
  boost::asio::post(rt->memory().copier, [&] { at.block(); });
  CHECK_THAT(soon(said.get_future()), Contains("bind_executor"));
  at.let_go();
}
