// What packets of sound need besides their bytes, so that a frame's shape (pixels/sound.hpp) can name it by a number.
// Kept as long as the process lives: there are as many as files were opened.
#pragma once

#include <cstdint>

#include "actors/video/ffmpeg/ffmpeg.hpp"

namespace rondo::video {

struct sound_parameters {
  ffmpeg::parameters of;
  AVRational tick{};  // of the packets' times
};

/// Keeps a copy, and returns its number, from 1. Threads: any.
std::uint32_t keep_sound_parameters(AVCodecParameters const& of, AVRational tick);
/// Null: there are none of this number. Threads: any.
sound_parameters const* sound_parameters_of(std::uint32_t number);

}  // namespace rondo::video
