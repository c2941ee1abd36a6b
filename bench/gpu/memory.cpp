// A device buffer from the pool, and a copy from pinned memory to the device, next to a ring kernel.
#include "bench/gpu/bed.hpp"
#include "bench/gpu/cases.hpp"
#include "bench/harness/sampling.hpp"
#include "runtime/memory/buffer_pool.hpp"
#include "runtime/memory/unified_buffer.hpp"

namespace rondo::bench::gpu {
namespace {

measurement acquire(sample_budget const& budget) {
  return with_runtime(settings_for(1), [&](runtime& rt) {
    return durations(budget, "acquire_release_ns", [&](std::uint64_t) {
      auto buffer = rt.buffers().acquire(acquired_bytes);
      // While the submission ring is full of earlier ones the caller waits; that time counts.
      for (; !buffer && buffer.error() == errc::device_busy; buffer = rt.buffers().acquire(acquired_bytes))
        relax();
      rt.buffers().release(expect("acquiring", buffer));
    });
  });
}

measurement copy_down(sample_budget const& budget) {
  auto settings = settings_for(1);
  settings.pinned_bytes = 2 * copied_bytes;
  return with_runtime(settings, [&](runtime& rt) {
    unified_buffer<std::byte> data(rt.memory(), {copied_bytes});
    data.overwrite().value()[0] = std::byte{1};
    if (rt.memory().pinned->statistics().buffers_in_use != 1)
      throw std::runtime_error("the host's side is not in pinned memory");
    return durations(budget, "copy_ns", [&](std::uint64_t) {
      data.mark_host_dirty();
      if (auto const failed = data.sync_to_device())
        throw std::runtime_error("copying down: " + failed.message());
    });
  });
}

}  // namespace

case_list memory_cases() {
  return {{"gpu_acquire", "rondo pool", {}, acquire},
          {"gpu_copy_down", "rondo unified_buffer", {}, copy_down}};
}

}  // namespace rondo::bench::gpu
