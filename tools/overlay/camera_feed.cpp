#include "tools/overlay/camera_feed.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <filesystem>

#include "actors/video/files/still.hpp"
#include "runtime/files/part_file.hpp"
#include "runtime/memory/unified_buffer.hpp"
#include "runtime/os/start_thread.hpp"
#include "runtime/text/clean_text.hpp"
#include "runtime/text/shown_url.hpp"

namespace rondo::tools {

namespace {

std::int64_t steady_ns() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

constexpr std::uint8_t control_priority = 255;

video::video_source source_of(std::string const& input) {
  bool const is_url = input.find("://") != input.npos && !std::filesystem::exists(input);
  return {.of = is_url ? video::video_source::kind::url : video::video_source::kind::file, .name = input};
}

}  // namespace

camera_feed::camera_feed(feed_options options)
    : options_(std::move(options)), reader_(source_of(options_.input)) {
  auto const whole = reader_.frame_count_estimate();
  expected_ =
      options_.frames > 0 && whole > 0 ? std::min(options_.frames, whole) : std::max(options_.frames, whole);
  for (int i = 0; i < 5 && !options_.stills.empty(); ++i)
    still_at_.push_back(expected_ > 0 ? expected_ * (2 * i + 1) / 10 : 50 + 200 * i);
}

camera_feed::~camera_feed() {
  stop();
  join();
}

std::string camera_feed::name() const {
  return fmt::format("camera {} ({})", options_.camera,
                     clean_text(std::filesystem::path(shown_url(options_.input)).filename().string()));
}

std::size_t camera_feed::frame_buffers() const {
  return static_cast<std::size_t>(options_.preload ? expected_ : options_.buffers);
}

std::uint64_t camera_feed::buffer_bytes() const {
  video::overlay_params const params;
  return video::overlay_bytes(format().width, format().height, options_.tiles, params) +
         frame_buffers() * overlay::frame_buffer_bytes(format().width, format().height);
}

void camera_feed::prepare(runtime& rt, bool keep_state) {
  using namespace std::chrono_literals;
  runtime_ = &rt;
  if (options_.preload && expected_ == 0)
    throw video::video_error(fmt::format("cannot preload '{}': its length is not known; pass --frames",
                                         shown_url(options_.input)));
  for (std::size_t i = 0; i < frame_buffers(); ++i)
    frames_.emplace_back(rt.memory(),
                         std::vector{overlay::frame_buffer_bytes(format().width, format().height)});
  for (auto& f : frames_) {  // allocate on both sides now, not with the first frame
    (void)f.overwrite().value();
    (void)f.device_for_overwriting().value();
  }
  stamps_.resize(frames_.size());
  asks_ = std::vector<handler_memory>(frames_.size());
  video::overlay_params const params;
  memory_ = {rt.memory(), {video::overlay_bytes(format().width, format().height, options_.tiles, params)}};

  // All frames in flight fit, with room for control messages.
  actor_options const mail{.capacity = static_cast<std::uint32_t>(options_.buffers) + 16};
  auto const named = [&]<class B>(std::type_identity<B>, std::string const& actor) {
    auto const found = rt.find<B>(actor);
    return found ? *found : rt.launch<B>(actor, mail);
  };
  auto const painter = named(std::type_identity<overlay::painter>{}, painter_name(options_.camera));
  camera_ = named(std::type_identity<overlay::camera>{}, actor_name(options_.camera));

  overlay::open_camera open;
  open.camera = options_.camera;
  open.width = static_cast<std::uint16_t>(format().width);
  open.height = static_cast<std::uint16_t>(format().height);
  open.tiles = static_cast<std::uint16_t>(options_.tiles);
  open.keep_state = keep_state;
  open.painter = overlay::handle_of(painter.id());
  open.memory =
      overlay::handle_of(memory_.device_for_overwriting().value());  // `open` writes before it reads
  auto const shown = actor_name(options_.camera);
  std::memcpy(open.name, shown.data(), std::min(shown.size(), sizeof open.name - 1));
  auto const opened =
      camera_.ask(open, ask_options{.timeout = 10s, .priority = control_priority}, block).value();
  if (auto const status = static_cast<errc>(opened.status); status != errc::ok)
    throw boost::system::system_error(make_error_code(status), "opening " + name());
  first_ = keep_state ? static_cast<std::int64_t>(opened.frames) : 0;
  if (first_ > 0 && !options_.output.empty()) {  // keep what an earlier run wrote
    part_file::finish_left(options_.output);
    options_.output = name_from(options_.output, static_cast<std::uint64_t>(first_));
  }
}

void camera_feed::open_output() {
  if (options_.output.empty()) return;
  writer_.emplace(options_.output, video::writing{});
  writer_->begin(format());
}

void camera_feed::start(feed_events events) {
  events_ = std::move(events);
  auto const under_way = static_cast<std::size_t>(options_.buffers);
  free_.reserve(under_way);
  finished_.reserve(under_way);
  for (std::size_t i = 0; i < under_way; ++i) free_.push(i);
  decoder_ = start_thread("a decoder", [this] { decode(); });
  encoder_ = start_thread("an encoder", [this] { encode(); });
}

void camera_feed::stop() {
  stopping_ = true;
  resume();
  set_paused(false);  // a paused camera would keep its waiting frames
}

void camera_feed::join() {
  if (decoder_.joinable()) decoder_.join();
  if (encoder_.joinable()) encoder_.join();
}

void camera_feed::set_paused(bool paused) {
  if (!camera_.id().valid()) return;  // its preparation failed
  if (paused)
    (void)camera_.try_tell(overlay::pause{options_.camera}, {.priority = control_priority});
  else
    (void)camera_.try_tell(overlay::resume{options_.camera}, {.priority = control_priority});
}

void camera_feed::take_snapshot(std::uint32_t ticket) {
  camera_.ask(overlay::snapshot{options_.camera, ticket}, ask_options{.priority = control_priority},
              [](error_code, overlay::snapshot_noted const&) {});  // the ticket arrives with the frame
}

// -- the decoder's thread

void camera_feed::decode() {
  try {
    decode_frames();
  } catch (boost::system::system_error const& e) {  // from the runtime: a buffer, or the device
    fail(exit_internal, e.what());
  } catch (std::exception const& e) {
    fail(exit_bad_data, e.what());
  }
  if (auto const& error = reader_.error(); !error.empty() && !stopping_) fail(exit_bad_data, error);
  {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return under_way_ == 0; });
  }
  finished_.close();
}

