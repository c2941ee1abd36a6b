// What FFmpeg reports on this thread while the object lives, for messages of our own.
//
// FFmpeg has one function for the reports of a process, and does not say which. The first object sets one that passes
// on to FFmpeg's own what no object keeps; a program that has a function of its own sets it after that.
// Threads: each has its own.
#pragma once

#include <cstdarg>
#include <string>

namespace rondo::video::ffmpeg {

class kept_reports {
 public:
  kept_reports();
  ~kept_reports();
  kept_reports(kept_reports const&) = delete;
  kept_reports& operator=(kept_reports const&) = delete;

  /// The errors that were reported, or, without any, the last remark and FFmpeg's text for `error`. A part of a
  /// sentence, of bounded length.
  std::string why(int error) const;

 private:
  static void hear(void* of, int level, char const* format, va_list arguments);

  kept_reports* outer_;
  std::string errors_, remark_;
};

}  // namespace rondo::video::ffmpeg
