// Clips as people have them, made with FFmpeg's libraries, and what is in a file.
#pragma once

#include <string>
#include <vector>

#include "actors/video/ffmpeg/ffmpeg.hpp"

namespace clip_test {

using rondo::video::colour_description;
namespace ffmpeg = rondo::video::ffmpeg;

/// Red, green, blue and opacity of the nine patches of each picture, three in a row.
struct patch {
  int r, g, b, a;
};
inline constexpr patch patches[9] = {{255, 255, 255, 255}, {251, 0, 0, 255},  {0, 250, 0, 255},
                                     {0, 0, 249, 255},     {16, 16, 16, 255}, {190, 190, 190, 255},
                                     {220, 180, 30, 255},  {0, 0, 0, 255},    {90, 40, 160, 255}};

struct recipe {
  std::string file;  // its ending says which container
  char const* codec = "ffv1";
  AVPixelFormat format = AV_PIX_FMT_YUV420P;
  int width = 160, height = 120;
  AVRational rate{25, 1};
  std::vector<double> times{};  // of the pictures, in seconds; empty: `pictures` at the rate
  int pictures = 20;
  colour_description colours{};
  AVRational aspect{1, 1};
  int rotate = 0;  // degrees clockwise that players turn it
  bool mirrored = false;
  unsigned brightest = 0;  // of HDR: the brightest pixel, in cd/m2; 0: it is not said
  bool interlaced = false;
  int opacity = 255;            // of all patches
  char const* sound = nullptr;  // its codec
  double sound_seconds = 0;
  char const* title = nullptr;
};
void make(recipe const& r);

/// What a file holds.
struct contents {
  std::string codec, sound_codec;
  int width = 0, height = 0, rotate = 0, format = -1;
  AVRational rate{}, aspect{};
  colour_description colours;
  bool interlaced = false;
  unsigned brightest = 0;
  std::vector<double> times;       // of the pictures, in seconds
  double lasts = 0;                // the last picture
  std::vector<std::string> heard;  // packets of sound
  double heard_from = 0;           // seconds
  /// Of the first picture: samples at the middles of the patches, of 8 bits, as they are stored.
  double samples[9][4] = {};
};
contents read(std::string const& file);

/// The samples that a patch has, by ITU-T H.273, in double precision.
struct samples {
  double y, u, v;
};
samples samples_of(patch const& p, colour_description const& of);

}  // namespace clip_test
