// The stages that need libraries: files, cameras, windows and fonts; beside those in actors/video/video_module.hpp. A
// module of both:
//   RONDO_STAGES(name, RONDO_VIDEO_STAGES, RONDO_MEDIA_STAGES, stages of your own)
#pragma once

#include "actors/video/letters/draw_labels.hpp"
#include "actors/video/letters/text.hpp"
#include "actors/video/media/camera.hpp"
#include "actors/video/media/display.hpp"
#include "actors/video/media/file_sink.hpp"
#include "actors/video/media/file_source.hpp"
#include "actors/video/media/reshape.hpp"
#include "actors/video/media/still_sink.hpp"
#include "actors/video/overlay/points_source.hpp"

#define RONDO_MEDIA_STAGES                                                                               \
  ::rondo::video::text, ::rondo::video::display, ::rondo::video::file_source, ::rondo::video::file_sink, \
      ::rondo::video::still_sink, ::rondo::video::camera, ::rondo::video::points_source,                 \
      ::rondo::video::draw_labels, ::rondo::video::reshape
