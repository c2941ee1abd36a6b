// The host's part of one camera: one thread decodes frames and asks the camera's actor to draw on them, another encodes
// the results.
//
// A fixed number of frame buffers circulates: decode -> camera actor -> painter actor -> encode -> decode. When all are
// in use, the decoder waits; nothing else limits the flow. Frames come back in order. On a device with its own memory,
// a frame is copied there once, stays there from actor to actor, and is copied back only if the host reads it.
//
// Threads: construction to `start`, `join` and destruction from one thread; the rest from any.
#pragma once

#include <atomic>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "actors/overlay/overlay_module.hpp"
#include "actors/video/files/video_reader.hpp"
#include "actors/video/files/video_writer.hpp"
#include "runtime/memory/unified_buffer.hpp"
#include "runtime/os/handler_memory.hpp"
#include "runtime/runtime.hpp"
#include "tools/overlay/blocking_queue.hpp"
#include "tools/overlay/feed_options.hpp"

namespace rondo::tools {

/// Called by the feed's own threads.
struct feed_events {
  std::function<void(class camera_feed&)> ended;  // once, when everything is written
  std::int64_t every = 1;
  std::function<void()> frames_done = {};  // after each `every` frames
};

class camera_feed {
 public:
  /// Opens the input. Throws video::video_error.
  explicit camera_feed(feed_options options);
  ~camera_feed();

  /// "camera 1 (street.avi)".
  std::string name() const;
  static std::string actor_name(std::uint32_t camera) { return "camera " + std::to_string(camera); }
  static std::string painter_name(std::uint32_t camera) { return "painter " + std::to_string(camera); }
  feed_options const& options() const noexcept { return options_; }
  video::image const& format() const { return reader_.about(); }
  /// Before `prepare`.
  void set_tiles(int tiles) { options_.tiles = tiles; }
  /// The bytes of buffers that the camera needs with the number of tiles that is set.
  std::uint64_t buffer_bytes() const;

  /// Allocates buffers, and finds or launches the actors. With `keep_state`, existing actors continue after the frames
  /// that they have done, and the output gets another name ("out-from-250.mp4"). Throws boost::system::system_error, or
  /// video::video_error if the clip cannot be preloaded.
  void prepare(runtime& rt, bool keep_state);
  /// Creates the output, if one is wanted. Throws video::video_error.
  void open_output();
  /// Starts the threads.
  void start(feed_events events);
  /// Stops decoding; frames in flight are finished.
  void stop();
  void join();

  void set_paused(bool paused);
  /// Writes the next frame that the camera starts as a picture. `ticket` is not 0.
  void take_snapshot(std::uint32_t ticket);
  /// Stops decoding until `resume`. Returns once no frame is in flight.
  void hold();
  void resume();

  feed_progress progress() const;
  /// Valid once the feed has ended, as are the paths of the written pictures.
  feed_outcome const& outcome() const noexcept { return outcome_; }
  std::vector<std::string> const& pictures() const noexcept { return pictures_; }

 private:
  struct finished_frame {
    std::size_t slot;
    error_code error;
    overlay::frame_done done;
  };

  std::size_t frame_buffers() const;
  void decode();
  void decode_frames();
  bool read_into(std::size_t slot);
  void send(std::size_t slot, std::int64_t number, buffer_ref pixels);
  void encode();
  void take(finished_frame const& f);
  void write_picture(std::string const& directory, char const* kind, std::uint64_t number,
                     std::byte const* picture);
  void enter();
  void leave();
  void fail(exit_code code, std::string reason);

  feed_options options_;
  video::video_reader reader_;
  std::int64_t expected_ = 0, first_ = 0;
  std::vector<std::int64_t> still_at_;
  std::optional<video::video_writer> writer_;
  runtime* runtime_ = nullptr;
  actor_ref<overlay::camera> camera_;
  unified_buffer<std::byte> memory_;
  std::vector<unified_buffer<std::byte>> frames_;
  std::vector<video::shown_time> stamps_;  // by frame buffer: when it is shown
  std::vector<handler_memory> asks_;       // by frame buffer: at most one ask for each is in flight

  blocking_queue<std::size_t> free_;  // bounds the frames in flight
  blocking_queue<finished_frame> finished_;
  std::atomic<bool> stopping_{false};

  std::mutex mutex_;  // guards the next four
  std::condition_variable changed_;
  std::int64_t under_way_ = 0;
  bool held_ = false;
  feed_outcome outcome_;

  std::atomic<std::int64_t> sent_{0}, looked_at_{0}, done_{0}, started_ns_{0}, ended_ns_{0};
  std::atomic<std::uint32_t> tracks_{0}, ids_{0}, overflow_{0};
  std::vector<std::string> pictures_;
  feed_events events_;
  std::thread decoder_, encoder_;
};

}  // namespace rondo::tools
