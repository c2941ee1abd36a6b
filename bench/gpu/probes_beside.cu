// What works beside a kernel that never ends: calls that may wait for it, streams that may share its hardware queue, a
// second grid.
#include <cstdlib>
#include <deque>
#include <future>

#include "bench/gpu/gpu.hpp"
#include "bench/gpu/probes.hpp"

namespace rondo::bench::gpu {
namespace {

using clock = std::chrono::steady_clock;
constexpr std::chrono::seconds patience{3};

__global__ void touch(std::uint32_t* at) { *at = 1; }

/// How long `call` takes beside a running kernel; a note says if it returned only after that kernel was ended.
/// `prepare` runs before the kernel.
reading beside_grid(void (*prepare)(), void (*call)()) {
  pinned<flags> const shared;
  stream const in;
  prepare();
  flag_server const grid(shared, in);
  if (!grid.is_running(patience))
    throw std::runtime_error("the kernel that should run beside the call does not start");
  auto const begin = clock::now();
  auto done = std::async(std::launch::async, [&] {
    call();
    return clock::now();
  });
  bool const waits = done.wait_for(patience) != std::future_status::ready;
  if (waits) grid.end();
  std::chrono::duration<double, std::micro> const took = done.get() - begin;
  return {waits ? -1 : took.count(), "us",
          waits ? "waits until the grid ends" : "does not wait for the grid"};
}

void nothing() {}

reading host_alloc() {
  return beside_grid(nothing, [] {
    void* p = nullptr;
    check(cudaHostAlloc(&p, 1 << 20, cudaHostAllocMapped));
  });
}
reading malloc_call() {
  return beside_grid(nothing, [] {
    void* p = nullptr;
    check(cudaMalloc(&p, 1 << 20));
  });
}
reading free_call() {
  static void* p = nullptr;
  return beside_grid([] { check(cudaMalloc(&p, 1 << 20)); }, [] { check(cudaFree(p)); });
}
/// From a pool that is empty, so the driver must map memory.
reading malloc_async() {
  return beside_grid(nothing, [] {
    stream const in;
    void* p = nullptr;
    check(cudaMallocAsync(&p, 64 << 20, in));
    in.wait();
  });
}
reading stream_create() {
  return beside_grid(nothing, [] { stream const in; });
}
reading copy_async() {
  static std::byte* to = nullptr;
  static pinned<std::byte>* from = nullptr;
  return beside_grid(
      [] {
        check(cudaMalloc(&to, 1 << 20));
        from = new pinned<std::byte>(1 << 20);
      },
      [] {
        stream const in;
        check(cudaMemcpyAsync(to, from->on_device(), 1 << 20, cudaMemcpyHostToDevice, in));
        in.wait();
      });
}
/// A kernel of this program that has not run before. With eager loading its module is there.
reading first_launch() {
  static std::uint32_t* at = nullptr;
  return beside_grid([] { check(cudaMalloc(&at, sizeof *at)); },
                     [] {
                       stream const in;
                       touch<<<1, 1, 0, in>>>(at);
                       in.wait();
                     });
}

/// A module that the driver compiles and loads while the grid runs.
constexpr char const* second_module = R"(
.version 8.0
.target sm_75
.address_size 64
.visible .entry touch_too(.param .u64 at) {
  .reg .b64 %rd<3>;
  .reg .b32 %r<2>;
  ld.param.u64 %rd1, [at];
  cvta.to.global.u64 %rd2, %rd1;
  mov.u32 %r1, 1;
  st.global.u32 [%rd2], %r1;
  ret;
}
)";
reading module_load() {
  static std::uint32_t* at = nullptr;
  return beside_grid(
      [] { check(cudaMalloc(&at, sizeof *at)); },
      [] {
        cudaLibrary_t library{};
        cudaKernel_t kernel{};
        check(cudaLibraryLoadData(&library, second_module, nullptr, nullptr, 0, nullptr, nullptr, 0));
        check(cudaLibraryGetKernel(&kernel, library, "touch_too"));
        void* arguments[] = {&at};
        stream const in;
        check(cudaLaunchKernel(reinterpret_cast<void const*>(kernel), dim3(1), dim3(1), arguments, 0, in));
        in.wait();
      });
}

/// How many of twelve streams finish a small kernel while a grid runs on a thirteenth.
reading streams_beside(char const* queues) {
  setenv("CUDA_DEVICE_MAX_CONNECTIONS", queues, 1);  // read at the first call of CUDA, which follows
  constexpr int count = 12;
  pinned<flags> const shared;
  stream const in;
  std::uint32_t* at = nullptr;
  check(cudaMalloc(&at, sizeof *at));
  std::deque<stream> others(count);
  flag_server const grid(shared, in);
  if (!grid.is_running(patience))
    throw std::runtime_error("the kernel that should run beside the streams does not start");
  for (auto const& one : others) touch<<<1, 1, 0, one>>>(at);
  check(cudaGetLastError());
  int done = 0;
  for (auto const give_up = clock::now() + patience; done < count && clock::now() < give_up;) {
    done = 0;
    for (auto const& one : others) done += cudaStreamQuery(one) == cudaSuccess;
  }
  return {static_cast<double>(done), "streams", "of 12 whose kernel ended beside a grid"};
}
reading twelve_streams() { return streams_beside("8"); }
reading twelve_streams_of_32() { return streams_beside("32"); }

/// Whether a second cooperative grid runs while a first one does; each has a block for every second multiprocessor.
reading two_cooperative_grids() {
  int multiprocessors = 0;
  check(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, 0));
  auto const blocks = static_cast<unsigned>(multiprocessors) / 2;
  pinned<flags> const first_flags, second_flags;
  stream const one, two;
  flag_server const first(first_flags, one, blocks, true);
  if (!first.is_running(patience)) throw std::runtime_error("the first cooperative grid does not start");
  flag_server const second(second_flags, two, blocks, true);
  bool const both = second.is_running(patience);
  first.ask_to_end();
  return {both ? 1.0 : 0.0, "yes", both ? "both run at once" : "the second waits until the first ends"};
}

}  // namespace

std::vector<probe> beside_probes() {
  return {{"beside_first_launch", first_launch},
          {"beside_module_load", module_load},
          {"beside_cudaHostAlloc", host_alloc},
          {"beside_cudaMalloc", malloc_call},
          {"beside_cudaFree", free_call},
          {"beside_cudaMallocAsync", malloc_async},
          {"beside_cudaMemcpyAsync", copy_async},
          {"beside_cudaStreamCreate", stream_create},
          {"beside_12_streams_of_8_queues", twelve_streams},
          {"beside_12_streams_of_32_queues", twelve_streams_of_32},
          {"two_cooperative_grids", two_cooperative_grids}};
}

}  // namespace rondo::bench::gpu
