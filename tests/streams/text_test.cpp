// Texts over pictures.
#include <algorithm>
#include <optional>

#include "actors/video/letters/text_mask.hpp"
#include "runtime/device/emulated/emulated_module.hpp"
#include "tests/streams/media_bed.hpp"

RONDO_EMULATED_MODULE(media_test::stages)

using namespace media_test;

namespace {

/// The samples of a plane in which two pictures differ: their bounds.
struct bounds {
  std::int32_t left = 1 << 20, top = 1 << 20, right = -1, bottom = -1;
  std::int64_t samples = 0;
};
bounds differences(pictures const& a, pictures const& b, std::size_t n, int plane) {
  bounds all;
  auto const pa = planes_at(a.about, a.all.at(n).data()), pb = planes_at(b.about, b.all.at(n).data());
  for (std::int32_t y = 0; y < pa.of[plane].height; ++y)
    for (std::int32_t x = 0; x < pa.of[plane].width; ++x) {
      if (pa.of[plane].at(x, y) == pb.of[plane].at(x, y)) continue;
      all.left = std::min(all.left, x), all.right = std::max(all.right, x);
      all.top = std::min(all.top, y), all.bottom = std::max(all.bottom, y);
      ++all.samples;
    }
  return all;
}

/// Pattern, blur, text; without a text for comparison.
pictures run_text(text::options const* with, std::optional<std::uint32_t> effects = {}) {
  runtime rt{use<media_test::stages>, {.device = "cpu,emulated", .lanes = 2}};
  pictures shown;
  streams::graph g{rt, {.ticks = 3, .warn = [](std::string const&) {}}};
  auto const pattern = g.add<test_pattern>("pattern", {.width = 320, .height = 240}, {.device = effects});
  auto const soft = g.add<blur>("soft", {.sigma = 1}, {.device = effects});
  auto const to = g.add<callback_sink>("to", shown.options());
  g.connect(pattern.out<"video">(), soft.in<"video">());
  if (with == nullptr) {
    g.connect(soft.out<"video">(), to.in<"video">());
    g.start();
    REQUIRE(!g.wait(60s));
  } else {
    auto const title = g.add<text>("title", *with);
    g.connect(soft.out<"video">(), title.in<"video">());
    g.connect(title.out<"video">(), to.in<"video">());
    g.start();
    REQUIRE(!g.wait(60s));
    CHECK(g.counts(title).copied == 0);  // in place
    std::uint64_t copies = 0;
    for (auto const& e : g.edges()) copies += e.copies;
    CHECK(copies == (effects == 1u ? 3u : 0u));  // to the host, where they stay
  }
  REQUIRE(shown.all.size() == 3);
  return shown;
}

}  // namespace

TEST_CASE("a text is drawn where it is to be, in its colour, and nothing else changes", "[media]") {
  auto const plain = run_text(nullptr);
  text::options const o{.text = "H\xc3\xa9", .size = 40, .x = 101, .y = 51, .colour = "#00ff00"};
  auto const titled = run_text(&o);
  titled.show("text");
  auto const luma = differences(plain, titled, 1, 0);
  CHECK(luma.samples > 200);
  CHECK(luma.left >= 101);
  CHECK(luma.right < 101 + 2 * 40);
  CHECK(luma.top >= 51);
  CHECK(luma.bottom < 51 + 50);
  auto const chroma = differences(plain, titled, 1, 2);
  CHECK(chroma.samples > 50);
  CHECK(chroma.left >= 50);
  CHECK(chroma.bottom <= (51 + 50) / 2);
  // Green in BT.601, where a letter covers a pixel completely: the stem of the H.
  auto const p = planes_at(titled.about, titled.all[1].data());
  std::int64_t green = 0;
  for (std::int32_t y = luma.top; y <= luma.bottom; ++y)
    for (std::int32_t x = luma.left; x <= luma.right; ++x)
      green += p.of[0].at(x, y) == 145 && p.of[1].at(x / 2, y / 2) == 54 && p.of[2].at(x / 2, y / 2) == 34;
  CHECK(green > 30);
}

TEST_CASE("a text works on the host in a graph that otherwise works on a device, with one copy per picture",
          "[media]") {
  text::options const o{.text = "mixed", .size = 30};
  auto const here = run_text(&o, 0u), there = run_text(&o, 1u);
  for (std::size_t n = 0; n < 3; ++n)
    for (int p = 0; p < 3; ++p) CHECK(differences(here, there, n, p).samples == 0);
}

TEST_CASE("a text may have lines, say its tick, and be cut off by the picture's edges", "[media]") {
  text::options const two_lines{.text = "a\nb", .size = 40, .x = 20, .y = 20};
  auto const plain = run_text(nullptr);
  auto const lines = run_text(&two_lines);
  CHECK(differences(plain, lines, 0, 0).bottom > 20 + 40 + 20);
  text::options const ticks{.text = "tick {tick}", .x = 0, .y = 0};
  text::options const second{.text = "tick 1", .x = 0, .y = 0};
  auto const counted = run_text(&ticks), fixed = run_text(&second);
  CHECK(differences(counted, fixed, 1, 0).samples == 0);
  CHECK(differences(counted, fixed, 2, 0).samples > 0);
  text::options const cut{.text = "WWWWWWWWWWWWWWWW", .size = 60, .x = -30, .y = 200};
  CHECK(differences(plain, run_text(&cut), 0, 0).right == 319);
  CHECK(differences(plain, run_text(&cut), 0, 0).left == 0);
  text::options const outside{.text = "W", .x = 400, .y = 0};
  CHECK(differences(plain, run_text(&outside), 0, 0).samples == 0);
}

TEST_CASE("a text's mask takes invalid UTF-8 as replacement characters", "[media]") {
  text_mask valid("", 20, 320, 240), broken("", 20, 320, 240);
  valid.draw(
      "a\xef\xbf\xbd"
      "b\xef\xbf\xbd",
      0, 0, 255);
  broken.draw(
      "a\xff"
      "b\xc3",
      0, 0, 255);
  CHECK(valid.full().opacities == broken.full().opacities);
  CHECK_FALSE(valid.full().opacities.empty());
}

TEST_CASE("a text refuses options, and names a font that it cannot use", "[media]") {
  auto const refusal = [](text::options const& o) {
    runtime rt{use<media_test::stages>, {.device = "cpu"}};
    streams::graph g{rt};
    auto const pattern = g.add<test_pattern>("pattern");
    auto const title = g.add<text>("title", o);
    g.connect(pattern.out<"video">(), title.in<"video">());
    return error_of([&] { g.start(); });
  };
  CHECK_THAT(refusal({.colour = "green"}), Contains("'title'") && Contains("'green'") && Contains("#ff8000"));
  CHECK_THAT(refusal({.size = 2}), Contains("'size' is 2"));
  CHECK_THAT(refusal({.opacity = 2}), Contains("'opacity' is 2"));
  CHECK_THAT(refusal({.font = "/nowhere/font.ttf"}),
             Contains("/nowhere/font.ttf") && Contains("no such file"));
  CHECK_THAT(refusal({.font = "/etc/passwd"}), Contains("/etc/passwd") && Contains("FreeType"));
}
