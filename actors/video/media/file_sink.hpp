// Writes pictures, and sound, into a video file (actors/video/files/video_writer.hpp).
#pragma once

#include <memory>
#include <string>

#include "actors/video/pixels/image.hpp"
#include "actors/video/pixels/sound.hpp"
#include "kernels/streams/fault.hpp"
#include "kernels/streams/option_text.hpp"
#include "kernels/streams/stage.hpp"

namespace rondo::video {

struct file_sink {
  using ports = streams::ports<streams::in<"video", image>,
                               streams::optional_in<"sound", sound, streams::delivery::lossless>>;
  struct options {
    streams::option_text<1024> file{}, url{}, pattern{};
    streams::option_text<32> container{}, codec{}, preset{};
    double rate = 0;
    std::int32_t quality = 20;
    std::int32_t bit_rate = 0;
    std::int32_t key_every = 0;
    std::int32_t threads = 0;
    bool low_memory = false;

    void describe(auto& option) {
      option.writes("file", file,
                    "video file to write, or to replace, whatever its name: .mp4, .mov, .mkv, .webm, .avi, "
                    ".ts, .flv, .gif or .nut; - for "
                    "standard output");
      option.writes_url("url", url,
                        "address of a server to write to, such as tcp://host:port, in place of a file");
      option.writes("pattern", pattern,
                    "numbered pictures to write, such as frame%04d.png, in place of a file");
      option("container", container, "FFmpeg's name of one; empty: by the file's ending");
      option("codec", codec,
             "FFmpeg's name of a codec or an encoder, such as ffv1 or h264_nvenc; h264_hardware, or another "
             "codec's: the first encoder of hardware that works; empty: the container's usual one");
      option("preset", preset, "of the encoder, such as slow; empty: a fast one");
      option("rate", rate,
             "pictures per second, one for each tick; 0: the pictures' own times, or the graph's rate, or 25",
             0.0, 1000.0);
      option("quality", quality, "from 1, the best, to 51; 0: without loss, if the codec can", 0, 51);
      option("bit_rate", bit_rate, "thousand bits per second, in place of the quality; 0: none", 0,
             1'000'000);
      option("key_every", key_every, "pictures between key pictures, at most; 0: those of two seconds", 0,
             100'000);
      option("threads", threads, "threads of the encoder; 0: as many as it likes", 0, 64);
      option("low_memory", low_memory,
             "looks ahead at no pictures: at 4K 250 MB less, and files up to 1.7 times as large");
    }
  };
  static bool takes(image const& about) { return !about.is_layer(); }
  static bool takes(sound const&) { return true; }
  static constexpr bool takes_any = true;  // pictures and sound come as they come
  static constexpr auto where = streams::works::on_host;
  static void spec(options const& o, streams::spec_of<file_sink>& s);
  /// The file. In a graph that goes on from a checkpoint, what was written before stays: the file is called
  /// clip-from-250.mp4, and begins with its first picture. If the process was killed, what it left (clip.mp4.part) is
  /// clip.mp4 now, up to the checkpoint at least.
  class host {
   public:
    host(options const& o, streams::spec_of<file_sink> const& s, streams::host_link& link);
    ~host();
    streams::stage_error why_failed() const;
    /// Before a checkpoint.
    void flush();

   private:
    friend file_sink;
    std::unique_ptr<class video_file> file_;
  };

  /// A picture is shown at its own time, if its source has times; else at that of its tick, so ticks without one do not
  /// shift the others. With several sources, the graph's rate counts. The graph fails if the file cannot be written;
  /// what was written up to there plays.
  void process(streams::stage_context<file_sink>& ctx, streams::tick const& t);
  /// Finishes the file. So does the end of the graph, if it fails.
  void on_stop(streams::stage_context<file_sink>& ctx);
};

}  // namespace rondo::video
