// The overlay's stages in a plain loop over threads, without actors: the reference with which the actors are compared.
//
// Each frame is cut into tiles that N threads share, with a barrier between the phases. Frames are decoded before the
// timed part and encoded after it; decoding and encoding are timed separately. One JSON line goes to standard output.
#include "bench/overlay/overlay_loop.hpp"

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <optional>
#include <string>
#include <vector>

#include "actors/video/files/still.hpp"
#include "actors/video/files/video_reader.hpp"
#include "actors/video/files/video_writer.hpp"
#include "bench/harness/measurement.hpp"

namespace {

using clock_type = std::chrono::steady_clock;

double us_since(clock_type::time_point start) {
  return std::chrono::duration<double, std::micro>(clock_type::now() - start).count();
}

struct options {
  std::string input, output, stills, camera = "camera 1";
  std::int64_t frames = 1'000'000;
  int threads = 1, tiles = 0;
  bool preload = false;
  std::vector<std::int64_t> still_at;
};

/// The frames: decoded one at a time into the same memory, or all of them in advance.
class clip {
 public:
  clip(rondo::video::video_reader& reader, options const& o) : reader_(reader), preload_(o.preload) {
    while (preload_ && static_cast<std::int64_t>(memory_.size()) < o.frames && decode()) {
    }
    if (!preload_) add();
  }
  rondo::video::frame_view const* next() {
    if (preload_) return given_ < frames_ ? &views_[given_++] : nullptr;
    return read(0) ? &views_[0] : nullptr;
  }

  std::byte const* data() const {
    return reinterpret_cast<std::byte const*>(memory_[preload_ ? given_ - 1 : 0].data());
  }

 private:
  bool read(std::size_t at) {
    if (!reader_.next()) return false;
    reader_.get(reinterpret_cast<std::byte*>(memory_[at].data()));
    return true;
  }
  void add() {
    auto const& format = reader_.about();
    memory_.emplace_back(rondo::video::frame_bytes(format.width, format.height));
    rondo::video::carver carver(memory_.back().data());
    views_.push_back(rondo::video::carve_frame(carver, format.width, format.height));
  }
  bool decode() {
    add();
    if (!read(views_.size() - 1)) return false;
    ++frames_;
    return true;
  }

  rondo::video::video_reader& reader_;
  bool preload_;
  std::vector<rondo::bench::aligned_memory> memory_;
  std::vector<rondo::video::frame_view> views_;
  std::size_t frames_ = 0, given_ = 0;
};

int run(options const& o) {
  using namespace rondo;
  video::video_reader reader(o.input);
  auto const& format = reader.about();
  video::overlay_params const params;
  // A few tiles per thread balance the work; a single tile needs no halo.
  int const tiles = o.tiles > 0 ? o.tiles : (o.threads == 1 ? 1 : 4 * o.threads);
  bench::overlay_loop loop(format.width, format.height, o.threads, tiles, params);
  clip source(reader, o);
  std::optional<video::video_writer> writer;
  if (!o.output.empty()) {
    writer.emplace(o.output, video::writing{});
    writer->begin(format);
  }

  video::status_line status{};
  std::strncpy(status.camera, o.camera.c_str(), sizeof status.camera - 1);
  std::vector<double> us;
  double decode_us = 0, encode_us = 0;
  auto const begin = clock_type::now();
  while (static_cast<std::int64_t>(us.size()) < o.frames) {
    auto start = clock_type::now();
    auto const* const next = source.next();
    if (next == nullptr) break;
    video::frame_view const frame = *next;
    decode_us += us_since(start);
    status.frames_per_s_x10 = static_cast<std::int32_t>(format.rate() * 10 + 0.5);
    start = clock_type::now();
    loop.process(frame, status);
    us.push_back(us_since(start));
    start = clock_type::now();
    auto const number = static_cast<std::int64_t>(us.size()) - 1;
    if (writer) writer->write(source.data(), {reader.time_ns(), reader.lasts_ns()});
    if (std::find(o.still_at.begin(), o.still_at.end(), number) != o.still_at.end())
      video::write_still(fmt::format("{}/still_{:05}.png", o.stills, number), format, source.data());
    encode_us += us_since(start);
  }
  if (writer) writer->close();
  double const total_us = us_since(begin);
  if (!reader.error().empty()) fmt::print(stderr, "overlay_loop: {}\n", reader.error());
  double stage_us = 0;
  for (double const v : us) stage_us += v;
  auto const frames = static_cast<double>(us.size());
  bench::summary const took = bench::summarise(us);
  video::overlay_scene const& scene = loop.scene();
  fmt::print(
      "{{\"bench\":\"overlay_loop\",\"input\":\"{}\",\"width\":{},\"height\":{},\"threads\":{},\"tiles\":{},"
      "\"frames\":{},\"frames_per_s\":{:.1f},\"end_to_end_frames_per_s\":{:.1f},\"p50_us\":{:.1f},\"p90_us\":"
      "{:.1f},"
      "\"p99_us\":{:.1f},\"p999_us\":{:.1f},\"max_us\":{:.1f},\"decode_us\":{:.1f},\"encode_us\":{:.1f},"
      "\"ids\":{},\"overflow\":{},\"compiler\":\"{}\"}}\n",
      o.input, format.width, format.height, o.threads, tiles, us.size(), frames * 1e6 / stage_us,
      frames * 1e6 / total_us, took.p50, took.p90, took.p99, took.p99_9, took.max, decode_us / frames,
      encode_us / frames, scene.tracks.next_id - 1,
      scene.tracks.overflow + scene.regions.overflow + scene.drawing.overflow, __VERSION__);
  return us.empty() ? 1 : 0;
}

}  // namespace

int main(int argc, char** argv) {
  options o;
  CLI::App app{"The overlay's stages in a plain loop over threads"};
  app.add_option("--input", o.input, "the video to read")->required();
  app.add_option("--output", o.output, "an MP4 file to write");
  app.add_option("--threads", o.threads, "threads that share each frame")->check(CLI::Range(1, 256));
  app.add_option("--tiles", o.tiles, "tiles per frame (default: 1, or 4 per thread)")
      ->check(CLI::Range(1, 4096));
  app.add_option("--frames", o.frames, "frames at most")->check(CLI::PositiveNumber);
  app.add_flag("--preload", o.preload, "decode all frames before the first is timed");
  app.add_option("--camera", o.camera, "the name drawn on the picture");
  app.add_option("--stills", o.stills, "a directory for PNG pictures");
  app.add_option("--still-at", o.still_at, "frame numbers to write as pictures")->delimiter(',');
  CLI11_PARSE(app, argc, argv);
  try {
    return run(o);
  } catch (std::exception const& e) {
    fmt::print(stderr, "overlay_loop: {}\n", e.what());
    return 1;
  }
}
