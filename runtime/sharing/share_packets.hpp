// The handle of a buffer that another process exports, and the packets between exporter and importer.
//
// Each packet begins with its header. An importer sends a hello and gets a welcome with the descriptors of data,
// directory, and row (share_words.hpp), or a refusal. Then the exporter sends announcements. Each grants a lease, so
// the importer finds the buffer even if it was withdrawn since. The importer sends `settled` whenever a granted lease,
// or a lease of a closed slot, has ended. The hello says how many granted leases it may have at once, and what follows
// if it has them.
//
// An importer that can open a device's memory also gets the exporter's and reads buffers there in place; slots, rows,
// leases, and the death of a process work the same.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <type_traits>

#include "kernels/base/delivery.hpp"

namespace rondo {

/// A range of a buffer that another process exports. Trivially copyable, so it may travel by any means.
struct shared_buffer_ref {
  std::uint64_t share;       // the exporter's unique number
  std::uint32_t slot;        // in the exporter's table
  std::uint32_t generation;  // 0: refers to nothing
  std::uint64_t offset;      // in bytes, from the exported range's start
  std::uint64_t bytes;       // of the range

  /// As buffer_ref::slice.
  constexpr shared_buffer_ref slice(std::uint64_t start, std::uint64_t length) const noexcept {
    if (start > bytes || length > bytes - start) return {share, slot, generation, ~0ull, 0};
    return {share, slot, generation, offset + start, length};
  }
  friend constexpr bool operator==(shared_buffer_ref const&, shared_buffer_ref const&) = default;
};
static_assert(sizeof(shared_buffer_ref) == 32 && std::is_trivially_copyable_v<shared_buffer_ref>);

/// Bytes that travel with an announcement; the two programs define their meaning.
using announcement_note = std::array<std::byte, 80>;

// -- for the runtime

namespace share {

inline constexpr std::uint64_t magic = 0x31455241'48534452;  // "RDSHARE1"
inline constexpr std::uint32_t version = 4;
inline constexpr std::uint32_t most_slots = 1u << 16, most_rows = 1024, most_granted = 1024;

/// The ways in which an importer can reach data; one bit each.
enum transport : std::uint32_t { host_memory = 1, device_memory = 2 };
/// A bit of a slot's offset: the data is in the device's memory.
inline constexpr std::uint64_t on_device = 1ull << 63;

enum class packet_kind : std::uint32_t { hello = 1, welcome, refusal, announcement, settled };
struct packet_header {
  std::uint64_t magic = share::magic;
  std::uint32_t version = share::version;
  packet_kind kind;
};
struct hello {
  packet_header header{.kind = packet_kind::hello};
  std::uint32_t transports = host_memory;  // supported by the importer
  delivery how = delivery::every;
  std::uint32_t capacity = 1;  // granted leases at once: 1 to most_granted
  std::uint32_t reserved = 0;
  std::array<std::byte, 16> device_identity{};  // with device_memory: the device that it can open
};
struct welcome {
  packet_header header{.kind = packet_kind::welcome};
  std::uint64_t share = 0, importer = 0, data_bytes = 0, beat_ns = 0;
  std::uint32_t transports = host_memory, slots = 0, rows = 0, row = 0;
  // With transport device_memory: the contents of device_share; its descriptor is the fourth.
  std::uint64_t device_bytes = 0;
  std::array<std::byte, 64> device_data{}, device_ready{};
  std::array<std::byte, 16> device_identity{};
};
struct refusal {
  packet_header header{.kind = packet_kind::refusal};
  char text[240] = {};  // ends with a 0
};
struct announcement {
  packet_header header{.kind = packet_kind::announcement};
  shared_buffer_ref ref{};
  std::uint64_t tag = 0;
  announcement_note note{};
};
struct settled {
  packet_header header{.kind = packet_kind::settled};
};
static_assert(sizeof(hello) == 48 && sizeof(welcome) == 216 && sizeof(refusal) == 256 &&
              sizeof(announcement) == 136 && sizeof(settled) == 16);

template <class Packet>
std::span<std::byte const> bytes_of(Packet const& p) noexcept {
  static_assert(std::is_trivially_copyable_v<Packet>);
  return std::as_bytes(std::span(&p, 1));
}

/// Copies the bytes to `to` and returns whether they are a Packet of this protocol.
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
