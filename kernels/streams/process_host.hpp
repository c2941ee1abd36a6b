// The host sides of the stages that pass frames between processes (actors/streams/process_ports.hpp). runtime/streams/process defines them.
//
// Threads: the stage's actor; give_back on any.
#pragma once

#include "kernels/streams/delivery.hpp"
#include "kernels/streams/frame_pool.hpp"
#include "kernels/streams/host_link.hpp"

namespace rondo::streams {

/// A frame on its way to or from another process.
struct process_frame {
  std::byte const* data;
  std::uint64_t bytes, number, time_ns, type;  // type: a number of its frame_type
  frame_origin origin;                         // without a session: it has not passed through a network
  std::byte about[max_about_bytes];
};

/// Frames that slow readers did not get, since this was last asked.
struct process_lost {
  std::uint64_t dropped = 0;   // with `every`, or because there was none
  std::uint64_t replaced = 0;  // with `latest`
};

class process_writer {
 public:
  virtual ~process_writer() = default;
  /// False: it keeps as many frames as it may. The stage is woken when that has changed.
  virtual bool has_room() const noexcept = 0;
  /// Gives up the frames that wait for a first reader, and those that are passed until there is one.
  virtual void give_up_unread() = 0;
  /// Precondition: it has room. Takes the frame's use over, and passes it on now or later. True: it was, or will be, copied. Throws std::runtime_error if there is no
  /// memory for copies.
  virtual bool pass(frame const& kept, std::uint64_t type) = 0;
  virtual process_lost lost() = 0;
};

class process_reader : public lender {
 public:
  virtual ~process_reader() = default;
  /// The next frame, which replaces the one before. False: there is none, at present or, if `ended`, for ever.
  virtual bool next(bool& ended) = 0;
  virtual process_frame const& current() const noexcept = 0;
  virtual process_lost lost() = 0;
  /// The frame was lent under this number of a block; it goes back to its process by give_back.
  virtual void lend(std::uint32_t block) = 0;

 protected:
  explicit process_reader(void (*back)(lender&, std::uint32_t) noexcept) noexcept : lender{back} {}
};

/// Where `to_process` listens.
struct process_listening {
  char const* path;
  std::uint64_t most_bytes;  // of a frame
  std::uint32_t blocks, readers, linger_ms;
};
/// Where `from_process` connects to.
struct process_connecting {
  char const* path;
  delivery how;
  std::uint32_t capacity, wait_ms;
};
/// The caller owns them. They throw std::runtime_error with the path and the reason.
process_writer* new_process_writer(process_listening const& how, host_link& link);
process_reader* new_process_reader(process_connecting const& how, host_link& link);

}  // namespace rondo::streams
