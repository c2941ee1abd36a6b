// The pictures of the stages file_source and camera, and their sound: a video, begun again at its end if it is to loop.
//
// Threads: the stage's; `why_failed` after the stage has failed its graph.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "actors/video/pixels/image.hpp"
#include "actors/video/pixels/sound.hpp"
#include "kernels/streams/fault.hpp"
#include "kernels/streams/host_link.hpp"
#include "kernels/streams/stage.hpp"

namespace rondo::video {

class video_reader;
class sound_feed;

/// How a stage reads on.
struct playing {
  bool loops = false;
  double reconnect_s = 0;     // seconds to wait before a server that has gone is called again; 0: never
  std::uint64_t skip = 0;     // pictures that an earlier run has had
  std::uint32_t preload = 0;  // pictures to be decoded at once
  sound heard{};              // of the frames of sound
  std::string source{};       // for messages
};

class picture_source {
 public:
  /// `open` opens the video again, as often as that is needed; `opened` is it, opened for the first time. Throws
  /// video_error if there are not as many pictures as are to be skipped.
  picture_source(std::function<video_reader()> open, std::shared_ptr<video_reader> opened, playing how,
                 streams::host_link* link);
  ~picture_source();

  enum class outcome { picture, waiting, end, failed };
  /// Gets the next picture. `waiting`: a server is called again; the link wakes the stage when it has answered.
  outcome next();
  /// Copies it to a frame with what `about` says. False: it cannot be converted.
  bool get(std::byte* to);
  image const& about() const noexcept { return about_; }
  sound const& heard() const noexcept { return how_.heard; }
  /// When it is to be shown, and for how long.
  std::uint64_t time_ns() const noexcept { return time_ns_; }
  std::uint64_t lasts_ns() const noexcept { return lasts_ns_; }
  /// Whether there is sound to be passed on with the picture, or after the last one.
  bool has_sound();
  /// Fills a frame with it. False: it cannot be passed on.
  bool get_sound(std::byte* to);
  /// Damaged packets and pictures so far. Damaged pictures are passed on as well as they could be decoded.
  std::uint64_t damaged() const noexcept;
  /// Why there is no next picture.
  streams::stage_error const& why_failed() const noexcept { return why_; }

 private:
  void preload();
  outcome read_next();
  outcome wait_for_server();
  outcome go_on_with_server();
  void call(std::stop_token const& stops);
  void say_gone(std::string const& why);

  std::function<video_reader()> open_;
  std::shared_ptr<video_reader> reader_;
  playing how_;
  streams::host_link* link_;
  image about_;
  std::unique_ptr<sound_feed> sound_;
  std::uint64_t time_ns_ = 0, lasts_ns_ = 0;
  std::uint64_t offset_ns_ = 0;       // of the present round
  std::uint64_t damaged_before_ = 0;  // until it began
  std::uint64_t reconnected_ = 0;
  bool is_calling_ = false;                // a thread calls a server that has gone
  std::atomic<bool> has_answered_{false};  // it has: `answered_` is there
  std::unique_ptr<video_reader> answered_;
  std::jthread caller_;
  struct preloaded {
    std::vector<std::byte> data;
    std::uint64_t time_ns, lasts_ns;
  };
  std::vector<preloaded> preloaded_;
  std::size_t given_ = 0;  // of them: how many `next` has got
  bool has_ended_ = false, has_failed_ = false;
  streams::stage_error why_{streams::fault::stage, ""};
};

/// What a stage does with it at a tick. Sound that lasts longer than the pictures has ticks of its own, without a
/// picture.
template <class Stage>
void give_next_picture(streams::stage_context<Stage>& ctx, streams::tick const& t) {
  picture_source& from = ctx.host();
  auto const damaged = from.damaged();
  auto const outcome = from.next();
  if (from.damaged() != damaged)
    ctx.log(log_level::warning, "the picture of tick {} is damaged; {} damaged packets and pictures so far",
            t.number, from.damaged());
  if (outcome == picture_source::outcome::waiting) return ctx.wait();
  if (outcome == picture_source::outcome::failed) return ctx.fail_graph();
  bool is_heard = false;
  if constexpr (Stage::ports::template number_of<false, "sound">() != ~0u)
    if ((is_heard = from.has_sound())) {
      auto const to = ctx.template output<"sound">(from.heard());
      if (!to) return;
      if (!from.get_sound(to.data)) return ctx.fail_graph();
    }
  if (outcome == picture_source::outcome::end) return is_heard ? void() : ctx.end();
  ctx.shown_at(from.time_ns(), from.lasts_ns());
  auto const to = ctx.template output<"video">(from.about());
  if (to && !from.get(to.data)) ctx.fail_graph();
}

}  // namespace rondo::video
