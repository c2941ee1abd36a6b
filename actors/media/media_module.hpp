// The stages that need libraries: files, cameras, windows and fonts; beside those in actors/video/video_module.hpp. A module of both:
//   RONDO_STAGES(name, RONDO_VIDEO_STAGES, RONDO_MEDIA_STAGES, stages of your own)
#pragma once

#include "actors/media/camera.hpp"
#include "actors/media/display.hpp"
#include "actors/media/file_sink.hpp"
#include "actors/media/file_source.hpp"
#include "actors/media/still_sink.hpp"
#include "actors/media/text.hpp"

#define RONDO_MEDIA_STAGES                                                                               \
  ::rondo::video::text, ::rondo::video::display, ::rondo::video::file_source, ::rondo::video::file_sink, \
      ::rondo::video::still_sink, ::rondo::video::camera
