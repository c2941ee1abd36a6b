// Graphs that are connected by network stages, in one process.
#include <atomic>
#include <map>
#include <set>

#include "actors/video/stages/network_ports.hpp"
#include "actors/video/stages/sinks.hpp"
#include "actors/video/stages/test_pattern.hpp"
#include "runtime/streams/graph.hpp"
#include "tests/catch.hpp"
#include "tests/eventually.hpp"
#include "tests/streams/network/fixture.hpp"

namespace network_test {

using rondo_test::eventually;
using rondo_test::scratch_directory;

namespace {

RONDO_STAGES(video_stages, video::test_pattern, video::callback_sink, video::network_source,
             video::network_sink)

streams::option_text<128> text(std::string const& from) {
  streams::option_text<128> t;
  REQUIRE(t.assign(from.data(), from.size()));
  return t;
}

/// Pictures by the order in which they came.
struct album {
  std::mutex mutex;
  std::vector<std::vector<std::byte>> pictures;
  std::vector<streams::frame_origin> origins;

  static void add(void* with, video::image const& about, std::byte const* data, streams::tick const& t) {
    auto& a = *static_cast<album*>(with);
    std::lock_guard const lock(a.mutex);
    a.pictures.emplace_back(data, data + about.bytes());
    a.origins.push_back(t.origin);
  }
  std::size_t size() {
    std::lock_guard const lock(mutex);
    return pictures.size();
  }
};

/// A pattern that is sent, and kept.
struct writing {
  explicit writing(std::string const& at, std::uint64_t ticks, std::uint32_t readers = 1)
      : g(rt, {.ticks = ticks}) {
    auto const pattern = g.add<video::test_pattern>("pattern", {.width = 64, .height = 48});
    auto const keep = g.add<video::callback_sink>("keep", {&album::add, &made});
    to = g.add<video::network_sink>("to", {.listen = text(at), .readers = readers});
    g.connect(pattern.out<"video">(), keep.in<"video">());
    g.connect(pattern.out<"video">(), to.in<"video">());
    g.start();
  }
  runtime rt{use<video_stages>, {.device = "cpu"}};
  album made;
  streams::graph g;
  streams::stage_ref<video::network_sink> to;
};
/// What comes is kept.
struct reading {
  explicit reading(std::string const& at, video::network_source::options o = {}, std::uint64_t ticks = 0)
      : g(rt, {.ticks = ticks}) {
    o.connect = text(at);
    o.shape = {64, 48};
    from = g.add<video::network_source>("from", o);
    auto const keep = g.add<video::callback_sink>("keep", {&album::add, &got});
    g.connect(from.out<"video">(), keep.in<"video">());
    g.start();
  }
  runtime rt{use<video_stages>, {.device = "cpu"}};
  album got;
  streams::graph g;
  streams::stage_ref<video::network_source> from;
};

}  // namespace

TEST_CASE("two graphs pass pictures over a socket, and the end, whichever starts first", "[network]") {
  scratch_directory const d("network-graph");
  auto const at = address(d, GENERATE(false, true), "video");
  bool const reader_first = GENERATE(false, true);
  std::optional<writing> w;
  std::optional<reading> r;
  video::network_source::options const how{.delivery = delivery::lossless, .follow_end = true};
  if (reader_first) r.emplace(at, how);
  w.emplace(at, 200);
  if (!reader_first) r.emplace(at, how);
  CHECK(!w->g.wait(60s));
  CHECK(!r->g.wait(60s));
  CHECK(r->got.pictures == w->made.pictures);
  CHECK(r->got.pictures.size() == 200);
  CHECK(r->g.counts(r->from).processed == 200);
  CHECK(r->g.counts(r->from).lost == 0);
  CHECK(w->g.counts(w->to).lost == 0);
  auto const session = r->got.origins.front().session;
  CHECK(session != 0);
  CHECK(r->got.origins.back() == streams::frame_origin{session, 199});
}

TEST_CASE("a graph that has taken its ticks ends, and the sender goes on", "[network]") {
  scratch_directory const d("network-graph");
  auto const at = address(d, false, "video");
  writing w(at, 0, 0);
  {
    reading r(at, {.delivery = delivery::lossless}, 20);
    CHECK(!r.g.wait(60s));
    CHECK(r.got.size() == 20);
  }
  {
    reading r(at, {.delivery = delivery::latest}, 20);
    CHECK(!r.g.wait(60s));
    CHECK(r.got.size() == 20);
  }
  CHECK(!w.g.stop());
  CHECK(w.g.counts(w.to).lost != 0);  // while nobody was there
}

TEST_CASE("graphs stop at once although nobody is connected", "[network]") {
  scratch_directory const d("network-graph");
  auto const at = address(d, GENERATE(false, true), "video");
  SECTION("a sink that waits for readers") {
    writing w(at, 0, 1);
    CHECK(eventually([&] { return w.made.size() >= 2; }));
    CHECK(!w.g.stop());  // an error if it takes 10 s
    CHECK(w.g.counts(w.to).processed == w.g.counts(w.to).lost);
  }
  SECTION("a sink that does not wait") {
    writing w(at, 0, 0);
    CHECK(eventually([&] { return w.made.size() >= 10; }));
    CHECK(!w.g.stop());
    CHECK(w.g.counts(w.to).processed == w.g.counts(w.to).lost);
  }
  SECTION("a source") {
    auto const how = GENERATE(delivery::latest, delivery::every, delivery::lossless);
    reading r(at, {.delivery = how});
    CHECK(!r.g.stop());
    CHECK(r.g.counts(r.from).processed == 0);
  }
}

TEST_CASE("a graph with network stages that cannot start says why", "[network]") {
  scratch_directory const d("network-graph");
  auto const at = address(d, false, "video");
  using Catch::Matchers::Contains;
  CHECK_THROWS_WITH(writing("video.sock", 1), Contains("the stage 'to' cannot open what it needs: listen: "
                                                       "'video.sock' begins with neither unix: nor tcp:"));
  CHECK_THROWS_WITH(reading("tcp:localhost:x"),
                    Contains("connect: 'tcp:localhost:x' has a port that is not a number"));
  writing const w(at, 1, 0);
  CHECK_THROWS_WITH(writing(at, 1), Contains("another service listens there"));
  runtime rt{use<video_stages>, {.device = "cpu"}};
  streams::graph g{rt};
  auto const from =
      g.add<video::network_source>("from", {.connect = text(at), .shape = {.width = 63, .height = 48}});
  auto const to = g.add<video::network_sink>("to", {.listen = text(at + "2")});
  g.connect(from.out<"video">(), to.in<"video">());
  CHECK_THROWS_WITH(g.start(), Contains("the width and the height of a picture are even"));
}

namespace {

/// What a file may say.
struct names {
  std::set<std::string> all;
  template <class T>
  void operator()(char const* name, T&, char const*, auto...) {
    all.insert(name);
  }
  void choice(char const* name, auto&, char const*, std::initializer_list<char const*> values) {
    CHECK(values.size() >= 2);
    all.insert(name);
  }
};

}  // namespace

TEST_CASE("network stages list their options for files", "[network]") {
  names sink, source;
  video::network_sink::options{}.describe(sink);
  video::network_source::options{}.describe(source);
  CHECK(sink.all == std::set<std::string>{"listen", "capacity", "readers", "most_readers", "patience_ms"});
  CHECK(source.all == std::set<std::string>{"connect", "width", "height", "format", "delivery", "capacity",
                                            "follow_end", "patience_ms"});
}

}  // namespace network_test
