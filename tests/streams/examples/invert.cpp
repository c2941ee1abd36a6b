// The program of docs/streams.md.
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>

#include "actors/video/video_module.hpp"
#include "runtime/streams/graph.hpp"
#include "runtime/streams/kinds/stage_spec.hpp"

namespace streams = rondo::streams;
namespace video = rondo::video;
using video::image;

struct invert {
  using ports = streams::ports<streams::in<"video", image>, streams::out<"video", image, "video">>;
  struct options {
    std::uint8_t strength = 255;
  };

  RONDO_HD void process(streams::stage_context<invert>& ctx, streams::tick const&) {
    auto const picture = ctx.edit<"video">();  // in place, unless somebody else reads it
    if (!picture) return;
    auto const brightness = video::planes_at(picture.about, picture.data).of[0];
    for (std::int32_t y = 0; y < brightness.height; ++y)
      for (std::int32_t x = 0; x < brightness.width; ++x)
        brightness.at(x, y) = static_cast<std::uint8_t>(ctx.options().strength - brightness.at(x, y));
  }
};

struct invert_wide {
  using ports = invert::ports;
  static constexpr std::uint32_t phases = 1, parts = 8;
  streams::frame_out<image> picture;

  RONDO_HD std::uint32_t tiles(streams::stage_context<invert_wide>& ctx, streams::tick const&,
                               std::uint32_t /*phase*/) {
    picture = ctx.edit<"video">();
    return picture ? parts : 0;
  }
  RONDO_HD void tile(streams::stage_context<invert_wide>&, streams::tick const&, std::uint32_t /*phase*/,
                     std::uint32_t number) {
    auto const brightness = video::planes_at(picture.about, picture.data).of[0];
    for (auto y = static_cast<std::int32_t>(number); y < brightness.height; y += parts)
      for (std::int32_t x = 0; x < brightness.width; ++x)
        brightness.at(x, y) = static_cast<std::uint8_t>(255 - brightness.at(x, y));
  }
  RONDO_HD void process(streams::stage_context<invert_wide>&, streams::tick const&) {}
};

struct numbers {
  std::uint32_t count = 0;
  RONDO_HD std::uint64_t bytes() const noexcept { return std::uint64_t{count} * sizeof(float); }
};

struct average {
  using ports = streams::ports<streams::in<"samples", numbers>, streams::out<"mean", numbers>>;
  struct options {
    std::uint32_t most = 1024;
    void describe(auto& option) { option("most", most, "numbers in a frame, at most", 1, 65536); }
  };

  // On the host, before the graph begins: what it takes, and what it makes.
  static void spec(options const& o, streams::spec_of<average>& s) {
    if (s.in<"samples">()->count > o.most)
      s.refuse("more than " + std::to_string(o.most) + " numbers a frame");
    s.out<"mean">({1});
  }

  RONDO_HD void process(streams::stage_context<average>& ctx, streams::tick const&) {
    auto const from = ctx.input<"samples">();
    auto const to = ctx.output<"mean">({1});  // a block of this stage's pool, on its device
    float sum = 0;
    for (std::uint32_t i = 0; i < from.about.count; ++i) sum += reinterpret_cast<float const*>(from.data)[i];
    *reinterpret_cast<float*>(to.data) =
        from.about.count == 0 ? 0 : sum / static_cast<float>(from.about.count);
  }
};

RONDO_STAGES(effects, video::test_pattern, video::blur, invert, invert_wide, average, video::null_sink)

void check(bool claim, char const* what) {
  if (claim) return;
  std::fprintf(stderr, "not true: %s\n", what);
  std::exit(1);
}

int main() {
  rondo::runtime rt{rondo::use<effects>, {.device = "cpu"}};
  streams::graph g{rt, {.ticks = 100}};
  auto const pattern = g.add<video::test_pattern>("pattern", {.width = 640, .height = 480});
  auto const soft = g.add<video::blur>("soft", {.sigma = 2});
  auto const negative = g.add<invert>("negative");
  auto const screen = g.add<video::null_sink>("screen");
  g.connect(pattern.out<"video">(), soft.in<"video">());
  g.connect(soft.out<"video">(), negative.in<"video">());
  g.connect(negative.out<"video">(), screen.in<"video">(), {.how = streams::delivery::latest});

  check(g.negotiated_place(soft) == 0, "the only device");
  g.start();
  check(!g.wait(), "100 ticks, and then the end");
  check(g.counts(negative).processed == 100, "lossless up to there");
  check(g.counts(negative).copied == 0, "nobody else read the picture");
  check(g.counts(screen).last_number == 99, "the newest picture arrives");
  std::printf("%s", g.explain().c_str());

  streams::graph wide{rt, {.name = "wide", .ticks = 100}};
  auto const first = wide.add<video::test_pattern>("pattern", {.width = 640, .height = 480});
  auto const shared = wide.add<invert_wide>("negative");
  auto const last = wide.add<video::null_sink>("screen");
  wide.connect(first.out<"video">(), shared.in<"video">());
  wide.connect(shared.out<"video">(), last.in<"video">());
  wide.start();
  check(!wide.wait(), "100 ticks on all teams, and then the end");
  check(wide.counts(last).processed == 100, "lossless");

  auto const build = [](streams::graph& to) {
    auto const bars = to.add<video::test_pattern>("pattern", {.width = 640, .height = 480});
    auto const out = to.add<video::null_sink>("screen");
    to.connect(bars.out<"video">(), out.in<"video">());
    return out;
  };
  auto const file =
      (std::filesystem::temp_directory_path() / ("graph-" + std::to_string(::getpid()) + ".state")).string();
  std::uint64_t next = 0;
  {
    streams::graph before{rt, {.name = "before"}};
    build(before);
    before.start();
    next = before.checkpoint(file).value();  // now and then, while it runs
  }                                          // a crash, say
  streams::graph after{rt, {.name = "after", .ticks = next + 100}};
  auto const out = build(after);
  check(after.start_from(file) == next, "the number of the next tick");
  check(!after.wait(), "100 more, and then the end");
  check(after.counts(out).processed == 100, "none twice");
  std::filesystem::remove(file);
}
