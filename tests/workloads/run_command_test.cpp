// `rondo run` as a process: what it prints and writes, and what it refuses.
#include <chrono>
#include <random>
#include <sstream>
#include <thread>

#include <sys/stat.h>

#include "tests/actors/broken_process.hpp"
#include "tests/actors/command_fixture.hpp"

using namespace command_test;

namespace {

struct outcome {
  int status;
  std::string out, err;
};

outcome run(folder const& dir, std::vector<std::string> words) {
  words.insert(words.begin(), "run");
  broken_process p(RONDO_COMMAND, words, {}, dir / "out", dir / "err");
  int const status = p.wait();
  return {status, text_of(dir / "out"), text_of(dir / "err")};
}

void write(std::string const& file, std::string const& text) { std::ofstream(file) << text; }

/// Whether it is one line that begins with this.
bool is_line(std::string const& text, std::string const& begin) {
  return text.starts_with(begin) && text.find('\n') == text.size() - 1;
}

}  // namespace

TEST_CASE("run pagerank ranks a graph of a file, and writes ranks and a picture", "[command][workloads]") {
  folder const dir;
  write(dir / "star.txt", "# three leaves\n11 10\n12 10\n13 10\n");
  auto const seen =
      run(dir, {"pagerank", dir / "star.txt", "--device", "cpu", "--top", "1", "--tolerance", "1e-12",
                "--output", dir / "ranks.csv", "--picture", dir / "ranks.png", "--quiet"});
  INFO(seen.err);
  REQUIRE(seen.status == 0);
  CHECK(seen.err.empty());
  CHECK_THAT(seen.out, Contains("4 vertices, 3 links: ") && Contains("\n          10  0.54") &&
                           !Contains("\n          11"));
  CHECK_THAT(text_of(dir / "ranks.csv"), Contains("vertex,rank\n10,0.54") && Contains("\n13,0.15"));
  CHECK(text_of(dir / "ranks.png").starts_with("\x89PNG"));
}

TEST_CASE("run pagerank with an actor for each vertex ranks the same", "[command][workloads]") {
  folder const dir;
  std::vector<double> ranks[2];
  for (bool const by_vertices : {false, true}) {
    std::vector<std::string> words = {"pagerank",        "--generate", "scale=8",     "--device", "cpu",
                                      "--rounds",        "7",          "--tolerance", "0",        "--output",
                                      dir / "ranks.csv", "--quiet"};
    if (by_vertices) words.push_back("--by-vertices");
    auto const seen = run(dir, words);
    INFO(seen.err);
    REQUIRE(seen.status == 0);
    CHECK_THAT(seen.out, Contains("256 vertices, 4096 links: 7 rounds"));
    std::istringstream lines(text_of(dir / "ranks.csv"));
    std::string line;
    for (std::getline(lines, line); std::getline(lines, line);)
      ranks[by_vertices].push_back(std::stod(line.substr(line.find(',') + 1)));
  }
  REQUIRE(ranks[0].size() == 256);
  REQUIRE(ranks[1].size() == 256);
  for (std::size_t v = 0; v < 256; ++v) CHECK(ranks[0][v] == Approx(ranks[1][v]).epsilon(1e-9));
}

TEST_CASE("run pagerank prints JSON that says what was done", "[command][workloads]") {
  folder const dir;
  auto const seen = run(
      dir, {"pagerank", "--generate", "scale=10,factor=4", "--device", "emulated", "--top", "2", "--json"});
  INFO(seen.err);
  REQUIRE(seen.status == 0);
  std::regex const json(
      R"(\{"vertices": 1024, "links": 4096, "rounds": \d+, "change": [0-9.e-]+, "seconds": [0-9.]+, )"
      R"("links_per_s": [0-9.e+]+, "top": \[\{"vertex": \d+, "rank": [0-9.e-]+\}, \{[^}]+\}\]\}\n)");
  CHECK(std::regex_match(seen.out, json));
}

