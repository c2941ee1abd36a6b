// Reads a video's frames, one after another, as 8-bit YUV 4:2:0.
//
// Ownership: the reader owns the open file; frames are copied into the caller's memory.
// Threads: one at a time. The decoder may use threads of its own.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "actors/video/files/video_format.hpp"
#include "actors/video/pixels/image_view.hpp"
#include "runtime/os/made_here.hpp"

namespace rondo::video {

class video_reader {
 public:
  /// Opens a file, a device or a URL that FFmpeg knows. `decoder_threads` 0 lets FFmpeg choose. Throws video_open_error
  /// if it is missing or cannot be opened, video_error if it is empty, not a video, or of a kind that cannot be
  /// decoded.
  explicit video_reader(std::string const& source, int decoder_threads = 1);
  /// The pictures of a camera. Throws video_open_error if there is none.
  explicit video_reader(camera_settings const& camera);
  /// A forked child's copy does nothing: the decoder's threads are the parent's.
  ~video_reader();
  video_reader(video_reader&&) noexcept;
  video_reader& operator=(video_reader&&) noexcept;

  /// Decodes the next frame into `out`, whose planes must have the size of `format()`; throws video_error if they do
  /// not. Returns false at the end; `error()` then says whether the video ended early. Frames already read remain
  /// valid.
  bool read(frame_view const& out);
  /// The two parts of `read`: decodes the next frame, which is there until the next call; false at the end.
  bool next();
  /// Copies it into `out`, scaled to the size of `out`. If only an odd last column or row is missing there, it is left
  /// out.
  void get(frame_view const& out);

  video_format const& format() const;
  int width() const { return format().width; }
  int height() const { return format().height; }
  /// From the container's headers, or from duration and rate; 0 if nothing is known (a live source).
  std::int64_t frame_count_estimate() const;
  /// When the last frame is shown, in ticks of `format()` since the first one. Grows with each frame, not always
  /// evenly.
  std::int64_t time_stamp() const;
  /// Empty if there is no error, else why reading ended early, or that there were damaged packets.
  std::string const& error() const;
  /// At the end: whether frames are missing there. Otherwise `error` is about damaged packets alone.
  bool is_cut_short() const;
  /// Packets that could not be decoded so far, and frames that were decoded with errors.
  std::int64_t damaged() const;

 private:
  struct state;
  process_ptr<state> state_;
};

}  // namespace rondo::video
