#include "runtime/service/net/default_socket.hpp"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <system_error>

#include "runtime/text/clean_text.hpp"

namespace rondo::service {

namespace {

std::string default_socket_folder() {
  auto const* const run = std::getenv("XDG_RUNTIME_DIR");
  bool const has_run = run != nullptr && *run != '\0';
  return has_run ? fmt::format("{}/rondo", run) : fmt::format("/tmp/rondo-{}", ::geteuid());
}

}  // namespace

bool is_service_name(std::string const& name) {
  return !name.empty() &&
         name.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-") ==
             std::string::npos;
}

endpoint default_socket(std::string const& name) {
  if (!is_service_name(name))
    throw config_error(fmt::format("the service name '{}' {}", clean_text(name), service_name_rule));
  auto const folder = default_socket_folder();
  struct stat about {};
  bool const exists = ::lstat(folder.c_str(), &about) == 0;
  if (exists && !S_ISDIR(about.st_mode))
    throw config_error(fmt::format("{}: is not a folder; remove it, or pass the socket's path", folder));
  if (exists && about.st_uid != ::geteuid())
    throw config_error(
        fmt::format("{}: belongs to user {} and is not trusted; set XDG_RUNTIME_DIR to a folder "
                    "of your own, or pass the socket's path",
                    folder, about.st_uid));
  endpoint e;
  e.path = fmt::format("{}/{}.sock", folder, name);
  return e;
}

void make_default_socket_folder(endpoint const& at) {
  auto const folder = std::filesystem::path(at.path).parent_path();
  if (!at.is_unix || folder != default_socket_folder()) return;
  if (::mkdir(folder.c_str(), 0700) != 0 && errno != EEXIST)
    throw std::system_error(errno, std::system_category(),
                            fmt::format("{}: its folder could not be created", at.text()));
}

}  // namespace rondo::service
