// The functions that g++ calls before each plain access of code compiled with -fsanitize=thread. No sanitizer is
// linked: these functions replace it and ask the simulated memory whether the access is a race.
#include <cstring>

#include "tests/model/execution.hpp"

namespace {
inline void look(void const* at, std::size_t bytes, bool writes, void const* pc) {
  if (auto* const x = model::execution::current()) x->plain(at, bytes, writes, pc);
}
}  // namespace

extern "C" {

#define ACCESS(name, bytes, writes) \
  void __tsan_##name(void* at) { look(at, bytes, writes, __builtin_return_address(0)); }
ACCESS(read1, 1, false)
ACCESS(read2, 2, false)
ACCESS(read4, 4, false)
ACCESS(read8, 8, false)
ACCESS(read16, 16, false)
ACCESS(write1, 1, true)
ACCESS(write2, 2, true)
ACCESS(write4, 4, true)
ACCESS(write8, 8, true)
ACCESS(write16, 16, true)
ACCESS(unaligned_read2, 2, false)
ACCESS(unaligned_read4, 4, false)
ACCESS(unaligned_read8, 8, false)
ACCESS(unaligned_read16, 16, false)
ACCESS(unaligned_write2, 2, true)
ACCESS(unaligned_write4, 4, true)
ACCESS(unaligned_write8, 8, true)
ACCESS(unaligned_write16, 16, true)
#undef ACCESS

void __tsan_read_range(void* at, std::size_t bytes) { look(at, bytes, false, __builtin_return_address(0)); }
void __tsan_write_range(void* at, std::size_t bytes) { look(at, bytes, true, __builtin_return_address(0)); }
// Atomics that are not from kernels/base/atomic.hpp belong to libraries: they are real, and not part of the simulation.
#define ATOMICS(bits, type)                                                                                \
  type __tsan_atomic##bits##_load(type const volatile* at, int) {                                          \
    return __atomic_load_n(at, __ATOMIC_SEQ_CST);                                                          \
  }                                                                                                        \
  void __tsan_atomic##bits##_store(type volatile* at, type v, int) {                                       \
    __atomic_store_n(at, v, __ATOMIC_SEQ_CST);                                                             \
  }                                                                                                        \
  type __tsan_atomic##bits##_exchange(type volatile* at, type v, int) {                                    \
    return __atomic_exchange_n(at, v, __ATOMIC_SEQ_CST);                                                   \
  }                                                                                                        \
  type __tsan_atomic##bits##_fetch_add(type volatile* at, type v, int) {                                   \
    return __atomic_fetch_add(at, v, __ATOMIC_SEQ_CST);                                                    \
  }                                                                                                        \
  type __tsan_atomic##bits##_fetch_sub(type volatile* at, type v, int) {                                   \
    return __atomic_fetch_sub(at, v, __ATOMIC_SEQ_CST);                                                    \
  }                                                                                                        \
  int __tsan_atomic##bits##_compare_exchange_strong(type volatile* at, type* expected, type v, int, int) { \
    return __atomic_compare_exchange_n(at, expected, v, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);        \
  }                                                                                                        \
  int __tsan_atomic##bits##_compare_exchange_weak(type volatile* at, type* expected, type v, int, int) {   \
    return __atomic_compare_exchange_n(at, expected, v, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);        \
  }
ATOMICS(8, std::uint8_t)
ATOMICS(32, std::uint32_t)
ATOMICS(64, std::uint64_t)
#undef ATOMICS
void __tsan_atomic_thread_fence(int) { __atomic_thread_fence(__ATOMIC_SEQ_CST); }

void __tsan_vptr_update(void**, void*) {}
void __tsan_vptr_read(void**) {}
void __tsan_func_entry(void*) {}
void __tsan_func_exit() {}
void __tsan_init() {}

// The linker redirects calls of memcpy and memset to these (--wrap).
void* __real_memcpy(void* to, void const* from, std::size_t bytes);
void* __real_memset(void* to, int value, std::size_t bytes);
void* __wrap_memcpy(void* to, void const* from, std::size_t bytes) {
  if (bytes != 0) {
    look(from, bytes, false, __builtin_return_address(0));
    look(to, bytes, true, __builtin_return_address(0));
  }
  return __real_memcpy(to, from, bytes);
}
void* __wrap_memset(void* to, int value, std::size_t bytes) {
  if (bytes != 0) look(to, bytes, true, __builtin_return_address(0));
  return __real_memset(to, value, bytes);
}
}
