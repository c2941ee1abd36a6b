// A population in a checkpoint: one block, which equals what the actors had handled, and is refused if it is not sound.
#include <algorithm>

#include "runtime/checkpoint.hpp"
#include "runtime/lifecycle.hpp"
#include "runtime/population/refs_of.hpp"
#include "runtime/state/checkpoint_file.hpp"
#include "tests/runtime/checkpoint_fixture.hpp"

using namespace checkpoint_test;

namespace {

rondo::checkpoint_image image_of(std::filesystem::path const& file) {
  return rondo::read_checkpoint(file, describe());
}

/// Each actor of an image for itself.
std::vector<rondo::saved_actor> one_by_one(rondo::checkpoint_image const& image) {
  std::vector<rondo::saved_actor> all;
  for (auto const& a : image.actors) {
    all.push_back(a);
    all.back().followers = {};
    auto const bytes = a.state_bytes.size();
    for (std::uint32_t i = 0; i < a.followers.count(); ++i) {
      auto next = all[all.size() - 1 - i];
      next.id = a.id_of(i + 1);
      next.totals = a.followers.totals[i];
      std::ranges::fill(next.latency_counts, 0);
      auto const state = std::span(a.followers.states).subspan(i * bytes, bytes);
      next.state_bytes.assign(state.begin(), state.end());
      for (auto const& l : a.followers.latencies)
        if (l.follower == i) next.latency_counts[l.bucket] = l.count;
      all.push_back(std::move(next));
    }
  }
  return all;
}

void require_same(std::vector<rondo::saved_actor> const& then, std::vector<rondo::saved_actor> const& now) {
  REQUIRE(then.size() == now.size());
  for (std::size_t i = 0; i < then.size(); ++i) {
    auto const &a = then[i], &b = now[i];
    CAPTURE(i, a.name, a.id.index);
    CHECK(a.id == b.id);
    CHECK(a.name == b.name);
    CHECK(a.behaviour == b.behaviour);
    CHECK(a.capacity == b.capacity);
    CHECK(a.state == b.state);
    CHECK(a.mail.size() == b.mail.size());
    CHECK(a.state_bytes == b.state_bytes);
    CHECK(std::ranges::equal(a.latency_counts, b.latency_counts));
    CHECK(a.totals.accepted == b.totals.accepted);
    CHECK(a.totals.handled == b.totals.handled);
    CHECK(a.totals.latency_sum_ns == b.totals.latency_sum_ns);
    CHECK(a.totals.latency_samples == b.totals.latency_samples);
  }
}

/// Forty journals, of which some have handled items, some have something of their own, and one has ended.
std::vector<rondo::actor_ref<journal>> launch_crowd(rondo::runtime& rt) {
  auto all = rt.launch_many<journal>(40);
  for (std::size_t i = 0; i < all.size(); ++i)
    for (std::uint64_t m = 0; m < i % 3; ++m) tell(all[i], item{0, m});
  rt.launch<notebook>("a name");
  rt.launch_many<notebook>(4, {.active = false});
  for (auto const& r : all) report_of(r);
  REQUIRE_FALSE(rondo::deactivate(all[20], rondo::block));
  tell(all[20], item{1, 0});
  REQUIRE_FALSE(rondo::terminate(all[10], rondo::termination::drain, rondo::block));
  at_rest(rt, 1);
  all.erase(all.begin() + 10);
  return all;
}

}  // namespace

TEST_CASE("a population is one block of a checkpoint, and restores to what it was",
          "[checkpoint][population]") {
  auto const device = GENERATE(from_range(devices()));
  CAPTURE(device);
  scratch s;
  auto first = start(small_config(device));
  auto const crowd = launch_crowd(*first);
  rondo::checkpoint(*first, s.file);
  auto const then = image_of(s.file);
  // Those before the one that has ended, those before the one with mail, that one, those behind it, the
  // notebook, and those that are not active.
  REQUIRE(then.actors.size() == 6);
  CHECK(then.actors[0].followers.count() == 9);
  CHECK(then.actors[1].followers.count() == 8);
  CHECK(then.actors[2].mail.size() == 1);
  CHECK(then.actors[2].followers.count() == 0);
  CHECK(then.actors[3].followers.count() == 18);
  CHECK(then.actors[4].name == "a name");
  CHECK(then.actors[5].followers.count() == 3);
  CHECK(then.actors[5].paused);
  first.reset();

  auto second = start(small_config(device));
  rondo::restore(*second, s.file);
  auto const again = rondo::refs_of<journal>(*second);
  REQUIRE(again.size() == crowd.size());
  for (std::size_t i = 0; i < crowd.size(); ++i) CHECK(again[i].id() == crowd[i].id());
  rondo::checkpoint(*second, s.file);
  auto const now = image_of(s.file);
  CHECK(now.actors.size() == then.actors.size());
  require_same(one_by_one(then), one_by_one(now));

  REQUIRE_FALSE(rondo::activate(again[19], rondo::block));
  for (std::size_t i = 0; i < again.size(); ++i) {
    auto const before = (i < 10 ? i : i + 1) % 3;
    tell(again[i], item{0, before});
    auto const r = report_of(again[i]);
    CAPTURE(i);
    CHECK(r.next[0] == before + 1);
    CHECK(r.taken == before + 1 + (i == 19));
    CHECK(r.out_of_turn == 0);
  }
  CHECK(at_rest(*second).conserved());
  auto const asleep = rondo::refs_of<notebook>(*second);
  REQUIRE(asleep.size() == 5);
  REQUIRE_FALSE(rondo::activate(asleep[3], rondo::block));
  tell(asleep[3], mark{7});
  CHECK(marks_of(asleep[3]) == std::vector<std::uint32_t>{7});
  CHECK(rondo::inspect(asleep[4], rondo::block).value().now.state == rondo::lifecycle::launched);
  CHECK(rondo::refs_of<courier>(*second).empty());
}

