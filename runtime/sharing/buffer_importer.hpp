// The importer reads buffers in place that another process of this user exports (buffer_exporter.hpp). shared_lease.hpp
// says what a reader must do.
//
//   rondo::buffer_importer importer("/run/user/1000/frames");
//   auto const news = importer.receive(1s);                  // or co_await importer.async_receive()
//   auto const sum = sum_of(news->lease.as<float>());
//   if (news->lease.valid()) use(sum);
//
// An announcement comes with its lease; the end of the lease gives the buffer back. `capacity` announced buffers may be
// unread or leased at the same time. `how` says what follows when there are so many (buffer_exporter.hpp); with
// `latest`, a new announcement also replaces the one that waits here.
//
// An importer is one connection: when it has ended (peer_gone), make a new importer. **Threads**: all functions from
// any thread. Its own thread sends the heartbeat and watches the exporter. **Lifetime**: leases may outlive it, but the
// exporter then no longer counts them.
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

/// An announcement: a lease, and a number and a note whose meaning the two programs define.
struct announced_buffer {
  shared_buffer_ref ref{};   // the handle
  std::uint64_t tag = 0;     // the number
  announcement_note note{};  // the note
  shared_lease lease{};      // of the buffer; empty if `refused` is not ok
  /// Why there is no lease: buffer_out_of_bounds (the exporter announced a slice that lies outside), buffer_elsewhere
  /// (in a device's memory that this importer has not opened), device_lost.
  errc refused = errc::ok;
};

/// How an importer is made.
struct buffer_importer_options {
  std::chrono::milliseconds timeout =
      std::chrono::seconds(5);     // for the connection and the handshake; at least 1 ms
  delivery how = delivery::every;  // of announcements, if this importer is slow
  std::uint32_t capacity =
      4;  // announced buffers that it has at the same time, unread or leased; at most 1024
  /// Allows reading buffers in a device's memory in place (runtime/device/cuda/cuda_view.hpp); empty: no.
  device_opener open_device{};
  /// Called on the importer's own thread when an announcement has come that nobody was waiting for, and at the end of
  /// the connection; for programs that then receive without waiting. Must not throw or destroy the importer.
  std::function<void()> arrived = {};
};

class buffer_importer {
 public:
  /// Connects and shakes hands. Throws std::runtime_error with the path and the reason: no exporter, a refusal with the
  /// exporter's reason, or an invalid welcome.
  explicit buffer_importer(std::filesystem::path const& path, buffer_importer_options const& options = {});
  /// Ends the connection; waiting receivers get `cancelled`. Must not be called by a handler that runs on its own
  /// thread. A forked child's copy does nothing.
  ~buffer_importer();

  /// Never waits. Errors: see import_view::lease.
  result<shared_lease> lease(shared_buffer_ref ref) const { return view_->lease(ref); }

  /// The next announcement, once. What has come before the exporter died can still be received. Errors: timed_out,
  /// peer_gone; would_deadlock on this importer's thread, and after a fork.
  result<announced_buffer> receive(std::chrono::nanoseconds timeout);
  /// The same for any completion token, without a time limit. Receivers are served in turn, each on its handler's
  /// executor, by default on this importer's thread. Errors: peer_gone, cancelled.
  template <class Token = boost::asio::use_awaitable_t<>>
  auto async_receive(Token&& token = {}) {
    return boost::asio::async_initiate<Token, void(error_code, announced_buffer)>(
        [](auto handler, buffer_importer* self) { self->enlist(std::move(handler)); }, token, this);
  }
  /// For `block`.
  friend own_threads const* threads_of(buffer_importer const* i) noexcept { return i->threads(); }

  /// False as soon as the exporter has ended or has cut off this importer; if the exporter is stopped or hangs, after
  /// two of its lease_timeouts. For existing leases, see shared_lease::valid.
  bool connected() const noexcept { return !view_->peer_gone(); }
  /// Announcements that a newer one has replaced here before they were received; those that it replaced at the exporter
  /// are counted there.
  std::uint64_t replaced() const noexcept;
  /// The exporter's share number, as in shared_buffer_ref.
  std::uint64_t share() const noexcept { return view_->share(); }

 private:
  using receiver = boost::asio::any_completion_handler<void(error_code, announced_buffer)>;
  struct state;

  void enlist(receiver r);
  own_threads const* threads() const noexcept;

  std::shared_ptr<import_view> view_;
  process_ptr<state> state_;
};

}  // namespace rondo
