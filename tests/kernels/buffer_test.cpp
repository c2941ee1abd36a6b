// The table of buffers: handles, leases, release, and the end of generations.
#include "kernels/buffers/buffer.hpp"

#include <array>
#include <cstring>

#include "kernels/buffers/buffer_lease.hpp"
#include "tests/catch.hpp"

namespace {

using rondo::buffer_ref;
using rondo::buffer_view;
using rondo::buffer_word;
using rondo::errc;

/// A table of two slots, with 64 bytes behind each.
struct two_buffers {
  std::array<rondo::buffer_entry, 2> entries{};
  rondo::atomic<std::uint32_t, rondo::scope::system> returned{0};
  alignas(64) std::array<std::array<std::byte, 64>, 2> memory{};
  rondo::buffer_table_ref table{entries.data(), 2, &returned};

  explicit two_buffers(std::uint32_t generation = 1) {
    for (std::size_t i = 0; i < 2; ++i) {
      entries[i].word.store(buffer_word::free_at(generation).bits(), rondo::memory_order::relaxed);
      entries[i].base = memory[i].data();
    }
  }
  buffer_word word(std::uint32_t slot) const {
    return buffer_word{entries[slot].word.load(rondo::memory_order::relaxed)};
  }
};

}  // namespace

TEST_CASE("every handle is stale in a zeroed table", "[buffer]") {
  std::array<rondo::buffer_entry, 2> entries{};
  rondo::atomic<std::uint32_t, rondo::scope::system> returned{0};
  rondo::buffer_table_ref const table{entries.data(), 2, &returned};
  for (std::uint32_t slot : {0u, 1u, 2u, ~0u})
    for (std::uint32_t generation : {0u, 1u, ~0u}) {
      // A slot of another memory, unless the handle is null.
      auto const expected = generation != 0 && slot >> rondo::buffer_home_shift != 0 ? errc::buffer_elsewhere
                                                                                     : errc::stale_buffer;
      CHECK(table.begin_read({slot, generation, 0, 0}) == expected);
      CHECK(table.begin_write({slot, generation, 0, 0}) == expected);
      CHECK(table.release({slot, generation, 0, 0}) != errc::ok);
    }
  CHECK(table.take_returned() == 0);
}

TEST_CASE("a reader sees the range that its handle names, as elements", "[buffer]") {
  two_buffers t;
  auto const ref = t.table.open(0, 40);
  CHECK(ref == buffer_ref{0, 1, 0, 40});
  for (std::uint32_t i = 0; i < 10; ++i) std::memcpy(t.memory[0].data() + i * 4, &i, 4);

  buffer_view<std::uint32_t const> view;
  REQUIRE(t.table.try_read(ref, view) == errc::ok);
  CHECK(view.size() == 10);
  CHECK(view[9] == 9);
  t.table.end_read(ref);

  auto const middle = ref.slice(8, 24).slice(4, 8);
  REQUIRE(t.table.try_read(middle, view) == errc::ok);
  CHECK(view.size() == 2);
  CHECK(view[0] == 3);
  t.table.end_read(middle);
  CHECK_FALSE(t.word(0).leased());
}

TEST_CASE("a range outside the buffer, or with partial elements, is refused and leaves no lease",
          "[buffer]") {
  two_buffers t;
  auto const ref = t.table.open(0, 40);
  buffer_view<std::uint32_t const> view;
  auto const attempt = [&](buffer_ref range) { return t.table.try_read(range, view); };
  CHECK(attempt({0, 1, 0, 44}) == errc::buffer_out_of_bounds);
  CHECK(attempt({0, 1, 44, 0}) == errc::buffer_out_of_bounds);
  CHECK(attempt({0, 1, 40, 4}) == errc::buffer_out_of_bounds);
  CHECK(attempt({0, 1, 4, ~0ull - 3}) == errc::buffer_out_of_bounds);
  CHECK(attempt({0, 1, ~0ull - 3, 8}) == errc::buffer_out_of_bounds);
  CHECK(attempt(ref.slice(0, 6)) == errc::buffer_out_of_bounds);  // one and a half elements
  CHECK(attempt(ref.slice(2, 4)) == errc::buffer_out_of_bounds);  // not aligned
  CHECK(attempt(ref.slice(40, 0)) == errc::ok);
  t.table.end_read(ref);
  CHECK_FALSE(t.word(0).leased());
}

TEST_CASE("a slice cannot exceed the slice it was taken from", "[buffer]") {
  two_buffers t;
  auto const half = t.table.open(0, 40).slice(0, 20);
  buffer_view<std::byte const> view;
  CHECK(t.table.try_read(half.slice(16, 8), view) == errc::buffer_out_of_bounds);
  CHECK(t.table.try_read(half.slice(24, 0), view) == errc::buffer_out_of_bounds);
  CHECK(t.table.try_read(half.slice(24, 0).slice(0, 4), view) == errc::buffer_out_of_bounds);
  CHECK(t.table.try_read(half.slice(24, 0).slice(0, 0), view) == errc::buffer_out_of_bounds);
  CHECK(t.table.try_read(half.slice(24, 0).slice(1, 4), view) == errc::buffer_out_of_bounds);
  CHECK(t.table.try_read(half.slice(4, ~0ull), view) == errc::buffer_out_of_bounds);
}

