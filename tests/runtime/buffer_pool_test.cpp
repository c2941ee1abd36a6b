// The pool of buffers: owners, errors, cap, statistics and the error texts for misuse.
#include "runtime/memory/buffer_pool.hpp"

#include <algorithm>
#include <memory>
#include <new>
#include <random>
#include <vector>

#include "runtime/memory/region_resource.hpp"
#include "tests/catch.hpp"
#include "tests/seed.hpp"

namespace {

using rondo::buffer_pool;
using rondo::errc;

/// Counts the allocated blocks, and can be told to fail.
struct counting_resource final : std::pmr::memory_resource {
  std::uint64_t bytes_out = 0;
  bool empty = false;

 private:
  void* do_allocate(std::size_t bytes, std::size_t alignment) override {
    if (empty) throw std::bad_alloc();
    bytes_out += bytes;
    return std::pmr::new_delete_resource()->allocate(bytes, alignment);
  }
  void do_deallocate(void* block, std::size_t bytes, std::size_t alignment) override {
    bytes_out -= bytes;
    std::pmr::new_delete_resource()->deallocate(block, bytes, alignment);
  }
  bool do_is_equal(memory_resource const& other) const noexcept override { return this == &other; }
};

struct reports {
  std::vector<std::string> lines;
  std::function<void(std::string const&)> sink() {
    return [this](std::string const& line) { lines.push_back(line); };
  }
};

bool contains(std::string const& text, std::string const& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("a size class wastes less than a quarter of a block and holds every size that it is for",
          "[buffer]") {
  namespace classes = rondo::size_classes;
  std::uint32_t before = 0;
  for (std::uint64_t bytes = 1; bytes <= classes::largest_bytes; bytes += 1 + bytes / 97) {
    auto const size_class = classes::of(bytes);
    auto const block = classes::bytes_of(size_class);
    INFO(bytes << " in " << block);
    REQUIRE(block >= bytes);
    REQUIRE((size_class == 0 || classes::bytes_of(size_class - 1) < bytes));  // no smaller class would do
    REQUIRE(size_class >= before);
    REQUIRE(block % classes::alignment_of(size_class) == 0);
    if (bytes > 192) REQUIRE((block - bytes) * 4 < block);
    before = size_class;
  }
  for (std::uint32_t size_class = 0; size_class < classes::count; ++size_class)
    REQUIRE(classes::of(classes::bytes_of(size_class)) == size_class);
}

TEST_CASE("an owner releases its buffer on destruction", "[buffer]") {
  buffer_pool pool;
  {
    auto owner = pool.acquire_buffer(1000).value();
    CHECK(owner.bytes() == 1000);
    CHECK(owner.where() == rondo::place::host);
    CHECK(owner.span<std::uint32_t>().size() == 250);
    owner.span<std::uint32_t>()[249] = 7;
    auto const lease = pool.read<std::uint32_t>(owner.ref());
    REQUIRE(lease);
    CHECK(lease.view()[249] == 7);
    CHECK(pool.statistics().buffers_in_use == 1);
  }
  CHECK(pool.statistics().buffers_in_use == 0);
}

TEST_CASE("an owner can be moved, can release its buffer to the caller and can adopt one", "[buffer]") {
  buffer_pool pool;
  auto first = pool.acquire_buffer(64).value();
  auto const ref = first.ref();
  auto second = std::move(first);
  CHECK_FALSE(first);
  CHECK(first.span().empty());
  CHECK(second.ref() == ref);
  second = pool.acquire_buffer(128).value();  // releases the first buffer
  CHECK(pool.statistics().buffers_in_use == 1);
  CHECK(pool.release(ref) == errc::double_release);

  auto const sent = second.detach().slice(64, 32);
  CHECK_FALSE(second);
  CHECK(pool.statistics().buffers_in_use == 1);
  auto received = pool.adopt(sent).value();
  CHECK(received.bytes() == 32);
  CHECK(received.span().data() == pool.table().entry(sent.slot).base + 64);
  CHECK(received.release() == errc::ok);
  CHECK(received.release() == errc::double_release);
  CHECK(pool.adopt(sent).error() == errc::stale_buffer);
  CHECK(pool.statistics().buffers_in_use == 0);
}

TEST_CASE("blocks are aligned to cache lines, large ones to pages", "[buffer]") {
  buffer_pool pool;
  for (std::uint64_t bytes : {0u, 1u, 65u, 1000u, 14336u, 14337u, 16384u, 20000u, 1u << 20}) {
    auto const owner = pool.acquire_buffer(bytes).value();
    auto const at = reinterpret_cast<std::uintptr_t>(pool.table().entry(owner.ref().slot).base);
    CHECK(at % (bytes > 14336 ? 4096 : 64) == 0);
  }
}

TEST_CASE("releases by anybody but the owner are errors", "[buffer]") {
  buffer_pool pool;
  auto const ref = pool.acquire(100).value();
  CHECK(pool.release(ref) == errc::ok);
  CHECK(pool.release(ref) == errc::double_release);
  auto const successor = pool.acquire(100).value();
  CHECK(successor.slot == ref.slot);
  CHECK(pool.release(ref) == errc::double_release);
  CHECK(pool.read(ref).status() == errc::stale_buffer);
  CHECK(pool.write(ref).status() == errc::stale_buffer);
  CHECK(pool.release({successor.slot, successor.generation + 1, 0, 0}) == errc::stale_buffer);
  CHECK(pool.release({pool.table().size(), 1, 0, 0}) == errc::stale_buffer);
  CHECK(pool.release({}) == errc::stale_buffer);
  CHECK(pool.read(successor.slice(0, 101)).status() == errc::buffer_out_of_bounds);
  CHECK(pool.release(successor) == errc::ok);
}

TEST_CASE("a block returns to the pool after its last lease, on whichever thread that ends", "[buffer]") {
  buffer_pool pool({.cap_bytes = 4096});
  auto const ref = pool.acquire(4096).value();
  auto lease = pool.read(ref);
  CHECK(pool.release(ref) == errc::ok);
  CHECK(pool.statistics().buffers_in_use == 1);
  CHECK(pool.acquire(4096).error() == errc::pool_exhausted);
  lease.end();
  CHECK(pool.statistics().buffers_in_use == 0);
  auto const next = pool.acquire(4096).value();
  CHECK(next.slot == ref.slot);
  CHECK(next.generation == ref.generation + 1);
  CHECK(pool.release(next) == errc::ok);
  CHECK(pool.statistics().misses == 1);
}

TEST_CASE("the cap limits all blocks, and cached blocks of other sizes make room", "[buffer]") {
  counting_resource upstream;
  buffer_pool pool({.cap_bytes = 10 * 1024, .upstream = &upstream});
  auto const large = pool.acquire(8192).value();
  CHECK(pool.acquire(4096).error() == errc::pool_exhausted);
  auto const small = pool.acquire(2048).value();
  CHECK(pool.acquire(1).error() == errc::pool_exhausted);
  CHECK(pool.release(large) == errc::ok);
  CHECK(upstream.bytes_out == 10240);
  auto const other = pool.acquire(4096).value();  // frees the cached 8192
  CHECK(upstream.bytes_out == 6144);
  CHECK(pool.acquire(1ull << 40).error() == errc::pool_exhausted);
  CHECK(pool.acquire(~0ull).error() == errc::pool_exhausted);
  CHECK(pool.read(large).status() == errc::stale_buffer);
  CHECK(pool.release(small) == errc::ok);
  CHECK(pool.release(other) == errc::ok);
}

TEST_CASE("each limit of a pool is refused as itself, and the text has both with their values", "[buffer]") {
  buffer_pool pool({.cap_bytes = 1 << 20, .slots = 2});
  auto const first = pool.acquire(64).value();
  CHECK(pool.acquire(2 << 20).error() == errc::pool_exhausted);  // a slot is free
  auto const second = pool.acquire(64).value();
  CHECK(pool.acquire(64).error() == errc::slots_exhausted);  // bytes are free
  using Catch::Matchers::Contains;
  auto const text = rondo::make_error_code(errc::slots_exhausted).message();
  CHECK_THAT(text, Contains("slots") && Contains("buffer_slots") && !Contains("bytes"));
  CHECK_THAT(rondo::make_error_code(errc::pool_exhausted).message(), Contains("buffer_bytes_cap"));
  CHECK(pool.describe_room() == "0 of 1 MiB (buffer_bytes_cap) and 2 of 2 slots (buffer_slots) are in use");
  CHECK(pool.statistics().slots == 2);
  CHECK(pool.release(first) == errc::ok);
  CHECK(pool.release(second) == errc::ok);
}

TEST_CASE("slots limit the buffers, and cached blocks free their slots", "[buffer]") {
  buffer_pool pool({.slots = 2});
  auto const first = pool.acquire(64).value();
  auto const second = pool.acquire(128).value();
  CHECK(pool.acquire(64).error() == errc::slots_exhausted);
  CHECK(pool.release(first) == errc::ok);
  auto const third = pool.acquire(256).value();
  CHECK(third.slot == first.slot);
  CHECK(pool.release(first) == errc::double_release);
  CHECK(pool.release(second) == errc::ok);
  CHECK(pool.release(third) == errc::ok);
}

TEST_CASE("an upstream without memory is reported as a value, and recovery is possible", "[buffer]") {
  counting_resource upstream;
  buffer_pool pool({.slots = 1, .upstream = &upstream});
  upstream.empty = true;
  CHECK(pool.acquire(64).error() == errc::out_of_memory);
  upstream.empty = false;
  auto const ref = pool.acquire(64).value();
  CHECK(pool.release(ref) == errc::ok);
  CHECK(pool.statistics().refusals == 1);
}

TEST_CASE("cached blocks make room for a larger one, wherever they lie", "[buffer]") {
  constexpr std::uint64_t region_bytes = 16 << 20, small = 64 << 10;
  std::vector<std::byte> memory(region_bytes + 4096);
  void* base = memory.data();
  std::size_t space = memory.size();
  REQUIRE(std::align(4096, region_bytes, base, space) != nullptr);
  rondo::region_resource region(static_cast<std::byte*>(base), region_bytes);
  buffer_pool pool({.cap_bytes = region_bytes, .upstream = &region});
  std::mt19937_64 random(rondo_test::seed_of("buffer_pool"));
  for (int round = 0; round < 20; ++round) {
    std::vector<rondo::buffer> all;
    while (auto one = pool.acquire_buffer(small)) all.push_back(std::move(*one));
    REQUIRE(all.size() == region_bytes / small);
    std::ranges::shuffle(all, random);
    // A few stay in use, so that the free memory is fragmented.
    all.resize(round % 3);
    auto const large = pool.acquire_buffer(all.empty() ? region_bytes : region_bytes / 4);
    REQUIRE(large.has_value());
  }
  CHECK(pool.statistics().in_use_bytes == 0);
}

TEST_CASE("statistics report bytes in use, cached and wasted, hits and misses", "[buffer]") {
  counting_resource upstream;
  buffer_pool pool({.upstream = &upstream});
  auto const a = pool.acquire(1000).value();
  auto const b = pool.acquire(5000).value();
  CHECK(pool.release(a) == errc::ok);
  auto s = pool.statistics();
  CHECK(s.in_use_bytes == 5120);
  CHECK(s.waste_bytes == 120);
  CHECK(s.cached_bytes == 1024);
  CHECK(s.peak_bytes == 6144);
  CHECK(s.hits == 0);
  CHECK(s.misses == 2);

  auto const c = pool.acquire(1024).value();
  CHECK(pool.release(b) == errc::ok);
  s = pool.statistics();
  CHECK(s.hits == 1);
  CHECK(s.misses == 2);
  CHECK(s.waste_bytes == 0);

  CHECK(pool.trim(5120) == 0);
  CHECK(pool.trim() == 5120);
  CHECK(upstream.bytes_out == 1024);
  CHECK(pool.release(c) == errc::ok);
  CHECK(pool.trim() == 1024);
  CHECK(upstream.bytes_out == 0);
  s = pool.statistics();
  CHECK(s.cached_bytes == 0);
  CHECK(s.peak_bytes == 6144);
}

TEST_CASE("a leak at shutdown is reported with the place of its acquire, and its memory is freed",
          "[buffer]") {
  counting_resource upstream;
  reports reported;
  std::uint32_t line = 0;
  {
    buffer_pool pool({.upstream = &upstream, .report = reported.sink()});
    line = __LINE__ + 1;
    static_cast<void>(pool.acquire(1000));
    auto const fine = pool.acquire_buffer(10).value();
  }
  REQUIRE(reported.lines.size() == 1);
  CHECK(contains(reported.lines[0], "1000 bytes"));
  CHECK(contains(reported.lines[0], "buffer_pool_test.cpp:" + std::to_string(line)));
  CHECK(contains(reported.lines[0], "never released"));
  CHECK(upstream.bytes_out == 0);
}

TEST_CASE("an owner whose handle was released by other code is reported", "[buffer]") {
  reports reported;
  buffer_pool pool({.report = reported.sink()});
  auto const line = __LINE__ + 1;
  auto owner = pool.acquire_buffer(10).value();
  CHECK(pool.release(owner.ref()) == errc::ok);
  CHECK(owner.release() == errc::double_release);
  REQUIRE(reported.lines.size() == 1);
  CHECK(contains(reported.lines[0], "buffer_pool_test.cpp:" + std::to_string(line)));
}

TEST_CASE("describe names the buffer of a handle and its state", "[buffer]") {
  buffer_pool pool;
  auto const line = __LINE__ + 1;
  auto const ref = pool.acquire(10).value();
  auto const here = "buffer_pool_test.cpp:" + std::to_string(line);
  CHECK(contains(pool.describe(ref), "10 bytes"));
  CHECK(contains(pool.describe(ref), here));
  CHECK(pool.release(ref) == errc::ok);
  CHECK(contains(pool.describe(ref), here));  // used in the error text of a double release
  auto const successor = pool.acquire(10).value();
  CHECK(contains(pool.describe(ref), "serves generation 2"));
  CHECK(contains(pool.describe({~0u, 1, 0, 0}), "not of this pool"));
  CHECK(pool.release(successor) == errc::ok);
}

TEST_CASE("invalid options are refused by name", "[buffer]") {
  using Catch::Matchers::Contains;
  CHECK_THROWS_WITH(buffer_pool({.slots = 0}), Contains("slots is 0"));
  CHECK_THROWS_WITH(buffer_pool({.slots = 1u << 24}), Contains("slots is 16777216"));
  CHECK_THROWS_WITH(buffer_pool({.cap_bytes = 63}), Contains("cap_bytes is 63"));
  CHECK_THROWS_WITH(buffer_pool({.upstream = nullptr}), Contains("upstream is null"));
}

TEST_CASE("slots close to their last generation are retired instead of wrapping around", "[buffer]") {
  counting_resource upstream;
  std::array<rondo::buffer_entry, 2> entries{};
  rondo::atomic<std::uint32_t, rondo::scope::system> returned{0};
  for (auto& entry : entries)
    entry.word.store(rondo::buffer_word::free_at(0xffff'fffd).bits(), rondo::memory_order::relaxed);
  buffer_pool pool({.upstream = &upstream}, {entries.data(), 2, &returned});
  std::vector<rondo::buffer_ref> seen;
  for (int use = 0; use < 6; ++use) {
    auto const ref = pool.acquire(64).value();
    CHECK(std::count(seen.begin(), seen.end(), ref) == 0);
    seen.push_back(ref);
    if (use % 2) {  // alternately by the pool and by the end of a lease
      CHECK(pool.release(ref) == errc::ok);
    } else {
      auto const lease = pool.read(ref);
      CHECK(pool.release(ref) == errc::ok);
    }
  }
  CHECK(pool.acquire(64).error() == errc::slots_exhausted);
  CHECK(pool.statistics().retired_slots == 2);
  CHECK(pool.statistics().hits == 4);
  CHECK(pool.statistics().cached_bytes == 0);
  CHECK(upstream.bytes_out == 0);
  for (auto const& ref : seen) {
    CHECK(pool.read(ref).status() == errc::stale_buffer);
    CHECK(pool.release(ref) == errc::double_release);
  }
}

TEST_CASE("handles of an earlier pool stay stale in the next pool that uses the same table", "[buffer]") {
  std::array<rondo::buffer_entry, 1> entries{};
  rondo::atomic<std::uint32_t, rondo::scope::system> returned{0};
  rondo::buffer_table_ref const table{entries.data(), 1, &returned};
  rondo::buffer_ref leaked{}, released{};
  reports reported;
  {
    buffer_pool pool({.report = reported.sink()}, table);
    released = pool.acquire(64).value();
    CHECK(pool.release(released) == errc::ok);
    leaked = pool.acquire(64).value();
  }
  CHECK(reported.lines.size() == 1);
  buffer_pool pool({}, table);
  auto const owner = pool.acquire_buffer(64).value();
  CHECK(pool.read(leaked).status() == errc::stale_buffer);
  CHECK(pool.read(released).status() == errc::stale_buffer);
  CHECK(pool.read(owner.ref()).status() == errc::ok);
}
