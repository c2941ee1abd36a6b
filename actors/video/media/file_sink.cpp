#include "actors/video/media/file_sink.hpp"

#include <fmt/format.h>

#include "actors/video/files/video_writer.hpp"
#include "runtime/files/part_file.hpp"
#include "runtime/streams/kinds/stage_spec.hpp"

namespace rondo::video {

namespace {

constexpr int clock_rate = 90'000;  // of time stamps, if pictures are shown at the times of their ticks

}  // namespace

/// A video that is being written. Threads: the stage's, and then the one that ends the graph.
class video_file {
 public:
  video_file(file_sink::options const& o, std::string const& file, image const& about)
      : has_rate_(o.rate > 0), writer_(file, format_for(o, about), o.threads, o.quality) {}

  /// False: see why_failed.
  bool write(image const& about, std::byte const* data, streams::tick const& t) {
    return attempt([&] { writer_.write(view_at(about, data), stamp_of(t)); });
  }
  bool finish() {
    return attempt([&] { writer_.close(); });
  }
  std::string const& why_failed() const noexcept { return why_; }

 private:
  static video_format format_for(file_sink::options const& o, image const& about) {
    video_format f{.width = about.width, .height = about.height};
    if (o.rate > 0)
      f.frames_per_second = o.rate;
    else
      f.tick_num = 1, f.tick_den = clock_rate;
    return f;
  }
  std::int64_t stamp_of(streams::tick const& t) const {
    if (has_rate_) return static_cast<std::int64_t>(t.number);
    if (t.deadline_ns == 0) return static_cast<std::int64_t>(t.number) * (clock_rate / 25);
    return static_cast<std::int64_t>(t.time_ns / 1000 * (clock_rate / 1000) / 1000);
  }
  bool attempt(auto const& work) {
    try {
      work();
      return true;
    } catch (std::exception const& e) {
      why_ = e.what();
      return false;
    }
  }

  bool has_rate_;
  video_writer writer_;
  std::string why_;
};

void file_sink::spec(options const& o, streams::spec_of<file_sink>& s) {
  if (o.file.empty()) s.refuse("it has no file: name one");
}

file_sink::host::host(options const& o, streams::spec_of<file_sink> const& s, streams::host_link& link) {
  auto const first = link.begins_at().tick;
  if (first != 0) part_file::finish_left(o.file.c_str());
  file_ = std::make_unique<video_file>(o, name_from(o.file.c_str(), first), *s.in<"video">());
}
file_sink::host::~host() = default;
streams::stage_error file_sink::host::why_failed() const {
  return {streams::fault::output_refused, file_->why_failed()};
}

void file_sink::process(streams::stage_context<file_sink>& ctx, streams::tick const& t) {
  auto const in = ctx.input<"video">();
  if (!ctx.host().file_->write(in.about, in.data, t)) ctx.fail_graph();
}
void file_sink::on_stop(streams::stage_context<file_sink>& ctx) {
  if (!ctx.host().file_->finish()) ctx.fail_graph();
}

}  // namespace rondo::video