void camera_feed::decode_frames() {
  for (std::int64_t n = 0; n < first_ && !stopping_; ++n)
    if (!read_into(0)) return;  // done by an earlier run
  std::size_t loaded = 0;
  while (options_.preload && loaded < frames_.size() && !stopping_ && read_into(loaded)) ++loaded;
  started_ns_ = steady_ns();
  for (auto n = first_; (options_.frames == 0 || n < options_.frames) && !stopping_; ++n) {
    if (options_.preload && static_cast<std::size_t>(n - first_) == loaded) return;
    auto slot = *free_.pop();
    if (options_.preload)
      slot = static_cast<std::size_t>(n - first_);
    else if (!read_into(slot))
      return;
    auto const pixels = frames_[slot].device_for_writing().value();
    ++sent_;
    enter();
    try {
      send(slot, n, pixels);
    } catch (...) {  // nobody answers
      leave();
      throw;
    }
  }
}

bool camera_feed::read_into(std::size_t slot) {
  auto const target = frames_[slot].overwrite().value();
  if (!reader_.next()) return false;
  reader_.get(target.begin());
  stamps_[slot] = {reader_.time_ns(), reader_.lasts_ns()};
  return true;
}

void camera_feed::send(std::size_t slot, std::int64_t number, buffer_ref pixels) {
  overlay::frame f;
  f.camera = options_.camera;
  f.format = overlay::pixel_format::i420;
  f.number = static_cast<std::uint64_t>(number);
  f.capture_ns = now_ns();
  f.width = static_cast<std::uint16_t>(format().width);
  f.height = static_cast<std::uint16_t>(format().height);
  f.stride_bytes = static_cast<std::uint32_t>((format().width + 63) / 64 * 64);
  f.pixels = overlay::handle_of(pixels);
  auto const on_done = [this, slot](error_code error, overlay::frame_done const& done) {
    finished_.push({slot, error, done});
  };
  camera_.ask(f, ask_options{}, at_once(asks_[slot], on_done));
}

