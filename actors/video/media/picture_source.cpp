#include "actors/video/media/picture_source.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <thread>

#include "actors/video/files/sound_feed.hpp"
#include "actors/video/files/video_reader.hpp"
#include "actors/video/hardware/decoder_choice.hpp"
#include "actors/video/media/camera.hpp"
#include "actors/video/media/file_source.hpp"
#include "runtime/os/start_thread.hpp"
#include "runtime/streams/kinds/stage_spec.hpp"

namespace rondo::video {

picture_source::picture_source(std::function<video_reader()> open, std::shared_ptr<video_reader> opened,
                               playing how, streams::host_link* link)
    : open_(std::move(open)),
      reader_(std::move(opened)),
      how_(std::move(how)),
      link_(link),
      about_(reader_->about()),
      sound_(std::make_unique<sound_feed>(how_.heard)) {
  for (std::uint64_t i = 0; i < how_.skip; ++i) {
    if (next() == outcome::picture) continue;
    std::string const why = why_.what();
    throw video_error(fmt::format("it has {} pictures, but the checkpoint is {} pictures after its start{}{}",
                                  i, how_.skip, why.empty() ? "" : ": ", why));
  }
  if (how_.skip != 0) static_cast<void>(has_sound()), sound_->clear();
  preload();
}

void picture_source::preload() {
  std::vector<preloaded> all;
  while (all.size() < how_.preload && read_next() == outcome::picture) {
    all.push_back({std::vector<std::byte>(about_.bytes()), time_ns_, lasts_ns_});
    reader_->get(all.back().data.data());
  }
  preloaded_ = std::move(all);
}
picture_source::~picture_source() = default;

/// After a server has gone: has it called again, and the stage woken when it has answered.
picture_source::outcome picture_source::wait_for_server() {
  say_gone(reader_->error().empty() ? "it has ended" : reader_->error());
  is_calling_ = true;
  has_answered_.store(false, std::memory_order_relaxed);  // relaxed: before the thread begins
  caller_ = start_jthread("the calls of a server", [this](std::stop_token const& stops) { call(stops); });
  return outcome::waiting;
}

void picture_source::say_gone(std::string const& why) {
  link_->log(log_level::warning, fmt::format("'{}' has gone ({}); it is called again in {} s (call {})",
                                             how_.source, why, how_.reconnect_s, ++reconnected_)
                                     .c_str());
}

/// On a thread of its own: a call may take long, and would occupy a team.
void picture_source::call(std::stop_token const& stops) {
  std::mutex mutex;
  std::unique_lock lock(mutex);
  std::condition_variable_any ends;
  auto const pause = std::chrono::duration<double>(how_.reconnect_s);
  while (!ends.wait_for(lock, stops, pause, [&stops] { return stops.stop_requested(); })) try {
      answered_ = std::make_unique<video_reader>(open_());
      has_answered_.store(true, std::memory_order_release);  // with what it has opened
      return link_->wake();
    } catch (std::exception const& e) {
      say_gone(e.what());
    }
}

/// `picture`: the server is there again.
picture_source::outcome picture_source::go_on_with_server() {
  if (!has_answered_.load(std::memory_order_acquire)) return outcome::waiting;
  caller_.join();
  is_calling_ = false;
  auto const refuse = [this](char const* what, std::string const& now, std::string const& before) {
    why_ = {streams::fault::input_malformed,
            fmt::format("'{}' has other {} now: {}, not {}", how_.source, what, now, before)};
    has_failed_ = true;
    return outcome::failed;
  };
  if (!answered_->about().fits(about_))
    return refuse("pictures", to_text(answered_->about()), to_text(about_));
  if (auto const& heard = how_.heard; heard.channels != 0) {
    auto const now = sound_of(*answered_, heard.codec != 0);
    if (now.rate != heard.rate || now.channels != heard.channels || now.codec != heard.codec)
      return refuse("sound", to_text(now), to_text(heard));
  }
  damaged_before_ += static_cast<std::uint64_t>(reader_->damaged());
  *reader_ = std::move(*answered_);
  return outcome::picture;
}

picture_source::outcome picture_source::next() {
  if (given_ == preloaded_.size()) {
    if (!preloaded_.empty()) preloaded_.clear(), given_ = 0;
    return read_next();
  }
  auto const& picture = preloaded_[given_++];
  time_ns_ = picture.time_ns;
  lasts_ns_ = picture.lasts_ns;
  return outcome::picture;
}

picture_source::outcome picture_source::read_next() {
  if (has_failed_) return outcome::failed;
  if (has_ended_) return outcome::end;
  try {
    if (is_calling_)
      if (auto const now = go_on_with_server(); now != outcome::picture) return now;
    while (!reader_->next()) {
      auto const end_ns = time_ns_ + (lasts_ns_ != 0 ? lasts_ns_ : 40'000'000);
      if (how_.reconnect_s > 0) {
        offset_ns_ = end_ns;
        return wait_for_server();
      }
      if (reader_->is_cut_short()) {
        why_ = {streams::fault::input_malformed, reader_->error()};
        return outcome::failed;
      }
      if (!how_.loops) {
        has_ended_ = true;
        return outcome::end;
      }
      offset_ns_ = end_ns;
      damaged_before_ += static_cast<std::uint64_t>(reader_->damaged());
      *reader_ = open_();
    }
    time_ns_ = offset_ns_ + reader_->time_ns();
    lasts_ns_ = reader_->lasts_ns();
    return outcome::picture;
  } catch (video_device_error const& e) {
    why_ = {streams::fault::unavailable, e.what()};
    return outcome::failed;
  } catch (video_open_error const& e) {  // it was there when it began before
    why_ = {streams::fault::input_missing, e.what()};
    return outcome::failed;
  } catch (std::exception const& e) {
    why_ = {streams::fault::input_malformed, e.what()};
    return outcome::failed;
  }
}

bool picture_source::get(std::byte* to) {
  if (given_ != 0) {
    std::ranges::copy(preloaded_[given_ - 1].data, to);
    return true;
  }
  try {
    reader_->get(to);
    return true;
  } catch (std::exception const& e) {
    why_ = {streams::fault::input_malformed, e.what()};
    return false;
  }
}

bool picture_source::has_sound() {
  if (how_.heard.channels == 0) return false;
  try {
    sound_->read(
        *reader_,
        has_ended_ && preloaded_.empty() ? ~0ull : time_ns_ + (lasts_ns_ != 0 ? lasts_ns_ : 40'000'000),
        offset_ns_);
  } catch (std::exception const& e) {
    why_ = {streams::fault::input_malformed, e.what()};
    has_failed_ = true;
  }
  return sound_->has_any();
}

bool picture_source::get_sound(std::byte* to) {
  try {
    sound_->fill(to);
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

/// Throws the exception in hand as a stage_error: `missing` if the video is not there, `unusable` if it is, but cannot
/// be used.
[[noreturn]] void throw_as(streams::fault missing, streams::fault unusable) {
  try {
    throw;
  } catch (video_device_error const& e) {
    throw streams::stage_error(streams::fault::unavailable, e.what());
  } catch (video_open_error const& e) {
    throw streams::stage_error(missing, e.what());
  } catch (video_error const& e) {
    throw streams::stage_error(unusable, e.what());
  }
}
[[noreturn]] void throw_as_file() {
  throw_as(streams::fault::input_missing, streams::fault::input_malformed);
}

video_source source_of(file_source::options const& o) {
  using kind = video_source::kind;
  if (!o.url.empty()) return {.of = kind::url, .name = o.url.c_str()};
  if (!o.pattern.empty()) return {.of = kind::pattern, .name = o.pattern.c_str(), .rate = o.rate};
  return {.name = o.file.c_str()};
}

reading reading_of(file_source::options const& o, bool deep, bool sound) {
  constexpr int matrices[] = {-1, 6, 1, 9}, ranges[] = {-1, 0, 1};
  return {.threads = o.threads,
          .decoder = o.decoder.c_str(),
          .pictures = {.width = o.width,
                       .height = o.height,
                       .turns = o.turn,
                       .deinterlaces = o.deinterlace == interlaced_as::progressive,
                       .pads = o.odd == odd_size::pad,
                       .is_deep = deep,
                       .matrix = matrices[static_cast<std::uint32_t>(o.matrix)],
                       .is_full = ranges[static_cast<std::uint32_t>(o.range)]},
          .sound = sound,
          .from = o.from,
          .to = o.to};
}

/// What `spec` has opened, and for what; kept for its next call, and for the host.
struct opened_video {
  bool deep, sound;
  std::shared_ptr<video_reader> reader;
};

template <class Spec>
opened_video& opened_for(file_source::options const& o, Spec const& s) {
  image deep{16, 16};
  deep.format = pixel_format::i420_10;
  bool const is_deep = s.template readers_take<"video">(deep), is_heard = s.template is_read<"sound">();
  auto& kept = s.opened();
  auto* const known = static_cast<opened_video*>(kept.get());
  if (known != nullptr && known->reader && known->deep == is_deep && known->sound == is_heard) return *known;
  kept = std::make_shared<opened_video>(opened_video{
      is_deep, is_heard, std::make_shared<video_reader>(source_of(o), reading_of(o, is_deep, is_heard))});
  return *static_cast<opened_video*>(kept.get());
}

}  // namespace

void file_source::spec(options const& o, streams::spec_of<file_source>& s) try {
  int const named = !o.file.empty() + !o.url.empty() + !o.pattern.empty();
  if (named == 0) return s.refuse("it has no file: name one, or a `url`, or a `pattern`");
  if (named > 1) return s.refuse("it has several of `file`, `url` and `pattern`: name one of them");
  if ((o.width == 0) != (o.height == 0))
    return s.refuse(
        fmt::format("the size is {}x{}: give both, or neither for the video's own", o.width, o.height));
  if (o.to != 0 && o.to <= o.from)
    return s.refuse(fmt::format("it ends at {} s, before it begins, at {} s", o.to, o.from));
  if (std::string known; !ffmpeg::is_decoder_name(o.decoder.c_str(), known))
    return s.refuse(fmt::format("there is no decoder '{}': known are {}, and what `ffmpeg -decoders` lists",
                                o.decoder.c_str(), known));
  if (o.loop && o.reconnect > 0) return s.refuse("it is to loop and to reconnect: choose one");
  auto const& video = *opened_for(o, s).reader;
  auto const& own = video.about();
  if (auto const* const why = own.error())
    return s.refuse(
        fmt::format("the video has {}x{} pixels: {}; give a width and a height, to which it is scaled",
                    video.own_width(), video.own_height(), why));
  s.out<"video">(own);
  sound packets{.codec = 1};
  s.out<"sound">(sound_of(video, s.readers_take<"sound">(packets)));
} catch (video_error const&) {
  throw_as_file();
}
file_source::host::host(options const& o, streams::spec_of<file_source> const& s,
                        streams::host_link& link) try
    : picture_source(
          [o, deep = opened_for(o, s).deep, sound = opened_for(o, s).sound] {
            return video_reader(source_of(o), reading_of(o, deep, sound));
          },
          opened_for(o, s).reader,
          {.loops = o.loop,
           .reconnect_s = o.reconnect,
           .skip = link.begins_at().processed,
           .preload = o.preload,
           .heard = *s.out<"sound">(),
           .source = source_of(o).shown()},
          &link) {
  if (auto const remarks = opened_for(o, s).reader->remarks(); !remarks.empty())
    link.log(log_level::warning, remarks.c_str());
  s.opened().reset();
} catch (video_error const&) {
  throw_as_file();
}

void camera::spec(options const& o, streams::spec_of<camera>& s) {
  image const made{o.width, o.height};
  if (auto const* const why = made.error())
    return s.refuse(fmt::format("{}x{}: {}", made.width, made.height, why));
  s.out<"video">(made);
}
camera::host::host(options const& o, streams::spec_of<camera> const&) try
    : picture_source({},
                     std::make_shared<video_reader>(
                         video_source{.of = video_source::kind::camera,
                                      .name = {},
                                      .camera = {o.device.c_str(), o.width, o.height, o.rate}},
                         reading{.pictures = {.width = o.width, .height = o.height}}),
                     {.source = o.device.c_str()}, nullptr) {
} catch (video_error const&) {
  throw_as(streams::fault::unavailable, streams::fault::unavailable);
}
streams::stage_error camera::host::why_failed() const {
  return {streams::fault::unavailable, picture_source::why_failed().what()};
}

}  // namespace rondo::video
