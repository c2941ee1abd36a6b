#include "actors/video/files/video_input.hpp"

#include <fmt/format.h>

#include <filesystem>

#include "runtime/text/shown_url.hpp"

extern "C" {
#include <libavdevice/avdevice.h>
}

namespace rondo::video {

namespace {

namespace fs = std::filesystem;

/// Reports errors that FFmpeg would report less clearly. Only plain files are checked.
void check_file(std::string const& source) {
  if (source.find("://") != std::string::npos) return;
  std::error_code ec;
  fs::file_status const status = fs::status(source, ec);
  if (status.type() == fs::file_type::not_found)
    throw video_open_error(
        fmt::format("cannot open the video '{}': there is no such file; check the path", shown_url(source)));
  if (fs::is_directory(status))
    throw video_open_error(
        fmt::format("cannot open the video '{}': it is a directory; name a video file", shown_url(source)));
  if (fs::is_regular_file(status) && fs::file_size(source, ec) == 0 && !ec)
    throw video_error(
        fmt::format("cannot open the video '{}': the file is empty (0 bytes)", shown_url(source)));
}

void check_device(std::string const& device) {
  std::error_code ec;
  fs::file_status const status = fs::status(device, ec);
  if (status.type() == fs::file_type::not_found)
    throw video_open_error(fmt::format(
        "cannot open the camera '{}': there is no such device; is it plugged in? `ls /dev/video*` lists them",
        shown_url(device)));
  if (!fs::is_character_file(status))
    throw video_open_error(
        fmt::format("cannot open the camera '{}': it is not a device; use the stage file_source for files",
                    shown_url(device)));
}

}  // namespace

std::string why_not_read(int error) {
  if (error != AVERROR_EXIT) return ffmpeg::text(error);
  return fmt::format("the server sent nothing for {} s", server_patience::limit.count());
}

ffmpeg::input open_file(std::string const& source, server_patience& patience) {
  check_file(source);
  av_log_set_level(AV_LOG_FATAL);  // errors are reported with the file's name
  AVFormatContext* raw = avformat_alloc_context();
  if (raw == nullptr) throw std::bad_alloc();
  raw->interrupt_callback = patience.callback();
  patience.begin();
  int const result = avformat_open_input(&raw, source.c_str(), nullptr, nullptr);
  ffmpeg::input input(raw);
  if (result == AVERROR_INVALIDDATA)
    throw video_error(
        fmt::format("cannot open '{}': this is not a video that FFmpeg knows, or its header is damaged; "
                    "run ffprobe on the file for details",
                    shown_url(source)));
  if (result < 0)
    throw video_open_error(
        fmt::format("cannot open the video '{}': {}", shown_url(source), why_not_read(result)));
  return input;
}

ffmpeg::input open_camera(camera_settings const& camera) {
  check_device(camera.device);
  auto const shown = shown_url(camera.device);
  av_log_set_level(AV_LOG_FATAL);
  avdevice_register_all();
  AVInputFormat const* const v4l2 = av_find_input_format("v4l2");
  if (v4l2 == nullptr)
    throw video_open_error(
        fmt::format("cannot open the camera '{}': this FFmpeg is built without v4l2", shown));
  AVDictionary* options = nullptr;
  av_dict_set(&options, "video_size", fmt::format("{}x{}", camera.width, camera.height).c_str(), 0);
  if (camera.rate > 0) av_dict_set(&options, "framerate", fmt::format("{}", camera.rate).c_str(), 0);
  AVFormatContext* raw = nullptr;
  int const result = avformat_open_input(&raw, camera.device.c_str(), v4l2, &options);
  av_dict_free(&options);
  ffmpeg::input input(raw);
  if (result == AVERROR(ENOTTY) || result == AVERROR(ENODEV))
    throw video_open_error(fmt::format("cannot open the camera '{}': the device is no camera ({})", shown,
                                       ffmpeg::text(result)));
  if (result < 0)
    throw video_open_error(
        fmt::format("cannot open the camera '{}' with {}x{} pixels: {}; `v4l2-ctl --list-formats-ext` shows "
                    "what it can do",
                    shown, camera.width, camera.height, ffmpeg::text(result)));
  return input;
}

}  // namespace rondo::video
