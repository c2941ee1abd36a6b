// A source of pictures from a camera of the system (V4L2). Each tick waits for the camera's next picture.
#pragma once

#include <string>

#include "actors/video/media/picture_source.hpp"
#include "kernels/streams/option_text.hpp"

namespace rondo::video {

struct camera {
  using ports = streams::ports<streams::out<"video", image>>;
  struct options {
    streams::option_text<256> device = "/dev/video0";
    std::int32_t width = 640, height = 480;
    double rate = 0;

    void describe(auto& option) {
      option("device", device, "of the camera");
      option("width", width, "pixels; pictures of another size are scaled", 16, 16384);
      option("height", height, "likewise", 16, 16384);
      option("rate", rate, "pictures per second that the camera is asked for; 0: its own", 0.0, 1000.0);
    }
  };
  static constexpr auto where = streams::works::on_host;
  static void spec(options const& o, streams::spec_of<camera>& s);
  struct host : picture_source {
    host(options const& o, streams::spec_of<camera> const& s);
    streams::stage_error why_failed() const;
  };

  /// The graph fails if the camera does, for instance because it is unplugged.
  void process(streams::stage_context<camera>& ctx, streams::tick const& t) { give_next_picture(ctx, t); }
};

/// The cameras of the system, and the sizes and rates of their formats, for people.
std::string list_cameras();

}  // namespace rondo::video
