// Memory of a cuda_machine. Allocation is stream-ordered, because a call that waits for the whole GPU waits for the
// ring kernel.
#include <unistd.h>

#include <cstring>

#include "runtime/device/cuda/cuda_machine_state.hpp"
#include "runtime/device/cuda/pinned_cache.hpp"

namespace rondo {

std::byte* cuda_machine::device_memory(std::size_t bytes) {
  auto& s = *state_;
  void* p = nullptr;
  // Stream-ordered, because cudaMalloc may wait for the grid of another machine. Arenas are page-aligned.
  check(cudaMallocAsync(&p, bytes + 4096, s.copies),
        "allocating device memory (actors, mail_blocks, state_bytes, buffer_bytes_cap, buffer_slots)");
  s.device.push_back(p);
  check(cudaMemsetAsync(p, 0, bytes + 4096, s.copies), "clearing device memory");
  check(cudaStreamSynchronize(s.copies), "clearing device memory");
  return reinterpret_cast<std::byte*>(align_up(reinterpret_cast<std::uintptr_t>(p), 4096));
}

/// Allocates from a separate pool, whose one allocation other processes can open, if GPU and system support that, and
/// no grid runs on the GPU, as making a pool may wait for it. Otherwise exports are copied.
std::byte* cuda_machine::buffer_memory(std::size_t bytes) {
  auto& s = *state_;
  int handles = 0;
  check(cudaDeviceGetAttribute(&handles, cudaDevAttrMemoryPoolSupportedHandleTypes, s.ordinal),
        "querying how memory can be shared");
  auto const idle = gpu_use::of_process().try_keep_idle(s.ordinal);
  if ((handles & cudaMemHandleTypePosixFileDescriptor) == 0 || !idle.owns_lock()) return device_memory(bytes);
  cudaMemPoolProps wanted{};
  wanted.allocType = cudaMemAllocationTypePinned;
  wanted.handleTypes = cudaMemHandleTypePosixFileDescriptor;
  wanted.location = {cudaMemLocationTypeDevice, s.ordinal};
  void* p = nullptr;
  check(cudaMemPoolCreate(&s.shared_pool, &wanted), "creating a pool of shareable memory");
  check(cudaMallocFromPoolAsync(&p, bytes, s.shared_pool, s.copies),
        "allocating device memory (buffer_bytes_cap)");
  s.device.push_back(p);
  check(cudaMemsetAsync(p, 0, bytes, s.copies), "clearing device memory");
  check(cudaStreamSynchronize(s.copies), "clearing device memory");
  auto* const base = static_cast<std::byte*>(p);
  if (reinterpret_cast<std::uintptr_t>(p) % 4096 != 0)
    throw std::runtime_error("CUDA: a pool's first allocation is not page-aligned");
  cudaMemPoolPtrExportData where{};
  cudaIpcEventHandle_t event{};
  cudaDeviceProp gpu{};
  static_assert(sizeof where == sizeof s.shared.memory && sizeof event == sizeof s.shared.ready &&
                sizeof gpu.uuid == sizeof s.shared.identity);
  bool const shared =
      cudaMemPoolExportToShareableHandle(&s.shared.pool, s.shared_pool, cudaMemHandleTypePosixFileDescriptor,
                                         0) == cudaSuccess &&
      cudaMemPoolExportPointer(&where, p) == cudaSuccess &&
      cudaEventCreateWithFlags(&s.ready, cudaEventDisableTiming | cudaEventInterprocess) == cudaSuccess &&
      cudaIpcGetEventHandle(&event, s.ready) == cudaSuccess &&
      cudaGetDeviceProperties(&gpu, s.ordinal) == cudaSuccess;
  if (!shared) {  // exports will be copies on the host
    cudaGetLastError();
    if (s.shared.pool >= 0) ::close(s.shared.pool);
    s.shared.pool = -1;
    return base;
  }
  std::memcpy(s.shared.memory.data(), &where, sizeof where);
  std::memcpy(s.shared.ready.data(), &event, sizeof event);
  std::memcpy(s.shared.identity.data(), &gpu.uuid, sizeof gpu.uuid);
  return base;
}

std::optional<device_share> cuda_machine::share() noexcept {
  if (state_->shared.pool < 0) return std::nullopt;
  return state_->shared;
}

bool cuda_machine::mark_ready() {
  auto& s = *state_;
  cudaSetDevice(s.ordinal);
  return s.succeeded(cudaEventRecord(s.ready, s.copies), "marking shared buffers as ready");
}

std::byte* cuda_machine::pinned_memory(std::size_t bytes) {
  auto* const p = state_->host.emplace_back(pinned_cache::get().take(bytes));
  std::memset(p, 0, bytes);
  return p;
}

queue_pair_ref<prompt_bus> cuda_machine::queues(std::uint32_t submissions, std::uint32_t completions) {
  auto& s = *state_;
  auto const down = std::max(2u, ceil_power_of_two(submissions));
  auto const up = std::max(2u, ceil_power_of_two(completions));
  auto& inbox = s.inbox;
  if (auto const idle = gpu_use::of_process().try_keep_idle_alone(s.ordinal); idle.owns_lock())
    inbox = map_inbox(s.ordinal, down * sizeof(bus_slot<submission>), s.fit.inbox);
  else
    inbox.where = "inbox in pinned memory, as another runtime or device uses this GPU";
  auto* const inbox_slots = reinterpret_cast<bus_slot<submission>*>(inbox.host);
  return {
      ring_of(inbox_slots, down, &s.writers.emplace_back(), {inbox.combines_writes}),
      ring_of<device_event>(nullptr, up, reinterpret_cast<bus_writers*>(device_memory(sizeof(bus_writers))))};
}

bus_ring_ref<submission, prompt_bus> cuda_machine::direct_ring(std::uint32_t submissions) {
  return ring_of<submission>(nullptr, std::max(2u, ceil_power_of_two(submissions)),
                             &state_->writers.emplace_back());
}

template <class Item>
bus_ring_ref<Item, prompt_bus> cuda_machine::ring_of(bus_slot<Item>* slots, std::uint32_t n,
                                                     bus_writers* writers, prompt_bus how) {
  if (slots == nullptr) slots = reinterpret_cast<bus_slot<Item>*>(pinned_memory(n * sizeof(bus_slot<Item>)));
  return {slots, reinterpret_cast<bus_progress*>(pinned_memory(sizeof(bus_progress))), writers, n, how};
}

bool cuda_machine::copy(void* to, void const* from, std::size_t bytes, char const* what) {
  auto& s = *state_;
  cudaSetDevice(s.ordinal);
  return s.succeeded(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, s.copies), what) &&
         s.succeeded(cudaStreamSynchronize(s.copies), what);
}
bool cuda_machine::copy_out(std::byte* to, std::byte const* from, std::size_t bytes) {
  return copy(to, from, bytes, "copying the arena");
}
bool cuda_machine::copy_in(std::byte* to, std::byte const* from, std::size_t bytes) {
  return copy(to, from, bytes, "writing the arena");
}

