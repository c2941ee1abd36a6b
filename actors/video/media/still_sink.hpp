// Writes pictures as files, PNG or others by their ending, to look at them.
#pragma once

#include <memory>
#include <string>

#include "actors/video/pixels/image.hpp"
#include "kernels/streams/fault.hpp"
#include "kernels/streams/option_text.hpp"
#include "kernels/streams/stage.hpp"

namespace rondo::video {

struct still_sink {
  using ports = streams::ports<streams::in<"video", image>>;
  struct options {
    streams::option_text<1024> file = "still-{tick}.png";
    std::uint32_t every = 1;

    void describe(auto& option) {
      option.writes("file", file,
                    "picture to write, or to replace: .png, .jpg, .bmp, .tiff or .ppm; {tick} in it is the "
                    "number of the tick");
      option("every", every, "writes the pictures of ticks 0, every, 2 every, and so on", 1, 1'000'000);
    }
  };
  static bool takes(image const&) { return true; }
  static constexpr auto where = streams::works::on_host;
  static void spec(options const& o, streams::spec_of<still_sink>& s);
  struct host {
    streams::stage_error why_failed() const { return {streams::fault::output_refused, why}; }
    std::string why{};
  };

  /// The graph fails if a file cannot be written.
  void process(streams::stage_context<still_sink>& ctx, streams::tick const& t);
};

}  // namespace rondo::video
