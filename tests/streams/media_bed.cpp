#include "tests/streams/media_bed.hpp"

#include <cmath>

#include "actors/video/files/still.hpp"

namespace media_test {

void pictures::show(char const* name) const {
  char const* const folder = std::getenv("RONDO_TEST_PICTURES");
  if (folder == nullptr || all.empty()) return;
  write_still(std::string(folder) + "/" + name + ".png", about, all.back().data());
}

pictures write_clip(std::string const& file, std::uint64_t ticks) {
  runtime rt{use<stages>, {.device = "cpu"}};
  pictures shown;
  streams::graph g{rt, {.ticks = ticks}};
  auto const pattern = g.add<test_pattern>("pattern", {.width = 160, .height = 120});
  auto const soft = g.add<blur>("soft");
  auto const seen = g.add<callback_sink>("seen", shown.options());
  auto const to = g.add<file_sink>("to", {.file = text_of<1024>(file), .rate = 30, .threads = 1});
  g.connect(pattern.out<"video">(), soft.in<"video">());
  g.connect(soft.out<"video">(), seen.in<"video">());
  g.connect(soft.out<"video">(), to.in<"video">());
  g.start();
  REQUIRE(!g.wait(60s));
  CHECK(g.counts(to).processed == ticks);
  REQUIRE(shown.all.size() == ticks);
  return shown;
}

clip read_clip(file_source::options const& options, std::uint64_t ticks) {
  clip c;
  std::atomic<std::uint32_t> reports{0};
  {
    runtime rt{use<stages>, {.device = "cpu"}};
    auto const log = rt.on_log([&](log_line const& line) {
      if (line.text.find("is damaged") != std::string::npos) ++reports;
    });
    streams::graph g{rt, {.ticks = ticks}};
    auto const from = g.add<file_source>("from", options);
    auto const to = g.add<callback_sink>("to", c.shown.options());
    g.connect(from.out<"video">(), to.in<"video">());
    try {
      g.start();
      if (g.wait(60s)) c.error = g.why_failed();
      c.processed = g.counts(from).processed;
    } catch (streams::graph_error const& e) {
      c.error = e.what();
    }
  }
  c.damage_reports = reports;
  return c;
}

double mean_error(pictures const& a, std::size_t of_a, pictures const& b, std::size_t of_b) {
  auto const pa = planes_at(a.about, a.all.at(of_a).data()).of[0],
             pb = planes_at(b.about, b.all.at(of_b).data()).of[0];
  double sum = 0;
  for (std::int32_t y = 0; y < pa.height; ++y)
    for (std::int32_t x = 0; x < pa.width; ++x) sum += std::abs(pa.at(x, y) - pb.at(x, y));
  return sum / pa.width / pa.height;
}

}  // namespace media_test
