// Transfers of pictures that are placed by hand: actors/streams/transfers.hpp for video::image.
#pragma once

#include "actors/streams/transfers.hpp"
#include "actors/video/pixels/image.hpp"

namespace rondo::video {

/// See streams::to_device.
struct to_device : streams::to_device<image, "video"> {};
/// See streams::to_host.
struct to_host : streams::to_host<image, "video"> {};

}  // namespace rondo::video
