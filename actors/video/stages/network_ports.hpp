// Pictures to and from graphs in other processes: actors/streams/network_ports.hpp for video::image.
#pragma once

#include <string>

#include "actors/streams/network_ports.hpp"
#include "actors/video/pixels/image.hpp"

namespace rondo::streams {

template <>
struct network_frame<video::image> {
  struct shape {
    std::int32_t width = 640, height = 480;
    video::pixel_format format = video::pixel_format::i420;

    void describe(auto& option) {
      option("width", width, "of the pictures, in pixels, as the sender has them", 16, 16384);
      option("height", height, "of the pictures, in pixels, as the sender has them", 16, 16384);
      option.choice("format", format, "of the pictures, as the sender has them", {"i420", "i420a"});
    }
    std::string error() const {
      auto const* const why = video::size_error(width, height);
      return why != nullptr ? why : "";
    }
    video::image value() const { return {width, height, format}; }
  };
  static std::string text(video::image const& i) {
    auto const* const format = i.format == video::pixel_format::i420a ? " i420a" : " i420";
    return std::to_string(i.width).append("x").append(std::to_string(i.height)).append(format);
  }
  static bool fits(video::image const& agreed, video::image const& about) { return about == agreed; }
};

}  // namespace rondo::streams

namespace rondo::video {

/// Sends pictures to other processes.
struct network_sink : streams::to_network<image, "video"> {};
/// Receives pictures from another process.
struct network_source : streams::from_network<image, "video"> {};

}  // namespace rondo::video
