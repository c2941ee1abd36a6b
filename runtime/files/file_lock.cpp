#include "runtime/files/file_lock.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <stdexcept>

#include "runtime/files/file_size_errors.hpp"

namespace rondo {

file_lock::file_lock(std::filesystem::path const& guarded) {
  auto const name = guarded.string() + ".lock";
  owned_fd file(::open(name.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!file) throw std::runtime_error(fmt::format("{}: cannot be opened: {}", name, std::strerror(errno)));
  if (::flock(file.get(), LOCK_EX | LOCK_NB) != 0) {
    char holder[32]{};
    auto const length = ::read(file.get(), holder, sizeof holder - 1);
    throw std::runtime_error(
        fmt::format("{}: another process holds its lock{}{}; stop that process or use another file",
                    guarded.string(), length > 0 ? ": " : "", holder));
  }
  file_.emplace(std::move(file));
  // The holder's process id, for human readers only.
  file_size_errors const errors;
  auto const who = fmt::format("{}", ::getpid());
  if (::ftruncate(file_->get(), 0) == 0) [[maybe_unused]]
    auto const written = ::pwrite(file_->get(), who.data(), who.size(), 0);
}

}  // namespace rondo
