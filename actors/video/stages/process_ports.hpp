// Pictures to and from graphs of other processes on this machine.
#pragma once

#include "actors/streams/process_ports.hpp"
#include "actors/video/pixels/image.hpp"

namespace rondo::video {

/// See streams::to_process.
struct process_sink : streams::to_process<image, "video"> {};
/// See streams::from_process.
struct process_source : streams::from_process<image, "video"> {};

}  // namespace rondo::video
