#include "actors/video/media/picture_source.hpp"

#include <fmt/format.h>

#include "actors/video/files/video_reader.hpp"
#include "actors/video/media/camera.hpp"
#include "actors/video/media/file_source.hpp"
#include "runtime/streams/kinds/stage_spec.hpp"

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

void make_pictures(auto& spec, image const& about) {
  if (auto const* const why = about.error())
    return spec.refuse(fmt::format("{}x{}: {}", about.width, about.height, why));
  spec.template out<"video">(about);
}

/// Throws the exception in hand as a stage_error: `missing` if the video is not there, `unusable` if it is, but cannot
/// be used.
[[noreturn]] void throw_as(streams::fault missing, streams::fault unusable) {
  try {
    throw;
  } catch (video_open_error const& e) {
    throw streams::stage_error(missing, e.what());
  } catch (video_error const& e) {
    throw streams::stage_error(unusable, e.what());
  }
}
[[noreturn]] void throw_as_file() {
  throw_as(streams::fault::input_missing, streams::fault::input_malformed);
}

}  // namespace

void file_source::spec(options const& o, streams::spec_of<file_source>& s) try {
  if (o.file.empty()) return s.refuse("it has no file: name one");
  if ((o.width == 0) != (o.height == 0))
    return s.refuse(
        fmt::format("the size is {}x{}: give both, or neither for the video's own", o.width, o.height));
  if (o.width != 0) return make_pictures(s, {o.width, o.height});
  video_reader const video(o.file.c_str(), 1);
  image const own{video.width() & ~1, video.height() & ~1};
  if (auto const* const why = own.error())
    return s.refuse(
        fmt::format("the video has {}x{} pixels: {}; give a width and a height, to which it is scaled",
                    video.width(), video.height(), why));
  s.out<"video">(own);
} catch (video_error const&) {
  throw_as_file();
}
file_source::host::host(options const& o, streams::spec_of<file_source> const& s,
                        streams::host_link& link) try
    : picture_source(
          [file = std::string(o.file.c_str()), threads = o.threads] { return video_reader(file, threads); },
          *s.out<"video">(), o.loop, link.begins_at().processed) {
} catch (video_error const&) {
  throw_as_file();
}

void camera::spec(options const& o, streams::spec_of<camera>& s) { make_pictures(s, {o.width, o.height}); }
camera::host::host(options const& o, streams::spec_of<camera> const& s) try
    : picture_source(
          [how = camera_settings{o.device.c_str(), o.width, o.height, o.rate}] { return video_reader(how); },
          *s.out<"video">(), false) {
} catch (video_error const&) {
  throw_as(streams::fault::unavailable, streams::fault::unavailable);
}
streams::stage_error camera::host::why_failed() const {
  return {streams::fault::unavailable, picture_source::why_failed().what()};
}

}  // namespace rondo::video
