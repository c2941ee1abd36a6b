// Stages have memory for pictures of the size that was negotiated. A source that makes one of another size is refused
// before any stage sees it: so says a test over every stage that takes pictures.
#include <algorithm>
#include <mutex>

#include "runtime/streams/file/stream_file.hpp"
#include "tests/streams/media_bed.hpp"

namespace other_sizes_test {

using namespace media_test;

constexpr image announced{320, 240};

/// Announces pictures of one size, and makes every second one of another, which has no more bytes.
struct changing_source {
  using ports = streams::ports<streams::out<"video", image>, streams::optional_out<"drawing", drawing>,
                               streams::optional_out<"points", points>, streams::optional_out<"boxes", boxes>,
                               streams::optional_out<"edges", edges>>;
  struct options {
    image other{};
  };
  static void spec(options const&, streams::spec_of<changing_source>& s) {
    s.out<"video">(announced);
    s.out<"drawing">({announced.width, announced.height});
    s.out<"points">({4});
    s.out<"boxes">({4});
    s.out<"edges">({4});
  }
  void process(streams::stage_context<changing_source>& ctx, streams::tick const& t) {
    auto const drawn = ctx.output<"drawing">({announced.width, announced.height});
    auto const followed = ctx.output<"points">({4});
    auto const around = ctx.output<"boxes">({4});
    auto const between = ctx.output<"edges">({4});
    auto const picture = ctx.output<"video">(t.number % 2 == 0 ? announced : ctx.options().other);
    if (!drawn || !followed || !around || !between) return;
    std::memset(drawn.data, 0, drawn.about.bytes());
    list_view<point> points{followed.about, followed.data};
    list_view<box> boxes{around.about, around.data};
    list_view<edge> edges{between.about, between.data};
    points.clear(), boxes.clear(), edges.clear();
    points.add({7, 300, 220, 10, 0});
    boxes.add({7, 280, 200, 30, 30});
    edges.add({7, 8, 10, 10, 310, 230});
    if (picture) std::memset(picture.data, 128, picture.about.bytes());
  }
  static constexpr auto where = streams::works::on_host;
};

/// Says which sizes come out of a stage.
struct size_keeper {
  using ports = streams::ports<streams::in<"video", image>>;
  static constexpr auto where = streams::works::on_host;
  static bool takes(image const&) { return true; }
  void process(streams::stage_context<size_keeper>& ctx, streams::tick const&) {
    auto const about = ctx.input<"video">().about;
    seen.emplace_back(about.width, about.height);
  }
  inline static std::vector<std::pair<std::int32_t, std::int32_t>> seen;
};

RONDO_STAGES(all_stages, RONDO_VIDEO_STAGES, RONDO_MEDIA_STAGES, callback_sink, changing_source, size_keeper)

namespace {

/// Whether a stage takes pictures.
bool takes_pictures(streams::stage_kind const& kind) {
  return kind.name != type_name<size_keeper> && kind.name != type_name<callback_sink> &&
         std::ranges::any_of(kind.inputs, [](auto const& p) { return p.frame == type_name<image>; });
}

/// A stage whose inputs are connected, as far as the source has such frames, and whose pictures are kept.
streams::stream_file graph_of(streams::stage_kind const& kind, streams::stage_catalog const& catalog,
                              std::filesystem::path const& dir) {
  streams::stream_file f;
  auto const& source = *catalog.find("changing_source");
  auto const from = add_stage(f, "from", source), stage = add_stage(f, "stage", kind);
  f.stages[from].how.attempts = 1;
  if (kind.short_name() == "text") set_option(f, "stage.text=A text", "test");
  if (kind.short_name() == "still_sink")
    set_option(f, "stage.file=" + (dir / "still-{tick}.png").string(), "test");
  if (kind.short_name() == "file_sink") set_option(f, "stage.file=" + (dir / "clip.mkv").string(), "test");
  for (std::uint32_t i = 0; i < kind.inputs.size(); ++i)
    for (std::uint32_t o = 0; o < source.outputs.size(); ++o)
      if (kind.inputs[i].frame == source.outputs[o].frame)
        f.connections.push_back({from, o, stage, i, {.how = streams::delivery::lossless}});
  for (std::uint32_t o = 0; o < kind.outputs.size(); ++o)
    if (kind.outputs[o].frame == type_name<image>)
      f.connections.push_back({stage, o, add_stage(f, "kept", *catalog.find("size_keeper")), 0, {}});
  return f;
}

void check_stage(streams::stage_kind const& kind, image const& other) {
  INFO(kind.name << ", " << to_text(other));
  rondo_test::scratch_directory const dir("sizes");
  auto const catalog = streams::stage_catalog::of<all_stages>();
  auto const file = graph_of(kind, catalog, dir.directory);
  runtime rt{use<all_stages>, {.device = "cpu"}};
  std::mutex mutex;
  std::string lines;
  auto const log = rt.on_log([&](log_line const& line) {
    std::lock_guard const lock(mutex);
    lines += line.actor_name + ": " + line.text + '\n';
  });
  size_keeper::seen.clear();
  constexpr std::uint64_t ticks = 6;
  {
    streams::graph g{rt, {.ticks = ticks, .measure = false, .warn = [](std::string const&) {}}};
    auto changed = file;
    reinterpret_cast<changing_source::options&>(*changed.stages[0].options.data()).other = other;
    add_stages(g, changed, 0, rt);
    g.start();
    CHECK_FALSE(g.wait(60s));
    CHECK(g.why_failed() == "");
    CHECK(g.counts_of(0).failed == ticks / 2);
    CHECK(g.counts_of(1).failed == 0);
    CHECK(g.counts_of(1).processed >= 1);
    CHECK(g.counts_of(1).processed <= ticks / 2);
  }
  auto const made = kind.outputs.empty() ? size_keeper::seen : decltype(size_keeper::seen)(3, {320, 240});
  CHECK(size_keeper::seen == made);
  std::lock_guard const lock(mutex);
  CHECK_THAT(lines,
             Contains("graph/from: ") && Contains("a frame of " + std::to_string(other.width) + "x" +
                                                  std::to_string(other.height) + " does not fit 320x240"));
  CHECK(lines.find("does not fit") == lines.rfind("does not fit"));  // said once
}

constexpr image others[] = {{704, 96}, {64, 720}, {64, 48}, {128, 96, pixel_format::i420_10}};

}  // namespace

TEST_CASE("no stage gets a picture of another size than was negotiated", "[media][sizes]") {
  auto const catalog = streams::stage_catalog::of<all_stages>();
  std::size_t checked = 0;
  for (auto const* const kind : catalog.all())
    if (takes_pictures(*kind) && kind->short_name() != "display") {
      for (auto const& other : others) {
        REQUIRE(other.bytes() <= announced.bytes());
        check_stage(*kind, other);
      }
      ++checked;
    }
  CHECK(checked >= 17);
}

TEST_CASE("a window gets no picture of another size than was negotiated", "[.display]") {
  for (auto const& other : others)
    check_stage(*streams::stage_catalog::of<all_stages>().find("display"), other);
}

}  // namespace other_sizes_test
