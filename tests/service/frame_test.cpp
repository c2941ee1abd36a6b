// Frames of the wire protocol.
#include "runtime/service/wire/frame.hpp"

#include <cstring>

#include "tests/catch.hpp"

using rondo::service::frame_reader;

namespace {

void put(frame_reader& reader, std::vector<unsigned char> const& bytes) {
  auto const room = reader.room(bytes.size());
  std::memcpy(room.data(), bytes.data(), bytes.size());
  reader.came(bytes.size());
}

}  // namespace

TEST_CASE("a frame that arrives byte by byte is returned once it is complete", "[service]") {
  frame_reader reader(16);
  std::span<std::byte const> frame;
  for (int const byte : {3, 0, 0, 0, int{'a'}, int{'b'}}) {
    put(reader, {static_cast<unsigned char>(byte)});
    REQUIRE(reader.next(frame) == frame_reader::state::more);
    REQUIRE(reader.in_frame());
  }
  put(reader, {'c', 1, 0, 0, 0, 'd'});
  REQUIRE(reader.next(frame) == frame_reader::state::frame);
  REQUIRE(frame.size() == 4 + 3);
  REQUIRE(static_cast<char>(frame[6]) == 'c');
  REQUIRE(reader.next(frame) == frame_reader::state::frame);
  REQUIRE(frame.size() == 4 + 1);
  REQUIRE(reader.next(frame) == frame_reader::state::more);
  REQUIRE_FALSE(reader.in_frame());
}

TEST_CASE("a frame longer than the limit is refused, and so is everything that follows", "[service]") {
  frame_reader reader(16);
  std::span<std::byte const> frame;
  put(reader, {16, 0, 0, 0});
  REQUIRE(reader.next(frame) == frame_reader::state::more);
  frame_reader other(16);
  put(other, {17, 0, 0, 0, 1, 2, 3});
  REQUIRE(other.next(frame) == frame_reader::state::too_large);
  REQUIRE(other.refused_bytes() == 17);
  put(other, {1, 0, 0, 0, 1});
  REQUIRE(other.next(frame) == frame_reader::state::too_large);
}
