// The same data on the host and on a device: copied when it is first needed on the other side, and never twice.
//
//   rondo::unified_buffer<float> field(rt.memory(1), {480, 640});
//   for (float& x : field.overwrite().value()) x = 0;         // on the host
//   actor.try_tell(blur{field.device_for_writing().value()});  // copied here, once
//   ...
//   auto const seen = field.host().value();                   // copied back here, once
//
// States: what each side holds. Where both sides are one memory (a device `cpu`) nothing is ever copied.
//
//   uninitialized  nothing was written yet        synchronized  both sides hold the same
//   host_only      the device has no block        host_dirty    the device's block is older
//   device_only    the host has no block          device_dirty  the host's block is older
//
// Threads: one at a time, any. Handlers lease the device's side while they run; this side of the program learns from their
// answers when they are done. Lifetime: shorter than the runtime's.
#pragma once

#include <atomic>
#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/associated_executor.hpp>
#include <boost/asio/async_result.hpp>
#include <boost/asio/dispatch.hpp>
#include <boost/asio/execution/outstanding_work.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/prefer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <functional>
#include <numeric>
#include <span>
#include <vector>

#include "runtime/memory/buffer_pool.hpp"

namespace rondo {

enum class buffer_state : std::uint8_t {
  uninitialized,
  host_only,
  device_only,
  synchronized,
  host_dirty,
  device_dirty
};

/// Copies between the host and one device so far. A copy that was not needed is counted as saved.
struct transfer_counts {
  std::uint64_t to_device = 0, to_host = 0;  // copies
  std::uint64_t bytes = 0;
  std::uint64_t saved = 0;
};

/// The memory that a program and the handlers of one device share data in: runtime::memory.
struct memory_pair {
  struct counters {
    std::atomic<std::uint64_t> to_device{0}, to_host{0}, bytes{0}, saved{0};
  };
  buffer_pool* host = nullptr;
  buffer_pool* device = nullptr;  // the same as `host` when they are one memory
  counters* counts = nullptr;
  boost::asio::any_io_executor copier{};  // for copies that nobody waits for

  bool is_one() const noexcept { return host == device; }
};

/// A span on the host, under a lease for as long as this lives.
template <class T>
class host_view {
 public:
  host_view(buffer_lease<T> lease) noexcept : lease_(std::move(lease)) {}
  std::span<T> span() const noexcept { return {lease_.view().data(), lease_.view().size()}; }
  T* begin() const noexcept { return lease_.view().begin(); }
  T* end() const noexcept { return lease_.view().end(); }
  std::size_t size() const noexcept { return lease_.view().size(); }
  T& operator[](std::size_t i) const noexcept { return lease_.view()[i]; }

 private:
  buffer_lease<T> lease_;
};

template <class T>
class unified_buffer {
  static_assert(std::is_trivially_copyable_v<T> && !std::is_const_v<T>);

 public:
  unified_buffer() = default;
  /// Claims nothing yet. `shape`: elements by dimension, the last one next to each other.
  unified_buffer(memory_pair const& memory, std::vector<std::uint64_t> shape)
      : memory_(memory),
        shape_(std::move(shape)),
        count_(std::accumulate(shape_.begin(), shape_.end(), std::uint64_t{1}, std::multiplies<>{})) {}

  std::vector<std::uint64_t> const& shape() const noexcept { return shape_; }
  std::uint64_t size() const noexcept { return count_; }
  std::uint64_t bytes() const noexcept { return count_ * sizeof(T); }
  buffer_state state() const noexcept { return state_; }

  // -- on the host. Errors: buffer_empty before anything was written, buffer_in_use while a handler leases what is one
  // memory, those of buffer_pool::acquire, device_lost.

  /// To read; copies first if the device has newer data.
  boost::system::result<host_view<T const>> host() {
    if (auto const e = sync_to_host()) return e;
    return view<T const>();
  }
  /// To change some of it; the same, and the device's side is older from here on.
  boost::system::result<host_view<T>> edit() {
    if (auto const e = sync_to_host()) return e;
    return written_here();
  }
  /// To write all of it; never copies. What is not written is unspecified.
  boost::system::result<host_view<T>> overwrite() {
    if (auto const e = claim(host_, *memory_.host)) return e;
    return written_here();
  }

  // -- on the device: handles to send in messages. Errors as above.

