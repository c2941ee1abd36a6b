#include "runtime/files/file_lock.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <stdexcept>
#include <system_error>

#include "runtime/files/file_size_errors.hpp"

namespace rondo {

namespace {

/// Whether the open file still has this name.
bool is_called(int fd, std::string const& name) {
  struct stat open {
  }, named{};
  return ::fstat(fd, &open) == 0 && ::lstat(name.c_str(), &named) == 0 && open.st_dev == named.st_dev &&
         open.st_ino == named.st_ino;
}

}  // namespace

file_lock::file_lock(std::filesystem::path const& guarded) : name_(guarded.string() + ".lock") {
  do {
    owned_fd file(::open(name_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
    if (!file) throw std::system_error(errno, std::generic_category(), name_ + ": cannot be opened");
    if (::flock(file.get(), LOCK_EX | LOCK_NB) != 0) {
      char holder[32]{};
      auto const length = ::read(file.get(), holder, sizeof holder - 1);
      throw std::runtime_error(
          fmt::format("{}: another process holds its lock{}{}; stop that process or use another file",
                      guarded.string(), length > 0 ? ": " : "", holder));
    }
    file_.emplace(std::move(file));
    // The last holder may have removed it between `open` and `flock`: a lock on a file without this name keeps nobody
    // away.
  } while (!is_called(file_->get(), name_));
  // The holder's process id, for human readers only.
  file_size_errors const errors;
  auto const who = fmt::format("{}", ::getpid());
  if (::ftruncate(file_->get(), 0) == 0) [[maybe_unused]]
    auto const written = ::pwrite(file_->get(), who.data(), who.size(), 0);
}

// Before the lock is released: only its holder may take the name away.
file_lock::~file_lock() {
  if (made_here_ && is_called(file_->get(), name_)) ::unlink(name_.c_str());
}

}  // namespace rondo
