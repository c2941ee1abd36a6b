// Frames between graphs of two processes. Here one process has both, with a runtime for each, unless one of them is to
// be killed.
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <future>

#include "actors/video/stages/process_ports.hpp"
#include "runtime/streams/graph.hpp"
#include "tests/catch.hpp"
#include "tests/eventually.hpp"
#include "tests/scratch_directory.hpp"
#include "tests/streams/process_stages.hpp"

using namespace stream_test;
using namespace std::chrono_literals;
using rondo_test::eventually;

namespace {

struct scratch : rondo_test::scratch_directory {
  std::filesystem::path socket = directory / "frames";
  scratch() : scratch_directory("process_ports") {}
};

rondo::config settings(bool shares) {
  return {.device = "cpu", .teams = 2, .buffer_bytes_cap = 64 << 20, .share_buffers = shares};
}

/// counter -> to_process.
struct writing {
  writing(std::filesystem::path const& socket, bool shares, std::uint64_t frames)
      : rt(rondo::use<process_stages>, settings(shares)), g(rt, {.name = "writing"}) {
    from = g.add<counter>("from", {.count = count_of_items, .ends_after = frames});
    out = g.add<number_sink>("out", {.listen = text_of(socket.string())});
    g.connect(from.out<"numbers">(), out.in<"numbers">());
  }
  rondo::runtime rt;
  streams::graph g;
  streams::stage_ref<counter> from;
  streams::stage_ref<number_sink> out;
};

/// from_process -> process_checker.
struct reading {
  reading(std::filesystem::path const& socket, streams::delivery how, std::uint32_t capacity = 8,
          std::uint32_t count = count_of_items)
      : rt(rondo::use<process_stages>, settings(false)), g(rt, {.name = "reading"}) {
    in = g.add<number_source>(
        "in", {.connect = text_of(socket.string()), .shape = {count}, .delivery = how, .capacity = capacity});
    check = g.add<process_checker>("check", {.found = &found});
    g.connect(in.out<"numbers">(), check.in<"numbers">());
  }
  process_checker::counts found;
  rondo::runtime rt;
  streams::graph g;
  streams::stage_ref<number_source> in;
  streams::stage_ref<process_checker> check;
};

}  // namespace

TEST_CASE("lossless: a graph of another process gets each frame, in place, with its number", "[process]") {
  bool const shares = GENERATE(true, false);
  CAPTURE(shares);
  scratch s;
  constexpr std::uint64_t frames = 300;
  writing w(s.socket, shares, frames);
  w.g.start();
  reading r(s.socket, streams::delivery::lossless, GENERATE(1u, 8u));
  r.g.start();
  REQUIRE_FALSE(w.g.wait(60s));
  REQUIRE(eventually([&] { return r.found.frames == frames; }));
  CHECK_FALSE(w.g.stop());  // then the reader's source ends
  CHECK_FALSE(r.g.wait(60s));
  CHECK(r.found.wrong == 0);
  CHECK(r.found.out_of_order == 0);
  CHECK(r.found.missing == 0);
  CHECK(r.g.counts(r.check).last_number == frames - 1);
  CHECK(r.g.counts(r.in).copied == 0);
  CHECK(w.g.counts(w.out).copied == (shares ? 0 : frames));
  CHECK(w.g.counts(w.out).processed == frames);
}

TEST_CASE("the writer's graph waits for a reader before its first frame", "[process]") {
  scratch s;
  writing w(s.socket, true, 100);
  w.g.start();
  // It makes as many frames as it has blocks, and no more.
  CHECK(w.g.wait(100ms) == rondo::errc::timed_out);
  CHECK(w.g.counts(w.out).processed < 100);
  reading r(s.socket, streams::delivery::lossless);
  r.g.start();
  REQUIRE_FALSE(w.g.wait(60s));
  CHECK_FALSE(w.g.stop());
  CHECK_FALSE(r.g.wait(60s));
  CHECK(r.found.frames == 100);
  CHECK(r.found.missing == 0);
}

TEST_CASE("a writer's graph stops although nobody has read, and counts what it gives up", "[process]") {
  scratch s;
  writing w(s.socket, true, 0);
  w.g.start();
  REQUIRE(eventually([&] { return w.g.counts(w.out).processed == 8; }));  // as many as it keeps
  CHECK_FALSE(w.g.stop());
  auto const at_writer = w.g.counts(w.out);
  CHECK(at_writer.processed == w.g.counts(w.from).processed);
  CHECK(at_writer.dropped == at_writer.processed);
}

TEST_CASE("a writer that waits for no reader drops what nobody reads, and counts it", "[process]") {
  scratch s;
  rondo::runtime rt(rondo::use<process_stages>, settings(GENERATE(true, false)));
  streams::graph g(rt, {.name = "alone"});
  auto const from = g.add<counter>("from", {.count = count_of_items, .ends_after = 50});
  auto const out = g.add<number_sink>("out", {.listen = text_of(s.socket.string()), .readers = 0});
  g.connect(from.out<"numbers">(), out.in<"numbers">());
  g.start();
  CHECK_FALSE(g.wait(60s));
  CHECK(g.counts(out).processed == 50);
  CHECK(g.counts(out).dropped == 50);
}

