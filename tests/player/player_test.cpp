// What all players do: the same bytes as on the host, in the order in which lists were given, each of which ends once.
#include <algorithm>
#include <cstring>
#include <future>

#include "kernels/pixels/kernels.hpp"
#include "tests/catch.hpp"
#include "tests/player/host_player.hpp"
#include "tests/player/players.hpp"

using namespace rondo;
using namespace rondo::pixels;
using namespace rondo::test;
using Catch::Matchers::Contains;

namespace {

/// A picture's planes after each kernel, one after the other, with rows that do not fill their strides.
std::vector<std::vector<u8>> all_kernels(kernel_player& player, i32 width, i32 height, u32 sigma_64) {
  i32 const stride = (width + 63) / 64 * 64;
  auto const bytes = static_cast<std::size_t>(stride) * static_cast<std::size_t>(height) + 128;
  shared_block const picture(player, bytes), between(player, bytes), soft(player, bytes);
  auto const rows = static_cast<std::uint32_t>(height), columns = static_cast<std::uint32_t>(width);
  plane_place const at{64, stride};
  blur_work const blur{at, at, width, height, gaussian_weights(sigma_64)};
  auto const o =
      play(player, {call(draw_pattern_kernel, {at, plane_y, pattern_for(width, height, 1, 7)},
                         {picture.data()}, rows, columns),
                    call(blur_rows_down_kernel, blur, {between.data(), picture.data()}, rows, columns),
                    call(blur_rows_across_kernel, blur, {soft.data(), between.data()}, rows, columns)});
  INFO(o.text);
  REQUIRE(!o.why);
  return {picture.copy(), between.copy(), soft.copy()};
}

}  // namespace

TEST_CASE("a player makes the host's bytes, with every radius of a blur", "[player]") {
  host_player host;
  for (auto const& name : player_names()) {
    auto const player = make_player(name);
    for (auto const& [width, height] : {std::pair{641, 97}, {16, 16}, {1920, 40}})
      for (u32 const sigma : {20u, 40u, 64u, 100u, 128u, 150u, 200u, 256u}) {
        INFO(name << ", " << width << "x" << height << ", sigma " << sigma << "/64");
        CHECK((all_kernels(*player, width, height, sigma) == all_kernels(host, width, height, sigma)));
      }
  }
}

TEST_CASE("a kernel finds each buffer at its place, its arguments, and its row and lane", "[player]") {
  host_player host;
  for (auto const& name : player_names()) {
    auto const player = make_player(name);
    for (auto const& [rows, columns] : {std::pair{1, 1}, {3, 70}, {70, 3}, {5, 300}}) {
      INFO(name << ", " << rows << " rows of " << columns);
      CHECK((all_mixes(*player, rows, columns) == all_mixes(host, rows, columns)));
    }
  }
}

TEST_CASE("a player's memory is aligned as asked, and comes back", "[player]") {
  for (auto const& name : player_names()) {
    auto const player = make_player(name);
    auto& memory = player->memory();
    for (int round = 0; round < 3; ++round)
      for (std::size_t const alignment : {1, 8, 64, 128, 256, 4096}) {
        INFO(name << ", " << alignment);
        std::vector<void*> blocks;
        for (std::size_t const bytes : {1, 100, 4096, 100'000}) {
          blocks.push_back(memory.allocate(bytes, alignment));
          CHECK(reinterpret_cast<std::uintptr_t>(blocks.back()) % alignment == 0);
          std::memset(blocks.back(), 0x5a, bytes);
        }
        for (std::size_t i = 0; std::size_t const bytes : {1, 100, 4096, 100'000})
          memory.deallocate(blocks[i++], bytes, alignment);
      }
  }
}

TEST_CASE("lists play in the order in which they were given, and each ends once", "[player]") {
  auto const name = GENERATE(from_range(player_names()));
  auto const player = make_player(name);
  INFO(player->description());
  constexpr int lists = 200;
  shared_block const picture(*player, 64 * 64);
  std::vector<int> ends;  // of one thread at a time: lists end in order
  std::promise<void> last;
  for (int i = 0; i < lists; ++i)
    player->play({call(draw_pattern_kernel, {{0, 64}, plane_y, pattern_for(64, 64, 1, static_cast<u32>(i))},
                       {picture.data()}, 64, 64)},
                 [&, i](error_code why, std::string const&) {
                   if (!why) ends.push_back(i);
                 });
  player->play({}, [&](error_code, std::string const&) { last.set_value(); });  // an empty one waits, too
  last.get_future().wait();
  REQUIRE(ends.size() == lists);
  CHECK(std::ranges::is_sorted(ends));
  std::vector<u8> expected(64 * 64);
  for (i32 y = 0; y < 64; ++y)
    pattern_row(expected.data() + 64 * y, plane_y, pattern_for(64, 64, 1, lists - 1), y, 0, 1);
  CHECK(picture.copy() == expected);
  CHECK(play(*player, {}).text.empty());
  CHECK(player->played() >= lists);
  CHECK_FALSE(player->is_lost());
}

TEST_CASE("a kernel that the program does not have is named, and others still play", "[player]") {
  for (auto const& name : player_names()) {
    if (name == "host") continue;  // it plays functions, whatever their names
    INFO(name);
    auto const player = make_player(name);
    auto missing = call(draw_pattern_kernel, {{0, 64}, plane_y, pattern_for(64, 64, 1, 1)}, {}, 1, 1);
    missing.kernel.name = "no_such_kernel";
    auto const o = play(*player, {missing});
    CHECK(o.why == errc::unknown_message);
    CHECK_THAT(o.text, Contains("no_such_kernel"));
    CHECK_FALSE(player->is_lost());
    all_kernels(*player, 32, 32, 64);
  }
}
