// Pieces of a range that is never accessed: they do not overlap, keep their alignment, and are merged again.
#include "runtime/memory/region_resource.hpp"

#include <random>
#include <vector>

#include "tests/catch.hpp"
#include "tests/seed.hpp"

namespace {

// An address that must not be accessed; aligned for the strictest request.
std::byte* const base = reinterpret_cast<std::byte*>(std::uintptr_t{1} << 40);

struct piece {
  std::byte* at;
  std::size_t bytes, alignment;
};

}  // namespace

TEST_CASE("pieces of a region do not overlap, and all of them are merged again", "[region]") {
  constexpr std::size_t total = 1 << 20;
  std::mt19937_64 random(rondo_test::seed_of("region_resource"));
  rondo::region_resource region(base, total);
  std::vector<piece> held;
  std::uint64_t refused = 0;
  for (int i = 0; i < 20'000; ++i) {
    if (random() % 2 == 0 || held.empty()) {
      piece p{nullptr, 64 * (1 + random() % 512), random() % 4 == 0 ? std::size_t{4096} : std::size_t{64}};
      try {
        p.at = static_cast<std::byte*>(region.allocate(p.bytes, p.alignment));
      } catch (std::bad_alloc const&) {
        ++refused;
        continue;
      }
      REQUIRE(reinterpret_cast<std::uintptr_t>(p.at) % p.alignment == 0);
      REQUIRE((p.at >= base && p.at + p.bytes <= base + total));
      for (auto const& other : held) REQUIRE((p.at + p.bytes <= other.at || other.at + other.bytes <= p.at));
      held.push_back(p);
    } else {
      auto const which = random() % held.size();
      region.deallocate(held[which].at, held[which].bytes, held[which].alignment);
      held[which] = held.back();
      held.pop_back();
    }
  }
  CHECK(refused != 0);  // it was full at times
  for (auto const& p : held) region.deallocate(p.at, p.bytes, p.alignment);
  CHECK(region.allocate(total, 4096) == base);
  CHECK_THROWS_AS(region.allocate(64, 64), std::bad_alloc);
}

TEST_CASE("an empty region cannot allocate anything", "[region]") {
  rondo::region_resource region(base, 0);
  CHECK_THROWS_AS(region.allocate(64, 64), std::bad_alloc);
}
