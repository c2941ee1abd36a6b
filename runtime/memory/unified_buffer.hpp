// The same elements on the host and on a device: copied when they are first needed on the other side, and never twice.
//
//   rondo::unified_buffer<float> field(rt.memory(1), {480, 640});
//   for (float& x : field.overwrite().value()) x = 0;         // on the host
//   actor.try_tell(blur{field.device_for_writing().value()});  // copied here, once
//   ...
//   auto const seen = field.host().value();                   // copied back here, once
//
// States: what each side holds (two_sided.hpp). Where both sides are one memory (a device `cpu`) nothing is ever copied.
//
//   uninitialized  nothing was written yet        synchronized  both sides hold the same
//   host_only      the device has no block        host_dirty    the device's block is older
//   device_only    the host has no block          device_dirty  the host's block is older
//
// Threads: one at a time, any. Handlers lease the device's side while they run; this side of the program learns from their
// answers when they are done. Lifetime: shorter than the runtime's; longer than its views, and not moved while one writes.
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

/// A span on the host for as long as this lives: under a lease where handlers reach the same memory.
template <class T>
class host_view {
 public:
  explicit host_view(std::span<T> elements) noexcept : span_(elements) {}
  explicit host_view(buffer_lease<T> lease) noexcept
      : lease_(std::move(lease)), span_(lease_.view().data(), lease_.view().size()) {}
  std::span<T> span() const noexcept { return span_; }
  T* begin() const noexcept { return span_.data(); }
  T* end() const noexcept { return span_.data() + span_.size(); }
  std::size_t size() const noexcept { return span_.size(); }
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
  /// Claims nothing yet. `shape`: elements by dimension, the last one next to each other.
  unified_buffer(memory_pair const& memory, std::vector<std::uint64_t> shape)
      : two_sided(memory, shape, sizeof(T)), shape_(std::move(shape)) {}

  std::vector<std::uint64_t> const& shape() const noexcept { return shape_; }
  std::uint64_t size() const noexcept { return bytes() / sizeof(T); }

  // -- on the host. Errors: buffer_empty before anything was written, or of one that was made without arguments;
  // buffer_in_use while another view writes or a handler leases what is one memory; those of buffer_pool::acquire;
  // device_lost.

  /// To read; copies first if the device has newer data.
  boost::system::result<host_view<T const>> host() {
    if (!is_ready(side::host)) [[unlikely]]
      if (auto const e = bring(side::host)) return e;
    return view<T const>(false);
  }
  /// To change some of it; the same, and the device's side is older from here on. While the view lives no other one can be
  /// had, and no handle: what is written through it cannot be missed.
  boost::system::result<host_view<T>> edit() {
    if (!is_ready(side::host)) [[unlikely]]
      if (auto const e = bring(side::host)) return e;
    return written_here();
  }
  /// To write all of it; the same but that it never copies. What is not written is unspecified.
  boost::system::result<host_view<T>> overwrite() {
    if (auto const e = claim_to_overwrite(side::host)) return e;
    return written_here();
  }

  // -- on the device: handles to send in messages. Errors as above.

  /// For handlers that read.
  boost::system::result<buffer_ref> device() {
    if (!is_ready(side::device)) [[unlikely]]
      if (auto const e = bring(side::device)) return e;
    return device_side().ref();
  }
  /// For handlers that change it; the host's side is older from here on.
  boost::system::result<buffer_ref> device_for_writing() {
    if (!is_ready(side::device)) [[unlikely]]
      if (auto const e = bring(side::device)) return e;
    mark_device_dirty();
    return device_side().ref();
  }
  /// For handlers that write all of it; never copies.
  boost::system::result<buffer_ref> device_for_overwriting() {
    if (auto const e = claim_to_overwrite(side::device)) return e;
    mark_device_dirty();
    return device_side().ref();
  }

  // -- by hand, beside what two_sided offers

  /// Both sides hold the same afterwards; copies only what is older.
  error_code sync_to_device() { return sync(side::device); }
  error_code sync_to_host() { return sync(side::host); }
  error_code prefetch_to_device() { return prefetch(side::device); }
  error_code prefetch_to_host() { return prefetch(side::host); }
  /// The same as sync without waiting, completing with void(error_code). Nothing else uses this buffer meanwhile. May be
  /// cancelled until the copy begins: errc::cancelled then; one that has begun is finished.
  template <class Token = boost::asio::use_awaitable_t<>>
  auto async_sync_to_device(Token&& token = {}) {
    return async_sync(side::device, std::forward<Token>(token));
  }
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
    host_view<U> seen(std::move(lease));  // which keeps the block by itself
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
          // Tracked: who runs that executor does not run out of work meanwhile.
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
