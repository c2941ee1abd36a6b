#include "runtime/files/part_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <stdexcept>
#include <system_error>

#include "runtime/files/file_size_errors.hpp"
#include "runtime/text/shown_url.hpp"

namespace rondo {

namespace {

namespace fs = std::filesystem;

[[noreturn]] void fail(int error, std::string const& what) {
  throw std::system_error(error, std::generic_category(), what);
}

bool is_number(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; });
}

/// A lock that no other process holds; false: one does.
bool lock(int fd) { return ::flock(fd, LOCK_EX | LOCK_NB) == 0; }

void write_all(int fd, std::string_view bytes) {
  file_size_errors const errors;
  while (!bytes.empty()) {
    auto const n = ::write(fd, bytes.data(), bytes.size());
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) fail(n == 0 ? EIO : errno, "cannot be written");
    bytes.remove_prefix(static_cast<std::size_t>(n));
  }
}

}  // namespace

fs::path resolved_name(std::string const& name) {
  fs::path path = name;
  std::error_code failed;
  for (int links = 0; links < 40; ++links) {
    auto const folder = path.has_parent_path() ? path.parent_path() : fs::path(".");
    auto whole = fs::weakly_canonical(folder, failed);
    path = (failed ? fs::absolute(folder) : whole) / path.filename();
    if (!fs::is_symlink(fs::symlink_status(path, failed))) break;
    auto const next = fs::read_symlink(path, failed);
    path = next.is_absolute() ? next : path.parent_path() / next;
  }
  return path.lexically_normal();
}

bool is_written_directly(std::string const& name) {
  if (name == "-" || name.starts_with("/dev/") || name.starts_with("/proc/")) return true;
  std::error_code ignored;
  auto const found = fs::status(name, ignored);
  return fs::exists(found) && !fs::is_regular_file(found) && !fs::is_directory(found);
}

std::string name_from(std::string const& name, std::uint64_t first) {
  if (first == 0) return name;
  fs::path const file(name);
  return (file.parent_path() /
          fmt::format("{}-from-{}{}", file.stem().string(), first, file.extension().string()))
      .string();
}

part_file::part_file(std::string const& name) {
  if (is_written_directly(name)) {
    path_ = name;
    return;
  }
  target_ = resolved_name(name);
  path_ = target_.string().append(ending);
  struct stat there {};
  bool const is_there = ::stat(target_.c_str(), &there) == 0;
  if (is_there && S_ISDIR(there.st_mode)) fail(EISDIR, "it is a folder");
  if (is_there && ::faccessat(AT_FDCWD, target_.c_str(), W_OK, AT_EACCESS) != 0)
    fail(errno, "it may not be replaced");
  auto const mode = is_there ? there.st_mode & 0777 : 0666;
  auto const create = [&] {
    return owned_fd(::open(path_.c_str(), O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, mode));
  };
  auto file = create();
  struct stat part {};
  // A link to a file of somebody else, which is not to be overwritten.
  if (file ? ::fstat(file.get(), &part) == 0 && part.st_nlink > 1 : errno == ELOOP) {
    ::unlink(path_.c_str());
    file = create();
  }
  if (!file && errno == ENOENT) throw std::system_error(errno, std::generic_category());  // its folder
  if (!file) fail(errno, path_ + " cannot be created");
  if (!lock(file.get())) fail(errno, "it is being written already; choose another name, or wait");
  if (::ftruncate(file.get(), 0) != 0) fail(errno, path_ + " cannot be emptied");
  file_ = std::move(file);
}

void part_file::finish() {
  if (is_direct()) return;
  if (::rename(path_.c_str(), target_.c_str()) != 0) fail(errno, path_ + " cannot get its name");
  file_ = {};
}

void part_file::discard() noexcept {
  if (!is_direct()) ::unlink(path_.c_str());
  file_ = {};
}

void part_file::finish_left(std::string const& name) {
  if (is_written_directly(name)) return;
  auto const target = resolved_name(name);
  auto const begin = target.stem().string(), end = target.extension().string().append(ending);
  std::error_code ignored;
  for (auto const& entry : fs::directory_iterator(target.parent_path(), ignored)) {
    auto const found = entry.path().filename().string();
    if (found.size() < begin.size() + end.size() || !found.starts_with(begin) || !found.ends_with(end))
      continue;
    auto const between =
        std::string_view(found).substr(begin.size(), found.size() - begin.size() - end.size());
    if (!between.empty() && !(between.starts_with("-from-") && is_number(between.substr(6)))) continue;
    owned_fd const file(::open(entry.path().c_str(), O_RDWR | O_NOFOLLOW | O_CLOEXEC));
    if (!file || !lock(file.get())) continue;  // somebody still writes it
    fs::rename(entry.path(), entry.path().parent_path() / found.substr(0, found.size() - ending.size()),
               ignored);
  }
}

void write_output(std::string const& name, std::string_view bytes) try {
  part_file out(name);
  try {
    owned_fd const file(
        name == "-" ? ::dup(STDOUT_FILENO)
                    : ::open(out.path().c_str(), O_WRONLY | O_CLOEXEC | (out.is_direct() ? 0 : O_TRUNC)));
    if (!file) fail(errno, "cannot be opened");
    write_all(file.get(), bytes);
  } catch (...) {
    out.discard();
    throw;
  }
  out.finish();
} catch (std::system_error const& e) {
  throw std::runtime_error(fmt::format("{}: cannot be written: {}", shown_url(name), e.what()));
}

}  // namespace rondo
