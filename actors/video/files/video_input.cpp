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

/// Reports errors that FFmpeg would report less clearly.
void check_file(std::string const& name) {
  std::error_code ec;
  fs::file_status const status = fs::status(name, ec);
  auto const shown = shown_url(name);
  if (status.type() == fs::file_type::not_found)
    throw video_open_error(fmt::format(
        "cannot open the video '{}': there is no such file; check the path{}", shown,
        name.find("://") == name.npos ? "" : ", or give a server's address as `url`, not as `file`"));
  if (fs::is_directory(status))
    throw video_open_error(
        fmt::format("cannot open the video '{}': it is a directory; name a video file", shown));
  if (fs::is_regular_file(status) && fs::file_size(name, ec) == 0 && !ec)
    throw video_error(fmt::format("cannot open the video '{}': the file is empty (0 bytes)", shown));
}

void check_device(std::string const& device) {
  std::error_code ec;
  fs::file_status const status = fs::status(device, ec);
  if (status.type() == fs::file_type::not_found)
    throw video_open_error(fmt::format(
        "cannot open the camera '{}': there is no such device; is it plugged in? `rondo stream --list "
        "camera` lists them",
        shown_url(device)));
  if (!fs::is_character_file(status))
    throw video_open_error(
        fmt::format("cannot open the camera '{}': it is not a device; use the stage file_source for files",
                    shown_url(device)));
}

/// An entry of FFmpeg's options, which are freed with it.
struct dictionary {
  ~dictionary() { av_dict_free(&all); }
  void set(char const* key, std::string const& value) { av_dict_set(&all, key, value.c_str(), 0); }
  AVDictionary* all = nullptr;
};

ffmpeg::input open_as(std::string const& url, AVInputFormat const* format, dictionary& options,
                      server_patience& patience, int& result) {
  av_log_set_level(AV_LOG_FATAL);  // errors are reported with the file's name
  AVFormatContext* raw = avformat_alloc_context();
  if (raw == nullptr) throw std::bad_alloc();
  raw->interrupt_callback = patience.callback();
  patience.begin();
  result = avformat_open_input(&raw, url.c_str(), format, &options.all);
  return ffmpeg::input(raw);
}

ffmpeg::input open_camera(camera_settings const& camera, server_patience& patience) {
  check_device(camera.device);
  auto const shown = shown_url(camera.device);
  avdevice_register_all();
  AVInputFormat const* const v4l2 = av_find_input_format("v4l2");
  if (v4l2 == nullptr)
    throw video_open_error(
        fmt::format("cannot open the camera '{}': this FFmpeg is built without v4l2", shown));
  dictionary options;
  options.set("video_size", fmt::format("{}x{}", camera.width, camera.height));
  if (camera.rate > 0) options.set("framerate", fmt::format("{}", camera.rate));
  int result = 0;
  auto input = open_as(camera.device, v4l2, options, patience, result);
  if (result == AVERROR(ENOTTY) || result == AVERROR(ENODEV))
    throw video_open_error(fmt::format("cannot open the camera '{}': the device is no camera ({})", shown,
                                       ffmpeg::text(result)));
  if (result < 0)
    throw video_open_error(
        fmt::format("cannot open the camera '{}' with {}x{} pixels: {}; `rondo stream --list camera` shows "
                    "what it can do",
                    shown, camera.width, camera.height, ffmpeg::text(result)));
  return input;
}

}  // namespace

std::string video_source::shown() const { return shown_url(of == kind::camera ? camera.device : name); }

std::string why_not_read(int error) {
  if (error != AVERROR_EXIT) return ffmpeg::text(error);
  return fmt::format("the server sent nothing for {} s", server_patience::limit.count());
}

ffmpeg::input open_input(video_source const& from, server_patience& patience) {
  using kind = video_source::kind;
  if (from.of == kind::camera) return open_camera(from.camera, patience);
  dictionary options;
  AVInputFormat const* format = nullptr;
  auto url = from.name;
  if (from.of == kind::file) {
    // A name stands for a file, whatever colons and percent signs are in it.
    if (from.name != "-") check_file(from.name);
    url = from.name == "-" ? "pipe:0" : "file:" + from.name;
    options.set("pattern_type", "none");
  } else if (from.of == kind::pattern) {
    format = av_find_input_format("image2");
    options.set("pattern_type", "sequence");
    if (from.rate > 0) options.set("framerate", fmt::format("{}", from.rate));
  }
  int result = 0;
  auto input = open_as(url, format, options, patience, result);
  if (result == AVERROR_INVALIDDATA)
    throw video_error(
        fmt::format("cannot open '{}': this is not a video that FFmpeg knows, or its header is damaged; "
                    "run ffprobe on the file for details",
                    from.shown()));
  if (result < 0)
    throw video_open_error(
        fmt::format("cannot open the video '{}': {}{}", from.shown(), why_not_read(result),
                    from.of == kind::pattern
                        ? "; a pattern names numbered pictures, such as frame%04d.png, whose first number is "
                          "from 0 to 4"
                        : ""));
  return input;
}

}  // namespace rondo::video