TEST_CASE("run anomaly finds what is far in a file, and writes alerts and a picture",
          "[command][workloads]") {
  folder const dir;
  std::string text = "time,sensor,value\n";
  for (int n = 0; n < 400; ++n)
    text += std::to_string(n) + ",kitchen," + std::to_string(20 + n % 3) + "\n" + std::to_string(n) +
            ",\"cellar, left\"," + (n == 250 ? "-7.5" : std::to_string(8 + n % 2)) + "\n";
  write(dir / "readings.csv", text);
  auto const seen = run(dir, {"anomaly", dir / "readings.csv", "--device", "cpu", "--output",
                              dir / "alerts.csv", "--picture", dir / "alerts.png", "--quiet"});
  INFO(seen.err);
  REQUIRE(seen.status == 0);
  CHECK(seen.err.empty());
  std::regex const table(
      " +readings +sensors +alerts +seconds +M readings/s\n +800 +2 +1 +[0-9.]+ +[0-9.]+\n"
      "most alerts: 1 of sensor 'cellar, left'\n");
  CHECK(std::regex_match(seen.out, table));
  CHECK(text_of(dir / "alerts.csv") ==
        "sensor,number,value,mean,deviation\n\"cellar, left\",250,-7.5,8.5,0.5\n");
  CHECK(text_of(dir / "alerts.png").starts_with("\x89PNG"));
}

TEST_CASE("run anomaly prints JSON that says what was done, with every batch the same alerts",
          "[command][workloads]") {
  folder const dir;
  std::string first;
  for (auto const* const batch : {"1", "100", "100000"}) {
    auto const seen = run(dir, {"anomaly", "--generate", "sensors=20,readings=3000", "--device", "emulated",
                                "--batch", batch, "--output", dir / "alerts.csv", "--json"});
    INFO(seen.err);
    REQUIRE(seen.status == 0);
    std::regex const json(
        R"(\{"readings": 60000, "sensors": 20, "alerts": \d+, "seconds": [0-9.]+, "readings_per_s": [0-9.e+]+, )"
        R"("restored_readings": 0, "most_alerts": \{"sensor": "\d+", "alerts": \d+\}\}\n)");
    CHECK(std::regex_match(seen.out, json));
    auto const alerts = text_of(dir / "alerts.csv");
    CHECK(std::ranges::count(alerts, '\n') > 60);
    if (first.empty()) first = alerts;
    CHECK(alerts == first);
  }
}

TEST_CASE("run anomaly goes on from its checkpoint after it was killed, and finds what one run finds",
          "[command][workloads]") {
  folder const dir;
  std::vector<std::string> const words = {"anomaly",  "--generate", "sensors=100,readings=20000",
                                          "--batch",  "1",          "--device",
                                          "cpu",      "--teams",    "2",
                                          "--sigmas", "2",          "--json"};
  auto whole = words;
  whole.insert(whole.end(), {"--output", dir / "whole.csv"});
  auto const began = std::chrono::steady_clock::now();
  REQUIRE(run(dir, whole).status == 0);
  auto const takes = std::chrono::steady_clock::now() - began;

  auto parts = words;
  parts.insert(parts.end(),
               {"--output", dir / "parts.csv", "--checkpoint", dir / "state", "--checkpoint-every", "0.01"});
  auto const seed = std::random_device{}();
  INFO("seed " << seed);
  std::mt19937 random{seed};
  int kills = 0;
  for (int tries = 0; tries < 8; ++tries) {
    auto all = parts;
    all.insert(all.begin(), "run");
    broken_process p(RONDO_COMMAND, all, {}, dir / "out", dir / "err");
    int status = 0;
    bool has_ended = false;
    REQUIRE(rondo_test::eventually(
        [&] { return fs::exists(dir / "state") || (has_ended = p.has_ended(status)); }));
    if (has_ended) continue;
    std::this_thread::sleep_for(takes * (random() % 1000) / 1000);  // any moment will do
    p.signal(SIGKILL);
    kills += p.wait() == 128 + SIGKILL;
  }
  auto const last = run(dir, parts);
  INFO(last.err);
  REQUIRE(last.status == 0);
  CHECK(kills > 0);
  CHECK(text_of(dir / "parts.csv") == text_of(dir / "whole.csv"));
  CHECK_FALSE(fs::exists(dir / "state"));
}

