#include "actors/video/media/picture_source.hpp"

#include <fmt/format.h>

#include "actors/video/files/video_reader.hpp"
#include "actors/video/media/camera.hpp"
#include "actors/video/media/file_source.hpp"
#include "kernels/streams/shapes.hpp"

namespace rondo::video {

picture_source::picture_source(std::function<video_reader()> open, image const& as, bool loops,
                               std::uint64_t skip)
    : open_(std::move(open)), about_(as), loops_(loops), reader_(std::make_unique<video_reader>(open_())) {
  for (std::uint64_t i = 0; i < skip; ++i) {
    if (next() == outcome::picture) continue;
    std::string const why = why_.what();
    throw video_error(fmt::format("it has {} pictures, but the checkpoint is {} pictures after its start{}{}",
                                  i, skip, why.empty() ? "" : ": ", why));
  }
}
picture_source::~picture_source() = default;

picture_source::outcome picture_source::next() {
  try {
    while (!reader_->next()) {
      if (reader_->is_cut_short()) {
        why_ = {streams::fault::input_malformed, reader_->error()};
        return outcome::failed;
      }
      if (!loops_) return outcome::end;
      damaged_before_ += static_cast<std::uint64_t>(reader_->damaged());
      *reader_ = open_();
    }
    return outcome::picture;
  } catch (video_open_error const& e) {  // it was there when it began before
    why_ = {streams::fault::input_missing, e.what()};
    return outcome::failed;
  } catch (std::exception const& e) {
    why_ = {streams::fault::input_malformed, e.what()};
    return outcome::failed;
  }
}

bool picture_source::get(std::byte* to) {
  try {
    reader_->get(view_at(about_, to));
    return true;
  } catch (std::exception const& e) {
    why_ = {streams::fault::input_malformed, e.what()};
    return false;
  }
}

std::uint64_t picture_source::damaged() const noexcept {
  return damaged_before_ + static_cast<std::uint64_t>(reader_->damaged());
}

// -- the stages

namespace {

std::string size_refused(std::int32_t width, std::int32_t height) {
  auto const* const why = size_error(width, height);
  return why == nullptr ? "" : fmt::format("{}x{}: {}", width, height, why);
}

/// What `open` returns. Throws stage_error: `missing` if it is not there, `unusable` if it is, but cannot be used.
auto opened(auto const& open, streams::fault missing, streams::fault unusable) {
  try {
    return open();
  } catch (video_open_error const& e) {
    throw streams::stage_error(missing, e.what());
  } catch (video_error const& e) {
    throw streams::stage_error(unusable, e.what());
  }
}
auto opened_file(auto const& open) {
  return opened(open, streams::fault::input_missing, streams::fault::input_malformed);
}

}  // namespace

std::string file_source::shapes(options const& o, streams::shapes_of<file_source>& s) {
  if (o.file.empty()) return "it has no file: name one";
  if ((o.width == 0) != (o.height == 0))
    return fmt::format("the size is {}x{}: give both, or neither for the video's own", o.width, o.height);
  image about{o.width, o.height};
  if (o.width == 0) {
    auto const video = opened_file([&] { return video_reader(o.file.c_str(), 1); });
    about = {video.width() & ~1, video.height() & ~1};
    if (auto const* const why = size_error(about.width, about.height))
      return fmt::format("the video has {}x{} pixels: {}; give a width and a height, to which it is scaled",
                         video.width(), video.height(), why);
  }
  if (auto const why = size_refused(about.width, about.height); !why.empty()) return why;
  s.out<"video">(about);
  return {};
}
std::shared_ptr<picture_source> file_source::open(options const& o, streams::shapes_of<file_source> const& s,
                                                  streams::host_link& link) {
  return opened_file([&] {
    return std::make_shared<picture_source>(
        [file = std::string(o.file.c_str()), threads = o.threads] { return video_reader(file, threads); },
        *s.out<"video">(), o.loop, link.begins_at().processed);
  });
}

std::string camera::shapes(options const& o, streams::shapes_of<camera>& s) {
  if (auto const why = size_refused(o.width, o.height); !why.empty()) return why;
  s.out<"video">({o.width, o.height});
  return {};
}
std::shared_ptr<picture_source> camera::open(options const& o, streams::shapes_of<camera> const& s) {
  camera_settings const settings{o.device.c_str(), o.width, o.height, o.rate};
  return opened(
      [&] {
        return std::make_shared<picture_source>([settings] { return video_reader(settings); },
                                                *s.out<"video">(), false);
      },
      streams::fault::unavailable, streams::fault::unavailable);
}
streams::stage_error camera::why_failed(picture_source const& p) {
  return {streams::fault::unavailable, p.why_failed().what()};
}

}  // namespace rondo::video
