// Writes the video file that the argument names.
#include <cstring>
#include <filesystem>

#include "actors/video/media/media_module.hpp"
#include "actors/video/video_module.hpp"
#include "runtime/streams/graph.hpp"

RONDO_STAGES(all_stages, RONDO_VIDEO_STAGES, RONDO_MEDIA_STAGES)

int main(int, char** argv) {
  rondo::runtime rt{rondo::use<all_stages>};
  rondo::streams::graph g{rt, {.ticks = 5}};
  auto const from = g.add<rondo::video::test_pattern>("from", {.width = 64, .height = 48});
  rondo::video::file_sink::options written;
  if (!written.file.assign(argv[1], std::strlen(argv[1]))) return 2;
  auto const to = g.add<rondo::video::file_sink>("to", written);
  g.connect(from.out<"video">(), to.in<"video">());
  g.start();
  return g.wait() || std::filesystem::file_size(argv[1]) < 500 ? 1 : 0;
}
