#include "tests/conformance/in_reach.hpp"

#include <array>
#include <cstring>
#include <mutex>
#include <vector>

#if defined(RONDO_HAS_CUDA)
#include "runtime/device/cuda/cuda_machine.hpp"
#endif

namespace conformance {

namespace {

constexpr std::size_t slots = 1000;

std::byte* claim() {
#if defined(RONDO_HAS_CUDA)
  if (auto* const shared = rondo::cuda_machine::claim_shared(slots * reachable_bytes)) return shared;
#endif
  return static_cast<std::byte*>(::operator new (slots* reachable_bytes, std::align_val_t{64}));
}

struct pool {
  std::byte* memory = claim();
  std::mutex mutex;
  std::vector<void*> free;
  pool() {
    for (std::size_t i = slots; i-- > 0;) free.push_back(memory + i * reachable_bytes);
  }
};
/// Never freed: a handler that hangs may outlive the test program's own variables.
pool& all() {
  static pool& p = *new pool;
  return p;
}

}  // namespace

void* take_reachable() {
  auto& p = all();
  std::lock_guard lock(p.mutex);
  if (p.free.empty()) throw std::bad_alloc();
  auto* const taken = p.free.back();
  p.free.pop_back();
  std::memset(taken, 0, reachable_bytes);
  return taken;
}

void give_back_reachable(void* at) noexcept {
  auto& p = all();
  std::lock_guard lock(p.mutex);
  p.free.push_back(at);
}

std::span<std::byte> reachable_memory() { return {all().memory, slots * reachable_bytes}; }

}  // namespace conformance
