// Random operations on a pool, each compared with a plain model of a pool.
#include <map>
#include <vector>

#include "runtime/memory/buffer_pool.hpp"
#include "tests/catch.hpp"
#include "tests/seed.hpp"

namespace {

using rondo::errc;

struct model_buffer {
  rondo::buffer_ref ref;
  std::uint64_t block_bytes;
  bool live = true;
  std::byte content;
  std::vector<rondo::read_lease<>> readers{};
  std::vector<rondo::write_lease<>> writers{};
  bool leased() const { return !readers.empty() || !writers.empty(); }
};

/// The model of a pool: a list of buffers in use, and two limits.
struct model {
  std::uint64_t cap_bytes, slots;
  std::vector<model_buffer> in_use{};
  std::vector<rondo::buffer_ref> gone{};
  std::uint64_t acquired = 0, refused = 0;

  std::uint64_t in_use_bytes() const {
    std::uint64_t sum = 0;
    for (auto const& b : in_use) sum += b.block_bytes;
    return sum;
  }
  std::uint64_t waste_bytes() const {
    std::uint64_t sum = 0;
    for (auto const& b : in_use) sum += b.block_bytes - b.ref.bytes;
    return sum;
  }
  bool has_room(std::uint64_t block) const { return in_use.size() < slots && has_bytes(block); }
  bool has_bytes(std::uint64_t block) const { return in_use_bytes() + block <= cap_bytes; }
  void settle(std::size_t index) {
    if (in_use[index].live || in_use[index].leased()) return;
    gone.push_back(in_use[index].ref);
    in_use.erase(in_use.begin() + static_cast<std::ptrdiff_t>(index));
  }
};

class comparison {
 public:
  comparison(std::uint64_t seed, std::uint64_t cap, std::uint32_t slots)
      : random_(seed), pool_({.cap_bytes = cap, .slots = slots}), model_{cap, slots} {}

  void step() {
    switch (below(8)) {
      case 0:
      case 1:
        acquire();
        break;
      case 2:
        release();
        break;
      case 3:
        begin_read();
        break;
      case 4:
        begin_write();
        break;
      case 5:
        end_lease();
        break;
      case 6:
        use_stale();
        break;
      default:
        if (below(20) == 0) {
          auto const keep = below(model_.cap_bytes);
          pool_.trim(keep);
          REQUIRE(pool_.statistics().cached_bytes <= keep);
        }
    }
    compare();
  }
  void finish() {
    while (!model_.in_use.empty()) {
      auto& b = model_.in_use.back();
      b.readers.clear();
      b.writers.clear();
      if (b.live) REQUIRE(pool_.release(b.ref) == errc::ok);
      b.live = false;
      model_.settle(model_.in_use.size() - 1);
    }
    compare();
  }

 private:
  std::uint64_t below(std::uint64_t bound) { return random_() % bound; }

  void acquire() {
    auto const bytes = below(2) ? below(300) : below(40'000);
    auto const block = rondo::size_classes::bytes_of(rondo::size_classes::of(bytes));
    bool const room = model_.has_room(block);
    auto const got = pool_.acquire(bytes);
    REQUIRE(got.has_value() == room);
    if (!room) {
      REQUIRE(got.error() == (model_.has_bytes(block) ? errc::slots_exhausted : errc::pool_exhausted));
      ++model_.refused;
      return;
    }
    ++model_.acquired;
    REQUIRE(got->bytes == bytes);
    auto const content = static_cast<std::byte>(below(256));
    auto const lease = pool_.write(*got);
    REQUIRE(lease);
    std::fill(lease.view().begin(), lease.view().end(), content);
    model_.in_use.push_back({*got, block, true, content});
  }

  void release() {
    if (model_.in_use.empty()) return;
    auto const index = below(model_.in_use.size());
    auto& b = model_.in_use[index];
    REQUIRE(pool_.release(b.ref) == (b.live ? errc::ok : errc::double_release));
    b.live = false;
    model_.settle(index);
  }

  void begin_read() {
    if (model_.in_use.empty()) return;
    auto& b = model_.in_use[below(model_.in_use.size())];
    auto const start = below(b.ref.bytes + 2), length = below(b.ref.bytes + 2);
    auto lease = pool_.read(b.ref.slice(start, length));
    auto const expected = !b.live                        ? errc::stale_buffer
                          : !b.writers.empty()           ? errc::buffer_in_use
                          : start + length > b.ref.bytes ? errc::buffer_out_of_bounds
                                                         : errc::ok;
    REQUIRE(lease.status() == expected);
    if (!lease) return;
    REQUIRE(lease.view().size() == length);
    for (auto byte : lease.view())
      if (byte != b.content) FAIL("somebody else's data");
    b.readers.push_back(std::move(lease));
  }

  void begin_write() {
    if (model_.in_use.empty()) return;
    auto& b = model_.in_use[below(model_.in_use.size())];
    auto lease = pool_.write(b.ref);
    REQUIRE(lease.status() == (!b.live ? errc::stale_buffer : b.leased() ? errc::buffer_in_use : errc::ok));
    if (!lease) return;
    b.content = static_cast<std::byte>(below(256));
    std::fill(lease.view().begin(), lease.view().end(), b.content);
    b.writers.push_back(std::move(lease));
  }

  void end_lease() {
    if (model_.in_use.empty()) return;
    auto const index = below(model_.in_use.size());
    auto& b = model_.in_use[index];
    if (!b.writers.empty())
      b.writers.pop_back();
    else if (!b.readers.empty())
      b.readers.erase(b.readers.begin() + static_cast<std::ptrdiff_t>(below(b.readers.size())));
    model_.settle(index);
  }

  void use_stale() {
    if (model_.gone.empty()) return;
    auto const ref = model_.gone[below(model_.gone.size())];
    REQUIRE(pool_.read(ref).status() == errc::stale_buffer);
    REQUIRE(pool_.write(ref).status() == errc::stale_buffer);
    REQUIRE(pool_.release(ref) == errc::double_release);
  }

  void compare() {
    auto const s = pool_.statistics();
    REQUIRE(s.buffers_in_use == model_.in_use.size());
    REQUIRE(s.in_use_bytes == model_.in_use_bytes());
    REQUIRE(s.waste_bytes == model_.waste_bytes());
    REQUIRE(s.in_use_bytes + s.cached_bytes <= s.peak_bytes);
    REQUIRE(s.peak_bytes <= model_.cap_bytes);
    REQUIRE(s.hits + s.misses == model_.acquired);
    REQUIRE(s.refusals == model_.refused);
  }

  std::mt19937_64 random_;
  rondo::buffer_pool pool_;
  model model_;
};

}  // namespace

TEST_CASE("a pool matches its model under random operations", "[buffer]") {
  auto const seed = rondo_test::seed_of("buffer_model");
  CAPTURE(seed);
  for (std::uint64_t round = 0; round < 8; ++round) {
    // Some rounds are limited by the cap, others by the slots.
    comparison run(seed + round, round % 2 ? 1 << 20 : 100'000, round % 2 ? 8 : 64);
    for (int i = 0; i < 4000; ++i) run.step();
    run.finish();
  }
}
