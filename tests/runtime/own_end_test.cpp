// A runtime that ends on its own thread: in a handler that the runtime calls.
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>

#include "tests/runtime/counter_fixture.hpp"

using namespace rondo_test;

namespace {

/// In a process of its own: main waits, and a handler on the runtime's thread calls `end(runtime)`. Returns the exit
/// status.
template <class End>
int status_after(std::string const& device, End const& end) {
  auto const child = ::fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    static std::unique_ptr<rondo::runtime> rt;
    rt = start({.device = device, .teams = 2});
    static auto const a = rt->launch<counter>("a");
    auto& ended = *new std::promise<void>;  // exit does not destroy it, so main waits until the process ends
    a.ask(get{}, 60s, [&](error_code ec, total const&) {
      if (ec) ::_exit(3);
      end(rt);
      ended.set_value();
    });
    ended.get_future().wait();
    ::_exit(0);
  }
  int status = -1;
  REQUIRE(::waitpid(child, &status, 0) == child);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

}  // namespace

TEST_CASE("a runtime may be destroyed on its own thread, also by exit", "[own_end]") {
  auto const device = GENERATE(as<std::string>{}, "cpu", "emulated");
  CHECK(status_after(device, [](auto& rt) { rt.reset(); }) == 0);
  CHECK(status_after(device, [](auto&) { std::exit(7); }) == 7);
}

TEST_CASE("handlers that are still to be called when a runtime is destroyed on its own thread are called",
          "[own_end]") {
  auto rt = start({.device = "cpu", .teams = 2});
  auto const a = rt->launch<counter>("a");
  auto const last = std::make_shared<std::promise<errc>>();
  a.ask(later{}, rondo::no_timeout,
        [last](error_code ec, total const&) { last->set_value(static_cast<errc>(ec.value())); });
  a.ask(get{}, 60s, [&](error_code, total const&) { rt.reset(); });
  CHECK(last->get_future().get() == errc::stopped);
}