TEST_CASE("run agents flies the same way on every device, and writes a picture and a video",
          "[command][workloads]") {
  folder const dir;
  auto const checksum_of = [&](std::vector<std::string> more) {
    more.insert(more.begin(), {"agents", "--agents", "2000", "--steps", "5", "--json", "--quiet"});
    auto const seen = run(dir, more);
    INFO(seen.err);
    REQUIRE(seen.status == 0);
    CHECK(seen.err.empty());
    std::regex const json(R"(\{"agents": 2000, "steps": 5, "seed": (\d+), "seconds": [0-9.]+, )"
                          R"-("updates_per_s": [0-9.e+]+, "checksum": "([0-9a-f]{16})"\}\n)-");
    std::smatch found;
    REQUIRE(std::regex_match(seen.out, found, json));
    return found[2].str();
  };
  auto const plain = checksum_of({"--device", "cpu", "--teams", "1"});
  CHECK(checksum_of({"--device", "emulated"}) == plain);
  CHECK(checksum_of({"--device", "cpu", "--teams", "2", "--seed", "2"}) != plain);
  CHECK(checksum_of({"--device", "cpu", "--teams", "2", "--picture", dir / "flock.png", "--video",
                     dir / "flock.mp4", "--frames-per-s", "10"}) == plain);
  CHECK(text_of(dir / "flock.png").starts_with("\x89PNG"));
  CHECK(frames_in(dir / "flock.mp4") == 5);
  video::video_reader film(dir / "flock.mp4");
  CHECK(film.about().rate() == 10);
  CHECK(film.about().width == 1080);
}

TEST_CASE("run agents says what was done, for people", "[command][workloads]") {
  folder const dir;
  auto const seen = run(dir, {"agents", "--agents", "100", "--steps", "3", "--radius", "0.1"});
  INFO(seen.err);
  REQUIRE(seen.status == 0);
  std::regex const text(R"(100 agents, 3 steps in [0-9.]+ s: [0-9.]+ M updates/s\n)"
                        R"(checksum [0-9a-f]{16}: the same on every device\n)");
  CHECK(std::regex_match(seen.out, text));
}

