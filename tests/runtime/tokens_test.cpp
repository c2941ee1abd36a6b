// Operations that would block their caller, with completion tokens: README's "all calls accept any Asio completion
// token".
#include <atomic>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/deferred.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/use_future.hpp>

#include "runtime/checkpoint.hpp"
#include "runtime/lifecycle.hpp"
#include "runtime/upgrade.hpp"
#include "tests/runtime/counter_fixture.hpp"
#include "tests/scratch_directory.hpp"

using namespace rondo_test;
namespace asio = boost::asio;

namespace tokens_test {

/// Has the sum with which it was launched.
struct starter {
  struct arguments {
    std::uint64_t sum;
  };
  using messages = rondo::messages<rondo::ask<get, total>>;
  std::uint64_t sum = 0;
  void on_start(rondo::context&, arguments const& a) { sum = a.sum; }
  total on(rondo::context&, get const&) { return {sum}; }
};
/// Takes the place of the module of the tests.
RONDO_MODULE(next_counters, counter, idler, starter)

std::uint64_t sum_of(auto const& ref) { return ref.ask(get{}, 60s, rondo::block).value().value; }

/// An executor of the test's own, on whose thread a handler is to be called.
struct other_thread {
  asio::io_context context;
  bool is_this() { return context.get_executor().running_in_this_thread(); }
};

}  // namespace tokens_test
using namespace tokens_test;

TEST_CASE(
    "launch and launch_many complete with any token: a callback, use_future, deferred, block, and "
    "use_awaitable",
    "[tokens]") {
  rondo::runtime rt{rondo::use<next_counters>, {.device = "cpu", .teams = 2}};
  other_thread here;

  SECTION("a callback, on its executor") {
    std::uint64_t found = 0;
    rt.launch<starter>("a", {}, {7},
                       asio::bind_executor(here.context, [&](error_code ec, rondo::actor_ref<starter> a) {
                         REQUIRE(!ec);
                         CHECK(here.is_this());
                         found = sum_of(a);
                       }));
    here.context.run();  // its work lasts until the handler was called
    CHECK(found == 7);
    std::size_t many = 0;
    rt.launch_many<counter>(100, {}, asio::bind_executor(here.context, [&](error_code ec, auto const& all) {
                              REQUIRE(!ec);
                              many = all.size();
                            }));
    here.context.restart();
    here.context.run();
    CHECK(many == 100);
  }
  SECTION("use_future") {
    CHECK(sum_of(rt.launch<counter>("a", {}, asio::use_future).get()) == 0);
    CHECK_THROWS_AS(rt.launch<counter>("a", {}, asio::use_future).get(),
                    boost::system::system_error);  // name_taken
    starter::arguments const all[] = {{1}, {2}, {3}};
    auto const made = rt.launch_many<starter>(all, {}, asio::use_future).get();
    REQUIRE(made.size() == 3);
    CHECK(sum_of(made[2]) == 3);
  }
  SECTION("deferred, block, and use_awaitable") {
    auto later = rt.launch<starter>("a", {}, {5}, asio::deferred);
    CHECK(rt.find_any("a").error() == errc::not_found);  // it has not begun
    CHECK(sum_of(std::move(later)(asio::use_future).get()) == 5);
    CHECK(sum_of(rt.launch<starter>("b", {}, {6}, rondo::block).value()) == 6);
    CHECK(rt.launch<counter>("b", {}, rondo::block).error() == errc::name_taken);
    auto const work = [&]() -> asio::awaitable<std::uint64_t> {
      auto const one = co_await rt.launch<starter>("c", {}, {8}, asio::use_awaitable);
      auto const many = co_await rt.launch_many<counter>(10, {}, asio::use_awaitable);
      co_await rondo::terminate(many.front(), rondo::termination::drain, asio::use_awaitable);
      co_return (co_await one.ask(get{}, 60s)).value + many.size();
    };
    CHECK(asio::co_spawn(rt.executor(), work, asio::use_future).get() == 18);
  }
  SECTION("what launch would throw for its arguments is thrown at once") {
    CHECK_THROWS_AS(rt.launch<counter>("a", {.capacity = 0}, asio::use_future), std::invalid_argument);
    CHECK_THROWS_AS(rt.launch_many<counter>(2, {.pinned = true}, asio::use_future), std::invalid_argument);
  }
}

TEST_CASE("checkpoint and upgrade complete with any token, with the exception that the call would throw",
          "[tokens]") {
  scratch_directory const folder("tokens");
  auto const rt = start({.device = "cpu", .teams = 2});
  auto const a = rt->launch<counter>("a");
  REQUIRE(!a.try_tell(add{4}));
  auto const file = folder.directory / "saved";
  rondo::checkpoint(*rt, file, asio::use_future).get();
  std::byte const notes[] = {std::byte{1}, std::byte{2}};
  auto const work = [&]() -> asio::awaitable<void> {
    co_await rondo::checkpoint(*rt, file, notes, asio::use_awaitable);
    co_await rondo::upgrade(*rt, rondo::use<next_counters>, asio::use_awaitable);
  };
  asio::co_spawn(rt->executor(), work, asio::use_future).get();
  CHECK(rt->behaviours().size() == 3);
  CHECK(sum_of(a) == 4);
  auto const again = start({.device = "cpu", .teams = 2});
  CHECK(rondo::restore(*again, file).size() == 2);
  CHECK(sum_of(again->find<counter>("a").value()) == 4);
  // A callback gets the error.
  std::promise<std::string> text;
  rondo::checkpoint(*rt, folder.directory / "missing" / "saved", [&](std::exception_ptr thrown) {
    try {
      std::rethrow_exception(thrown);
    } catch (std::runtime_error const& e) {
      text.set_value(e.what());
    }
  });
  CHECK(text.get_future().get().find("missing") != std::string::npos);
  static_cast<void>(rt->launch<starter>("b", {}, {1}));  // the other module has none
  auto back = rondo::upgrade(*rt, rondo::use<counters>, asio::deferred);
  CHECK_THROWS_AS(std::move(back)(asio::use_future).get(), std::runtime_error);
}

TEST_CASE("operations that have not begun when the runtime ends fail, and their handlers are called",
          "[tokens]") {
  std::atomic<int> ended = 0, refused = 0;
  {
    rondo::runtime rt{rondo::use<next_counters>, {.device = "cpu", .teams = 2}};
    static_cast<void>(rt.stop());
    for (int i = 0; i < 10; ++i)
      rt.launch<counter>("", {}, [&](error_code ec, auto const&) {
        refused += ec == errc::stopped;
        // Begun while the runtime ends.
        rt.launch<counter>("", {}, [&](error_code again, auto const&) { ended += again == errc::stopped; });
      });
  }
  CHECK(refused == 10);
  CHECK(ended == 10);
}
