// Memory with a file descriptor and no name: one process creates it, others map it, and it lives as long as any of them
// uses it. A memfd on Linux, elsewhere an object of shm_open that has lost its name.
//
// A memfd's size is sealed when it is created, so that no process can shrink it while others have mapped it: reading
// past the end of a file kills the reader. Other systems have no seals; macOS lets nobody change the size of such an
// object once it has one. Threads: one at a time for each object.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "runtime/os/owned_fd.hpp"
#include "runtime/os/private_on_fork.hpp"

namespace rondo {

/// A shared mapping of a whole file; unmapped in the destructor. A writable one is private in forked children
/// (private_on_fork.hpp).
class shared_mapping {
 public:
  shared_mapping() = default;
  /// Throws std::system_error naming `what`.
  shared_mapping(int fd, std::uint64_t bytes, bool writable, std::string const& what);
  shared_mapping(shared_mapping&& other) noexcept
      : base_(std::exchange(other.base_, nullptr)),
        bytes_(std::exchange(other.bytes_, 0)),
        guard_(std::move(other.guard_)) {}
  shared_mapping& operator=(shared_mapping&& other) noexcept {
    std::swap(base_, other.base_);
    std::swap(bytes_, other.bytes_);
    std::swap(guard_, other.guard_);
    return *this;
  }
  ~shared_mapping();

  std::byte* data() const noexcept { return base_; }
  std::uint64_t size() const noexcept { return bytes_; }

 private:
  std::byte* base_ = nullptr;
  std::uint64_t bytes_ = 0;
  std::unique_ptr<private_on_fork> guard_;  // of a writable one
};

/// `bytes` of zeroed memory whose size can never change, for whoever has the descriptor to write. Throws
/// std::system_error, also beyond the process's limit on the size of files.
owned_fd make_memfd(char const* name, std::uint64_t bytes);

/// Memory that only the process that makes it can write, through a mapping that exists already.
struct own_memory {
  /// Throws std::system_error.
  own_memory(char const* name, std::uint64_t bytes);

  shared_mapping mapping;
  /// What readers map. It is read-only, and cannot be used to allocate pages. (If /proc is not mounted on Linux, a
  /// reader could allocate all pages of a partly unused memory.)
  owned_fd fd;
};

/// Checks a descriptor that another process sent as memory of `bytes`: mapping it must not harm the reader. Throws
/// std::runtime_error with what is wrong with `what`.
void check_memfd(int fd, std::uint64_t bytes, std::string const& what);

}  // namespace rondo
