// A unified buffer: the same elements on the host and on a device, copied once when they are needed on the other side.
//
//   rondo::unified_buffer<float> field(rt.memory(1), {480, 640});
//   for (float& x : field.overwrite().value()) x = 0;         // on the host
//   actor.try_tell(blur{field.device_for_writing().value()});  // copied here, once
//   ...
//   auto const seen = field.host().value();                   // copied back here, once
//
// States (two_sided.hpp). If both sides share one memory (a `cpu` device), nothing is ever copied.
//
//   uninitialized  nothing was written yet        synchronized  both sides hold the same data
//   host_only      the device has no block        host_dirty    the device's block is outdated
//   device_only    the host has no block          device_dirty  the host's block is outdated
//
// Threads: any, one at a time. Handlers lease the device's side while they run; their answers tell the program when
// they are done. Lifetime: must not outlive the runtime; must outlive its views, and must not be moved while one
// exists.
#pragma once

#include <atomic>
#include <boost/asio/associated_cancellation_slot.hpp>
#include <boost/asio/associated_executor.hpp>
#include <boost/asio/async_result.hpp>
#include <boost/asio/dispatch.hpp>
#include <boost/asio/execution/outstanding_work.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/prefer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <memory>
#include <span>
#include <vector>

#include "runtime/memory/two_sided.hpp"

namespace rondo {

/// A span of elements on the host, valid while this lives. Holds a lease if handlers use the same memory.
template <class T>
class host_view {
 public:
  /// A view of memory that no handler uses.
  explicit host_view(std::span<T> elements) noexcept : span_(elements) {}
  /// A view of memory that handlers use, too.
  explicit host_view(buffer_lease<T> lease) noexcept
      : lease_(std::move(lease)), span_(lease_.view().data(), lease_.view().size()) {}
  /// The elements.
  std::span<T> span() const noexcept { return span_; }
  /// The first element.
  T* begin() const noexcept { return span_.data(); }
  /// Behind the last element.
  T* end() const noexcept { return span_.data() + span_.size(); }
  /// The number of elements.
  std::size_t size() const noexcept { return span_.size(); }
  /// Precondition: `i < size()`.
  T& operator[](std::size_t i) const noexcept { return span_[i]; }

 private:
  template <class>
  friend class unified_buffer;
  buffer_lease<T> lease_{};
  std::span<T> span_;
  two_sided::viewing viewing_{};
};

template <class T>
class unified_buffer : public two_sided {
  static_assert(std::is_trivially_copyable_v<T> && !std::is_const_v<T>);

 public:
  unified_buffer() = default;
  /// Allocates nothing yet. `shape`: elements by dimension; those of the last dimension are contiguous.
  unified_buffer(memory_pair const& memory, std::vector<std::uint64_t> shape)
      : two_sided(memory, shape, sizeof(T)), shape_(std::move(shape)) {}

  /// Elements by dimension.
  std::vector<std::uint64_t> const& shape() const noexcept { return shape_; }
  /// The number of elements.
  std::uint64_t size() const noexcept { return bytes() / sizeof(T); }

  // -- on the host. Errors: buffer_empty before anything was written, or if default-constructed;
  // buffer_in_use while there is a writing view, or a handler's lease on shared memory; those of buffer_pool::acquire;
  // device_lost.

  /// A view for reading; copies first if the device has newer data.
  boost::system::result<host_view<T const>> host() {
    if (!is_ready(side::host)) [[unlikely]]
      if (auto const e = bring(side::host)) return e;
    return view<T const>(false);
  }
  /// A view for changes; copies first if the device has newer data. The device's side is then outdated. While the view
  /// lives, no other view and no handle can be obtained, so no write through it is missed.
  boost::system::result<host_view<T>> edit() {
    if (!is_ready(side::host)) [[unlikely]]
      if (auto const e = bring(side::host)) return e;
    return written_here();
  }
  /// A view for writing all elements; as `edit`, but never copies. Elements that are not written are unspecified.
  boost::system::result<host_view<T>> overwrite() {
    if (auto const e = claim_to_overwrite(side::host)) return e;
    return written_here();
  }