  /// For handlers that read.
  boost::system::result<buffer_ref> device() {
    if (auto const e = sync_to_device()) return e;
    return device_side().ref();
  }
  /// For handlers that change it; the host's side is older from here on.
  boost::system::result<buffer_ref> device_for_writing() {
    if (auto const e = sync_to_device()) return e;
    mark_device_dirty();
    return device_side().ref();
  }
  /// For handlers that write all of it; never copies.
  boost::system::result<buffer_ref> device_for_overwriting() {
    if (auto const e = claim(device_side(), *memory_.device)) return e;
    mark_device_dirty();
    return device_side().ref();
  }

  // -- by hand

  /// Both sides hold the same afterwards; copies only what is older.
  error_code sync_to_device() { return sync(true); }
  error_code sync_to_host() { return sync(false); }
  /// The same without waiting, completing with void(error_code). Nothing else uses this buffer meanwhile.
  template <class Token = boost::asio::use_awaitable_t<>>
  auto async_sync_to_device(Token&& token = {}) {
    return async_sync(true, std::forward<Token>(token));
  }
  template <class Token = boost::asio::use_awaitable_t<>>
  auto async_sync_to_host(Token&& token = {}) {
    return async_sync(false, std::forward<Token>(token));
  }
  /// A handler has written, or will, through a handle that was given out for reading; or the host has.
  void mark_device_dirty() noexcept {
    state_ = memory_.is_one() ? buffer_state::synchronized
             : host_          ? buffer_state::device_dirty
                              : buffer_state::device_only;
  }
  void mark_host_dirty() noexcept {
    state_ = memory_.is_one() ? buffer_state::synchronized
             : device_        ? buffer_state::host_dirty
                              : buffer_state::host_only;
  }
  /// Gives the host's block back, when the device has the data; no effect where they are one.
  error_code drop_host() {
    if (memory_.is_one()) return {};
    if (auto const e = sync_to_device()) return e;
    host_ = {};
    state_ = buffer_state::device_only;
    return {};
  }

 private:
  buffer& device_side() noexcept { return memory_.is_one() ? host_ : device_; }

  error_code claim(buffer& side, buffer_pool& from) {
    if (side) return {};
    auto claimed = from.acquire_buffer(bytes());
    if (!claimed) return claimed.error();
    side = std::move(*claimed);
    return {};
  }

  error_code sync(bool to_device) {
    if (state_ == buffer_state::uninitialized) return errc::buffer_empty;
    bool const older = to_device
                           ? state_ == buffer_state::host_only || state_ == buffer_state::host_dirty
                           : state_ == buffer_state::device_only || state_ == buffer_state::device_dirty;
    auto& counts = *memory_.counts;
    // Relaxed, here and below: statistics.
    if (!older) return counts.saved.fetch_add(1, std::memory_order_relaxed), error_code{};
    if (auto const e = to_device ? claim(device_, *memory_.device) : claim(host_, *memory_.host)) return e;
    auto* const there = memory_.device->address_of(device_.ref());
    auto* const here = host_.span().data();
    auto& home = *memory_.device->home();
    if (!(to_device ? home.copy_in(there, here, bytes()) : home.copy_out(here, there, bytes())))
      return errc::device_lost;
    (to_device ? counts.to_device : counts.to_host).fetch_add(1, std::memory_order_relaxed);
    counts.bytes.fetch_add(bytes(), std::memory_order_relaxed);
    state_ = buffer_state::synchronized;
    return {};
  }

  template <class U>
  boost::system::result<host_view<U>> view() {
    buffer_lease<U> lease(memory_.host->table(), host_.ref());
    if (!lease) return make_error_code(lease.status());
    return host_view<U>(std::move(lease));
  }
  boost::system::result<host_view<T>> written_here() {
    auto guard = view<T>();
    if (guard) mark_host_dirty();
    return guard;
  }

  template <class Token>
  auto async_sync(bool to_device, Token&& token) {
    return boost::asio::async_initiate<Token, void(error_code)>(
        [](auto handler, unified_buffer* self, bool down) {
          // Tracked: who runs that executor does not run out of work meanwhile.
          auto const executor =
              boost::asio::prefer(boost::asio::get_associated_executor(handler, self->memory_.copier),
                                  boost::asio::execution::outstanding_work.tracked);
          boost::asio::post(
              self->memory_.copier, [self, down, executor, handler = std::move(handler)]() mutable {
                auto const outcome = self->sync(down);
                boost::asio::dispatch(executor, [handler = std::move(handler), outcome]() mutable {
                  std::move(handler)(outcome);
                });
              });
        },
        token, this, to_device);
  }

  memory_pair memory_;
  std::vector<std::uint64_t> shape_;
  std::uint64_t count_ = 0;
  buffer host_, device_;  // where both are one memory, `host_` alone
  buffer_state state_ = buffer_state::uninitialized;
};

}  // namespace rondo
