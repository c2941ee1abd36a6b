// What two processes that share buffers agree on: the handle, the shared words, and the packets of the handshake.
//
// The exporter makes three pieces of shared memory, and each is written by one side only:
//   data       the buffers' bytes. Written by the exporter; sealed, so that importers map it for reading only.
//   directory  which slots are exported, and who may read. Written by the exporter; sealed likewise.
//   row        one per importer: its heartbeat, and how many leases it has of each slot. Written by that importer alone,
//              so one that is broken harms nobody but itself (and keeps the blocks that it says it leases).
//
// **Ordering** (seq_cst where each side writes its own word and then reads the other's: a store-buffer pattern, which
// acquire and release cannot order)
//   open -> lease      `export_table::open` stores the slot's word; the importer's load of it, after it counted itself,
//                      acquires the buffer's bytes, and where they are.
//   lease | withdraw   The importer counts itself, then loads the slot's word. The exporter closes the word, then loads
//                      the counts. One of them sees the other: no lease is both given and overlooked. seq_cst, all four.
//   end | withdraw     The importer takes its count back, then loads the word, and says so by a packet if it is closed. The
//                      exporter closes it, then loads the counts. So the end of the last lease is never missed. seq_cst.
//   end -> reuse       The importer's subtraction releases; the exporter's load of a count of 0 acquires: no byte
//                      is written anew before it was read.
//   cut -> reuse       A seqlock: the exporter takes the row's owner away, a release fence, and later writes the bytes. The
//                      reader reads the bytes, an acquire fence, and looks for itself (`shared_lease::valid`). A reader
//                      that saw a byte written after the cut sees the cut. ASSUMES: that this holds for plain reads of
//                      the bytes too, whose race C++ leaves undefined; the compiler cannot move them across the fence.
//
// A transport for a device's memory differs in `data` alone: what a welcome carries in place of its descriptor, and how
// the importer makes it an address. Slots, rows, leases and death stay as they are.
#pragma once

#include <algorithm>
#include <cstring>
#include <span>
#include <string_view>
#include <type_traits>

#include "kernels/atomic.hpp"

namespace rondo {

/// A range of a buffer that another process exports. Trivially copyable: it may travel any way.
struct shared_buffer_ref {
  std::uint64_t share;  // which exporter, by a number that none before it had
  std::uint32_t slot;
  std::uint32_t generation;  // 0: refers to nothing
  std::uint64_t offset;      // in bytes, from the exported range's start
  std::uint64_t bytes;

  /// As buffer_ref::slice.
  constexpr shared_buffer_ref slice(std::uint64_t start, std::uint64_t length) const noexcept {
    if (start > bytes || length > bytes - start) return {share, slot, generation, ~0ull, 0};
    return {share, slot, generation, offset + start, length};
  }
  friend constexpr bool operator==(shared_buffer_ref const&, shared_buffer_ref const&) = default;
};
static_assert(sizeof(shared_buffer_ref) == 32 && std::is_trivially_copyable_v<shared_buffer_ref>);

namespace share {

inline constexpr std::uint64_t magic = 0x31455241'48534452;  // "RDSHARE1"
inline constexpr std::uint32_t version = 1;
inline constexpr std::uint32_t most_slots = 1u << 16, most_rows = 1024;

template <class T>
using word = atomic<T, scope::system>;

/// How an importer reaches the data; a bit each.
enum transport : std::uint32_t { host_memory = 1 };

// -- shared memory

/// A slot's word: the generation it is exported in, and whether new leases may begin.
constexpr std::uint64_t slot_word(std::uint32_t generation, bool open) noexcept {
  return std::uint64_t{generation} << 1 | (open ? 1 : 0);
}
struct slot_entry {
  word<std::uint64_t> state;          // slot_word
  word<std::uint64_t> offset, bytes;  // in the data; change only while closed and not leased by anybody
};
static_assert(sizeof(slot_entry) == 24);

struct directory_header {
  std::uint64_t magic, share, data_bytes;
  std::uint32_t version, slots, rows, reserved;
};
static_assert(sizeof(directory_header) == 40);

/// header; rows words: the number of the importer that has this row, 0: none; slots slot_entry.
class directory {
 public:
  directory() = default;
  directory(std::byte* base, std::uint32_t rows) noexcept : base_(base), rows_(rows) {}
  static constexpr std::uint64_t size_of(std::uint32_t rows, std::uint32_t slots) noexcept {
    return sizeof(directory_header) + rows * 8ull + slots * sizeof(slot_entry);
  }
  directory_header& header() const noexcept { return *reinterpret_cast<directory_header*>(base_); }
  word<std::uint64_t>& owner(std::uint32_t row) const noexcept {
    return reinterpret_cast<word<std::uint64_t>*>(base_ + sizeof(directory_header))[row];
  }
  slot_entry& slot(std::uint32_t index) const noexcept {
    return reinterpret_cast<slot_entry*>(base_ + sizeof(directory_header) + rows_ * 8ull)[index];
  }

