#include "runtime/service/net/trusted_path.hpp"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace rondo::service {

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

}  // namespace rondo::service
