#include "runtime/files/durable_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <stdexcept>
#include <system_error>

#include "runtime/files/file_size_errors.hpp"
#include "runtime/os/owned_fd.hpp"

namespace rondo {

namespace {

[[noreturn]] void fail(std::filesystem::path const& file, std::string const& what, int error,
                       std::string const& advice = {}) {
  throw std::runtime_error(
      fmt::format("{}: {}: {}{}", file.string(), what, std::generic_category().message(error), advice));
}

/// Removes a file in its destructor, unless `kept` is set.
struct doomed_file {
  std::filesystem::path file;
  bool kept = false;
  ~doomed_file() {
    if (!kept) ::unlink(file.c_str());
  }
};

void write_all(int fd, std::span<std::byte const> bytes, std::filesystem::path const& file) {
  file_size_errors const errors;
  while (!bytes.empty()) {
    auto const written = ::write(fd, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written > 0) {
      bytes = bytes.subspan(static_cast<std::size_t>(written));
      continue;
    }
    int const error = written == 0 ? EIO : errno;
    fail(file, "cannot be written", error, file_size_advice(error));
  }
}

void sync_directory(std::filesystem::path const& directory, std::filesystem::path const& file) {
  constexpr auto what = "is complete, but its directory cannot be synced to disk";
  owned_fd const d(::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!d) fail(file, what, errno);
  // Some file systems do not support fsync on directories and return EINVAL.
  if (::fsync(d.get()) != 0 && errno != EINVAL) fail(file, what, errno);
}

/// The process that wrote the temporary file `name` for `target`; 0: it is not such a file.
pid_t writer_of(std::string const& name, std::string const& target) {
  auto const prefix = target + ".tmp-";
  if (!name.starts_with(prefix)) return 0;
  char const *const first = name.data() + prefix.size(), *const last = name.data() + name.size();
  pid_t pid = 0;
  auto const [end, error] = std::from_chars(first, last, pid);
  return error == std::errc() && end == last && pid > 0 ? pid : 0;
}

/// Removes temporary files of killed writers of `file`. Errors are ignored: they are no reason not to
/// write.
void remove_stale_temporaries(std::filesystem::path const& file, std::filesystem::path const& directory) {
  std::error_code ignored;
  auto const target = file.filename().string();
  for (std::filesystem::directory_iterator at(directory, ignored), end; !ignored && at != end;
       at.increment(ignored))
    if (auto const pid = writer_of(at->path().filename().string(), target);
        pid != 0 && ::kill(pid, 0) != 0 && errno == ESRCH)
      ::unlink(at->path().c_str());
}

}  // namespace

void replace_file(std::filesystem::path const& file, std::span<std::span<std::byte const> const> parts) {
  auto const parent = file.parent_path();
  std::filesystem::path const directory = parent.empty() ? "." : parent;
  remove_stale_temporaries(file, directory);
  doomed_file temporary{fmt::format("{}.tmp-{}", file.string(), ::getpid()), true};
  auto const& name = temporary.file;
  owned_fd d(::open(name.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
  if (!d) fail(name, "cannot be created", errno);
  temporary.kept = false;
  for (auto const part : parts) write_all(d.get(), part, name);
  if (::fsync(d.get()) != 0) fail(name, "cannot be synced to disk", errno);
  if (::close(d.release()) != 0) fail(name, "cannot be closed", errno);  // the system reports a failed write
  if (::rename(name.c_str(), file.c_str()) != 0)
    fail(file, fmt::format("cannot be replaced by {}", name.string()), errno);
  temporary.kept = true;
  sync_directory(directory, file);
}

std::vector<std::byte> read_whole_file(std::filesystem::path const& file, std::uint64_t limit_bytes) {
  // O_NONBLOCK: a named pipe must be refused, not waited for.
  owned_fd const d(::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!d) fail(file, "cannot be opened", errno);
  struct stat status {};
  if (::fstat(d.get(), &status) != 0) fail(file, "its status cannot be read", errno);
  if (!S_ISREG(status.st_mode))
    fail(file, "is not a regular file", S_ISDIR(status.st_mode) ? EISDIR : EINVAL);
  if (static_cast<std::uint64_t>(status.st_size) > limit_bytes) fail(file, "is too large", EFBIG);
  std::vector<std::byte> bytes(static_cast<std::size_t>(status.st_size));
  std::size_t have = 0;
  while (have < bytes.size()) {
    auto const n = ::read(d.get(), bytes.data() + have, bytes.size() - have);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) fail(file, "cannot be read", errno);
    if (n == 0) break;  // the file has become shorter
    have += static_cast<std::size_t>(n);
  }
  bytes.resize(have);
  return bytes;
}

}  // namespace rondo
