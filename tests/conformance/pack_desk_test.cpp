// The desk that has packs of mail played (runtime/player/pack_player.hpp), and its packs, without teams.
#include <deque>

#include "tests/conformance/harness.hpp"
#include "tests/conformance/portable.hpp"
#include "tests/player/host_player.hpp"

using namespace conformance;

namespace {

using rondo::mail_pack;

/// Plays a list when the test says so, on its thread.
class held_player final : public rondo::kernel_player {
 public:
  std::string name() const override { return "held"; }
  std::string description() const override { return "a GPU that a test holds"; }
  bool knows(rondo::kernel_entry const&) override { return true; }
  std::pmr::memory_resource& memory() override { return *std::pmr::new_delete_resource(); }
  bool is_lost() const noexcept override { return false; }
  std::uint64_t played() const noexcept override { return 0; }
  void play(std::vector<rondo::kernel_call> calls, ended done) override {
    lists.push_back({std::move(calls), std::move(done)});
  }
  /// Plays the list that came first. It takes at least `ms`.
  void go_on(std::uint32_t ms = 0) {
    auto const next = std::move(lists.front());
    lists.pop_front();
    std::this_thread::sleep_for(std::chrono::milliseconds(ms));
    for (auto const& c : next.calls)
      for (std::uint32_t row = 0; row < c.rows; ++row)
        c.kernel.on_host(c.buffers.of, c.arguments, {0, 1, static_cast<int>(row)});
    next.done({}, "");
  }

  struct list {
    std::vector<rondo::kernel_call> calls;
    ended done;
  };
  std::deque<list> lists;
};

/// A desk of two teams, and the place of a behaviour that it packs.
struct desk_of_a_test {
  explicit desk_of_a_test(std::shared_ptr<rondo::kernel_player> player, rondo::portable_place where)
      : desk(portable, std::move(player), where, arena(), 2) {}

  /// Adds one actor with so many messages.
  void fill(mail_pack& p, std::uint32_t messages) const {
    number_keeper const state{};
    REQUIRE(p.begin({p.runs(), 1}, place, &state, sizeof state, {}));
    numbered const m{};
    for (std::uint32_t i = 0; i < messages; ++i) {
      auto* const to = p.add(0, sizeof m, false);
      REQUIRE(to != nullptr);
      std::memcpy(to, &m, sizeof m);
    }
  }
  mail_pack& open(std::uint32_t messages) {
    auto* const p = desk.open();
    REQUIRE(p != nullptr);
    if (p->empty()) p->opened_ns = rondo::now_ns();
    p->most_messages = std::min(p->most_messages, desk.packs(place));
    fill(*p, messages);
    return *p;
  }
  rondo::portable_report report() const {
    return desk.reports([](std::uint32_t) { return std::string("x"); }).at(0);
  }

  std::vector<std::byte> memory;
  std::vector<rondo::packed_behaviour const*> portable = rondo::program_of<testbed>().teams.portable();
  std::uint16_t place = static_cast<std::uint16_t>(
      std::ranges::find_if(portable, [](auto const* p) { return p != nullptr; }) - portable.begin());
  rondo::pack_player desk;

 private:
  rondo::arena_ref arena() {
    rondo::arena_shape shape;
    shape.actors = 16;
    shape.rings = 16;
    shape.teams = 2;
    shape.heap_bytes = 1 << 16;
    memory.resize(rondo::arena_ref::bytes_for(shape) + 4096);
    void* at = memory.data();
    auto space = memory.size();
    std::align(4096, memory.size() - 4096, at, space);
    return rondo::arena_ref::format(static_cast<std::byte*>(at), shape);
  }
};

}  // namespace

TEST_CASE("a pack that holds more than it may have by now takes no other actor", "[portable][player]") {
  rondo::pack_room const room{.runs = 8, .messages = 64};
  std::vector<mail_pack::part> parts(room.runs);
  std::vector<std::vector<std::max_align_t>> memory;
  mail_pack p(room, parts.data());
  for (int b = 0; b < 3; ++b) {
    memory.emplace_back(room.bytes(b) / sizeof(std::max_align_t) + 1);
    p.place(b, reinterpret_cast<std::byte*>(memory.back().data()));
  }
  p.clear();
  int const state = 0;
  REQUIRE(p.begin({0, 1}, 0, &state, sizeof state, {}));
  REQUIRE(p.add(0, 4, false, 60) != nullptr);
  CHECK_FALSE(p.is_full());
  p.most_messages = 16;  // as another behaviour wants it
  CHECK(p.is_full());
  CHECK_FALSE(p.begin({1, 1}, 1, &state, sizeof state, {}));
  CHECK(p.runs() == 1);
  CHECK(p.messages() == 60);
}