TEST_CASE("readers share a buffer, a writer has it alone", "[buffer]") {
  two_buffers t;
  auto const ref = t.table.open(0, 64);
  CHECK(t.table.begin_read(ref) == errc::ok);
  CHECK(t.table.begin_read(ref) == errc::ok);
  CHECK(t.table.begin_write(ref) == errc::buffer_in_use);
  t.table.end_read(ref);
  CHECK(t.table.begin_write(ref) == errc::buffer_in_use);
  t.table.end_read(ref);
  CHECK(t.table.begin_write(ref) == errc::ok);
  CHECK(t.table.begin_write(ref) == errc::buffer_in_use);
  CHECK(t.table.begin_read(ref) == errc::buffer_in_use);
  t.table.end_write(ref);
  CHECK(t.table.begin_read(ref) == errc::ok);
  t.table.end_read(ref);
}

TEST_CASE("the count of readers does not overflow into the writer's bit", "[buffer]") {
  two_buffers t;
  auto const ref = t.table.open(0, 64);
  auto const full = t.word(0).bits() | buffer_word::readers_mask;
  t.entries[0].word.store(full, rondo::memory_order::relaxed);
  CHECK(t.table.begin_read(ref) == errc::buffer_in_use);
  CHECK(t.word(0).bits() == full);
}

TEST_CASE("a released buffer is returned once, and its handle is stale from then on", "[buffer]") {
  two_buffers t;
  auto const ref = t.table.open(1, 64);
  CHECK(t.table.release(ref.slice(8, 8)) == errc::ok);
  CHECK(t.table.release(ref) == errc::double_release);
  CHECK(t.table.begin_read(ref) == errc::stale_buffer);
  CHECK(t.table.begin_write(ref) == errc::stale_buffer);
  CHECK(t.table.take_returned() == 2);
  CHECK(t.table.take_returned() == 0);

  auto const successor = t.table.open(1, 64);
  CHECK(successor.generation == 2);
  CHECK(t.table.begin_read(ref) == errc::stale_buffer);
  CHECK(t.table.release(ref) == errc::double_release);
  CHECK(t.table.begin_read(successor) == errc::ok);
  t.table.end_read(successor);
}

TEST_CASE("a release while there are leases waits for the last of them", "[buffer]") {
  two_buffers t;
  auto const ref = t.table.open(0, 64);
  REQUIRE(t.table.begin_read(ref) == errc::ok);
  REQUIRE(t.table.begin_read(ref) == errc::ok);
  CHECK(t.table.release(ref) == errc::ok);
  CHECK(t.table.release(ref) == errc::double_release);
  CHECK(t.table.begin_read(ref) == errc::stale_buffer);
  CHECK(t.table.take_returned() == 0);
  t.table.end_read(ref);
  CHECK(t.table.take_returned() == 0);
  CHECK(t.word(0).generation() == 1);
  t.table.end_read(ref);
  CHECK(t.table.take_returned() == 1);
  CHECK(t.word(0).generation() == 2);

  auto const written = t.table.open(1, 64);
  REQUIRE(t.table.begin_write(written) == errc::ok);
  CHECK(t.table.release(written) == errc::ok);
  CHECK(t.table.take_returned() == 0);
  t.table.end_write(written);
  CHECK(t.table.take_returned() == 2);
}

TEST_CASE("a handle that was never issued is stale, not released twice", "[buffer]") {
  two_buffers t(7);
  CHECK(t.table.release({0, 7, 0, 0}) == errc::stale_buffer);
  CHECK(t.table.release({0, 8, 0, 0}) == errc::stale_buffer);
  CHECK(t.table.release({0, 6, 0, 0}) == errc::double_release);
  CHECK(t.table.release({2, 7, 0, 0}) == errc::stale_buffer);
}

TEST_CASE("after the last generation a slot stays stale for every handle", "[buffer]") {
  two_buffers t(0xffff'ffff);
  auto const last = t.table.open(0, 64);
  CHECK(last.generation == 0xffff'ffff);
  REQUIRE(t.table.begin_read(last) == errc::ok);
  CHECK(t.table.release(last) == errc::ok);
  t.table.end_read(last);
  CHECK(t.word(0).bits() == 0);
  for (std::uint32_t generation : {0u, 1u, 0xffff'fffeu, 0xffff'ffffu}) {
    CHECK(t.table.begin_read({0, generation, 0, 0}) == errc::stale_buffer);
    CHECK(t.table.begin_write({0, generation, 0, 0}) == errc::stale_buffer);
  }
  CHECK(t.table.release(last) == errc::double_release);
}

TEST_CASE("a lease ends with its scope, can be moved, and reports why it is empty", "[buffer]") {
  two_buffers t;
  auto const ref = t.table.open(0, 64);
  {
    rondo::write_lease<std::uint64_t> writer(t.table, ref);
    REQUIRE(writer);
    writer.view()[7] = 77;
    CHECK(rondo::read_lease<>(t.table, ref).status() == errc::buffer_in_use);
    auto moved = std::move(writer);
    CHECK_FALSE(writer);
    CHECK(moved.view().size() == 8);
    moved.end();
    moved.end();
    CHECK(moved.status() == errc::stale_buffer);
    CHECK(moved.view().size() == 0);
    CHECK_FALSE(t.word(0).leased());
  }
  rondo::read_lease<std::uint64_t> first(t.table, ref), second(t.table, ref.slice(56, 8));
  REQUIRE(second);
  CHECK(second.view()[0] == 77);
  CHECK(t.word(0).readers() == 2);
  first = std::move(second);
  CHECK(t.word(0).readers() == 1);
  CHECK(first.view().size() == 1);
  CHECK(rondo::read_lease<std::uint64_t>(t.table, ref.slice(1, 8)).status() == errc::buffer_out_of_bounds);
  first.end();
  CHECK(t.table.release(ref) == errc::ok);
  CHECK(rondo::read_lease<>(t.table, ref).status() == errc::stale_buffer);
}
