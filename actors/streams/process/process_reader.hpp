// The host's half of from_process: an importer, and the leases of the frames that are in the graph.
//
// Threads: the stage's actor; it takes back what it has lent on any.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "actors/streams/process/process_writer.hpp"
#include "kernels/base/delivery.hpp"
#include "runtime/sharing/buffer_importer.hpp"

namespace rondo::streams {

/// Where `from_process` connects to.
struct process_connecting {
  std::string path;
  delivery how;
  std::uint32_t capacity, wait_ms;
};

/// A frame that has come from another process.
struct process_frame {
  std::byte const* data;
  std::uint64_t bytes, number, time_ns, type;  // type: a number of its frame_type
  frame_origin origin;                         // without a session: it has not passed through a network
  std::byte about[max_about_bytes];
};

class process_reader : public lender {
 public:
  /// Waits until the other process is there, but not longer than wait_ms. Throws stage_error with the path and the
  /// reason.
  process_reader(process_connecting const& how, host_link& link);

  /// The next frame, which replaces the one before. False: there is none, at present or, if `ended`, for ever.
  bool next(bool& ended);
  process_frame const& current() const noexcept { return now_; }
  process_lost lost();
  /// The frame was lent under this number of a block; its lease ends with its last use.
  void lend(std::uint32_t block);

 private:
  void end_lease(std::uint32_t block) noexcept;

  std::unique_ptr<buffer_importer> importer_;
  process_frame now_{};
  std::uint64_t replaced_ = 0;
  shared_lease lease_;  // of `now_`, until it was lent
  std::mutex mutex_;    // guards the leases of the frames in the graph, by block
  std::map<std::uint32_t, shared_lease> lent_;
};

}  // namespace rondo::streams
