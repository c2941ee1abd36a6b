// How frames pass from a stage to the next one.
#include "kernels/base/park.hpp"
#include "kernels/streams/latest_slot.hpp"
#include "tests/model/scenarios.hpp"

namespace model {

using namespace rondo;

namespace {

struct frame {
  std::uint32_t number, again;
};

/// The reader gets whole frames, each once and in order, and the last one; what it does not get comes back to the writer.
void latest_is_read(execution& x) {
  constexpr std::uint32_t frames = 5;  // so that a place that was read is written again
  auto& slot = x.shared<streams::latest_slot<frame>>();
  auto& done = x.shared<atomic<std::uint32_t>>();
  std::uint32_t unread = 0, read = 0;
  x.thread("writer", [&] {
    for (std::uint32_t n = 1; n <= frames; ++n) {
      frame old{};
      if (slot.offer({n, n}, old)) {
        x.require(old.number == old.again && old.number < n, "an older frame comes back whole");
        ++unread;
      }
    }
    done.store(1, memory_order::release);
  });
  x.thread("reader", [&] {
    std::uint32_t last = 0;
    auto const look = [&] {
      frame now{};
      if (!slot.take(now)) return;
      x.require(now.number == now.again, "a frame is whole");
      x.require(now.number > last, "it is newer than the last one");
      last = now.number;
      ++read;
    };
    for (int i = 0; i < 3; ++i) look();
    while (done.load(memory_order::acquire) == 0) relax();
    look();
    x.require(last == frames, "the newest frame is there");
  });
  x.run();
  x.require(read + unread == frames, "each frame is read or comes back");
}

}  // namespace

std::vector<scenario> stream_scenarios() {
  return {
      {"latest", "a reader gets the newest frame whole, and the writer gets the others back", latest_is_read},
  };
}

}  // namespace model
