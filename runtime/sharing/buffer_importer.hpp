// The importer reads buffers in place that another process of this user exports (buffer_exporter.hpp). shared_lease.hpp
// says what a reader must do.
//
//   rondo::buffer_importer importer("/run/user/1000/frames");
//   auto const news = importer.receive(1s);                  // or co_await importer.async_receive()
//   auto const lease = importer.lease(news->ref);
//   auto const sum = sum_of(lease->as<float>());
//   if (lease->valid()) use(sum);
//
// An importer is one connection: when it has ended (peer_gone), make a new importer. **Threads**: all functions from any
// thread. Its own thread sends the heartbeat and watches the exporter. **Lifetime**: leases may outlive it, but the exporter
// then no longer counts them.
#pragma once

#include <boost/asio/any_completion_handler.hpp>
#include <boost/asio/async_result.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <chrono>
#include <filesystem>
#include <memory>

#include "runtime/os/own_threads.hpp"
#include "runtime/sharing/shared_lease.hpp"

namespace rondo {

/// An announcement: a handle, and a number whose meaning the two programs define.
struct announced_buffer {
  shared_buffer_ref ref{};  // the handle
  std::uint64_t tag = 0;    // the number
};

class buffer_importer {
 public:
  /// Connects and shakes hands, for at most `timeout`. Throws std::runtime_error with the path and the reason: no exporter,
  /// a refusal with the exporter's reason, or an invalid welcome.
  /// `open_device`, if not empty, allows reading buffers in a device's memory in place (runtime/device/cuda/cuda_view.hpp).
  explicit buffer_importer(std::filesystem::path const& path,
                           std::chrono::milliseconds timeout = std::chrono::seconds(5),
                           device_opener const& open_device = {});
  /// Ends the connection; waiting receivers get `cancelled`. Must not be called by a handler that runs on its own thread.
  ~buffer_importer();

  /// Never waits. Errors: see import_view::lease.
  result<shared_lease> lease(shared_buffer_ref ref) const { return view_->lease(ref); }

  /// The next announcement, once. Errors: timed_out, peer_gone; would_deadlock on this importer's thread, and after a fork.
  result<announced_buffer> receive(std::chrono::nanoseconds timeout);
  /// The same for any completion token, without a time limit. Receivers are served in turn, each on its handler's executor,
  /// by default on this importer's thread. Errors: peer_gone, cancelled.
  template <class Token = boost::asio::use_awaitable_t<>>
  auto async_receive(Token&& token = {}) {
    return boost::asio::async_initiate<Token, void(error_code, announced_buffer)>(
        [](auto handler, buffer_importer* self) { self->enlist(std::move(handler)); }, token, this);
  }
  /// For `block`.
  friend own_threads const* threads_of(buffer_importer const* i) noexcept { return i->threads(); }

  /// False as soon as the exporter has ended or has cut off this importer; if the exporter is stopped or hangs, after two of
  /// its lease_timeouts. For existing leases, see shared_lease::valid.
  bool connected() const noexcept { return !view_->peer_gone(); }
  /// The exporter's share number, as in shared_buffer_ref.
  std::uint64_t share() const noexcept { return view_->share(); }

 private:
  using receiver = boost::asio::any_completion_handler<void(error_code, announced_buffer)>;
  struct state;

  void enlist(receiver r);
  own_threads const* threads() const noexcept;

  std::shared_ptr<import_view> view_;
  std::unique_ptr<state> state_;
};

}  // namespace rondo
