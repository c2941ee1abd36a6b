// A module with one simple behaviour, for tests of a runtime's interface.
#pragma once

#include <functional>
#include <future>

#include "runtime/runtime.hpp"
#include "tests/eventually.hpp"
#include "tests/runtime/result_text.hpp"

namespace rondo_test {

using namespace std::chrono_literals;
using rondo::errc;
using rondo::error_code;

struct add {
  std::uint64_t amount;
};
struct get {};
/// Answered when `settle` comes.
struct later {};
struct settle {
  std::uint64_t value;
};
struct total {
  std::uint64_t value;
};
/// Fails its actor.
struct boom {};
/// Calls `hook` on the team's thread.
struct call {};
inline std::function<void()> hook;

struct counter {
  using messages = rondo::messages<add, settle, boom, call, rondo::ask<get, total>, rondo::ask<later, total>>;
  std::uint64_t sum = 0;
  rondo::reply_token waiting{};
  RONDO_HD void on(rondo::context&, add const& m) { sum += m.amount; }
  RONDO_HD void on(rondo::context& ctx, boom const&) { ctx.fail(errc::handler_failed); }
  void on(rondo::context&, call const&) {
    auto const mine = hook;  // the test may set another one while this one runs
    mine();
  }
  RONDO_HD void on(rondo::context& ctx, get const&) { ctx.reply(total{sum}); }
  RONDO_HD void on(rondo::context& ctx, later const&) { waiting = ctx.defer(); }
  RONDO_HD void on(rondo::context& ctx, settle const& m) { ctx.reply_to(waiting, total{m.value}); }
};

/// Does not take any of a counter's messages.
struct idler {
  using messages = rondo::messages<rondo::ask<later, total>>;
  RONDO_HD void on(rondo::context& ctx, later const&) { ctx.reply(total{1}); }
};

RONDO_MODULE(counters, counter, idler)

/// Compiled once, in counter_fixture.cpp, because a module is slow to compile.
std::unique_ptr<rondo::runtime> start(rondo::config const& settings);
/// Two teams of the device `cpu`.
std::unique_ptr<rondo::runtime> start();

/// The value of a future that must become ready.
template <class T>
T soon(std::future<T> f) {
  if (f.wait_for(patience) != std::future_status::ready)
    throw std::runtime_error("an operation did not complete in time");
  return f.get();
}

}  // namespace rondo_test
