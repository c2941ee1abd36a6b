#include "runtime/net/trusted_path.hpp"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace rondo {

std::string why_not_trusted(std::filesystem::path const& folder) {
  std::error_code ec;
  auto const real = std::filesystem::canonical(folder.empty() ? std::filesystem::path(".") : folder, ec);
  if (ec) return fmt::format("{}: {}", folder.string(), ec.message());
  for (auto at = real;; at = at.parent_path()) {
    struct stat about {};
    if (::stat(at.c_str(), &about) != 0) return fmt::format("{}: {}", at.string(), std::strerror(errno));
    if (!S_ISDIR(about.st_mode)) return fmt::format("{} is not a folder", at.string());
    if (about.st_uid != ::geteuid() && about.st_uid != 0)
      return fmt::format("{} belongs to user {}, who could replace its contents", at.string(), about.st_uid);
    bool const others = (about.st_mode & S_IWOTH) != 0;
    bool const group = (about.st_mode & S_IWGRP) != 0 && about.st_gid != ::getegid() && about.st_gid != 0;
    if ((others || group) && (about.st_mode & S_ISVTX) == 0)
      return fmt::format(
          "{} is writable by other users, who could replace its contents; run chmod go-w on it", at.string());
    if (at == at.root_path()) return {};
  }
}

std::string why_not_own(std::filesystem::path const& file) {
  struct stat link {
  }, about{};
  if (::lstat(file.c_str(), &link) != 0 || ::stat(file.c_str(), &about) != 0)
    return fmt::format("{}: {}", file.string(), std::strerror(errno));
  if (!S_ISREG(about.st_mode)) return fmt::format("{} is not a regular file", file.string());
  for (auto const owner : {link.st_uid, about.st_uid})
    if (owner != ::geteuid() && owner != 0)
      return fmt::format(
          "{} belongs to user {}; it must belong to this user or to root, who would then have "
          "written it: run chown on it if you trust its contents",
          file.string(), owner);
  if ((about.st_mode & (S_IWGRP | S_IWOTH)) != 0)
    return fmt::format("{} is writable by other users; run chmod 600 on it if you trust its contents",
                       file.string());
  return {};
}

}  // namespace rondo