// -- the encoder's thread

void camera_feed::encode() {
  while (auto const next = finished_.pop()) {
    try {
      take(*next);
    } catch (std::exception const& e) {
      fail(exit_no_output, e.what());
      stopping_ = true;
    }
    free_.push(next->slot);
    leave();
  }
  try {
    if (writer_) writer_->close();
  } catch (std::exception const& e) {
    fail(exit_no_output, e.what());
  }
  ended_ns_ = steady_ns();
  events_.ended(*this);
}

void camera_feed::take(finished_frame const& f) {
  auto const status = f.error ? f.error : make_error_code(static_cast<errc>(f.done.status));
  if (status) {
    fail(exit_internal, fmt::format("after {} frames: {}", done_.load(), status.message()));
    stopping_ = true;
    return;
  }
  tracks_ = f.done.tracks;
  ids_ = f.done.ids;
  overflow_ = f.done.overflow;
  bool const still = std::ranges::count(still_at_, static_cast<std::int64_t>(f.done.number)) != 0;
  if (writer_ || still || f.done.ticket != 0) {
    auto const seen = frames_[f.slot].host().value();
    ++looked_at_;
    auto const* const picture = seen.begin();
    if (still) write_picture(options_.stills, "still", f.done.number, picture);
    if (f.done.ticket != 0) write_picture(options_.snapshots, "snapshot", f.done.number, picture);
    if (writer_) writer_->write(picture, stamps_[f.slot]);
  }
  if (++done_ % events_.every == 0 && events_.frames_done) events_.frames_done();
}

void camera_feed::write_picture(std::string const& directory, char const* kind, std::uint64_t number,
                                std::byte const* picture) {
  auto const path = fmt::format("{}/camera-{}-{}-{:06}.png", directory, options_.camera, kind, number);
  video::write_still(path, format(), picture);
  pictures_.push_back(path);
}

// -- both threads

void camera_feed::enter() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return !held_; });
  ++under_way_;
}

void camera_feed::leave() {
  {
    std::lock_guard lock(mutex_);
    --under_way_;
  }
  changed_.notify_all();
}

void camera_feed::hold() {
  std::unique_lock lock(mutex_);
  held_ = true;
  changed_.wait(lock, [&] { return under_way_ == 0; });
}

void camera_feed::resume() {
  {
    std::lock_guard lock(mutex_);
    held_ = false;
  }
  changed_.notify_all();
}

void camera_feed::fail(exit_code code, std::string reason) {
  std::lock_guard lock(mutex_);
  if (outcome_.code == exit_done) outcome_ = {code, std::move(reason)};
}

feed_progress camera_feed::progress() const {
  feed_progress p;
  p.done = done_;
  p.expected = std::max<std::int64_t>(0, expected_ - first_);
  p.earlier = first_;
  p.sent = sent_;
  p.looked_at = looked_at_;
  std::int64_t const began = started_ns_, ended = ended_ns_;
  if (began != 0) p.seconds = static_cast<double>((ended != 0 ? ended : steady_ns()) - began) / 1e9;
  p.tracks = tracks_;
  p.ids = ids_;
  p.overflow = overflow_;
  return p;
}

}  // namespace rondo::tools
