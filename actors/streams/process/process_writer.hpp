// The host's half of to_process: frames that wait for room or for a reader, and the exporter that passes them on.
//
// Threads: the stage calls it. The exporter's thread passes on what waited, and ends the uses of frames that came back.
// The mutex is taken before the exporter's own, never after it.
#pragma once

#include <atomic>
#include <deque>
#include <memory>
#include <mutex>
#include <string>

#include "kernels/streams/frame_pool.hpp"
#include "kernels/streams/host_link.hpp"
#include "runtime/memory/buffer_pool.hpp"
#include "runtime/sharing/buffer_exporter.hpp"

namespace rondo::streams {

/// Where `to_process` listens.
struct process_listening {
  std::string path;
  std::uint64_t most_bytes;  // of a frame
  std::uint32_t blocks, readers, linger_ms;
};

/// Frames that slow readers did not get, since this was last asked.
struct process_lost {
  std::uint64_t dropped = 0;   // with `every`, or because there was none
  std::uint64_t replaced = 0;  // with `latest`
};

class process_writer {
 public:
  /// Throws std::runtime_error with the path and the reason.
  process_writer(process_listening how, host_link& link);
  process_writer(process_writer const&) = delete;
  process_writer& operator=(process_writer const&) = delete;
  ~process_writer();

  /// False: it keeps as many frames as it may. The stage is woken when that has changed.
  bool has_room() const noexcept { return kept_.count.load(std::memory_order_relaxed) < kept_.most; }
  /// Gives up the frames that wait for a first reader, and those that are passed until there is one.
  void give_up_unread();
  /// Precondition: it has room. Takes the frame's use over, and passes it on now or later. True: it was, or will be,
  /// copied. Throws std::runtime_error if there is no memory for copies.
  bool pass(frame const& kept, std::uint64_t type);
  process_lost lost();

 private:
  /// How many frames it keeps.
  struct keeping {
    host_link& link;
    std::uint32_t const most;
    std::atomic<std::uint32_t> count{0};
  };
  class kept_frame;
  struct waiting_frame {
    std::shared_ptr<kept_frame> kept;
    std::uint64_t type;
    shared_buffer_ref shared;  // once it was exported
  };
  void drop_unread();
  void pass_on();
  bool share(waiting_frame& next);
  void make_copies();
  void wait_for_readers();
  bool is_done();

  process_listening const how_;
  keeping kept_;
  memfd_resource* memory_;
  process_lost lost_{};  // the stage's
  std::unique_ptr<memfd_resource> own_memory_;

  std::mutex mutex_;                     // guards the members below
  std::unique_ptr<buffer_pool> copies_;  // null: all frames lay in shared memory
  std::deque<waiting_frame> waiting_;
  std::uint32_t joined_ = 0;
  bool gives_up_unread_ = false;
  std::uint64_t dropped_ = 0;  // by the exporter, up to the last announcement
  std::uint64_t unread_ = 0;   // frames that were given up or passed on when there was no reader
  std::unique_ptr<buffer_exporter> exporter_;
};

}  // namespace rondo::streams
