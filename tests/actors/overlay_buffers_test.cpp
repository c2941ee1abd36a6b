// How much a pool wastes on the buffers of `rondo overlay`: replays a recorded run.
#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "runtime/memory/buffer_pool.hpp"
#include "tests/catch.hpp"

namespace {

/// The share of the bytes in use that nobody requested.
struct waste {
  double worst = 0;                      // after any event
  std::uint64_t in_use = 0, wasted = 0;  // sums over all events
  std::uint64_t peak_in_use = 0, peak_wasted = 0;

  void note(rondo::buffer_pool_statistics const& s) {
    if (s.in_use_bytes == 0) return;
    worst = std::max(worst, static_cast<double>(s.waste_bytes) / static_cast<double>(s.in_use_bytes));
    in_use += s.in_use_bytes;
    wasted += s.waste_bytes;
    if (s.in_use_bytes > peak_in_use) peak_in_use = s.in_use_bytes, peak_wasted = s.waste_bytes;
  }
  double mean() const { return static_cast<double>(wasted) / static_cast<double>(in_use); }
  double at_peak() const { return static_cast<double>(peak_wasted) / static_cast<double>(peak_in_use); }
};

struct replayed_pool {
  rondo::buffer_pool pool;
  std::map<std::uint64_t, std::vector<rondo::buffer>> held;  // by the requested size
  waste seen;
};

}  // namespace

TEST_CASE("over a recorded run of rondo overlay less than a quarter of the bytes in use is wasted",
          "[overlay]") {
  std::ifstream trace(RONDO_OVERLAY_BUFFERS);
  REQUIRE(trace);
  std::map<int, replayed_pool> pools;
  int events = 0;
  for (std::string line; std::getline(trace, line);) {
    if (line.starts_with('#')) continue;
    std::istringstream words(line);
    int number = 0;
    std::int64_t bytes = 0;
    REQUIRE(words >> number >> bytes);
    auto& p = pools[number];
    auto& same = p.held[static_cast<std::uint64_t>(std::abs(bytes))];
    if (bytes > 0) {
      same.push_back(p.pool.acquire_buffer(static_cast<std::uint64_t>(bytes)).value());
    } else {
      REQUIRE_FALSE(same.empty());
      same.pop_back();
    }
    p.seen.note(p.pool.statistics());
    ++events;
  }
  CHECK(events == 78);  // of three cameras: six frames on each side and one working memory
  REQUIRE(pools.size() == 2);
  for (auto const& [number, p] : pools) {
    INFO("pool " << number);
    CHECK(p.pool.statistics().buffers_in_use == 0);
    CHECK(p.seen.worst < 0.25);
    CHECK(p.seen.mean() < 0.25);
    CHECK(p.seen.at_peak() < 0.25);
  }
}