TEST_CASE("a population returns to its own cells, or is refused as a whole", "[checkpoint][population]") {
  scratch s;
  auto rt = start();
  auto const crowd = launch_crowd(*rt);
  rondo::checkpoint(*rt, s.file);
  SECTION("too few cells") {
    auto small = small_config();
    small.actors = 30;
    auto other = start(small);
    auto const error = error_of([&] { rondo::restore(*other, s.file); });
    CHECK(error.find("the actor in cell 39 (generation 1) was in cell 39, but this runtime has 30") !=
          std::string::npos);
    CHECK(other->list().empty());
  }
  SECTION("too little memory") {
    auto small = small_config();
    small.state_bytes = 64 * 20;
    auto other = start(small);
    auto const error = error_of([&] { rondo::restore(*other, s.file); });
    CHECK(error.find("there is no room for the state or mailbox of the actor in cell ") != std::string::npos);
    CHECK(other->list().empty());
  }
  SECTION("a later actor in one of the cells") {
    for (auto const& r : rondo::refs_of<journal>(*rt))
      REQUIRE_FALSE(rondo::terminate(r, rondo::termination::discard, rondo::block));
    for (auto const& r : rondo::refs_of<notebook>(*rt))
      REQUIRE_FALSE(rondo::terminate(r, rondo::termination::discard, rondo::block));
    auto const successor = rt->launch<journal>("successor");
    REQUIRE_FALSE(rondo::terminate(successor, rondo::termination::drain, rondo::block));
    auto const error = error_of([&] { rondo::restore(*rt, s.file); });
    CHECK(error.find("now belongs to another actor") != std::string::npos);
    CHECK(rt->list().empty());
  }
}

TEST_CASE("a damaged population is refused, or read as far as it is sound", "[checkpoint][population]") {
  scratch s;
  auto rt = start();
  launch_crowd(*rt);
  rondo::checkpoint(*rt, s.file);
  auto const module = describe();
  auto const body = rondo::encode_checkpoint_body(image_of(s.file), module);
  std::size_t refused = 0, read = 0;
  for (std::size_t at = 0; at < body.size(); ++at)
    for (unsigned const change : {0x01u, 0x80u, 0xffu}) {
      auto damaged = body;
      damaged[at] ^= static_cast<std::byte>(change);
      CAPTURE(at, change);
      rondo::checkpoint_image image;
      if (!error_of([&] { image = rondo::decode_checkpoint_body(damaged, module); }).empty()) {
        ++refused;
        continue;
      }
      ++read;
      for (auto const& a : image.actors) {
        auto const& f = a.followers;
        REQUIRE(f.states.size() == f.count() * a.state_bytes.size());
        REQUIRE(rondo::cell_of(a.id) + std::uint64_t{f.count()} < 1u << rondo::device_shift);
        for (auto const& l : f.latencies)
          REQUIRE((l.follower < f.count() && l.bucket < rondo::latency_histogram::buckets));
        if (f.count() != 0) REQUIRE((a.name.empty() && a.mail.empty() && !a.pinned && a.control == 0));
      }
    }
  CHECK(refused > 0);
  CHECK(read > 0);
}

TEST_CASE("a checkpoint of the version before populations is read", "[checkpoint][population]") {
  scratch s;
  auto rt = start();
  tell(rt->launch<journal>("j"), item{0, 0});
  report_of(rt->find<journal>("j").value());
  rondo::checkpoint(*rt, s.file);
  auto bytes = read_bytes(s.file);
  bytes[12] = 3;
  mend_head(bytes);
  write_bytes(s.file, bytes);
  auto second = start();
  rondo::restore(*second, s.file);
  CHECK(report_of(second->find<journal>("j").value()).taken == 1);
  bytes[12] = 2;
  mend_head(bytes);
  write_bytes(s.file, bytes);
  auto third = start();
  auto const error = error_of([&] { rondo::restore(*third, s.file); });
  CHECK(error.find("has format version 2, but this program reads only version 3 to 4") != std::string::npos);
}
