// Fuzzes what processes say to each other when they pass frames or share buffers: greetings, headers and packets of
// fixed sizes.
#include <algorithm>
#include <cctype>
#include <cstring>
#include <span>
#include <string>

#include "actors/streams/network/wire.hpp"
#include "runtime/sharing/share_packets.hpp"
#include "tests/fuzz/fuzz_target.hpp"

namespace {

namespace streams = rondo::streams;
namespace share = rondo::share;
using bytes = std::span<std::byte const>;

/// As much of a T as there is, and zeros.
template <class T>
T filled(bytes from) {
  T t{};
  if (!from.empty()) std::memcpy(static_cast<void*>(&t), from.data(), std::min(sizeof t, from.size()));
  return t;
}

void require_shown(std::string const& text, std::size_t field) {
  rondo_fuzz::require(std::ranges::none_of(text, [](unsigned char c) { return std::iscntrl(c) != 0; }),
                      "texts have no control characters");
  rondo_fuzz::require(text.size() <= 8 * field, "a text is as long as its field, at most escaped");
}

void take_terms(streams::wire_terms const& t) {
  auto const read = t.read();
  require_shown(read.frame, sizeof t.frame);
  require_shown(read.shape, sizeof t.shape);
  require_shown(why_not(read, {"here", "640x480", 1000, 8}), 2 * (sizeof t.frame + sizeof t.shape));
  rondo_fuzz::require(why_not(read, read).empty(), "who agrees with itself is not refused");
}

template <class Packet>
void take_packet(bytes from) {
  Packet p;
  if (share::read_packet(from, p))
    rondo_fuzz::require(from.size() == sizeof p && p.header.magic == share::magic,
                        "a packet is of this protocol");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
  bytes const all(reinterpret_cast<std::byte const*>(data), size);
  take_terms(filled<streams::reader_hello>(all).terms);
  auto const answer = filled<streams::writer_hello>(all);
  take_terms(answer.terms);
  require_shown(streams::read_text(answer.reason, sizeof answer.reason), sizeof answer.reason);
  take_packet<share::hello>(all);
  take_packet<share::welcome>(all);
  take_packet<share::refusal>(all);
  take_packet<share::announcement>(all);
  take_packet<share::settled>(all);
  return 0;
}
