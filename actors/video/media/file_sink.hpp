// Writes pictures into an MP4 file, as H.264 (video_writer.hpp).
#pragma once

#include <memory>
#include <string>

#include "actors/video/pixels/image.hpp"
#include "kernels/streams/fault.hpp"
#include "kernels/streams/option_text.hpp"
#include "kernels/streams/stage.hpp"

namespace rondo::video {

struct file_sink {
  using ports = streams::ports<streams::in<"video", image>>;
  struct options {
    streams::option_text<1024> file{};
    double rate = 0;
    std::int32_t quality = 20;
    std::int32_t threads = 0;

    void describe(auto& option) {
      option.writes("file", file, "video file to write, or to replace");
      option("rate", rate, "ticks per second of the video; 0: as the graph's clock, or 25 if it has no rate",
             0.0, 1000.0);
      option("quality", quality, "from 1, the best, to 51", 1, 51);
      option("threads", threads, "threads of the encoder; 0: as many as it likes", 0, 64);
    }
  };
  static constexpr auto where = streams::works::on_host;
  static void spec(options const& o, streams::spec_of<file_sink>& s);
  /// The file. In a graph that goes on from a checkpoint, what was written before stays: the file is called
  /// clip-from-250.mp4. If the process was killed, what it left (clip.mp4.part) is clip.mp4 now, and pictures shortly
  /// before the checkpoint may be missing, because the encoder had them (video_writer.hpp).
  class host {
   public:
    host(options const& o, streams::spec_of<file_sink> const& s, streams::host_link& link);
    ~host();
    streams::stage_error why_failed() const;

   private:
    friend file_sink;
    std::unique_ptr<class video_file> file_;
  };

  /// A picture is shown at the time of its tick, so ticks without one do not shift the others. The graph fails if the
  /// file cannot be written; what was written up to there plays.
  void process(streams::stage_context<file_sink>& ctx, streams::tick const& t);
  /// Finishes the file. So does the end of the graph, if it fails.
  void on_stop(streams::stage_context<file_sink>& ctx);
};

}  // namespace rondo::video
