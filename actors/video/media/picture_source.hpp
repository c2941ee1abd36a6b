// The pictures of the stages file_source and camera: a video, begun again at its end if it is to loop.
//
// Threads: the stage's; `why_failed` after the stage has failed its graph.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include "actors/video/pixels/image.hpp"
#include "kernels/streams/fault.hpp"
#include "kernels/streams/stage.hpp"

namespace rondo::video {

class video_reader;

class picture_source {
 public:
  /// Opens the video, as often as it is begun. Pictures are scaled to the size of `as`. Throws what `open` throws.
  /// Skips the first pictures, which an earlier run has had; throws video_error if there are not so many.
  picture_source(std::function<video_reader()> open, image const& as, bool loops, std::uint64_t skip = 0);
  ~picture_source();

  enum class outcome { picture, end, failed };
  /// Gets the next picture.
  outcome next();
  /// Copies it to a frame with what `about` says. False: it cannot be converted.
  bool get(std::byte* to);
  image const& about() const noexcept { return about_; }
  /// Damaged packets and pictures so far. Damaged pictures are passed on as well as they could be decoded.
  std::uint64_t damaged() const noexcept;
  /// Why there is no next picture.
  streams::stage_error const& why_failed() const noexcept { return why_; }

 private:
  std::function<video_reader()> open_;
  image about_;
  bool loops_;
  std::unique_ptr<video_reader> reader_;
  std::uint64_t pictures_ = 0;        // since the video began
  std::uint64_t damaged_before_ = 0;  // until it began
  streams::stage_error why_{streams::fault::stage, ""};
};

/// What a stage does with it at a tick. At the end of the video the tick has no picture.
template <class Stage>
void give_next_picture(streams::stage_context<Stage>& ctx, streams::tick const& t) {
  picture_source& from = ctx.host();
  auto const damaged = from.damaged();
  auto const outcome = from.next();
  if (from.damaged() != damaged)
    ctx.log(log_level::warning, "the picture of tick {} is damaged; {} damaged packets and pictures so far",
            t.number, from.damaged());
  if (outcome == picture_source::outcome::failed) return ctx.fail_graph();
  if (outcome == picture_source::outcome::end) return ctx.end();
  auto const to = ctx.template output<"video">(from.about());
  if (to && !from.get(to.data)) ctx.fail_graph();
}

}  // namespace rondo::video