TEST_CASE("run refuses what it cannot do with one clear line", "[command][workloads]") {
  folder const dir;
  write(dir / "bad.txt", "1 2\nx\n");
  write(dir / "graph.txt", "1 2\n");
  REQUIRE(mkfifo((dir / "pipe").c_str(), 0600) == 0);  // to which nobody writes
  write(dir / "good.csv", "a,1\na,2\n");
  write(dir / "bad.csv", "a,1\na,x\n");
  struct refusal {
    std::vector<std::string> words;
    int status;
    std::string line;
  };
  refusal const all[] = {
      {{"pagerank"}, 64, "rondo: run pagerank: pass a file, or --generate"},
      {{"pagerank", dir / "graph.txt", "--generate", "scale=4"},
       64,
       "rondo: run pagerank: pass a file, or --generate"},
      {{"pagerank", dir / "missing"}, 66, "rondo: "},
      {{"pagerank", dir.path.string()}, 66, "rondo: "},
      {{"pagerank", dir / "pipe"}, 66, "rondo: "},
      {{"pagerank", dir / "bad.txt"},
       65,
       "rondo: run pagerank: " + (dir / "bad.txt") + ":2: 'x' is not a link"},
      {{"pagerank", "--generate", "scale=99"},
       64,
       "rondo: run pagerank: --generate 'scale=99': scale is a whole number"},
      {{"pagerank", dir / "graph.txt", "--damping", "2"}, 64, "rondo: --damping: "},
      {{"pagerank", dir / "graph.txt", "--device", "toaster"}, 78, "rondo: --device"},
      {{"pagerank", dir / "graph.txt", "--picture", "ranks.gif"}, 64, "rondo: --picture"},
      {{"pagerank", dir / "graph.txt", "--output", dir / "graph.txt"}, 64, "rondo: "},
      {{"pagerank", dir / "graph.txt", "--output", "/nowhere/ranks.csv"},
       73,
       "rondo: run pagerank: /nowhere/ranks.csv: cannot be written"},
      {{"pagerank", dir / "graph.txt", "--picture", "/nowhere/ranks.png"}, 73, "rondo: "},
      {{"anomaly"}, 64, "rondo: run anomaly: pass a file, or --generate"},
      {{"anomaly", dir / "bad.csv"},
       65,
       "rondo: run anomaly: " + (dir / "bad.csv") + ":2: 'x' is not a value"},
      {{"anomaly", dir / "missing"}, 66, "rondo: "},
      {{"anomaly", dir.path.string()}, 66, "rondo: "},
      {{"anomaly", dir / "pipe"}, 66, "rondo: "},
      {{"anomaly", "--generate", "sensors=0"},
       64,
       "rondo: run anomaly: --generate 'sensors=0': sensors is a whole"},
      {{"anomaly", dir / "good.csv", "--batch", "100001"}, 64, "rondo: --batch: "},
      {{"anomaly", dir / "good.csv", "--window", "10001"}, 64, "rondo: --window: "},
      {{"anomaly", dir / "good.csv", "--sigmas", "-1"}, 64, "rondo: --sigmas: "},
      {{"anomaly", dir / "good.csv", "--output", dir / "good.csv"}, 64, "rondo: "},
      {{"anomaly", dir / "good.csv", "--checkpoint", dir / "good.csv"}, 64, "rondo: "},
      {{"anomaly", dir / "good.csv", "--checkpoint-every", "1"}, 64, "rondo: "},
      {{"anomaly", dir / "good.csv", "--checkpoint", dir / "bad.csv"},
       78,
       "rondo: run anomaly: --checkpoint: "},
      {{"anomaly", dir / "good.csv", "--checkpoint", "/nowhere/state"},
       73,
       "rondo: run anomaly: --checkpoint: "},
      {{"anomaly", dir / "good.csv", "--output", "/nowhere/alerts.csv"},
       73,
       "rondo: run anomaly: /nowhere/alerts.csv: cannot be written"},
      {{"agents", "--agents", "0"}, 64, "rondo: --agents: "},
      {{"agents", "--agents", "99999999"}, 64, "rondo: --agents: "},
      {{"agents", "--radius", "0.3"}, 64, "rondo: --radius: "},
      {{"agents", "--radius", "0"}, 64, "rondo: --radius: "},
      {{"agents", "--steps", "-1"}, 64, "rondo: --steps: "},
      {{"agents", "--agents", "10", "--picture", "flock.gif"}, 64, "rondo: --picture"},
      {{"agents", "--agents", "10", "--picture", "/nowhere/flock.png"}, 73, "rondo: run agents: "},
      {{"agents", "--agents", "10", "--video", "/nowhere/flock.mp4"}, 73, "rondo: run agents: "},
      {{"agents", "--agents", "10", "--video", dir / "flock"}, 73, "rondo: run agents: "},
      {{"agents", "--picture", dir / "flock.png", "--video", dir / "flock.png"}, 64, "rondo: "},
      {{"agents", "--agents", "10", "--device", "toaster"}, 78, "rondo: --device"},
      {{"sorting"}, 64, "rondo: "},
      {{}, 64, "rondo: "},
  };
  for (auto const& r : all) {
    auto const seen = run(dir, r.words);
    INFO((r.words.empty() ? "" : r.words.back()) << ": " << seen.err);
    CHECK(seen.status == r.status);
    CHECK(is_line(seen.err, r.line));
    CHECK(seen.out.empty());
  }
  CHECK(text_of(dir / "graph.txt") == "1 2\n");
}
