// The cost of a buffer: acquire plus release from a pool, compared with malloc and mimalloc; a lease; and an access to
// shared data when there is nothing to copy.
//
// Host-side cost per pair, alone and with two threads on one pool. "touch" writes the first byte of each page, as any
// code that fills a buffer does. Google Benchmark's JSON (--benchmark_format=json) carries machine and date.
#include <benchmark/benchmark.h>
#include <dlfcn.h>
#include <sys/mman.h>

#include <cstdlib>
#include <stdexcept>

#include "runtime/memory/buffer_pool.hpp"
#include "runtime/memory/unified_buffer.hpp"

namespace {

rondo::buffer_pool& shared_pool() {
  static rondo::buffer_pool pool({.cap_bytes = 1ull << 30});
  return pool;
}

void touch(void* block, std::size_t bytes) {
  for (std::size_t at = 0; at < bytes; at += 4096) static_cast<char volatile*>(block)[at] = 1;
}

void pool_acquire_release(benchmark::State& state) {
  auto& pool = shared_pool();
  auto const bytes = static_cast<std::uint64_t>(state.range(0));
  for (auto _ : state) {
    auto const ref = pool.acquire(bytes);
    if (!ref || pool.release(*ref) != rondo::errc::ok) state.SkipWithError("the pool refused");
  }
}

void pool_owner(benchmark::State& state) {
  auto& pool = shared_pool();
  auto const bytes = static_cast<std::uint64_t>(state.range(0));
  for (auto _ : state) {
    auto owner = pool.acquire_buffer(bytes);
    if (!owner) state.SkipWithError("the pool refused");
    benchmark::DoNotOptimize(owner->span().data());
  }
}

template <bool Touch, class Malloc, class Free>
void allocate_and_free(benchmark::State& state, Malloc allocate, Free release) {
  auto const bytes = static_cast<std::size_t>(state.range(0));
  for (auto _ : state) {
    auto* block = allocate(bytes);
    benchmark::DoNotOptimize(block);
    if constexpr (Touch) touch(block, bytes);
    release(block);
  }
}
void malloc_free(benchmark::State& state) { allocate_and_free<false>(state, std::malloc, std::free); }
void malloc_touch_free(benchmark::State& state) { allocate_and_free<true>(state, std::malloc, std::free); }

/// Loaded at run time: a program that links mimalloc also uses it for malloc.
struct mimalloc {
  void* (*malloc)(std::size_t);
  void (*free)(void*);

  mimalloc() {
    auto* const library = ::dlopen("libmimalloc.so.2", RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr)
      throw std::runtime_error("libmimalloc.so.2 cannot be loaded: apt install libmimalloc2.0");
    malloc = reinterpret_cast<void* (*)(std::size_t)>(::dlsym(library, "mi_malloc"));
    free = reinterpret_cast<void (*)(void*)>(::dlsym(library, "mi_free"));
  }
};
void mimalloc_free(benchmark::State& state) {
  static mimalloc const mi;
  allocate_and_free<false>(state, mi.malloc, mi.free);
}

void pool_acquire_touch_release(benchmark::State& state) {
  auto& pool = shared_pool();
  auto const bytes = static_cast<std::uint64_t>(state.range(0));
  for (auto _ : state) {
    auto owner = pool.acquire_buffer(bytes);
    if (!owner) state.SkipWithError("the pool refused");
    touch(owner->span().data(), bytes);
  }
}

/// Fresh pages from the kernel, which is where malloc gets a large block that it has not cached.
void fresh_touch_free(benchmark::State& state) {
  auto const bytes = static_cast<std::size_t>(state.range(0));
  for (auto _ : state) {
    auto* block = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (block == MAP_FAILED) state.SkipWithError("no memory");
    touch(block, bytes);
    ::munmap(block, bytes);
  }
}

void read_lease(benchmark::State& state) {
  auto& pool = shared_pool();
  auto const owner = pool.acquire_buffer(4096).value();
  for (auto _ : state) {
    auto const lease = pool.read<std::uint32_t>(owner.ref());
    if (!lease) state.SkipWithError("no lease");
    benchmark::DoNotOptimize(lease.view().data());
  }
}

/// Gets a handler's handle for data that is up to date on the device.
void unified_device(benchmark::State& state) {
  rondo::memory_pair::counters counts;
  rondo::unified_buffer<std::uint32_t> data({&shared_pool(), &shared_pool(), &counts}, {1024});
  data.overwrite().value()[0] = 1;
  for (auto _ : state) benchmark::DoNotOptimize(data.device().value());
}
/// Accesses the same data on the host, under a lease.
void unified_host(benchmark::State& state) {
  rondo::memory_pair::counters counts;
  rondo::unified_buffer<std::uint32_t> data({&shared_pool(), &shared_pool(), &counts}, {1024});
  data.overwrite().value()[0] = 1;
  for (auto _ : state) benchmark::DoNotOptimize(data.host().value()[0]);
}

}  // namespace

BENCHMARK(pool_acquire_release)->Arg(256)->Arg(4096)->Arg(65536)->Arg(1 << 20)->Threads(1)->Threads(2);
BENCHMARK(malloc_free)->Arg(256)->Arg(4096)->Arg(65536)->Arg(1 << 20)->Threads(1)->Threads(2);
BENCHMARK(mimalloc_free)->Arg(256)->Arg(4096)->Arg(65536)->Arg(1 << 20)->Threads(1)->Threads(2);
BENCHMARK(pool_owner)->Arg(4096)->Threads(1)->Threads(2);
BENCHMARK(pool_acquire_touch_release)->Arg(65536)->Arg(1 << 20);
BENCHMARK(malloc_touch_free)->Arg(65536)->Arg(1 << 20);
BENCHMARK(read_lease);
BENCHMARK(unified_device);
BENCHMARK(unified_host);
BENCHMARK(fresh_touch_free)->Arg(1 << 20);

BENCHMARK_MAIN();
