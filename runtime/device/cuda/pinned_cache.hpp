// The process's cache of pinned memory, which machines reuse.
//
// Threads: any.
#pragma once

#include <map>
#include <mutex>

#include "kernels/base/portable.hpp"
#include "runtime/device/cuda/cuda_call.hpp"
#include "runtime/device/cuda/gpu_use.hpp"

namespace rondo {

/// Pinned memory, allocated in large pieces and never freed: freeing would wait for all kernels of the GPU, including
/// those that never end, and so may allocation. A machine's memory is reused by the next one.
class pinned_cache {
 public:
  static pinned_cache& get() {
    static pinned_cache cache;
    return cache;
  }

  /// Throws std::runtime_error if more memory is needed while a ring kernel runs.
  std::byte* take(std::size_t bytes) {
    std::lock_guard lock(mutex_);
    bytes = align_up(bytes, 4096);
    std::byte* p = nullptr;
    if (auto const found = free_.find(bytes); found != free_.end()) {
      p = found->second;
      free_.erase(found);
    } else {
      if (left_ < bytes) claim(std::max(bytes, piece_bytes));
      p = next_;
      next_ += bytes;
      left_ -= bytes;
    }
    sizes_[p] = bytes;
    return p;
  }
  void give_back(std::byte* p) {
    std::lock_guard lock(mutex_);
    free_.emplace(sizes_.at(p), p);
    sizes_.erase(p);
  }
  /// To be called when the context was reset, which frees everything.
  void forget() {
    std::lock_guard lock(mutex_);
    free_.clear();
    left_ = 0;
  }

 private:
  pinned_cache() = default;
  static constexpr std::size_t piece_bytes = std::size_t{32} << 20;
  void claim(std::size_t bytes) {
    void* p = nullptr;
    auto const idle = gpu_use::of_process().keep_idle("allocating " + std::to_string(bytes) +
                                                      " bytes of pinned memory (pinned_bytes, queues)");
    check(cudaHostAlloc(&p, bytes, cudaHostAllocPortable | cudaHostAllocMapped), "allocating pinned memory");
    next_ = static_cast<std::byte*>(p);
    left_ = bytes;
  }

  std::mutex mutex_;
  std::byte* next_ = nullptr;
  std::size_t left_ = 0;
  std::multimap<std::size_t, std::byte*> free_;
  std::map<std::byte*, std::size_t> sizes_;  // of pieces in use
};

}  // namespace rondo
