// A source of pictures, and of their sound, from a video file, a server, or numbered pictures. Each tick has the next
// picture, with its own time, whatever rate the graph has.
#pragma once

#include "actors/video/media/picture_source.hpp"
#include "kernels/streams/option_text.hpp"

namespace rondo::video {

enum class interlaced_as : std::uint32_t { progressive, as_it_is };
enum class odd_size : std::uint32_t { crop, pad };
enum class source_matrix : std::uint32_t { keep, bt601, bt709, bt2020 };
enum class source_range : std::uint32_t { keep, limited, full };

struct file_source {
  using ports = streams::ports<streams::out<"video", image>, streams::optional_out<"sound", sound>>;
  struct options {
    streams::option_text<1024> file{}, url{}, pattern{};
    bool loop = false;
    std::int32_t width = 0, height = 0;
    streams::option_text<32> decoder = "auto";
    std::int32_t threads = 1;
    std::uint32_t preload = 0;
    double from = 0, to = 0;
    double rate = 0;
    double reconnect = 0;
    bool turn = true;
    interlaced_as deinterlace = interlaced_as::progressive;
    odd_size odd = odd_size::crop;
    source_matrix matrix = source_matrix::keep;
    source_range range = source_range::keep;

    void describe(auto& option) {
      option.reads("file", file, "video file to read, whatever its name; - for standard input");
      option.reads_url("url", url,
                       "address of a server to read from, such as rtsp://host/path, in place of a file");
      option.reads("pattern", pattern,
                   "numbered pictures to read, such as frame%04d.png, in place of a file");
      option("loop", loop, "begins again at its end");
      option("width", width, "pixels, to which pictures are scaled; 0: the video's own", 0, 16384);
      option("height", height, "likewise", 0, 16384);
      option(
          "decoder", decoder,
          "auto: the processor; hardware: the first kind that works here; or FFmpeg's name of one, such as "
          "cuda, vaapi or videotoolbox, or of a decoder");
      option("threads", threads, "threads of the decoder; 0: as many as it likes", 0, 64);
      option("preload", preload,
             "decodes so many pictures into memory before the graph begins, to measure the stages behind; 0: "
             "none",
             0, 1'000'000);
      option("from", from, "seconds of the video at which to begin", 0.0, 1e9);
      option("to", to, "seconds of the video at which to end; 0: its end", 0.0, 1e9);
      option("rate", rate, "of numbered pictures, in pictures per second; 0: 25", 0.0, 1000.0);
      option("reconnect", reconnect,
             "seconds to wait before a server that has gone is called again, as often as it takes; 0: the "
             "graph fails",
             0.0, 3600.0);
      option("turn", turn, "turns and mirrors pictures as the file says, as players do");
      option.choice("deinterlace", deinterlace, "what becomes of interlaced pictures", {"auto", "keep"});
      option.choice("odd", odd, "what becomes of an odd width or height", {"crop", "pad"});
      option.choice("matrix", matrix, "of the colours' samples", {"keep", "bt601", "bt709", "bt2020"});
      option.choice("range", range, "of the samples", {"keep", "limited", "full"});
    }
  };
  static constexpr auto where = streams::works::on_host;
  /// Opens the video to see what its pictures and its sound are.
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
