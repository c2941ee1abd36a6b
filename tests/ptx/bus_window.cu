// A ring across a bus whose reader takes a window of items at once, and then reads what their writers wrote before.
#include "kernels/link/bus_ring.hpp"

namespace {

using rondo::memory_order;

struct item {
  std::uint32_t place, value;
};
using ring = rondo::bus_ring_ref<item>;

}  // namespace

/// Block 0 reads: its first warp takes items, and its second one looks at all places meanwhile, as another team would.
/// Each other block writes to `each` places of its own, 32 bytes apart, one after the other, and sends an item about
/// each. `wrong` counts items whose value was not in its place.
extern "C" __global__ void take_windows(ring r, std::uint64_t* places, std::uint32_t each,
                                        std::uint32_t* wrong) {
  auto const total = (gridDim.x - 1) * each;
  if (blockIdx.x != 0) {
    if (threadIdx.x != 0) return;
    for (std::uint32_t n = 0; n < each;) {
      auto const place = (blockIdx.x - 1) * each + n;
      // Slower than the reader, so that items arrive while it looks.
      for (auto const until = clock64() + 1500 + place * 37 % 1000; clock64() < until;) continue;
      std::uint64_t ticket = 0;
      auto const fill = [&](std::uint32_t, item& to) {
        places[place * 4] = place + 1;
        to = {place, place + 1};
      };
      if (r.try_push(1, fill, ticket) == rondo::push_outcome::pushed) ++n;
    }
    return;
  }
  __shared__ rondo::team_shared shared;
  __shared__ item window[rondo::bus_reader<item>::window];
  __shared__ rondo::atomic<std::uint32_t> done;
  if (threadIdx.x == 0) done.store(0, memory_order::relaxed);
  __syncthreads();
  if (threadIdx.x >= 32) {
    std::uint64_t sum = 0;
    while (done.load(memory_order::acquire) == 0) {  // as one who waits for mail
      for (auto const until = clock64() + 300; clock64() < until;) continue;
      for (auto n = threadIdx.x - 32; n < total; n += 32) {
        std::uint64_t seen;
        asm volatile("ld.global.u64 %0, [%1];" : "=l"(seen) : "l"(places + n * 4));
        sum += seen;
      }
    }
    if (sum == 1) wrong[1] = 1;  // never: each is needed at once
    return;
  }
  rondo::team const warp{0, threadIdx.x, 32, shared};
  rondo::bus_reader<item> in{r};
  for (std::uint32_t taken = 0; taken < total;) {
    auto const n = in.fetch(warp, window, in.window);
    if (warp.leader()) {
      for (std::uint32_t i = 0; i < n; ++i)
        if (places[window[i].place * 4] != window[i].value) ++*wrong;
      in.advance(n);
      in.publish();
    } else {
      in.advance(n);
    }
    taken += n;
  }
  if (warp.leader()) done.store(1, memory_order::relaxed);
}