  // -- on the device: handles to send in messages. Errors as above.

  /// A handle for handlers that read.
  boost::system::result<buffer_ref> device() {
    if (!is_ready(side::device)) [[unlikely]]
      if (auto const e = bring(side::device)) return e;
    return device_side().ref();
  }
  /// A handle for handlers that change elements; the host's side is then outdated.
  boost::system::result<buffer_ref> device_for_writing() {
    if (!is_ready(side::device)) [[unlikely]]
      if (auto const e = bring(side::device)) return e;
    mark_device_dirty();
    return device_side().ref();
  }
  /// A handle for handlers that write all elements; never copies.
  boost::system::result<buffer_ref> device_for_overwriting() {
    if (auto const e = claim_to_overwrite(side::device)) return e;
    mark_device_dirty();
    return device_side().ref();
  }

  // -- explicit copies, in addition to those of two_sided

  /// Both sides hold the same data afterwards; copies only if needed.
  error_code sync_to_device() { return sync(side::device); }
  /// The same.
  error_code sync_to_host() { return sync(side::host); }
  /// Begins the copy without waiting for it; see two_sided::prefetch.
  error_code prefetch_to_device() { return prefetch(side::device); }
  /// The same to the host.
  error_code prefetch_to_host() { return prefetch(side::host); }
  /// As sync, but completes with void(error_code) instead of waiting. Do not use this buffer before completion. Can be
  /// cancelled until the copy begins (errc::cancelled); a copy that has begun is finished.
  template <class Token = boost::asio::use_awaitable_t<>>
  auto async_sync_to_device(Token&& token = {}) {
    return async_sync(side::device, std::forward<Token>(token));
  }
  /// The same to the host.
  template <class Token = boost::asio::use_awaitable_t<>>
  auto async_sync_to_host(Token&& token = {}) {
    return async_sync(side::host, std::forward<Token>(token));
  }

 private:
  template <class U>
  boost::system::result<host_view<U>> view(bool writes) {
    if (!memory().is_one()) {  // no handler reaches this side
      host_view<U> seen(std::span<U>(host_side().template span<T>()));
      seen.viewing_ = viewing(*this, writes);
      return seen;
    }
    buffer_lease<U> lease(memory().host->table(), host_side().ref());
    if (!lease) return make_error_code(lease.status());
    host_view<U> seen(std::move(lease));  // the lease keeps the block
    if (writes) seen.viewing_ = viewing(*this, writes);
    return seen;
  }
  boost::system::result<host_view<T>> written_here() {
    auto guard = view<T>(true);
    if (guard) mark_host_dirty();
    return guard;
  }

  template <class Token>
  auto async_sync(side to, Token&& token) {
    return boost::asio::async_initiate<Token, void(error_code)>(
        [](auto handler, unified_buffer* self, side which) {
          // Tracked, so that the executor does not run out of work before completion.
          auto const executor =
              boost::asio::prefer(boost::asio::get_associated_executor(handler, self->memory().copier),
                                  boost::asio::execution::outstanding_work.tracked);
          auto slot = boost::asio::get_associated_cancellation_slot(handler);
          auto const cancelled = std::make_shared<std::atomic<bool>>(false);
          if (slot.is_connected()) slot.assign([cancelled](auto) { *cancelled = true; });
          boost::asio::post(self->memory().copier, [self, which, executor, slot, cancelled,
                                                    handler = std::move(handler)]() mutable {
            auto const outcome = *cancelled ? make_error_code(errc::cancelled) : self->sync(which);
            boost::asio::dispatch(executor, [slot, handler = std::move(handler), outcome]() mutable {
              if (slot.is_connected()) slot.clear();
              std::move(handler)(outcome);
            });
          });
        },
        token, this, to);
  }

  std::vector<std::uint64_t> shape_;
};

}  // namespace rondo
