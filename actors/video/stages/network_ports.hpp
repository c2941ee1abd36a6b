// Pictures to and from graphs in other processes: actors/streams/network_ports.hpp for video::image.
#pragma once

#include <string>

#include "actors/streams/network_ports.hpp"
#include "actors/video/pixels/image.hpp"

namespace rondo::streams {

template <>
struct network_frame<video::image> {
  static std::string text(video::image const& i) {
    return std::to_string(i.width)
        .append("x")
        .append(std::to_string(i.height))
        .append(" ")
        .append(video::name_of(i.format));
  }
  static bool fits(video::image const& agreed, video::image const& about) { return agreed.fits(about); }
};

}  // namespace rondo::streams

namespace rondo::video {

/// Sends pictures to other processes.
struct network_sink : streams::to_network<image, "video"> {};
/// Receives pictures from another process.
struct network_source : streams::from_network<image, "video"> {};

}  // namespace rondo::video