TEST_CASE(
    "a desk packs where the GPU is cheaper, looks at the other place now and then, and follows the load",
    "[portable][player]") {
  desk_of_a_test t(std::make_shared<rondo::host_player>(), rondo::portable_place::cheaper);
  auto const pack_once = [&] {
    auto& p = t.open(1);
    t.desk.play(p);
    REQUIRE(eventually([&] { return t.desk.ended() == 1; }));
    REQUIRE(t.desk.take_ended() == &p);
    CHECK(p.failure == errc::ok);
    CHECK(p.run(0).handled == 1);
    t.desk.close(p);
  };
  REQUIRE(t.desk.packs(t.place) != 0);  // unknown
  pack_once();                          // does not count: a driver may have compiled
  REQUIRE(t.desk.packs(t.place) != 0);
  pack_once();
  REQUIRE(t.desk.packs(t.place) == 0);
  t.desk.note_on_host(t.place, 1, 3'600'000'000'000);  // a message takes an hour
  pack_once();
  REQUIRE(t.desk.packs(t.place) != 0);
  CHECK(t.report().is_packed);
  // It becomes cheap, which the looks find out.
  REQUIRE(eventually([&] {
    if (t.desk.packs(t.place) == 0) t.desk.note_on_host(t.place, 1'000'000, 1);
    return !t.report().is_packed;
  }));
  for (int i = 0; i < 100; ++i) t.desk.note_on_host(t.place, 1'000'000, 1);
  REQUIRE(eventually([&] { return t.desk.packs(t.place) != 0; }));  // a look at the GPU
  pack_once();
  CHECK(t.desk.packs(t.place) == 0);
}

TEST_CASE("while the GPU has two packs, an unfinished one waits and is filled further",
          "[portable][player]") {
  auto const player = std::make_shared<held_player>();
  desk_of_a_test t(player, rondo::portable_place::gpu);
  auto& first = t.open(1);
  t.desk.play(first);
  auto& second = t.open(1);
  t.desk.play(second);
  CHECK(player->lists.size() == 2);
  auto& third = t.open(1);
  t.desk.play(third);
  CHECK(player->lists.size() == 2);
  CHECK(&t.open(2) == &third);  // as another team would
  CHECK(third.runs() == 2);
  CHECK(third.messages() == 3);
  t.desk.play(third);
  CHECK(player->lists.size() == 2);
  player->go_on();
  CHECK(player->lists.size() == 1);
  REQUIRE(t.desk.take_ended() == &first);
  CHECK(t.report().on_gpu == 1);  // a reply that is sent from now on finds it counted
  CHECK(player->lists.size() == 2);
  t.desk.close(first);
  player->go_on();
  player->go_on();
  REQUIRE(t.desk.take_ended() == &second);
  t.desk.close(second);
  REQUIRE(t.desk.take_ended() == &third);
  CHECK(third.run(1).handled == 2);
  CHECK(t.report().on_gpu == 5);
  t.desk.close(third);
  CHECK(t.desk.in_play() == 0);
}

TEST_CASE("of packs that wait, the one that was opened first begins first", "[portable][player]") {
  auto const player = std::make_shared<held_player>();
  desk_of_a_test t(player, rondo::portable_place::gpu);
  for (int i = 0; i < 2; ++i) t.desk.play(t.open(1));
  auto& older = t.open(1);
  auto& newer = t.open(1);
  older.opened_ns = 100;
  newer.opened_ns = 200;
  t.desk.play(older);
  t.desk.play(newer);
  CHECK(&t.open(1) == &older);  // it is filled first, too, and keeps its place
  t.desk.play(older);
  player->go_on();
  t.desk.close(*t.desk.take_ended());
  player->go_on();  // the second one that was played, and then the one that has begun
  t.desk.close(*t.desk.take_ended());
  player->go_on();
  REQUIRE(t.desk.take_ended() == &older);
  t.desk.close(older);
  player->go_on();
  REQUIRE(t.desk.take_ended() == &newer);
  t.desk.close(newer);
  CHECK(t.desk.in_play() == 0);
}

TEST_CASE("five packs are in play at most, and one that takes longer than 1 ms makes the next ones smaller",
          "[portable][player]") {
  auto const player = std::make_shared<held_player>();
  desk_of_a_test t(player, rondo::portable_place::gpu);
  auto const play_and_end = [&](std::uint32_t messages, std::uint32_t ms) {
    auto& p = t.open(messages);
    t.desk.play(p);
    player->go_on(ms);
    REQUIRE(t.desk.take_ended() == &p);
    t.desk.close(p);
  };
  play_and_end(1, 0);  // does not count: a driver may have compiled
  play_and_end(200, 2);
  CHECK(t.desk.packs(t.place) == 100);
  play_and_end(100, 2);
  play_and_end(64, 2);
  CHECK(t.desk.packs(t.place) == 64);  // no smaller ones: they would cost more than they save
  // Full ones, so none of them is filled further.
  for (int i = 0; i < 5; ++i) {
    t.desk.play(t.open(64));
    CHECK(player->lists.size() == static_cast<std::size_t>(i + 1));
  }
  CHECK(t.desk.open() == nullptr);
  for (int i = 0; i < 5; ++i) {
    player->go_on();
    t.desk.close(*t.desk.take_ended());
  }
  // They are larger again when they are played fast.
  REQUIRE(eventually([&] {
    play_and_end(t.desk.packs(t.place), 0);
    return t.desk.packs(t.place) > 64;
  }));
}
