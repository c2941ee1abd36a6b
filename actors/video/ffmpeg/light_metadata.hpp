// What an HDR video says of the display on which it was graded, and of its brightest pictures (SMPTE ST 2086, CTA
// 861.3), so that an image can name it by a number. Kept as long as the process lives, each once.
#pragma once

#include <cstdint>

#include "actors/video/ffmpeg/ffmpeg.hpp"

namespace rondo::video {

/// Keeps what a stream, or its first frame, says. Returns its number, from 1; 0: it says nothing. Threads: any.
std::uint16_t keep_light_metadata(AVStream const& stream, AVFrame const& first);
/// Says it of a stream that is written. Nothing for 0, and for a number of another process. Throws std::bad_alloc.
/// Threads: any.
void add_light_metadata(AVStream& to, std::uint16_t number);

}  // namespace rondo::video
