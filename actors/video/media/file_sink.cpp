#include "actors/video/media/file_sink.hpp"

#include <fmt/format.h>

#include "actors/video/files/video_writer.hpp"
#include "kernels/streams/shapes.hpp"
#include "runtime/files/part_file.hpp"

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

std::string file_sink::shapes(options const& o, streams::shapes_of<file_sink>&) {
  if (o.file.empty()) return "it has no file: name one";
  if (!(o.rate >= 0 && o.rate <= 1000))
    return fmt::format("the rate is {}; it must be 0 to 1000 ticks per second", o.rate);
  if (o.quality < 1 || o.quality > 51)
    return fmt::format("the quality is {}; it must be 1, the best, to 51", o.quality);
  return {};
}
std::shared_ptr<video_file> file_sink::open(options const& o, streams::shapes_of<file_sink> const& s,
                                            streams::host_link& link) {
  auto const first = link.begins_at().tick;
  if (first != 0) part_file::finish_left(o.file.c_str());
  return std::make_shared<video_file>(o, name_from(o.file.c_str(), first), *s.in<"video">());
}
streams::stage_error file_sink::why_failed(video_file const& f) {
  return {streams::fault::output_refused, f.why_failed()};
}
void file_sink::process(streams::stage_context<file_sink>& ctx, streams::tick const& t) {
  auto const in = ctx.input<"video">();
  if (!ctx.host_side<video_file>().write(in.about, in.data, t)) ctx.fail_graph();
}
void file_sink::on_stop(streams::stage_context<file_sink>& ctx) {
  if (!ctx.host_side<video_file>().finish()) ctx.fail_graph();
}

}  // namespace rondo::video
