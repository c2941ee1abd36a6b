#include "runtime/memory/pool_resource.hpp"

#include <algorithm>
#include <new>

namespace rondo {

namespace {

constexpr std::size_t page = 4096, aligned_to_pages = 16384;

}  // namespace

void* pool_resource::do_allocate(std::size_t bytes, std::size_t alignment) {
  if (alignment > page) throw std::bad_alloc{};
  bytes = std::max<std::size_t>(bytes, alignment > 64 ? aligned_to_pages : 1);
  auto const ref = pool_.acquire(bytes);
  if (!ref) throw std::bad_alloc{};
  void* const p = pool_.address_of(*ref);
  try {
    std::lock_guard lock(mutex_);
    out_.emplace(p, *ref);
  } catch (...) {
    pool_.release(*ref);
    throw;
  }
  return p;
}

void pool_resource::do_deallocate(void* p, std::size_t, std::size_t) {
  std::unique_lock lock(mutex_);
  auto const found = out_.find(p);
  if (found == out_.end()) return;  // precondition violated; the pool reports leaks at its end
  auto const ref = found->second;
  out_.erase(found);
  lock.unlock();
  pool_.release(ref);
}

}  // namespace rondo
