#include "runtime/streams/plan/measure_copies.hpp"

#include <algorithm>
#include <vector>

#include "kernels/base/clock.hpp"
#include "runtime/memory/buffer_home.hpp"

namespace rondo::streams {

void measure_copies(buffer_pool& pool, planned_device& device) {
  constexpr std::uint64_t few = 64 << 10, many = 4 << 20;
  auto const there = pool.acquire_buffer(many);
  if (!there) return;
  auto* const at_device = pool.address_of(there->ref());
  std::vector<std::byte> here(many);
  auto const shortest = [&](bool up, std::uint64_t bytes) {
    std::uint64_t best = ~0ull;
    for (int i = 0; i < 5; ++i) {
      copy_job const job{.to = up ? at_device : here.data(),
                         .from = up ? here.data() : at_device,
                         .bytes = bytes,
                         .to_device = up};
      auto const begun = now_ns();
      if (!pool.home()->copy({&job, 1})) return best;
      best = std::min(best, now_ns() - begun);
    }
    return best;
  };
  for (bool const up : {true, false}) {
    auto const little = shortest(up, few), much = shortest(up, many);
    if (little == ~0ull || much == ~0ull) return;
    auto& cost = up ? device.up : device.down;
    cost.ns_per_byte = static_cast<double>(much - std::min(little, much)) / static_cast<double>(many - few);
    auto const of_bytes = static_cast<std::uint64_t>(cost.ns_per_byte * static_cast<double>(few));
    // A copy is never free: on a busy machine what it takes may all seem to be due to its bytes.
    cost.latency_ns = std::max<std::uint64_t>(little - std::min(of_bytes, little), little / 10 + 1);
  }
}

}  // namespace rondo::streams
