// Which codecs of a GPU or other hardware this machine has, for people. Each is tried, which may take a second.
#pragma once

#include <string>

namespace rondo::video {

/// A line for each encoder, for file_sink's `codec`.
std::string list_hardware_encoders();
/// A line for each kind of device, for file_source's `decoder`.
std::string list_hardware_decoders();

}  // namespace rondo::video
