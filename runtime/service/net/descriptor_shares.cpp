#include "runtime/service/net/descriptor_shares.hpp"

#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>
#include <filesystem>
#include <iterator>

#include "kernels/base/portable.hpp"
#include "runtime/base/config.hpp"

namespace rondo::service {

std::uint64_t descriptor_limit() {
  rlimit files{};
  return ::getrlimit(RLIMIT_NOFILE, &files) == 0 ? files.rlim_cur : 1024;
}

std::uint64_t descriptors_open() {
  std::error_code ec;
  std::filesystem::directory_iterator const all(RONDO_LINUX ? "/proc/self/fd" : "/dev/fd", ec);
  if (ec) return 64;  // without this folder: more than usual
  return static_cast<std::uint64_t>(std::distance(begin(all), end(all))) - 1;  // without that of the iterator
}

std::uint32_t http_descriptors(std::uint64_t limit) {
  return static_cast<std::uint32_t>(std::clamp<std::uint64_t>(limit / 8, 1, 32));
}

descriptor_shares share_descriptors(std::uint64_t limit, std::uint64_t open, std::uint32_t wanted) {
  constexpr std::uint64_t fewest = 4, most_local = 16;
  auto const reserved = open + http_descriptors(limit) + std::clamp<std::uint64_t>(limit / 8, 4, 128);
  if (limit < reserved + fewest)
    throw config_error(fmt::format(
        "this process may open only {} files (ulimit -n, LimitNOFILE), and needs {} itself, which leaves too "
        "few for clients; allow at least {}, or better one more for each client",
        limit, reserved, 2 * (reserved + fewest)));
  auto const left = limit - reserved;
  auto const local = std::min(left / 4, most_local);
  return {static_cast<std::uint32_t>(std::min<std::uint64_t>(wanted, left - local)),
          static_cast<std::uint32_t>(local)};
}

}  // namespace rondo::service
