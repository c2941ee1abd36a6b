// Memory with a file descriptor and no name: one process creates it, others map it, and it lives as long as any of them.
//
// A memfd is sealed when it is made, so that nobody can shorten it under those who have mapped it: reading past the end
// of a file kills the reader. Threads: one at a time for each object.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

namespace rondo {

/// A file descriptor that is closed when it goes.
class owned_fd {
 public:
  owned_fd() = default;
  explicit owned_fd(int fd) noexcept : fd_(fd) {}
  owned_fd(owned_fd&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  owned_fd& operator=(owned_fd&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  ~owned_fd();

  explicit operator bool() const noexcept { return fd_ >= 0; }
  int get() const noexcept { return fd_; }
  [[nodiscard]] int release() noexcept { return std::exchange(fd_, -1); }

 private:
  int fd_ = -1;
};

/// A shared mapping of a whole file, undone when it goes.
class shared_mapping {
 public:
  shared_mapping() = default;
  /// Throws std::system_error naming `what`.
  shared_mapping(int fd, std::uint64_t bytes, bool writable, std::string const& what);
  shared_mapping(shared_mapping&& other) noexcept
      : base_(std::exchange(other.base_, nullptr)), bytes_(std::exchange(other.bytes_, 0)) {}
  shared_mapping& operator=(shared_mapping&& other) noexcept {
    std::swap(base_, other.base_);
    std::swap(bytes_, other.bytes_);
    return *this;
  }
  ~shared_mapping();

  std::byte* data() const noexcept { return base_; }
  std::uint64_t size() const noexcept { return bytes_; }

 private:
  std::byte* base_ = nullptr;
  std::uint64_t bytes_ = 0;
};

/// `bytes` of zeroed memory that keeps its size for good. Throws std::system_error.
owned_fd make_memfd(char const* name, std::uint64_t bytes);

/// From now on nobody may map it writable; mappings that are there stay so. Returns the descriptor to hand to readers in place
/// of `fd`: one for reading, by which no pages can be claimed either (where /proc is mounted; else it is `fd` itself, and a
/// reader could claim all pages of a memory that is partly unused). Throws std::system_error.
[[nodiscard]] owned_fd seal_for_readers(owned_fd fd);

/// Refuses what another process sent as memory of `bytes`, if mapping it could harm the reader. Throws
/// std::runtime_error that says what is wrong with `what`.
void check_memfd(int fd, std::uint64_t bytes, std::string const& what);

}  // namespace rondo
