// The directory of actors: names, cells, and the memory of states and rings.
#include "runtime/core/directory.hpp"

#include <algorithm>
#include <set>

#include "kernels/mail/arena.hpp"
#include "tests/runtime/result_text.hpp"

using rondo::directory;
using rondo::errc;

namespace {

rondo::arena_layout layout(std::uint32_t actors, std::uint64_t heap_bytes) {
  rondo::arena_shape shape;
  shape.actors = actors;
  shape.ring_slots = 32;
  shape.heap_bytes = heap_bytes;
  return rondo::detail::plan_arena(shape);
}

}  // namespace

TEST_CASE("a name belongs to one living actor", "[directory]") {
  directory d{{layout(8, 1 << 16)}};
  auto const a = d.add("a", 1, 64, {}, 32).value();
  CHECK(d.add("a", 1, 64, {}, 32).error() == errc::name_taken);
  CHECK(d.find("a")->id == a.id);
  CHECK(d.find(a.id)->name == "a");
  CHECK(d.alive() == 1);
  REQUIRE(d.remove(a.id));
  CHECK_FALSE(d.find("a"));
  CHECK_FALSE(d.find(a.id));
  CHECK_FALSE(d.remove(a.id));
  auto const b = d.add("a", 1, 64, {}, 32).value();
  CHECK(b.id.index == a.id.index);  // the same cell, but another life
  CHECK(b.id.generation != a.id.generation);
  CHECK_FALSE(d.find(a.id));
}

TEST_CASE("actors without a name do not conflict", "[directory]") {
  directory d{{layout(8, 1 << 16)}};
  auto const a = d.add("", 0, 64, {}, 32).value();
  auto const b = d.add("", 0, 64, {}, 32).value();
  CHECK_FALSE(a.id == b.id);
  CHECK_FALSE(d.find(""));
  CHECK(d.list().size() == 2);
}

TEST_CASE("cells and memory run out with an error, and nothing is leaked", "[directory]") {
  directory d{{layout(2, 1 << 16)}};
  auto const a = d.add("a", 0, 64, {}, 32).value();
  REQUIRE(d.add("b", 0, 64, {}, 32));
  CHECK(d.add("c", 0, 64, {}, 32).error() == errc::actor_limit);
  REQUIRE(d.remove(a.id));
  CHECK(d.add("huge", 0, 1 << 20, {}, 32).error() == errc::out_of_memory);
  CHECK(d.add("deep", 0, 64, {}, 1 << 20).error() ==
        errc::out_of_memory);  // there is no room for its mailbox
  CHECK_FALSE(d.find("huge"));
  CHECK_FALSE(d.find("deep"));
  CHECK(d.alive() == 1);
  CHECK(d.add("c", 0, 64, {}, 32));
}

TEST_CASE("many actors are added at once, or none", "[directory]") {
  directory d{{layout(10, 1 << 16)}};
  auto const gone = d.add("gone", 0, 64, {}, 32).value();
  auto const kept = d.add("kept", 0, 64, {}, 32).value();
  REQUIRE(d.remove(gone.id));
  CHECK(d.free_cells(0) == 9);
  std::vector<rondo::launch_spec> specs(9);
  std::vector<rondo::launch_spec> too_many(10);
  std::vector<std::uint32_t> const capacities = {32, 1, 2, 3, 4, 5, 6, 7, 8, 9};
  CHECK(d.add_many(1, 64, {}, capacities, too_many) == errc::actor_limit);
  CHECK(d.add_many(1, 1 << 14, {}, capacities, specs) == errc::out_of_memory);
  CHECK(d.alive() == 1);
  CHECK(d.free_cells(0) == 9);
  REQUIRE(d.add_many(1, 64, {.reserve = {.slots = 2}, .batch = 7}, capacities, specs) == errc::ok);
  for (std::size_t i = 0; i < specs.size(); ++i) CHECK(specs[i].capacity == capacities[i]);
  std::set<std::uint32_t> cells;
  std::set<std::uint64_t> states;
  for (auto const& s : specs) {
    cells.insert(s.id.index);
    states.insert(s.state_offset);
    auto const e = d.find(s.id);
    REQUIRE(e);
    CHECK(e->name.empty());
    CHECK(e->behaviour == 1);
    CHECK(e->options.batch == 7);
    CHECK(e->options.reserve.slots == 2);
    CHECK_FALSE(e->options.capacity);
    CHECK(e->spec.state_offset == s.state_offset);
  }
  CHECK(cells.size() == 9);
  CHECK(states.size() == 9);
  CHECK(cells.contains(gone.id.index));
  CHECK_FALSE(cells.contains(kept.id.index));
  CHECK(d.add("", 0, 64, {}, 32).error() == errc::actor_limit);
}

TEST_CASE("large mailboxes have their own rings, and memory is reused", "[directory]") {
  directory d{{layout(4, 1 << 18)}};
  std::set<std::uint64_t> offsets;
  for (int life = 0; life < 50; ++life) {
    auto const spec = d.add("deep", 0, 100, {}, 200).value();
    CHECK(spec.ring_slots == 256);
    CHECK(spec.ring_id != 0);
    CHECK(spec.capacity == 200);
    CHECK(spec.ring_has_past == (life != 0));
    offsets.insert(spec.ring_offset);
    REQUIRE(d.remove(spec.id));
  }
  CHECK(offsets.size() == 1);
  CHECK(d.add("shallow", 0, 100, {}, 32).value().ring_id == 0);
}

TEST_CASE("states and rings of living actors do not overlap", "[directory]") {
  directory d{{layout(64, 1 << 20)}};
  std::vector<std::pair<std::uint64_t, std::uint64_t>> pieces;
  auto const add = [&](std::uint64_t state_bytes, std::uint32_t capacity) {
    auto const spec = d.add("", 0, state_bytes, {}, capacity).value();
    CHECK(spec.state_offset % 64 == 0);
    pieces.emplace_back(spec.state_offset, state_bytes);
    if (spec.ring_id != 0) {
      CHECK(spec.ring_offset % 128 == 0);
      pieces.emplace_back(spec.ring_offset, rondo::mail_ring_ref::bytes_for(spec.ring_slots));
    }
    return spec.id;
  };
  for (std::uint32_t i = 0; i < 20; ++i) {
    auto const gone = add(1 + i * 37, i % 3 == 0 ? 100 : 32);
    auto const size = pieces.size();
    add(1 + i * 37, 32);
    if (i % 2 == 0) continue;
    REQUIRE(d.remove(gone));
    pieces.erase(pieces.begin() + static_cast<std::ptrdiff_t>(size) - (i % 3 == 0 ? 2 : 1),
                 pieces.begin() + static_cast<std::ptrdiff_t>(size));
  }
  std::sort(pieces.begin(), pieces.end());
  for (std::size_t i = 1; i < pieces.size(); ++i)
    CHECK(pieces[i - 1].first + pieces[i - 1].second <= pieces[i].first);
}
