#include "actors/video/ffmpeg/light_metadata.hpp"

#include <algorithm>
#include <cstring>
#include <mutex>
#include <new>
#include <string>
#include <vector>

namespace rondo::video {

namespace {

struct light_metadata {
  std::string mastering, content;  // FFmpeg's structs, byte for byte; empty: none
  friend bool operator==(light_metadata const&, light_metadata const&) = default;
};

constexpr std::size_t most = 1000;  // of a process: what comes from outside does not fill its memory
std::mutex light_mutex;
std::vector<light_metadata>& all_light() {
  static std::vector<light_metadata> kept;
  return kept;
}

std::string said(AVStream const& s, AVPacketSideDataType of_stream, AVFrame const& f,
                 AVFrameSideDataType of_frame) {
  std::size_t bytes = 0;
  if (auto const* const data = av_stream_get_side_data(&s, of_stream, &bytes))
    return {reinterpret_cast<char const*>(data), bytes};
  if (auto const* const d = av_frame_get_side_data(&f, of_frame))
    return {reinterpret_cast<char const*>(d->data), d->size};
  return {};
}

void add(AVStream& to, AVPacketSideDataType type, std::string const& bytes) {
  if (bytes.empty()) return;
  auto* const at = av_stream_new_side_data(&to, type, bytes.size());
  if (at == nullptr) throw std::bad_alloc();
  std::memcpy(at, bytes.data(), bytes.size());
}

}  // namespace

std::uint16_t keep_light_metadata(AVStream const& stream, AVFrame const& first) {
  light_metadata const found{
      said(stream, AV_PKT_DATA_MASTERING_DISPLAY_METADATA, first, AV_FRAME_DATA_MASTERING_DISPLAY_METADATA),
      said(stream, AV_PKT_DATA_CONTENT_LIGHT_LEVEL, first, AV_FRAME_DATA_CONTENT_LIGHT_LEVEL)};
  if (found == light_metadata{}) return 0;
  std::lock_guard const lock(light_mutex);
  auto const at = std::ranges::find(all_light(), found) - all_light().begin();
  if (at == static_cast<std::ptrdiff_t>(all_light().size())) {
    if (all_light().size() == most) return 0;
    all_light().push_back(found);
  }
  return static_cast<std::uint16_t>(at + 1);
}

void add_light_metadata(AVStream& to, std::uint16_t number) {
  std::lock_guard const lock(light_mutex);
  if (number == 0 || number > all_light().size()) return;
  add(to, AV_PKT_DATA_MASTERING_DISPLAY_METADATA, all_light()[number - 1u].mastering);
  add(to, AV_PKT_DATA_CONTENT_LIGHT_LEVEL, all_light()[number - 1u].content);
}

}  // namespace rondo::video
