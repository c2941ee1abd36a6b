// Blocks of memory that a driver knows by objects of its own, and the host by addresses. A kernel's argument may point
// into the middle of a block.
//
// Threads: any.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <mutex>
#include <optional>

namespace rondo {

// -- for the runtime

/// `Object` is copied: a handle of the driver.
template <class Object>
class memory_blocks {
 public:
  /// Where an address is.
  struct place {
    Object object;
    std::size_t offset;  // from the object's beginning
    void* begin;         // its address there
  };

  void add(void* begin, std::size_t bytes, Object object) {
    std::lock_guard const lock(mutex_);
    blocks_.emplace(static_cast<std::byte*>(begin), block{bytes, object});
  }
  /// Precondition: it was added.
  Object remove(void* begin) {
    std::lock_guard const lock(mutex_);
    auto const at = blocks_.find(static_cast<std::byte*>(begin));
    auto const object = at->second.object;
    blocks_.erase(at);
    return object;
  }
  /// None: the address is in no block.
  std::optional<place> find(void const* address) const {
    auto const* const wanted = static_cast<std::byte const*>(address);
    std::lock_guard const lock(mutex_);
    auto at = blocks_.upper_bound(wanted);
    if (at == blocks_.begin()) return {};
    --at;
    auto const offset = static_cast<std::size_t>(wanted - at->first);
    if (offset >= at->second.bytes) return {};
    return place{at->second.object, offset, at->first};
  }

 private:
  struct block {
    std::size_t bytes;
    Object object;
  };

  mutable std::mutex mutex_;
  std::map<std::byte*, block, std::less<>> blocks_;  // by their addresses; guarded by mutex_
};

}  // namespace rondo
