// The bytes on a connection that carries frames from a writer (frame_sender) to one reader (frame_receiver).
//
//   reader -> writer   reader_hello
//   writer -> reader   writer_hello; if it refuses, with the reason, and then it closes the connection
//   writer -> reader   frame_header and the frame's data, again and again; `alive` when there was nothing for a while;
//                      at last `end`
//
// After its hello the reader sends only single bytes, `wire_alive`, while it reads nothing because its graph is busy.
// All numbers are little-endian. Texts end with a zero. Unused bytes are zero. Both sides check each header before they
// allocate or copy anything, and disconnect a peer that breaks the protocol.
#pragma once

#include <algorithm>
#include <bit>
#include <chrono>
#include <cstdint>
#include <span>
#include <string>

#include "kernels/streams/edge.hpp"
#include "kernels/streams/frame.hpp"

namespace rondo::streams {

static_assert(std::endian::native == std::endian::little, "the structs below are sent as they lie in memory");

inline constexpr char wire_magic[8] = {'R', 'O', 'N', 'D', 'O', 'F', 'R', 'M'};
inline constexpr std::uint32_t wire_version = 2;
inline constexpr std::chrono::milliseconds rarest_alive{1000};  // a side says at least so often that it lives
inline constexpr std::chrono::milliseconds most_often_alive{10};
inline constexpr std::chrono::seconds longest_hello{5};  // each side has so long for all of its part

/// What frames a side passes. Both sides must say the same.
struct frame_terms {
  std::string frame;             // the qualified name of their type
  std::string shape;             // what they look like, such as "640x480 i420"; empty: only their size counts
  std::uint64_t most_bytes = 0;  // of a frame's data
  std::uint32_t about_bytes = 0;  // of its type

  std::string text() const;
};
/// Why a reader with `reads` cannot take what a writer with `writes` sends; empty: it can.
std::string why_not(frame_terms const& writes, frame_terms const& reads);

/// Terms as they are sent.
struct wire_terms {
  std::uint64_t most_bytes;
  std::uint32_t about_bytes;
  std::uint32_t unused;
  char frame[112];
  char shape[64];

  static wire_terms from(frame_terms const& t);
  /// Unprintable characters are replaced.
  frame_terms read() const;
};
static_assert(sizeof(wire_terms) == 192);

struct reader_hello {
  char magic[8];
  std::uint32_t version;
  std::uint32_t how;          // a delivery
  std::uint32_t patience_ms;  // the reader takes a writer for dead that sends nothing for so long; 0: never
  std::uint32_t unused;
  wire_terms terms;
};
static_assert(sizeof(reader_hello) == 216);
inline constexpr std::byte wire_alive{1};

struct writer_hello {
  char magic[8];
  std::uint32_t version;
  std::uint32_t refuses;  // 1: for this reason
  std::uint32_t
      patience_ms;  // the writer takes a reader for dead that neither reads nor says anything for so long; 0: never
  std::uint32_t unused;
  wire_terms terms;
  char reason[512];
};
static_assert(sizeof(writer_hello) == 728);

enum class wire_kind : std::uint32_t { frame = 1, end = 2, alive = 3 };

/// Before each frame. For `end`, `origin` is what would come next; zero if nothing was sent.
struct frame_header {
  std::uint32_t kind;  // a wire_kind
  std::uint32_t unused;
  std::uint64_t data_bytes;  // that follow; 0 unless it is a frame
  frame_origin origin;
  std::uint64_t
      first;  // number of the first frame of this session that came to the writer after the reader had joined
  std::byte about[max_about_bytes];
};
static_assert(sizeof(frame_header) == 88 && std::is_trivially_copyable_v<frame_header>);

/// How often a side says that it lives, if the other one has this patience.
inline std::chrono::milliseconds alive_every(std::uint32_t patience_ms) {
  if (patience_ms == 0) return rarest_alive;
  return std::clamp(std::chrono::milliseconds(patience_ms / 4), most_often_alive, rarest_alive);
}

/// As it is sent.
template <class T>
std::span<std::byte> bytes_of(T& t) {
  return std::as_writable_bytes(std::span(&t, 1));
}

/// Puts as much of `text` as fits into a field of `bytes` bytes.
void write_text(char* field, std::size_t bytes, std::string const& text);
/// The text of a field that somebody has sent: printable.
std::string read_text(char const* field, std::size_t bytes);

}  // namespace rondo::streams
