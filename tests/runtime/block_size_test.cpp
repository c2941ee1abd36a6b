// The rule for the number of threads per block.
#include "runtime/graph/block_size.hpp"

#include "tests/catch.hpp"

TEST_CASE("blocks grow with the array, and are whole warps of 64 to 512 threads", "[block_size]") {
  CHECK(rondo::block_size_for(1) == 64);
  CHECK(rondo::block_size_for(1000) == 64);
  CHECK(rondo::block_size_for(50'000) == 128);
  CHECK(rondo::block_size_for(1'000'000) == 256);
  CHECK(rondo::block_size_for(100'000'000) == 512);
  std::uint32_t last = 0;
  for (std::uint64_t n = 0; n < std::uint64_t{1} << 40; n = n * 3 / 2 + 1) {
    auto const threads = rondo::block_size_for(n);
    CHECK(threads >= last);
    CHECK(threads % 32 == 0);
    last = threads;
  }
}
