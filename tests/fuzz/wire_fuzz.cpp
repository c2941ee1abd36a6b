// Fuzzes bytes from a socket: cuts them into frames, verifies each as request and as response, then reads every field.
//
// The classes are flatc's object API (--gen-object-api), which copies everything that a buffer holds, so fields that
// are added to the schema later are read here too.
#include <algorithm>
#include <cstring>
#include <vector>

#include "runtime/service/wire/frame.hpp"
#include "tests/fuzz/fuzz_target.hpp"
#include "wire_objects/wire_generated.h"
// After it, because both define the schema.
#include "runtime/service/wire/wire.hpp"

using rondo::service::frame_reader;

namespace {

template <class Root>
void read_all(std::span<std::byte const> frame) {
  auto const* const root = rondo::service::verified<Root>(frame);
  if (root == nullptr) return;
  auto const all = std::unique_ptr<typename Root::NativeTableType>(root->UnPack());
  if (all->body.value == nullptr)
    return;  // of a kind that this schema does not know: the verifier accepts it
  flatbuffers::FlatBufferBuilder again;
  again.Finish(Root::Pack(again, all.get()));
}

void read_frame(std::span<std::byte const> frame) {
  read_all<rondo::wire::request>(frame);
  read_all<rondo::wire::response>(frame);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
  constexpr std::uint32_t max_frame_bytes = 4096;
  if (size == 0) return 0;
  frame_reader reader(max_frame_bytes);
  std::size_t const chunk = 1 + *data % 64u;  // how the network splits the stream
  for (std::size_t at = 1; at < size; at += chunk) {
    auto const count = std::min(chunk, size - at);
    auto const room = reader.room(count);
    rondo_fuzz::require(room.size() >= count, "frame_reader::room gives as much as was wanted");
    std::memcpy(room.data(), data + at, count);
    reader.came(count);
    std::span<std::byte const> frame;
    while (reader.next(frame) == frame_reader::state::frame) {
      rondo_fuzz::require(frame.size() <= max_frame_bytes + rondo::service::frame_head_bytes,
                          "no frame is longer than the limit");
      read_frame(frame);
    }
  }
  return 0;
}
