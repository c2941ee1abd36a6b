// Pending operations keep work on the executors of their handlers, as Asio's own do.
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/strand.hpp>
#include <boost/asio/system_executor.hpp>
#include <boost/asio/thread_pool.hpp>

#include "runtime/lifecycle.hpp"
#include "runtime/memory/unified_buffer.hpp"
#include "runtime/observe/inspection.hpp"
#include "tests/catch.hpp"
#include "tests/runtime/counter_fixture.hpp"

using namespace rondo_test;
namespace asio = boost::asio;

namespace {

/// A context that the test runs. It outlives the runtime, so that a failing test does not touch a destroyed one.
struct runner {
  asio::io_context io;
  bool called = false;
  error_code outcome;

  auto handler() {
    return asio::bind_executor(io, [this](error_code ec, auto const&...) {
      called = true;
      outcome = ec;
    });
  }
  /// Whether an operation that has just begun keeps the context from running out of work.
  bool keeps_work() {
    io.poll();
    return !called && !io.stopped();
  }
  /// Runs the context until it has no more work; false if the handler was not called by then.
  bool runs_to_the_end() {
    io.restart();
    io.run();
    return called;
  }
};

rondo::config one_team() {
  rondo::config settings;
  settings.device = "cpu";
  settings.teams = 1;
  return settings;
}

/// Holds the only team of a runtime in a handler.
class held_team {
 public:
  explicit held_team(rondo::runtime& rt) {
    rt.launch<counter>("").ask(get{}, patience,
                               asio::bind_executor(asio::system_executor(), [this](error_code, total) {
                                 held_.set_value();
                                 released_.get_future().wait();
                               }));
    soon(held_.get_future());
  }
  void release() { released_.set_value(); }

 private:
  std::promise<void> held_, released_;
};

}  // namespace

TEST_CASE("an ask keeps its handler's context running until the answer", "[ask][executor]") {
  runner r;
  auto const rt = start();
  auto const c = rt->launch<counter>("c");
  bool const untyped = GENERATE(false, true);
  if (untyped)
    rt->at(c.id())->ask(rondo::type_id<later>, std::as_bytes(std::span("")), {},
                        rondo::answer_handler(asio::bind_executor(r.io, [&](rondo::answer const& a) {
                          r.called = true;
                          r.outcome = a.reason;
                        })));
  else
    c.ask(later{}, {}, r.handler());
  CHECK(r.keeps_work());
  REQUIRE_FALSE(c.try_tell(settle{1}));
  CHECK(r.runs_to_the_end());
  CHECK_FALSE(r.outcome);
}

TEST_CASE("an ask that ends without an answer releases its handler's context", "[ask][executor]") {
  runner r;
  auto const rt = start();
  auto const c = rt->launch<counter>("c");
  SECTION("timed out") {
    c.ask(later{}, 1ms, r.handler());
    CHECK(r.runs_to_the_end());
    CHECK(r.outcome == errc::timed_out);
  }
  SECTION("refused") {
    REQUIRE_FALSE(rondo::terminate(*rt, c.id(), rondo::termination::drain, rondo::block));
    c.ask(get{}, {}, r.handler());
    CHECK(r.runs_to_the_end());
    CHECK(r.outcome == errc::actor_gone);
  }
  SECTION("cancelled") {
    asio::cancellation_signal signal;
    c.ask(later{}, {}, asio::bind_cancellation_slot(signal.slot(), r.handler()));
    CHECK(r.keeps_work());
    signal.emit(asio::cancellation_type::terminal);
    CHECK(r.runs_to_the_end());
    CHECK(r.outcome == errc::cancelled);
  }
  SECTION("the runtime has stopped") {
    c.ask(later{}, {}, r.handler());
    CHECK(r.keeps_work());
    REQUIRE(rt->stop().stopped);
    CHECK(r.runs_to_the_end());
    CHECK(r.outcome == errc::stopped);
  }
}

TEST_CASE("a tell that waits for room keeps its handler's context running", "[ask][executor]") {
  runner r;
  auto const rt = start();
  auto const c = rt->launch<counter>("c", {.capacity = 1, .active = false});
  REQUIRE_FALSE(c.try_tell(add{1}));
  c.tell(add{1}, {.wait_for_room = true}, r.handler());
  CHECK(r.keeps_work());
  REQUIRE_FALSE(rondo::activate(*rt, c.id(), rondo::block));
  CHECK(r.runs_to_the_end());
  CHECK_FALSE(r.outcome);
}

TEST_CASE("lifecycle operations keep their handlers' context running", "[ask][executor]") {
  runner r;
  auto const rt = start(one_team());
  auto const c = rt->launch<counter>("c");
  held_team team(*rt);
  auto const operation = GENERATE(0, 1, 2);
  switch (operation) {
    case 0:
      rondo::inspect(*rt, c.id(), r.handler());
      break;
    case 1:
      rondo::deactivate(*rt, c.id(), r.handler());
      break;
    default:
      rondo::terminate(*rt, c.id(), rondo::termination::drain, r.handler());
  }
  CHECK(r.keeps_work());
  team.release();
  CHECK(r.runs_to_the_end());
  CHECK_FALSE(r.outcome);
}

TEST_CASE("a copy of a unified buffer keeps its handler's context running", "[transfers][executor]") {
  runner r;
  rondo::config settings;
  settings.device = "emulated";
  auto const rt = start(settings);
  rondo::unified_buffer<int> data(rt->memory(), {10});
  data.overwrite().value()[0] = 1;
  std::promise<void> released;
  asio::post(data.memory().copier, [&] { released.get_future().wait(); });
  data.async_sync_to_device(r.handler());
  CHECK(r.keeps_work());
  released.set_value();
  CHECK(r.runs_to_the_end());
  CHECK_FALSE(r.outcome);
}

TEST_CASE("an ask keeps a strand's context running", "[ask][executor]") {
  runner r;
  auto const rt = start();
  auto const c = rt->launch<counter>("c");
  c.ask(later{}, {},
        asio::bind_executor(asio::make_strand(r.io), [&](error_code, total) { r.called = true; }));
  CHECK(r.keeps_work());
  REQUIRE_FALSE(c.try_tell(settle{1}));
  CHECK(r.runs_to_the_end());
}

TEST_CASE("a coroutine's ask keeps its context running", "[ask][executor]") {
  runner r;
  auto const rt = start();
  auto const c = rt->launch<counter>("c");
  auto const use = [&]() -> asio::awaitable<void> { r.called = (co_await c.ask(later{}, {})).value == 1; };
  asio::co_spawn(r.io, use, asio::detached);
  CHECK(r.keeps_work());
  REQUIRE_FALSE(c.try_tell(settle{1}));
  CHECK(r.runs_to_the_end());
}

TEST_CASE("joining a thread pool waits for the asks of its handlers", "[ask][executor]") {
  asio::thread_pool pool(1);
  auto const rt = start();
  auto const c = rt->launch<counter>("c");
  error_code outcome;
  c.ask(later{}, 1ms, asio::bind_executor(pool, [&](error_code ec, total) { outcome = ec; }));
  pool.join();
  CHECK(outcome == errc::timed_out);
}

TEST_CASE("a context may be destroyed as soon as it has run its last handler", "[ask][executor]") {
  auto const rt = start();
  auto const c = rt->launch<counter>("c");
  for (int i = 0; i < 500; ++i) {
    bool called = false;
    asio::io_context io;
    c.ask(get{}, {}, asio::bind_executor(asio::make_strand(io), [&](error_code, total) { called = true; }));
    io.run();
    REQUIRE(called);
  }
}
