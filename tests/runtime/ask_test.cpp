// The forms of tell and ask: coroutines, callbacks, futures, waiting threads; timeouts and cancellation in each.
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/experimental/awaitable_operators.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/thread_pool.hpp>
#include <boost/asio/use_future.hpp>

#include "runtime/lifecycle.hpp"
#include "runtime/observe/telemetry.hpp"
#include "tests/runtime/counter_fixture.hpp"

using namespace rondo_test;
using namespace boost::asio::experimental::awaitable_operators;
namespace asio = boost::asio;

#if defined(__SANITIZE_THREAD__)
// libstdc++.so counts references to an exception in code that the sanitizer does not instrument.
extern "C" char const* __tsan_default_suppressions();
extern "C" char const* __tsan_default_suppressions() { return "race:exception_ptr::_M_release\n"; }
#endif

namespace {

template <class T>
T run_in(rondo::runtime& rt, asio::awaitable<T> what) {
  return soon(asio::co_spawn(rt.executor(), std::move(what), asio::use_future));
}

error_code error_of(std::function<void()> const& f) {
  try {
    f();
  } catch (boost::system::system_error const& e) {
    return e.code();
  }
  return {};
}

}  // namespace

TEST_CASE("a coroutine launches, tells, asks and terminates", "[ask]") {
  auto const rt = start();
  auto const use = [](rondo::runtime& r) -> asio::awaitable<std::uint64_t> {
    auto const c = r.launch<counter>("clicks", {.capacity = 64});
    co_await c.tell(add{2});
    co_await c.tell(add{40}, {.priority = 255});
    co_await c.tell(add{100}, {.wait_for_room = true});
    total const t = co_await c.ask(get{}, patience);
    co_await rondo::deactivate(c);
    co_await rondo::activate(c);
    auto const found = co_await rondo::inspect(c);
    co_await rondo::terminate(c, rondo::termination::drain);
    co_return t.value * 10 + found.now.totals.handled;
  };
  CHECK(run_in(*rt, use(*rt)) == 1424);
}

TEST_CASE("errors reach a coroutine as system_error", "[ask]") {
  auto const rt = start();
  auto const c = rt->launch<counter>("c", {.capacity = 1, .active = false});
  auto const fail = [](rondo::actor_ref<counter> ref) -> asio::awaitable<void> {
    co_await ref.ask(later{}, 1ms);
  };
  CHECK(error_of([&] { run_in(*rt, fail(c)); }) == errc::timed_out);
  auto const overflow = [](rondo::actor_ref<counter> ref) -> asio::awaitable<void> {
    for (;;) co_await ref.tell(add{1});
  };
  CHECK(error_of([&] { run_in(*rt, overflow(c)); }) == errc::mailbox_full);
}

TEST_CASE("an ask against a timer: the loser is cancelled", "[ask]") {
  auto const rt = start();
  auto const c = rt->launch<counter>("c");
  auto const timer_wins = [](rondo::actor_ref<counter> ref) -> asio::awaitable<std::size_t> {
    asio::steady_timer timer(co_await asio::this_coro::executor, 2ms);
    auto const won = co_await (ref.ask(later{}, {}) || timer.async_wait(asio::use_awaitable));
    co_return won.index();
  };
  CHECK(run_in(*rt, timer_wins(c)) == 1);
  CHECK(rt->snapshot().asks_waiting == 0);
  auto const ask_wins = [](rondo::actor_ref<counter> ref) -> asio::awaitable<std::size_t> {
    asio::steady_timer timer(co_await asio::this_coro::executor, 1h);
    auto const won = co_await (ref.ask(get{}, patience) || timer.async_wait(asio::use_awaitable));
    co_return won.index();
  };
  CHECK(run_in(*rt, ask_wins(c)) == 0);
  auto const both = [](rondo::actor_ref<counter> a) -> asio::awaitable<std::uint64_t> {
    auto const [x, y] = co_await (a.ask(get{}, patience) && a.ask(get{}, patience));
    co_return x.value + y.value;
  };
  CHECK(run_in(*rt, both(c)) == 0);
}

TEST_CASE("a cancelled coroutine continues with the next operation", "[ask]") {
  auto const rt = start();
  auto const c = rt->launch<counter>("c");
  asio::cancellation_signal signal;
  std::promise<void> asking;
  auto const use = [&](rondo::actor_ref<counter> ref) -> asio::awaitable<std::uint64_t> {
    error_code ec;
    try {
      asking.set_value();
      co_await ref.ask(later{}, {});
    } catch (boost::system::system_error const& e) {
      ec = e.code();
    }
    co_await asio::this_coro::reset_cancellation_state();
    co_await ref.tell(add{ec == errc::cancelled ? 5u : 1u});
    co_return (co_await ref.ask(get{}, patience)).value;
  };
  auto result =
      asio::co_spawn(rt->executor(), use(c), asio::bind_cancellation_slot(signal.slot(), asio::use_future));
  asking.get_future().wait();
  REQUIRE(c.ask(get{}, patience, rondo::block));
  // Signals belong to the executor of the operations that they cancel.
  asio::post(rt->executor(), [&] { signal.emit(asio::cancellation_type::terminal); });
  CHECK(soon(std::move(result)) == 5);
}

