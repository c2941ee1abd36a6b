#include "runtime/sharing/memfd.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <random>
#include <stdexcept>
#include <system_error>

#include "kernels/base/portable.hpp"
#include "runtime/files/file_size_errors.hpp"

namespace rondo {

namespace {

[[noreturn]] void fail(std::string const& what) {
  throw std::system_error(errno, std::generic_category(), what);
}

}  // namespace

shared_mapping::shared_mapping(int fd, std::uint64_t bytes, bool writable, std::string const& what)
    : bytes_(bytes) {
  void* const p = ::mmap(nullptr, bytes, writable ? PROT_READ | PROT_WRITE : PROT_READ, MAP_SHARED, fd, 0);
  if (p == MAP_FAILED) fail("mapping " + what + " (" + std::to_string(bytes) + " bytes)");
  base_ = static_cast<std::byte*>(p);
  if (!writable) return;
  try {
    guard_ = std::make_unique<private_on_fork>(base_, bytes, fd);
  } catch (...) {
    ::munmap(base_, bytes);
    throw;
  }
}

shared_mapping::~shared_mapping() {
  guard_.reset();
  if (base_) ::munmap(base_, bytes_);
}

namespace {

void set_size(owned_fd const& fd, std::uint64_t bytes, char const* name) {
  file_size_errors const errors;
  if (::ftruncate(fd.get(), static_cast<off_t>(bytes)) == 0) return;
  auto const advice = file_size_advice(errno);
  fail("allocating " + std::to_string(bytes) + " bytes for the shared memory of " + name + advice);
}

#if RONDO_LINUX

/// Forbids new writable mappings; existing ones stay writable. Returns the descriptor to pass to readers instead of
/// `fd`.
owned_fd seal_for_readers(owned_fd fd) {
  // The last seal forbids further seals, which an importer could otherwise add.
  if (::fcntl(fd.get(), F_ADD_SEALS, F_SEAL_FUTURE_WRITE | F_SEAL_SEAL) != 0)
    fail("sealing shared memory against writers (needs Linux 5.1 or later)");
  // No seal forbids fallocate. The file mode keeps the memory from being opened for writing again.
  ::fchmod(fd.get(), 0400);
  owned_fd reading(::open(("/proc/self/fd/" + std::to_string(fd.get())).c_str(), O_RDONLY | O_CLOEXEC));
  return reading ? std::move(reading) : std::move(fd);
}

#else

/// The same object, open for writing and for reading only.
struct two_sides {
  owned_fd writing, reading;
};

two_sides make_object(char const* name, std::uint64_t bytes) {
  std::random_device random;
  auto const object =
      "/rondo-" + std::to_string(random()) + "-" + std::to_string(random());  // macOS: 31 characters
  two_sides made{owned_fd(::shm_open(object.c_str(), O_RDWR | O_CREAT | O_EXCL, 0600)),
                 {}};  // closed at exec
  if (!made.writing) fail(std::string("creating shared memory (shm_open) for ") + name);
  made.reading = owned_fd(::shm_open(object.c_str(), O_RDONLY, 0));
  int const error = errno;
  ::shm_unlink(object.c_str());
  errno = error;
  if (!made.reading) fail(std::string("opening shared memory (shm_open) for the readers of ") + name);
  set_size(made.writing, bytes, name);
  return made;
}

#endif

}  // namespace

#if RONDO_LINUX

owned_fd make_memfd(char const* name, std::uint64_t bytes) {
  owned_fd fd(::memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!fd) fail(std::string("creating shared memory (memfd) for ") + name);
  set_size(fd, bytes, name);
  if (::fcntl(fd.get(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW) != 0)
    fail(std::string("sealing the size of the shared memory of ") + name);
  return fd;
}

own_memory::own_memory(char const* name, std::uint64_t bytes) : fd(make_memfd(name, bytes)) {
  mapping = {fd.get(), bytes, true, name};
  fd = seal_for_readers(std::move(fd));
}

#else

owned_fd make_memfd(char const* name, std::uint64_t bytes) { return make_object(name, bytes).writing; }

own_memory::own_memory(char const* name, std::uint64_t bytes) {
  auto made = make_object(name, bytes);
  mapping = {made.writing.get(), bytes, true, name};
  fd = std::move(made.reading);
}

#endif

void check_memfd(int fd, std::uint64_t bytes, std::string const& what) {
  struct stat status {};
  if (::fstat(fd, &status) != 0) fail("reading the status of " + what);
  auto const size = static_cast<std::uint64_t>(status.st_size);
  if (RONDO_LINUX ? size != bytes : size < bytes)  // macOS rounds it up to whole pages
    throw std::runtime_error(what + " has " + std::to_string(size) + " bytes, but " + std::to_string(bytes) +
                             " were announced");
#if RONDO_LINUX
  int const seals = ::fcntl(fd, F_GET_SEALS);
  if (seals < 0 || (seals & F_SEAL_SHRINK) == 0)
    throw std::runtime_error(
        what + " is not sealed against shrinking; only memory of a buffer_exporter is accepted");
#endif
}

}  // namespace rondo