TEST_CASE("frames for a first reader wait for it when their graph has ended", "[process]") {
  scratch s;
  writing w(s.socket, true, 3);
  w.g.start();
  auto ended = std::async(std::launch::async, [&] { return w.g.wait(60s); });
  REQUIRE(eventually([&] { return w.g.counts(w.out).ended != 0; }));
  reading r(s.socket, streams::delivery::lossless);
  r.g.start();
  CHECK_FALSE(r.g.wait(60s));
  CHECK_FALSE(ended.get());
  CHECK(r.found.frames == 3);
}

TEST_CASE("a source of frames in memory of another process is not replaced", "[process]") {
  scratch s;
  writing w(s.socket, true, 5);
  reading r(s.socket, streams::delivery::lossless);
  w.g.start();
  r.g.start();
  using Catch::Contains;
  CHECK_THROWS_WITH(r.g.replace(r.in, {.connect = text_of(s.socket.string()), .shape = {count_of_items}}),
                    Contains("'in' cannot be replaced") && Contains("another process"));
  CHECK_THROWS_WITH(w.g.replace(w.out, {.listen = text_of(s.socket.string()), .blocks = 9}),
                    Contains("9 frames instead of 8"));
  CHECK_FALSE(w.g.wait(60s));
  CHECK_FALSE(r.g.wait(60s));
  CHECK(r.found.frames == 5);
}

TEST_CASE("a slow reader with latest or every does not hold the writer, and the newest frame arrives",
          "[process]") {
  auto const how = GENERATE(streams::delivery::latest, streams::delivery::every);
  CAPTURE(name_of(how));
  scratch s;
  constexpr std::uint64_t frames = 2000;
  writing w(s.socket, true, frames);
  reading r(s.socket, how, 3);
  r.found.holds = true;
  w.g.start();
  r.g.start();
  // Although the reader holds its first frame.
  REQUIRE(eventually([&] { return w.g.counts(w.out).processed == frames; }));
  r.found.holds = false;
  CHECK_FALSE(w.g.wait(60s));
  CHECK_FALSE(r.g.wait(60s));
  CHECK(r.found.wrong == 0);
  CHECK(r.found.out_of_order == 0);
  CHECK(r.found.frames < frames);
  CHECK(r.found.frames + r.found.missing == r.found.last + 1);
  // Each frame was read, or is counted as lost in one place.
  auto const at_writer = w.g.counts(w.out), at_reader = r.g.counts(r.in);
  CHECK(r.found.frames + at_writer.dropped + at_writer.replaced + at_reader.replaced == frames);
  CHECK((how == streams::delivery::latest ? at_writer.dropped : at_writer.replaced) == 0);
  if (how == streams::delivery::latest) CHECK(r.found.last == frames - 1);
}

TEST_CASE("a foreign frame is not changed in place: edit copies it, and pass relays it", "[process]") {
  scratch s;
  auto const relayed = s.directory / "relayed";
  constexpr std::uint64_t frames = 100;
  writing w(s.socket, true, frames);
  rondo::runtime rt(rondo::use<process_stages>, settings(true));
  streams::graph g(rt, {.name = "middle"});
  auto const in =
      g.add<number_source>("in", {.connect = text_of(s.socket.string()), .shape = {count_of_items}});
  auto const plus = g.add<adder>("plus", {.by = 5});
  process_checker::counts found;
  auto const check = g.add<process_checker>("check", {.found = &found, .added = 5});
  auto const out = g.add<number_sink>("out", {.listen = text_of(relayed.string())});
  g.connect(in.out<"numbers">(), plus.in<"numbers">());
  g.connect(plus.out<"numbers">(), check.in<"numbers">());
  g.connect(in.out<"numbers">(), out.in<"numbers">());
  w.g.start();
  g.start();
  reading r(relayed, streams::delivery::lossless);
  r.g.start();
  REQUIRE_FALSE(w.g.wait(60s));
  CHECK_FALSE(w.g.stop());
  REQUIRE_FALSE(g.wait(60s));
  CHECK(found.frames == frames);
  CHECK(found.wrong == 0);
  CHECK(g.counts(plus).copied == frames);  // once each: nobody may write there
  CHECK(g.counts(out).copied == frames);   // it lies in the first process's memory
  CHECK_FALSE(g.stop());
  CHECK_FALSE(r.g.wait(60s));
  CHECK(r.found.frames == frames);
  CHECK(r.found.wrong == 0);
}

TEST_CASE("frames of another type or shape are refused, and counted", "[process]") {
  scratch s;
  writing w(s.socket, true, 5);
  w.g.start();
  reading r(s.socket, streams::delivery::lossless, 8, count_of_items / 2);
  r.g.start();
  REQUIRE_FALSE(w.g.wait(60s));
  CHECK_FALSE(w.g.stop());
  CHECK_FALSE(r.g.wait(60s));
  CHECK(r.found.frames == 0);
  CHECK(r.g.counts(r.in).skipped == 5);
  CHECK(r.g.counts(r.in).failure == static_cast<std::uint32_t>(rondo::errc::wrong_size));
}

