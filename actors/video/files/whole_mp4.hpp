// Makes a whole MP4 or MOV file of one that was written in fragments: with one index, in front, as editors and older
// players want it, with the durations of all pictures and the beginning of the sound exactly as they were.
#pragma once

#include <cstdint>
#include <string>

namespace rondo::video {

/// Replaces the file. `last_ns`: how long its last picture lasts. False: it stays as it is, which plays, too; for
/// instance because the disk has no room for both.
bool make_whole(std::string const& path, char const* container, std::int64_t packets, std::int64_t last_ns);

}  // namespace rondo::video
