// Reusable memory for one of Asio's handlers at a time, so that what it completes, such as an ask, allocates nothing.
//
// Asio frees a handler's memory before it calls the handler, so the handler may begin what the next one completes.
// Threads: one handler at a time; it may be called on another thread than it was given on. Must not move while it is in
// use.
#pragma once

#include <boost/asio/bind_allocator.hpp>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/system_executor.hpp>
#include <cstddef>
#include <new>
#include <utility>

namespace rondo {

class handler_memory {
 public:
  void* take(std::size_t bytes, std::size_t alignment) {
    if (taken_ || bytes > sizeof room_ || alignment > alignof(std::max_align_t))
      return ::operator new (bytes, std::align_val_t{alignment});
    taken_ = true;
    return room_;
  }
  void give_back(void* block, std::size_t alignment) noexcept {
    if (block == room_)
      taken_ = false;
    else
      ::operator delete (block, std::align_val_t{alignment});
  }

 private:
  alignas(std::max_align_t) std::byte room_[256];
  bool taken_ = false;
};

/// The allocator that Asio uses.
template <class T>
struct handler_allocator {
  using value_type = T;

  explicit handler_allocator(handler_memory& m) noexcept : memory(&m) {}
  template <class U>
  handler_allocator(handler_allocator<U> const& other) noexcept : memory(other.memory) {}

  T* allocate(std::size_t count) const {
    return static_cast<T*>(memory->take(count * sizeof(T), alignof(T)));
  }
  void deallocate(T* block, std::size_t) const noexcept { memory->give_back(block, alignof(T)); }
  template <class U>
  bool operator==(handler_allocator<U> const& other) const noexcept {
    return memory == other.memory;
  }

  handler_memory* memory;
};

/// `handler` with its memory in `memory`, for an answer: called on the thread that receives it, a team's or the
/// poller's, it must be short and must not throw.
template <class Handler>
auto at_once(handler_memory& memory, Handler handler) {
  return boost::asio::bind_executor(
      boost::asio::system_executor(),
      boost::asio::bind_allocator(handler_allocator<void>(memory), std::move(handler)));
}

}  // namespace rondo
