// Windows. The tests with the hidden tag need a screen, and ImageMagick's `import`, which takes pictures of it: the
// test `display` runs them under Xvfb.
#include <SDL.h>

#include <algorithm>
#include <cmath>
#include <fstream>

#include "tests/streams/media_bed.hpp"

#if defined(__SANITIZE_ADDRESS__)
extern "C" char const* __lsan_default_suppressions() { return "leak:libdbus-1"; }  // SDL keeps its connection
#endif

using namespace media_test;

namespace {

struct seen_colour {
  int red, green, blue;
  bool is_near(seen_colour const& o) const {
    return std::abs(red - o.red) <= 8 && std::abs(green - o.green) <= 8 && std::abs(blue - o.blue) <= 8;
  }
};

/// Of BT.601.
seen_colour colour_at(image const& about, std::byte const* data, std::int32_t x, std::int32_t y) {
  auto const p = planes_at(about, data);
  double const luma = 1.164 * (p.of[0].at(x, y) - 16), u = p.of[1].at(x / 2, y / 2) - 128,
               v = p.of[2].at(x / 2, y / 2) - 128;
  auto const sample = [](double s) { return static_cast<int>(std::lround(std::clamp(s, 0.0, 255.0))); };
  return {sample(luma + 1.596 * v), sample(luma - 0.392 * u - 0.813 * v), sample(luma + 2.017 * u)};
}

/// The screen's pixels.
std::vector<seen_colour> look_at_screen(std::string const& folder) {
  auto const file = folder + "/screen.rgb";
  if (std::system(("import -window root -depth 8 rgb:" + file).c_str()) != 0) return {};
  std::ifstream in(file, std::ios::binary);
  std::string const bytes{std::istreambuf_iterator<char>(in), {}};
  std::vector<seen_colour> pixels;
  auto const sample = [&](std::size_t at) { return static_cast<int>(static_cast<unsigned char>(bytes[at])); };
  for (std::size_t at = 0; at + 2 < bytes.size(); at += 3)
    pixels.push_back({sample(at), sample(at + 1), sample(at + 2)});
  return pixels;
}

/// To all windows, as if a person had done it.
void send_to_windows(std::uint32_t type, std::uint8_t what, std::int32_t key = 0) {
  for (std::uint32_t id = 1; id < 32; ++id) {
    SDL_Event event{};
    event.type = type;
    if (type == SDL_WINDOWEVENT) {
      event.window.windowID = id;
      event.window.event = what;
    } else {
      event.key.windowID = id;
      event.key.keysym.sym = key;
    }
    SDL_PushEvent(&event);
  }
}

}  // namespace

TEST_CASE("without a display, a window's graph does not start, and says why", "[media]") {
  auto const before = std::getenv("DISPLAY") != nullptr ? std::string(std::getenv("DISPLAY")) : "";
  setenv("SDL_VIDEODRIVER", "x11", 1);
  setenv("DISPLAY", ":no-such-display", 1);
  {
    runtime rt{use<media_test::stages>, {.device = "cpu"}};
    streams::graph g{rt};
    auto const pattern = g.add<test_pattern>("pattern");
    auto const screen = g.add<display>("screen");
    g.connect(pattern.out<"video">(), screen.in<"video">());
    CHECK_THAT(error_of([&] { g.start(); }), Contains("'screen'") && Contains("is there a display?"));
  }
  unsetenv("SDL_VIDEODRIVER");
  if (before.empty())
    unsetenv("DISPLAY");
  else
    setenv("DISPLAY", before.c_str(), 1);
}

TEST_CASE("a window shows the pictures in their colours, until a key closes it, and the graph ends",
          "[.display]") {
  rondo_test::scratch_directory const dir("display");
  runtime rt{use<media_test::stages>, {.device = "cpu"}};
  pictures first;
  {
    streams::graph g{rt, {.ticks = 1}};
    auto const pattern = g.add<test_pattern>("pattern", {.width = 320, .height = 240});
    auto const to = g.add<callback_sink>("to", first.options());
    g.connect(pattern.out<"video">(), to.in<"video">());
    g.start();
    REQUIRE(!g.wait(60s));
  }
  auto const key = GENERATE(SDLK_ESCAPE, SDLK_q, 0);  // 0: the window's button
  streams::graph g{rt, {.rate = 30}};
  auto const pattern = g.add<test_pattern>("pattern", {.width = 320, .height = 240});
  auto const title = g.add<text>("title", {.text = "tick {tick}", .size = 24, .y = 200});
  auto const screen =
      g.add<display>("screen", {.title = "pattern, twice as large", .width = 640, .height = 480});
  g.connect(pattern.out<"video">(), title.in<"video">());
  g.connect(title.out<"video">(), screen.in<"video">());
  g.start();
  // Each bar at its place covers some thousand pixels of its colour.
  CHECK(eventually([&] {
    auto const pixels = look_at_screen(dir.directory);
    for (std::int32_t bar = 0; bar < 7; ++bar) {
      auto const expected = colour_at(first.about, first.all[0].data(), 320 * (2 * bar + 1) / 16, 20);
      if (std::ranges::count_if(pixels, [&](seen_colour const& c) { return c.is_near(expected); }) < 1000)
        return false;
    }
    return true;
  }));
  if (char const* const folder = std::getenv("RONDO_TEST_PICTURES"))
    static_cast<void>(std::system(("import -window root " + std::string(folder) + "/screen.png").c_str()));
  CHECK(g.counts(screen).ended == 0);
  send_to_windows(key != 0 ? SDL_KEYDOWN : SDL_WINDOWEVENT, SDL_WINDOWEVENT_CLOSE, key);
  REQUIRE(!g.wait(60s));
  CHECK(g.counts(screen).ended == 1);
  CHECK(g.counts(title).processed == g.counts(pattern).processed);
}

TEST_CASE("a program may have several windows, at once and one after another", "[.display]") {
  runtime rt{use<media_test::stages>, {.device = "cpu"}};
  for (int again = 0; again < 3; ++again) {
    streams::graph g{rt, {.ticks = 30}};
    auto const pattern = g.add<test_pattern>("pattern", {.width = 160, .height = 120});
    auto const left = g.add<display>("left"), right = g.add<display>("right");
    g.connect(pattern.out<"video">(), left.in<"video">());
    g.connect(pattern.out<"video">(), right.in<"video">());
    g.start();
    REQUIRE(!g.wait(60s));
    CHECK(g.counts(left).last_number == 29);
    CHECK(g.counts(right).last_number == 29);
  }
}