bool cuda_machine::copy(std::span<copy_job const> jobs) {
  auto& s = *state_;
  cudaSetDevice(s.ordinal);
  // Relaxed: each thread may find this out by itself.
  if (jobs.size() > 1 && s.batches_known.load(memory_order::relaxed) != 0) {
    std::vector<void*> to;
    std::vector<void const*> from;
    std::vector<std::size_t> bytes;
    for (auto const& job : jobs) {
      to.push_back(job.to);
      from.push_back(job.from);
      bytes.push_back(job.bytes);
    }
    cudaMemcpyAttributes in_order{};
    in_order.srcAccessOrder = cudaMemcpySrcAccessOrderStream;
    std::size_t first = 0;
    auto const e = cudaMemcpyBatchAsync(to.data(), from.data(), bytes.data(), jobs.size(), &in_order, &first,
                                        1, s.copies);
    if (e != cudaErrorNotSupported && e != cudaErrorCallRequiresNewerDriver)
      return s.succeeded(e, "copying buffers") &&
             s.succeeded(cudaStreamSynchronize(s.copies), "copying buffers");
    cudaGetLastError();  // clears the error, which is handled here
    s.batches_known.store(0, memory_order::relaxed);
  }
  for (auto const& job : jobs)
    if (!s.succeeded(cudaMemcpyAsync(job.to, job.from, job.bytes, cudaMemcpyDefault, s.copies),
                     "copying buffers"))
      return false;
  return s.succeeded(cudaStreamSynchronize(s.copies), "copying buffers");
}

graph_engine& cuda_machine::captures() noexcept { return *state_->graphs; }

}  // namespace rondo
