// The importer's side of the shared words: leases for reading another process's buffers in place.
//
// **Threads**: any, concurrently; a lease belongs to one thread at a time. **Lifetime**: leases keep what they need
// alive, so they may outlive their importer.
//
// **What a reader must do.** While this process runs and sends its heartbeat, its leases hold: the bytes are not
// written. A process that was stopped for longer than the exporter's timeout is cut off, and the bytes may then be
// reused; no kernel can revoke a mapping. So read first, then call valid(), and use what was read only if it returns
// true.
//
// A forked child has no leases: its copies of them are not valid, and their end gives nothing back. It makes an
// importer of its own.
#pragma once

#include <memory>
#include <span>

#include "runtime/base/errc.hpp"
#include "runtime/os/closed_on_fork.hpp"
#include "runtime/sharing/device_view.hpp"
#include "runtime/sharing/memfd.hpp"
#include "runtime/sharing/share_packets.hpp"
#include "runtime/sharing/share_words.hpp"

namespace rondo {

class import_view;

/// A lease of another process's bytes, shared for reading.
class shared_lease {
 public:
  shared_lease() = default;
  /// Takes the lease over.
  shared_lease(shared_lease&& other) noexcept
      : view_(std::move(other.view_)),
        bytes_(std::exchange(other.bytes_, {})),
        slot_(other.slot_),
        generation_(other.generation_),
        granted_(other.granted_) {}
  /// Ends its own lease and takes the other one over.
  shared_lease& operator=(shared_lease&& other) noexcept {
    if (this == &other) return *this;
    end();
    view_ = std::move(other.view_), bytes_ = std::exchange(other.bytes_, {});
    slot_ = other.slot_, generation_ = other.generation_, granted_ = other.granted_;
    return *this;
  }
  /// Ends the lease.
  ~shared_lease() { end(); }

  /// Whether it is a lease.
  explicit operator bool() const noexcept { return view_ != nullptr; }
  /// The leased bytes; on the device if on_device.
  std::span<std::byte const> bytes() const noexcept { return bytes_; }
  /// Whether the bytes are in the device's memory: only for the device's copies and kernels, which must end before the
  /// lease.
  bool on_device() const noexcept;
  /// Copies all bytes to the host, wherever they are. Errors: device_lost; stale_buffer if the lease has ended.
  errc copy_to(std::byte* to) const noexcept;
  /// As many whole Ts as fit. Throws std::invalid_argument if the range, which the other process chose, does not begin
  /// at a multiple of T's alignment.
  template <class T>
  std::span<T const> as() const {
    static_assert(std::is_trivially_copyable_v<T>);
    if (reinterpret_cast<std::uintptr_t>(bytes_.data()) % alignof(T) != 0) refuse_alignment(alignof(T));
    return {reinterpret_cast<T const*>(bytes_.data()), bytes_.size() / sizeof(T)};
  }

  /// Whether everything read so far was the leased data. False once this process was cut off or the exporter has shut
  /// down. Stays true if the exporter was killed, because then no process can write. False in forked children.
  bool valid() const noexcept;
  /// Ends the lease now, if there is one.
  void end() noexcept;

 private:
  [[noreturn]] static void refuse_alignment(std::size_t wanted);
  friend import_view;
  shared_lease(std::shared_ptr<import_view const> view, std::span<std::byte const> bytes,
               shared_buffer_ref const& ref, bool granted) noexcept
      : view_(std::move(view)),
        bytes_(bytes),
        slot_(ref.slot),
        generation_(ref.generation),
        granted_(granted) {}

  std::shared_ptr<import_view const> view_;
  std::span<std::byte const> bytes_;
  std::uint32_t slot_ = 0, generation_ = 0;
  bool granted_ = false;  // by an announcement
};

// -- for the runtime

/// The memory mapped for one connection. Made by buffer_importer.
class import_view : public std::enable_shared_from_this<import_view> {
 public:
  /// `memory`: the descriptors of the welcome, in the order data, directory, row, device memory. Throws
  /// std::runtime_error with what cannot be used.
  import_view(share::welcome const& welcome, owned_fd socket, std::span<owned_fd, 4> memory,
              device_opener const& open_device);

  ~import_view();

  /// Errors: peer_gone (also in forked children), stale_buffer (withdrawn, never exported, or of another exporter),
  /// buffer_out_of_bounds, buffer_elsewhere (in a device's memory that this importer has not opened), device_lost.
  result<shared_lease> lease(shared_buffer_ref ref) const;
  /// The lease that an announcement has granted. Errors: as `lease`; it has then been ended.
  result<shared_lease> granted(shared_buffer_ref ref) const;

  std::uint64_t share() const noexcept { return share_; }
  int socket() const noexcept { return socket_.get(); }
  /// Whether the exporter still counts this importer's leases, according to the directory.
  bool counted() const noexcept { return made_here_ && directory_.still_counted(own_row_, importer_); }
  void beat() const noexcept { row_.beat().add_single_writer(1); }
  /// Keeps changing while the exporter runs and is not stopped.
  std::uint32_t exporter_beat() const noexcept {
    return directory_.beat().load(memory_order::relaxed);  // relaxed: only whether it changes
  }
  void set_peer_gone() noexcept { gone_.store(1, memory_order::relaxed); }  // relaxed: carries nothing
  bool peer_gone() const noexcept { return gone_.load(memory_order::relaxed) != 0 || !counted(); }

 private:
  friend shared_lease;
  bool names_slot(shared_buffer_ref ref) const noexcept {
    return ref.share == share_ && ref.slot < slots_ && ref.generation != 0;
  }
  result<shared_lease> take(shared_buffer_ref ref, bool granted) const;
  void give_back(std::uint32_t slot, std::uint32_t generation, bool granted) const noexcept;

  made_here const made_here_{};
  std::uint64_t share_, importer_;
  std::uint32_t slots_, own_row_;
  unforked_fd socket_;  // stays open until the last lease ends, so that the exporter can be notified
  shared_mapping data_, directory_memory_, row_memory_;
  std::unique_ptr<device_view> device_;  // null: none
  std::uint64_t device_bytes_ = 0;
  share::directory directory_;
  share::row row_;
  atomic<std::uint32_t> gone_{0};
};

}  // namespace rondo
