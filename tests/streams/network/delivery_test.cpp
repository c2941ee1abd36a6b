// frame_sender and frame_receiver: deliveries, ends, and counts.
#include "tests/catch.hpp"
#include "tests/eventually.hpp"
#include "tests/forked.hpp"
#include "tests/streams/network/fixture.hpp"

namespace network_test {

using rondo_test::eventually;
using rondo_test::scratch_directory;

namespace {

constexpr std::uint32_t large = 1 << 20;  // more than sockets hold

/// Connected.
struct pair {
  pair(std::string const& at, delivery how, std::uint32_t bytes, bool waits = false) {
    auto w = writes(at, log, bytes);
    w.readers = waits ? 1 : 0;
    w.wake = [this] { ++wakes; };
    writer.emplace(std::move(w));
    auto r = reads(at, log, bytes);
    r.how = how;
    r.follows_end = true;
    reader.emplace(std::move(r));
    REQUIRE(eventually([&] { return writer->has_readers() && reader->trouble().empty(); }));
  }
  lines log;
  std::atomic<std::uint32_t> wakes{0};  // of the writer's stage
  std::optional<streams::frame_sender> writer;
  std::optional<streams::frame_receiver> reader;
};

}  // namespace

TEST_CASE("a port that the system chose is told", "[network]") {
  lines log;
  streams::frame_sender const writer(writes("tcp:127.0.0.1:0", log));
  CHECK(writer.where().port != 0);
  CHECK(log.comes("network sink: listens on " + writer.where().text()));
}

TEST_CASE("frames arrive in order, over both kinds of sockets, whichever side starts first", "[network]") {
  scratch_directory const d("network");
  auto const at = address(d, GENERATE(false, true), "frames");
  bool const reader_first = GENERATE(false, true);
  lines log;
  auto r = reads(at, log);
  r.how = delivery::lossless;
  r.follows_end = true;
  auto w = writes(at, log);
  w.readers = 1;
  std::optional<streams::frame_receiver> reader;
  std::optional<streams::frame_sender> writer;
  if (reader_first) {
    reader.emplace(std::move(r));
    REQUIRE(eventually([&] { return !reader->trouble().empty(); }));
    writer.emplace(std::move(w));
  } else {
    writer.emplace(std::move(w));
    CHECK(!send(*writer, 0));
    reader.emplace(std::move(r));
  }
  std::uint64_t sent = 0, got = 0, number = 0;
  REQUIRE(eventually([&] {
    if (sent < 500 && send(*writer, sent)) ++sent;
    if (sent == 500) writer->end();
    if (!take(*reader, number)) return reader->is_over();
    if (number != got++) throw std::runtime_error("a frame has the wrong number");
    return false;
  }));
  CHECK(got == 500);
  CHECK(reader->counts().lost == 0);
  CHECK(reader->counts().before == 0);
  CHECK(writer->counts().passed == 500);
  CHECK(writer->counts().lost == 0);
}

TEST_CASE("what a forked child destroys of a sender and a receiver stays whole in the parent",
          "[network][fork]") {
  scratch_directory const d("network");
  auto const at = address(d, GENERATE(false, true), "frames");
  std::optional<pair> p(std::in_place, at, delivery::lossless, large);
  std::uint64_t sent = 0, got = 0, number = 0;
  auto const pass_until = [&](std::uint64_t count) {
    return eventually([&] {
      if (sent < count && send(*p->writer, sent, large)) ++sent;
      if (take(*p->reader, number) && number != got++)
        throw std::runtime_error("a frame has the wrong number");
      return got == count;
    });
  };
  REQUIRE(pass_until(10));
  REQUIRE(rondo_test::exit_status_of_child([&] {
            p.reset();
            return 7;
          }) == 7);
  REQUIRE(pass_until(20));
  CHECK(p->reader->counts().lost == 0);
  // Clocks go on, too: a reader finds the sender where it was.
  lines log;
  streams::frame_receiver late(reads(at, log, large));
  REQUIRE(eventually([&] { return late.trouble().empty(); }));
}

TEST_CASE("a slow reader with `latest` gets the newest frame, and never holds the writer", "[network]") {
  scratch_directory const d("network");
  pair p(address(d, GENERATE(false, true), "frames"), delivery::latest, large);
  for (std::uint64_t n = 0; n < 100; ++n) REQUIRE(send(*p.writer, n, large));
  std::uint64_t number = 0;
  REQUIRE(eventually([&] { return take(*p.reader, number) && number == 99; }));
  auto const c = p.reader->counts();
  CHECK(c.frames + c.lost == 100);
  CHECK(c.before == 0);
  CHECK(c.frames < 100);
  CHECK(p.reader->take_lost() == c.lost);
  CHECK(p.reader->take_lost() == 0);
}

TEST_CASE("a slow reader with `every` loses frames, which both sides count", "[network]") {
  scratch_directory const d("network");
  pair p(address(d, GENERATE(false, true), "frames"), delivery::every, large);
  for (std::uint64_t n = 0; n < 100; ++n) REQUIRE(send(*p.writer, n, large));
  p.writer->end();
  std::uint64_t number = 0, last = 0, got = 0;
  REQUIRE(eventually([&] {
    if (!take(*p.reader, number)) return p.reader->is_over();
    if (got++ != 0 && number <= last) throw std::runtime_error("out of order");
    last = number;
    return false;
  }));
  auto const c = p.reader->counts();
  CHECK(got == c.frames);
  CHECK(c.frames + c.lost == 100);
  CHECK(c.before == 0);
  CHECK(c.lost != 0);
  auto const w = p.writer->counts();
  CHECK(w.frames == 100);
  CHECK(w.passed + w.lost == 100);
}

TEST_CASE("a slow reader with `lossless` makes the writer wait, and nothing is lost", "[network]") {
  scratch_directory const d("network");
  pair p(address(d, GENERATE(false, true), "frames"), delivery::lossless, large);
  std::uint64_t sent = 0, got = 0, number = 0;
  REQUIRE(eventually([&] { return !send(*p.writer, sent, large) || ++sent == 100; }));
  CHECK(sent < 100);  // some lie in the sockets
  REQUIRE(eventually([&] {
    if (take(*p.reader, number) && number != got++) throw std::runtime_error("a frame was lost");
    return p.wakes != 0;
  }));
  REQUIRE(eventually([&] {
    if (sent < 50 && send(*p.writer, sent, large)) ++sent;
    if (take(*p.reader, number) && number != got++) throw std::runtime_error("a frame was lost");
    return got >= 50 && got == sent;
  }));
  CHECK(p.reader->counts().lost == 0);
  CHECK(p.writer->counts().lost == 0);
}

TEST_CASE("while nobody reads, frames are lost and counted, or wait, as the writer was told", "[network]") {
  scratch_directory const d("network");
  lines log;
  auto w = writes(address(d, false, "frames"), log);
  w.readers = GENERATE(0u, 1u);
  streams::frame_sender writer(w);
  CHECK(send(writer, 0) == (w.readers == 0));
  CHECK(writer.counts().lost == (w.readers != 0 ? 0 : 1));
  CHECK(writer.take_lost() == (w.readers != 0 ? 0 : 1));
  CHECK(writer.take_lost() == 0);
}

TEST_CASE("a slow reader does not slow another one", "[network]") {
  scratch_directory const d("network");
  auto const at = address(d, false, "frames");
  pair p(at, delivery::latest, large);  // takes nothing
  auto r = reads(at, p.log, large);
  r.how = delivery::lossless;
  streams::frame_receiver other(std::move(r));
  REQUIRE(eventually([&] { return p.writer->counts().readers == 2; }));
  std::uint64_t sent = 0, got = 0, number = 0;
  REQUIRE(eventually([&] {
    if (sent < 50 && send(*p.writer, sent, large)) ++sent;
    if (take(other, number) && number != got++) throw std::runtime_error("a frame was lost");
    return got == 50;
  }));
  CHECK(other.counts().lost == 0);
}

TEST_CASE("a reader connects again to the next writer, and says what it has lost", "[network]") {
  scratch_directory const d("network");
  auto const at = address(d, GENERATE(false, true), "frames");
  lines log;
  auto r = reads(at, log);
  r.how = delivery::lossless;
  std::optional<streams::frame_receiver> reader;
  std::uint64_t number = 0;
  for (std::uint32_t life = 0; life < 5; ++life) {
    streams::frame_sender writer(writes(at, log));
    if (life == 0) {
      REQUIRE(send(writer, 0));  // before anybody reads
      reader.emplace(std::move(r));
    }
    REQUIRE(eventually([&] { return writer.has_readers(); }));
    auto const next = life == 0 ? 1u : 0u;
    REQUIRE(send(writer, next));
    REQUIRE(eventually([&] { return take(*reader, number); }));
    CHECK(number == next);
    if (life % 2 == 0) writer.end();
  }
  auto const c = reader->counts();
  CHECK(c.frames == 5);
  CHECK(c.sources == 5);
  CHECK(c.before == 1);
  CHECK(c.lost == 0);
  CHECK(log.comes("reconnected after"));
  CHECK(!reader->is_over());
}

TEST_CASE("what is lost behind another process is known from the numbers of the source", "[network]") {
  scratch_directory const d("network");
  auto const at = address(d, false, "frames");
  lines log;
  auto r = reads(at, log);
  r.how = delivery::lossless;
  r.follows_end = true;
  streams::frame_receiver reader(std::move(r));
  // Two lives of a process in the middle, which pass on frames of source 9.
  std::uint64_t number = 0;
  auto const pass_on = [&](streams::frame_sender& middle, std::vector<std::uint64_t> const& numbers) {
    REQUIRE(eventually([&] { return middle.has_readers(); }));
    for (auto const n : numbers) {
      std::vector<std::byte> const data(10, std::byte(n % 251));
      block const about{10};
      REQUIRE(eventually([&] { return middle.try_send({9, n}, &about, data); }));
      REQUIRE(eventually([&] { return take(reader, number) && number == n; }));
    }
  };
  {
    streams::frame_sender middle(writes(at, log));
    pass_on(middle, {3, 4, 7});
  }
  streams::frame_sender middle(writes(at, log));
  pass_on(middle, {12, 13});
  middle.end();
  REQUIRE(eventually([&] { return !take(reader, number) && reader.is_over(); }));
  auto const c = reader.counts();
  CHECK(c.frames == 5);
  CHECK(c.before == 3);
  CHECK(c.lost == 2 + 4);
  CHECK(c.sources == 1);
  CHECK(c.connections == 2);
  CHECK(log.comes("4 frames lost"));
}

}  // namespace network_test
