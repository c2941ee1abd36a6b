// Waiting until a runtime has nothing left to do.
#pragma once

#include <algorithm>
#include <chrono>
#include <thread>

#include "runtime/runtime.hpp"
#include "tests/eventually.hpp"

namespace rondo_test {

/// Whether the runtime comes to rest: several snapshots in a row with nothing on its way and the same count of handled
/// messages. One snapshot is not enough: it reads actor by actor, and a message may go from one that it has yet to read
/// to one that it has read. Events on their way to the host are not counted anywhere.
inline bool comes_to_rest(rondo::runtime& rt) {
  std::uint64_t before = 0;
  int looks_at_rest = 0;
  return eventually([&] {
    auto const t = rt.snapshot();
    bool const arrived = std::ranges::all_of(
        t.devices, [](auto const& d) { return !d.queues || d.queues->submitted == d.queues->taken; });
    bool const rests = arrived && t.waiting == 0 && t.crossing == 0 && t.conserved();
    looks_at_rest = rests && t.live.handled == before ? looks_at_rest + 1 : 0;
    before = t.live.handled;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
    return looks_at_rest == 5;
  });
}

}  // namespace rondo_test
