// Writes one picture as a file: PNG, JPEG, BMP, TIFF or PPM, by the name's ending.
#pragma once

#include <string>

#include "actors/video/pixels/image.hpp"

namespace rondo::video {

/// Why there can be no picture of this name; empty: there can.
std::string why_no_still(std::string const& path);
/// Creates or replaces `path`. Its colours are sRGB as the picture's description says, with opacities where the format
/// has them. Throws video_error.
void write_still(std::string const& path, image const& about, std::byte const* data);

}  // namespace rondo::video
