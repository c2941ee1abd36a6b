// The notes of a program in a checkpoint.
#include "runtime/checkpoint.hpp"
#include "tests/runtime/checkpoint_fixture.hpp"

using namespace checkpoint_test;

namespace {

std::vector<std::byte> bytes_of(std::string_view text) {
  auto const bytes = std::as_bytes(std::span(text));
  return {bytes.begin(), bytes.end()};
}

}  // namespace

TEST_CASE("notes are restored with the states that they were written with", "[checkpoint][G1]") {
  scratch s;
  auto rt = start();
  auto const j = rt->launch<journal>("j");
  tell(j, item{0, 0});
  REQUIRE(report_of(j).taken == 1);
  auto const first = bytes_of(std::string_view("one\0to 7", 8));
  rondo::checkpoint(*rt, s.file, first);
  REQUIRE(rondo::restore(*start(), s.file) == first);
  std::vector<std::byte> const large(300'000, std::byte{0xa5});
  rondo::checkpoint(*rt, s.file, large);
  auto const again = start();
  REQUIRE(rondo::restore(*again, s.file) == large);
  REQUIRE(report_of(again->find<journal>("j").value()).taken == 1);
}

// Such a file is byte for byte identical to one written before notes existed: FlatBuffers omits absent fields.
TEST_CASE("a checkpoint without notes can be read, and has none", "[checkpoint]") {
  scratch s;
  auto rt = start();
  rt->launch<journal>("j");
  rondo::checkpoint(*rt, s.file, bytes_of("of an earlier one"));
  rondo::checkpoint(*rt, s.file);
  REQUIRE(rondo::restore(*start(), s.file).empty());
}