 private:
  std::byte* base_ = nullptr;
  std::uint32_t rows_ = 0;
};

/// The beat, which changes as long as the importer lives; from byte 64 on a count of leases for each slot.
class row {
 public:
  row() = default;
  explicit row(std::byte* base) noexcept : base_(base) {}
  static constexpr std::uint64_t size_of(std::uint32_t slots) noexcept { return 64 + slots * 4ull; }
  word<std::uint64_t>& beat() const noexcept { return *reinterpret_cast<word<std::uint64_t>*>(base_); }
  word<std::uint32_t>& leases(std::uint32_t slot) const noexcept {
    return reinterpret_cast<word<std::uint32_t>*>(base_ + 64)[slot];
  }

 private:
  std::byte* base_ = nullptr;
};

// -- packets; each begins with its header. An importer says hello and gets a welcome with the descriptors of data,
// directory and row, or a refusal. Then come announcements this way, and that way `settled`: a lease of a closed slot ended.

enum class packet_kind : std::uint32_t { hello = 1, welcome, refusal, announcement, settled };
struct packet_header {
  std::uint64_t magic = share::magic;
  std::uint32_t version = share::version;
  packet_kind kind;
};
struct hello {
  packet_header header{.kind = packet_kind::hello};
  std::uint32_t transports = host_memory;  // that it understands
  std::uint32_t reserved = 0;
};
struct welcome {
  packet_header header{.kind = packet_kind::welcome};
  std::uint64_t share = 0, importer = 0, data_bytes = 0, beat_ns = 0;
  std::uint32_t transport = host_memory, slots = 0, rows = 0, row = 0;
};
struct refusal {
  packet_header header{.kind = packet_kind::refusal};
  char text[240] = {};  // ends with a 0
};
struct announcement {
  packet_header header{.kind = packet_kind::announcement};
  shared_buffer_ref ref{};
  std::uint64_t tag = 0;
};
struct settled {
  packet_header header{.kind = packet_kind::settled};
};
static_assert(sizeof(hello) == 24 && sizeof(welcome) == 64 && sizeof(refusal) == 256 &&
              sizeof(announcement) == 56 && sizeof(settled) == 16);

template <class Packet>
std::span<std::byte const> bytes_of(Packet const& p) noexcept {
  static_assert(std::is_trivially_copyable_v<Packet>);
  return std::as_bytes(std::span(&p, 1));
}

/// Whether these bytes are a Packet of this protocol; then they are in `to`.
template <class Packet>
bool read_packet(std::span<std::byte const> bytes, Packet& to) noexcept {
  auto const wanted = to.header;
  if (bytes.size() != sizeof to) return false;
  std::memcpy(&to, bytes.data(), sizeof to);
  return to.header.magic == wanted.magic && to.header.version == wanted.version &&
         to.header.kind == wanted.kind;
}

}  // namespace share

}  // namespace rondo
