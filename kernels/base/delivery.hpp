// The delivery of a queue, or of another process's announcements: what happens if the reader is slow.
#pragma once

#include <cstdint>

namespace rondo {

/// latest: a new one replaces the one that was not read. every: what finds no room is dropped, and counted. lossless:
/// the writer waits.
enum class delivery : std::uint32_t { latest, every, lossless };

/// Its name.
constexpr char const* name_of(delivery how) noexcept {
  return how == delivery::latest ? "latest" : how == delivery::every ? "every" : "lossless";
}

namespace streams {
using rondo::delivery;  // where users of graphs look for it
}

}  // namespace rondo
