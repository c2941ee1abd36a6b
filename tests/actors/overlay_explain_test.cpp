// `rondo overlay --explain`: the copies that each step of a frame requires, and the copies that were made.
#include "tools/overlay/overlay_explain.hpp"
#include "tests/actors/command_fixture.hpp"

using namespace command_test;
namespace tools = rondo::tools;

namespace {

/// The line that begins with this text.
std::string line_of(std::string const& text, std::string const& start) {
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);)
    if (line.starts_with(start)) return line;
  return {};
}

/// `rondo overlay --explain` over 30 frames of one camera, or of two.
std::string explained(std::string const& device, std::vector<std::string> const& more) {
  folder dir;
  auto const clip = make_clip(dir, "walk.mp4", 30);
  std::vector<std::string> words{"overlay", "--explain", "--input", clip, "--device", device};
  for (auto const& w : more) words.push_back(w == "OUT" ? dir / "out.mp4" : w == "CLIP" ? clip : w);
  command c(dir, words);
  CHECK(c.wait() == 0);
  CHECK(c.complaints() == "");
  return c.out();
}

}  // namespace

TEST_CASE("--explain: nothing is copied if host and device share one memory", "[command][explain]") {
  auto const text = explained("cpu", {"--output", "OUT"});
  CHECK_THAT(line_of(text, "  to the camera"), Contains("host = cpu") && Contains("0.00      0.00"));
  CHECK_THAT(line_of(text, "  to the encoder"), Contains("host = cpu") && Contains("0.00      0.00"));
  CHECK_THAT(text, Contains("beyond the least: 0 to the device, 0 to the host"));
  CHECK_THAT(line_of(text, "buffers (host)"), Contains("7 in use") && Contains(" 0 while frames ran"));
  CHECK(line_of(text, "buffers (cpu)").empty());
}

TEST_CASE("--explain: a frame goes to the device once, and back once if it is encoded",
          "[command][explain]") {
  auto const text = explained("emulated", {"--output", "OUT", "--input", "CLIP"});
  CHECK_THAT(line_of(text, "  to the camera"), Contains("host -> emulated") && Contains("1.00      1.00"));
  CHECK_THAT(line_of(text, "  to the encoder"),
             Contains("emulated -> host") && Contains("1.00      1.00") && Contains("60 of 60 frames"));
  CHECK_THAT(text, Contains("beyond the least: 0 to the device, 0 to the host"));
  CHECK_THAT(line_of(text, "buffers (host)"), Contains(": 0 in use") && Contains(" 0 while frames ran"));
  CHECK_THAT(line_of(text, "buffers (pinned host)"),
             Contains("12 in use") && Contains(" 0 while frames ran"));
  CHECK_THAT(line_of(text, "buffers (emulated)"), Contains("14 in use") && Contains(" 0 while frames ran"));
}

TEST_CASE("--explain: frames that nobody needs on the host stay on the device", "[command][explain]") {
  auto const preload = GENERATE(false, true);
  std::vector<std::string> words{"--no-output"};
  if (preload) words.push_back("--preload");
  auto const text = explained("emulated", words);
  CHECK_THAT(line_of(text, "  to the camera"), Contains("1.00      1.00"));
  CHECK_THAT(line_of(text, "  to the encoder"), Contains("0.00      0.00") && Contains("0 of 30 frames"));
  CHECK_THAT(text, Contains("beyond the least: 0 to the device, 0 to the host"));
}

TEST_CASE("without --explain only the table is printed", "[command][explain]") {
  folder dir;
  auto const clip = make_clip(dir, "walk.mp4", 5);
  command c(dir, {"overlay", "--no-output", "--input", clip});
  CHECK(c.wait() == 0);
  CHECK_THAT(c.out(), !Contains("beyond the least"));
}

TEST_CASE("copies that the places of the steps do not require are marked", "[explain]") {
  tools::copy_account a{.device = "cuda", .one_memory = false, .sent = 100, .looked_at = 20};
  a.measured = {.to_device = 103, .to_host = 120};
  auto const text = tools::explain_copies(a);
  CHECK_THAT(line_of(text, "  to the camera"), Contains("1.00      1.03"));
  CHECK_THAT(line_of(text, "  to the encoder"), Contains("0.20      1.20") && Contains("20 of 100 frames"));
  CHECK_THAT(text, Contains("beyond the least: 3 to the device, 100 to the host"));
  a.one_memory = true;
  CHECK_THAT(tools::explain_copies(a), Contains("beyond the least: 103 to the device, 120 to the host"));
}
