// Packets and file descriptors between processes of one machine and one user: Unix sockets that keep packets apart.
//
// Nothing here waits but connect_to and wait_readable. Threads: any, for packets on one socket too.
#pragma once

#include <sys/types.h>

#include <array>
#include <chrono>
#include <filesystem>
#include <optional>
#include <span>

#include "runtime/os/closed_on_fork.hpp"
#include "runtime/os/file_lock.hpp"
#include "runtime/sharing/memfd.hpp"

namespace rondo {

/// What came in. Descriptors that nobody takes out are closed with it.
struct packet {
  static constexpr std::size_t most_bytes = 512, most_fds = 4;

  alignas(8) std::array<std::byte, most_bytes> bytes;
  std::size_t size = 0;
  std::array<owned_fd, most_fds> fds{};
  std::size_t fd_count = 0;
  bool cut = false;  // the sender sent more than fits

  std::span<std::byte const> content() const noexcept { return {bytes.data(), size}; }
};

/// later: nothing there, or no room. gone: the other side has closed, or has died.
enum class packet_io { done, later, gone };

struct peer_identity {
  pid_t pid = 0;
  uid_t uid = 0;
};

/// A socket at `path` that only this user may connect to, and that forked children do not keep.
class packet_door {
 public:
  /// What a dead process left there is replaced, by one of those who would at once: the others, as long as this one lives,
  /// find its lock (file_lock.hpp). Throws std::runtime_error when another one listens there, and when the path is too
  /// long or cannot be written.
  explicit packet_door(std::filesystem::path path);
  /// Removes the socket, if the one that is there by now is this one's.
  ~packet_door();

  owned_fd fd{};  // to be accepted from; may be moved away, and is closed after this has gone

 private:
  std::filesystem::path path_;
  std::optional<file_lock> lock_;
  std::optional<closed_on_fork> guard_;
  dev_t device_ = 0;
  ino_t inode_ = 0;
};

/// Empty when nobody waits, or when descriptors are short: then errno is not EAGAIN.
owned_fd accept_from(int listening) noexcept;
/// Throws std::runtime_error that names the path and what was found there.
owned_fd connect_to(std::filesystem::path const& path, std::chrono::milliseconds timeout);

/// As the kernel knows it, which the peer cannot forge.
peer_identity identity_of(int socket) noexcept;

packet_io send_packet(int socket, std::span<std::byte const> content, std::span<int const> fds = {}) noexcept;
packet_io receive_packet(int socket, packet& to) noexcept;
/// False at the end of the time, which is 20 days at most. True also when the other side is gone.
bool wait_readable(int socket, std::chrono::milliseconds timeout) noexcept;

}  // namespace rondo
