// Packets and file descriptors between processes of one user on one machine, over Unix sockets that keep packets
// separate. Where the system has none, over streams, with each packet behind its size.
//
// Only connect_to and wait_readable block. Threads: any, also concurrently on one socket, of which one receives.
#pragma once

#include <sys/types.h>

#include <array>
#include <chrono>
#include <filesystem>
#include <optional>
#include <span>

#include "runtime/files/file_lock.hpp"
#include "runtime/net/local_socket.hpp"
#include "runtime/os/closed_on_fork.hpp"
#include "runtime/sharing/memfd.hpp"

namespace rondo {

/// A received packet. Descriptors that are not moved out are closed with it.
struct packet {
  static constexpr std::size_t most_bytes = 512, most_fds = 4;

  alignas(8) std::array<std::byte, most_bytes> bytes;
  std::size_t size = 0;
  std::array<owned_fd, most_fds> fds{};
  std::size_t fd_count = 0;
  bool cut = false;  // the packet was larger than this; nothing that follows it can be trusted

  std::span<std::byte const> content() const noexcept { return {bytes.data(), size}; }
};

/// later: nothing to receive, or no room to send. gone: the other side has closed the connection or has died.
enum class packet_io { done, later, gone };

/// A listening socket at `path`. Only this user may connect to it; forked children do not keep it.
class packet_door {
 public:
  /// Replaces the socket of a dead process. If several processes try this at once, one succeeds; the others find its
  /// lock (file_lock.hpp). Throws std::runtime_error if another process listens there, or if the path is too long or
  /// cannot be written.
  explicit packet_door(std::filesystem::path path);
  /// Removes the socket file, if it is still this one's. A forked child's copy leaves it.
  ~packet_door();

  owned_fd fd{};  // to accept from; may be moved out, but must then be closed after this object is destroyed

 private:
  std::filesystem::path path_;
  std::optional<file_lock> lock_;
  std::optional<closed_on_fork> guard_;
  made_here made_here_{};
  dev_t device_ = 0;
  ino_t inode_ = 0;
};

/// Accepts a connection. Empty if there is none, or if the system is out of descriptors: then errno is not EAGAIN.
owned_fd accept_from(int listening) noexcept;
/// Throws std::runtime_error with the path and what was found there.
owned_fd connect_to(std::filesystem::path const& path, std::chrono::milliseconds timeout);

packet_io send_packet(int socket, std::span<std::byte const> content, std::span<int const> fds = {}) noexcept;
packet_io receive_packet(int socket, packet& to) noexcept;
/// False after `timeout` (at most 20 days). Also true if the other side is gone.
bool wait_readable(int socket, std::chrono::milliseconds timeout) noexcept;

}  // namespace rondo