TEST_CASE("callbacks run on their own executor, otherwise on the runtime's thread", "[ask]") {
  asio::thread_pool pool(1);  // constructed before the runtime, whose thread may still be posting to it
  auto const rt = start();
  auto const c = rt->launch<counter>("c");
  std::promise<std::thread::id> on_service, by_default, on_pool;
  asio::post(rt->executor(), [&] { on_service.set_value(std::this_thread::get_id()); });
  auto const service = soon(on_service.get_future());
  c.ask(get{}, patience, [&](error_code, total) { by_default.set_value(std::this_thread::get_id()); });
  CHECK(soon(by_default.get_future()) == service);
  c.ask(get{}, patience, asio::bind_executor(pool.get_executor(), [&](error_code, total) {
          on_pool.set_value(std::this_thread::get_id());
        }));
  auto const where = soon(on_pool.get_future());
  CHECK(where != service);
  CHECK(where != std::this_thread::get_id());
  pool.join();
}

TEST_CASE("a completion handler is never called before its initiating function returns", "[ask]") {
  auto const rt = start();
  auto const full = rt->launch<counter>("full", {.capacity = 1, .active = false});
  REQUIRE_FALSE(full.try_tell(add{1}));
  auto const gone = rt->launch<counter>("gone");
  REQUIRE_FALSE(rondo::terminate(gone, rondo::termination::discard, rondo::block));
  // On the runtime's thread a refusal could be delivered at once, which must not happen.
  std::promise<std::vector<int>> done;
  asio::post(rt->executor(), [&] {
    auto const order = std::make_shared<std::vector<int>>();
    full.tell(add{1}, {}, [order](error_code) { order->push_back(2); });
    full.ask(get{}, {}, [order](error_code, total) { order->push_back(2); });
    rondo::deactivate(gone, [&done, order](error_code) {
      order->push_back(2);
      done.set_value(*order);
    });
    order->push_back(1);
  });
  CHECK(soon(done.get_future()) == std::vector<int>{1, 2, 2, 2});
}

TEST_CASE("futures carry answers and errors", "[ask]") {
  auto const rt = start();
  auto const c = rt->launch<counter>("c");
  soon(c.tell(add{9}, {}, asio::use_future));
  CHECK(soon(c.ask(get{}, patience, asio::use_future)).value == 9);
  CHECK(error_of([&] { soon(c.ask(later{}, 1ms, asio::use_future)); }) == errc::timed_out);
  soon(rondo::terminate(c, rondo::termination::drain, asio::use_future));
  CHECK(error_of([&] { soon(c.ask(get{}, patience, asio::use_future)); }) == errc::actor_gone);
}

TEST_CASE("a waiting thread gets results as values", "[ask]") {
  auto const rt = start();
  auto const c = rt->launch<counter>("c");
  CHECK_FALSE(c.tell(add{3}, {}, rondo::block));
  CHECK(c.ask(get{}, patience, rondo::block).value().value == 3);
  CHECK(c.ask(later{}, 1ms, rondo::block).error() == errc::timed_out);
  CHECK(rondo::inspect(c, rondo::block).value().now.totals.accepted >= 3);
  CHECK_FALSE(rondo::terminate(c, rondo::termination::discard, rondo::block));
  CHECK(rondo::inspect(c, rondo::block).error() == errc::actor_gone);
}

TEST_CASE("more asks than the table holds are refused, in every form", "[ask]") {
  rondo::config settings;
  settings.device = "cpu";
  settings.asks = 2;
  auto const rt = start(settings);
  auto const c = rt->launch<counter>("c", {.active = false});
  auto first = c.ask(get{}, {}, asio::use_future), second = c.ask(get{}, {}, asio::use_future);
  CHECK(c.ask(get{}, patience, rondo::block).error() == errc::ask_limit);
  CHECK(error_of([&] { soon(c.ask(get{}, patience, asio::use_future)); }) == errc::ask_limit);
  CHECK_FALSE(rondo::activate(c, rondo::block));
  soon(std::move(first));
  soon(std::move(second));
  CHECK(c.ask(get{}, patience, rondo::block));
}

// Regression: a team that still held the actor when its mail came reported no depths.
TEST_CASE("an inspection sees the mail that was sent before it", "[runtime][G8]") {
  auto const rt = start();
  for (int round = 0; round < 300; ++round) {
    auto const c = rt->launch<counter>("c");
    CHECK_FALSE(rondo::deactivate(c, rondo::block));
    CHECK_FALSE(c.try_tell(add{1}));
    auto const found = rondo::inspect(c, rondo::block).value();
    REQUIRE(found.depths.size() == 1);
    CHECK(found.now.waiting == 1);
    CHECK_FALSE(rondo::terminate(c, rondo::termination::discard, rondo::block));
  }
}
