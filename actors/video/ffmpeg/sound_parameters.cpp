#include "actors/video/ffmpeg/sound_parameters.hpp"

#include <deque>
#include <mutex>
#include <new>

namespace rondo::video {

namespace {

std::mutex mutex;
std::deque<sound_parameters>& all() {
  static std::deque<sound_parameters> kept;
  return kept;
}

}  // namespace

std::uint32_t keep_sound_parameters(AVCodecParameters const& of, AVRational tick) {
  ffmpeg::parameters copy(avcodec_parameters_alloc());
  if (!copy || avcodec_parameters_copy(copy.get(), &of) < 0) throw std::bad_alloc();
  std::lock_guard const lock(mutex);
  all().push_back({std::move(copy), tick});
  return static_cast<std::uint32_t>(all().size());
}

sound_parameters const* sound_parameters_of(std::uint32_t number) {
  std::lock_guard const lock(mutex);
  return number != 0 && number <= all().size() ? &all()[number - 1] : nullptr;
}

}  // namespace rondo::video