TEST_CASE("a port to a process says what is wrong with its options", "[process]") {
  rondo::runtime rt(rondo::use<process_stages>, settings(false));
  auto of = streams::fault::stage;
  auto const error_of = [&](number_sink::options const& to,
                            number_source::options const& from) -> std::string {
    streams::graph g(rt);
    auto const out = g.add<number_sink>("out", to);
    auto const in = g.add<number_source>("in", from);
    g.connect(in.out<"numbers">(), out.in<"numbers">());
    try {
      g.start();
      return {};
    } catch (streams::graph_error const& e) {
      of = e.of;
      return e.what();
    }
  };
  using Catch::Contains;
  CHECK_THAT(error_of({}, {.connect = "/x", .shape = {1}}), Contains("no path to listen at"));
  CHECK_THAT(error_of({.listen = "/x"}, {}), Contains("no path to connect to"));
  CHECK_THAT(error_of({.listen = "/x"}, {.connect = "/x"}), Contains("set `shape`"));
  CHECK_THAT(error_of({.listen = "/x", .blocks = 0}, {.connect = "/x", .shape = {1}}),
             Contains("the option 'blocks' is 0; it must be"));
  CHECK_THAT(error_of({.listen = "/tmp"}, {.connect = "/none/there", .shape = {1}, .wait_ms = 1}),
             Contains("'in' cannot open what it needs") && Contains("/none/there"));
  CHECK(of == streams::fault::unavailable);
}

TEST_CASE("a paused graph takes no frames of another process, and misses none", "[process]") {
  scratch s;
  writing w(s.socket, true, 0);
  reading r(s.socket, streams::delivery::lossless, 4);
  w.g.start();
  r.g.start();
  REQUIRE(eventually([&] { return r.found.frames >= 10; }));
  REQUIRE(r.g.pause());
  // At most one was on its way through the source, and `check` sees it.
  std::uint64_t taken = 0;
  REQUIRE(eventually([&] {
    auto const before = std::exchange(taken, r.g.counts(r.in).processed);
    return taken == before && taken == r.found.frames;
  }));
  // The writer goes on until the reader has no room for more.
  REQUIRE(eventually([&] { return w.g.counts(w.out).processed >= taken + 4; }));
  std::this_thread::sleep_for(20ms);
  CHECK(r.g.counts(r.in).processed == taken);
  REQUIRE(r.g.resume());
  CHECK(eventually([&] { return r.found.frames >= taken + 100; }));
  REQUIRE(r.g.pause());
  CHECK_FALSE(r.g.stop());  // a pause does not hold the end
  CHECK(r.found.missing == 0);
  CHECK(r.found.wrong == 0);
  CHECK_FALSE(w.g.stop());
}

TEST_CASE("a graph of frames of another process ends after as many ticks as it is to make", "[process]") {
  scratch s;
  writing w(s.socket, true, 100);
  rondo::runtime rt(rondo::use<process_stages>, settings(false));
  streams::graph g(rt, {.name = "some", .ticks = 30});
  process_checker::counts found;
  auto const in =
      g.add<number_source>("in", {.connect = text_of(s.socket.string()), .shape = {count_of_items}});
  auto const check = g.add<process_checker>("check", {.found = &found});
  g.connect(in.out<"numbers">(), check.in<"numbers">());
  w.g.start();
  g.start();
  CHECK_FALSE(g.wait(60s));
  CHECK(found.frames == 30);
  CHECK(found.last == 29);
}

TEST_CASE("a killed reader gives back its frames, and the writer goes on", "[process][kill]") {
  scratch s;
  writing w(s.socket, true, 0);
  w.g.start();
  for (int round = 0; round < 3; ++round) {
    victim v("read", s.socket);
    REQUIRE(v.began());  // it holds a frame, and takes no more
    REQUIRE(v.killed());
  }
  // The writer is lossless, and did not stay where a dead reader had no room.
  reading r(s.socket, streams::delivery::lossless);
  r.g.start();
  CHECK(eventually([&] { return r.found.frames >= 100; }));
  CHECK(r.found.wrong == 0);
  CHECK_FALSE(w.g.stop());
  CHECK_FALSE(r.g.wait(60s));
  CHECK(r.found.wrong == 0);
}

TEST_CASE("a killed writer ends the reader's source, after what has arrived", "[process][kill]") {
  scratch s;
  victim v("write", s.socket);
  reading r(s.socket, streams::delivery::lossless);
  r.g.start();
  REQUIRE(eventually([&] { return r.found.frames >= 10; }));
  r.found.holds = true;  // in the middle of a frame, which stays readable
  REQUIRE(v.killed());
  r.found.holds = false;
  CHECK_FALSE(r.g.wait(60s));
  CHECK(r.found.wrong == 0);
  CHECK(r.found.missing == 0);
}
