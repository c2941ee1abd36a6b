#include "actors/video/hardware/kept_reports.hpp"

#include <cstdio>
#include <mutex>
#include <string_view>

#include "actors/video/ffmpeg/ffmpeg.hpp"
#include "runtime/text/clean_text.hpp"

extern "C" {
#include <libavutil/log.h>
}

namespace rondo::video::ffmpeg {

namespace {

constexpr std::size_t most_kept = 300;  // bytes
thread_local kept_reports* keeper = nullptr;

}  // namespace

kept_reports::kept_reports() : outer_(keeper) {
  static std::once_flag once;
  std::call_once(once, [] { av_log_set_callback(hear); });
  keeper = this;
}
kept_reports::~kept_reports() { keeper = outer_; }

void kept_reports::hear(void* of, int level, char const* format, va_list arguments) {
  if (keeper == nullptr) return av_log_default_callback(of, level, format, arguments);
  if (level > AV_LOG_VERBOSE) return;
  char line[512];
  std::vsnprintf(line, sizeof line, format, arguments);
  std::string_view said = line;
  while (said.ends_with('\n') || said.ends_with('.') || said.ends_with(' ')) said.remove_suffix(1);
  auto& text = keeper->errors_;
  auto const clean = clean_text(said);
  if (level > AV_LOG_ERROR) {
    if (!clean.empty()) keeper->remark_ = clean.substr(0, most_kept);
    return;
  }
  if (clean.empty() || text.size() > most_kept || text.find(clean) != text.npos) return;
  text += (text.empty() ? "" : "; ") + clean;
  if (text.size() > most_kept) text = clean_text(text.substr(0, most_kept)) + "...";
}

std::string kept_reports::why(int error) const {
  if (!errors_.empty()) return errors_;
  return remark_.empty() ? text(error) : remark_ + " (" + text(error) + ")";
}

}  // namespace rondo::video::ffmpeg
