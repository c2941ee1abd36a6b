// A source of pictures from a video file, or from a URL that FFmpeg knows. Each tick has the next picture, whatever
// rate the video has.
#pragma once

#include "actors/video/media/picture_source.hpp"
#include "kernels/streams/option_text.hpp"

namespace rondo::video {

struct file_source {
  using ports = streams::ports<streams::out<"video", image>>;
  struct options {
    streams::option_text<1024> file{};
    bool loop = false;
    std::int32_t width = 0, height = 0;
    std::int32_t threads = 1;

    void describe(auto& option) {
      option.reads("file", file, "video file or URL to read");
      option("loop", loop, "begins again at its end");
      option("width", width, "pixels, to which pictures are scaled; 0: the video's own", 0, 16384);
      option("height", height, "likewise", 0, 16384);
      option("threads", threads, "threads of the decoder; 0: as many as it likes", 0, 64);
    }
  };
  static constexpr auto where = streams::works::on_host;
  /// Opens the video to see its size, if the options do not say one.
  static void spec(options const& o, streams::spec_of<file_source>& s);
  /// In a graph that goes on from a checkpoint, decodes again what was processed before, and leaves it out.
  struct host : picture_source {
    host(options const& o, streams::spec_of<file_source> const& s, streams::host_link& link);
  };

  /// The graph ends with the video. It fails if the video is cut short.
  void process(streams::stage_context<file_source>& ctx, streams::tick const& t) {
    give_next_picture(ctx, t);
  }
};

}  // namespace rondo::video
