// Actors whose state depends on the order of their messages: a module for tests of recordings.
#pragma once

#include <atomic>
#include <memory>
#include <thread>

#include "runtime/runtime.hpp"

namespace rondo_test {

struct enter {
  std::uint64_t number;
};
struct neighbour {
  rondo::actor_id next;
};
struct look {};
struct looked {
  std::uint64_t digest;
};
/// Enters a number that depends on the process.
struct draw {};

/// Makes its handler fail.
inline constexpr std::uint64_t fatal_entry = ~0ull;
inline std::atomic<std::uint64_t> outside_number{1};

struct ledger {
  using messages = rondo::messages<enter, neighbour, draw, rondo::ask<look, looked>>;
  std::uint64_t digest = 1;
  rondo::address<ledger> next{};

  RONDO_HD void on(rondo::context& ctx, enter const& m) {
    if (m.number == fatal_entry) return ctx.fail();
    digest = digest * 1099511628211ull + m.number;
    // Some are forwarded: the messages of the neighbour depend on the order in which this one got its own.
    if (next.id.valid() && m.number % 3 == 0 && m.number != 0)
      ctx.tell(next, enter{digest % 7 == 0 ? 0 : m.number / 3});
  }
  RONDO_HD void on(rondo::context&, neighbour const& m) { next.id = m.next; }
  RONDO_HD void on(rondo::context&, draw const&) {
#if !defined(__CUDA_ARCH__)
    digest += outside_number;
#endif
  }
  RONDO_HD void on(rondo::context& ctx, look const&) { ctx.reply(looked{digest}); }
};

RONDO_MODULE(ledgers, ledger)

/// Compiled once, in ledger_fixture.cpp.
std::unique_ptr<rondo::runtime> start_ledgers(rondo::config const& settings);

template <class Message>
void tell_or_wait(rondo::actor_ref<ledger> const& to, Message const& m) {
  while (to.try_tell(m)) std::this_thread::yield();
}

}  // namespace rondo_test
