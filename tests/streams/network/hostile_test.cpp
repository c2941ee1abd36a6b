// Peers that do not fit, or do what they should not.
#include <array>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <thread>

#include "tests/catch.hpp"
#include "tests/eventually.hpp"
#include "tests/streams/network/fixture.hpp"

namespace network_test {

using rondo_test::eventually;
using rondo_test::scratch_directory;

namespace {

/// A writer with an honest reader, which must get every frame, whatever others do.
struct honest {
  explicit honest(std::chrono::milliseconds patience = 5s, std::uint32_t bytes = 1000) : bytes_(bytes) {
    auto w = writes(at, log, bytes);
    w.patience = patience;
    w.most_readers = 4;
    writer.emplace(std::move(w));
    auto r = reads(at, log, bytes);
    r.how = delivery::lossless;
    reader.emplace(std::move(r));
    REQUIRE(eventually([&] { return writer->counts().joined == 1; }));
  }
  ~honest() { CHECK(reader->counts().lost == 0); }

  void pass_frames(std::uint64_t more) {
    auto const last = sent + more;
    std::uint64_t number = 0;
    CHECK(eventually([&] {
      if (sent < last && send(*writer, sent, bytes_)) ++sent;
      if (take(*reader, number) && number != got++) throw std::runtime_error("a frame was lost");
      return got == last;
    }));
  }

  scratch_directory const d{"network-hostile"};
  std::string const path = (d.directory / "frames").string(), at = "unix:" + path;
  lines log;
  std::optional<streams::frame_sender> writer;
  std::optional<streams::frame_receiver> reader;
  std::uint64_t sent = 0, got = 0;
  std::uint32_t bytes_;
};

bool is_closed(raw_socket const& s) {
  char byte;
  return !s.receive(byte);
}

}  // namespace

TEST_CASE("frames that do not fit are refused, with the reason on both sides", "[network]") {
  scratch_directory const d("network-hostile");
  auto const at = address(d, GENERATE(false, true), "frames");
  lines writers, readers;
  auto w = writes(at, writers, 2000);
  w.terms.shape = "64x48 i420";
  streams::frame_sender const writer(w);
  auto r = reads(at, readers, 2000);
  r.terms.shape = "64x48 i420";
  std::string expected;
  SECTION("another type") {
    r.terms.frame = "sound";
    expected =
        "another type of frames: the writer sends block 64x48 i420, 2000 bytes, and the reader expects sound "
        "64x48";
  }
  SECTION("another shape") {
    r.terms.shape = "32x16 i420";
    expected =
        "another shape of frames: the writer sends block 64x48 i420, 2000 bytes, and the reader expects "
        "block 32x16 i420";
  }
  SECTION("too large") {
    r.terms.most_bytes = 1999;
    expected =
        "frames that are too large: the writer sends block 64x48 i420, 2000 bytes, and the reader expects "
        "block 64x48 i420, 1999 bytes";
  }
  streams::frame_receiver reader(std::move(r));
  CHECK((writers.comes(expected) && readers.comes("refused: " + expected)));
  CHECK(reader.trouble().find(expected) != std::string::npos);
  CHECK(!writer.has_readers());
  CHECK(reader.front() == nullptr);
}

TEST_CASE("clients that are no readers are disconnected, and hurt nobody", "[network]") {
  honest h;
  h.pass_frames(10);
  SECTION("garbage") {
    auto const s = raw_socket::to(h.path);
    std::array<char, 216> const garbage{"GET / HTTP/1.1"};
    CHECK(s.send(garbage));
    CHECK(is_closed(s));
    CHECK(h.log.comes("was refused: what it sent is not the greeting of a reader"));
  }
  SECTION("another version") {
    auto const s = raw_socket::to(h.path);
    auto greeting = hello(delivery::latest);
    greeting.version = 99;
    CHECK(s.send(greeting));
    streams::writer_hello answer;
    REQUIRE(s.receive(answer));
    CHECK(answer.refuses == 1);
    CHECK(std::string(answer.reason) ==
          "the reader speaks version 99 of the protocol, and the writer version " +
              std::to_string(streams::wire_version));
  }
  SECTION("a delivery that does not exist") {
    auto const s = raw_socket::to(h.path);
    auto greeting = hello(delivery::latest);
    greeting.how = 7;
    CHECK(s.send(greeting));
    streams::writer_hello answer;
    REQUIRE(s.receive(answer));
    CHECK(answer.refuses == 1);
  }
  SECTION("texts without an end") {
    auto const s = raw_socket::to(h.path);
    auto greeting = hello(delivery::latest);
    std::memset(greeting.terms.frame, 'f', sizeof greeting.terms.frame + sizeof greeting.terms.shape);
    CHECK(s.send(greeting));
    streams::writer_hello answer;
    REQUIRE(s.receive(answer));
    CHECK(answer.refuses == 1);
    CHECK(answer.reason[sizeof answer.reason - 1] == 0);
  }
  SECTION("a half greeting, and then nothing, many times") {
    std::vector<raw_socket> all;
    for (int i = 0; i < 50; ++i) {
      all.push_back(raw_socket::to(h.path));
      static_cast<void>(all.back().send(hello(delivery::lossless), 20));
    }
    h.pass_frames(10);
    // One more reader gets in: the oldest of those that say nothing goes.
    auto const one_more = raw_socket::to(h.path);
    CHECK(one_more.send(hello(delivery::latest)));
    streams::writer_hello answer;
    REQUIRE(one_more.receive(answer));
    CHECK(answer.refuses == 0);
  }
  SECTION("more bytes after the greeting") {
    auto const s = raw_socket::to(h.path);
    CHECK(s.send(hello(delivery::latest)));
    CHECK(s.send(hello(delivery::latest)));
    CHECK(h.log.comes("has left: Protocol error"));
  }
  SECTION("too many readers") {
    std::vector<raw_socket> all;
    for (int i = 0; i < 4; ++i) {
      all.push_back(raw_socket::to(h.path));
      CHECK(all.back().send(hello(delivery::latest)));
      streams::writer_hello answer;
      REQUIRE(all.back().receive(answer));
      CHECK(answer.refuses == (i == 3 ? 1 : 0));
      if (i == 3) CHECK(std::string(answer.reason) == "the writer has 4 readers, and takes no more");
    }
  }
  SECTION("a thousand connections") {
    for (int i = 0; i < 1000; ++i) {
      auto const s = raw_socket::to(h.path);
      if (i % 3 == 0 && s.is_open()) static_cast<void>(s.send(hello(delivery::lossless)));
    }
    CHECK(eventually([&] { return h.writer->counts().readers == 1; }));
  }
  h.pass_frames(100);
  CHECK(h.writer->counts().readers >= 1);
}

TEST_CASE("a reader that takes nothing is disconnected when the writer's patience is over", "[network]") {
  honest h(300ms, 1 << 20);
  auto const how = GENERATE(delivery::latest, delivery::every, delivery::lossless);
  auto const s = raw_socket::to(h.path);
  CHECK(s.send(hello(how, 1 << 20)));
  streams::writer_hello answer;
  REQUIRE(s.receive(answer));
  CHECK(answer.refuses == 0);
  CHECK(eventually([&] {
    h.pass_frames(1);  // with `lossless` they wait for the one that takes nothing, until it is gone
    return h.writer->counts().readers == 1;
  }));
  CHECK(h.log.comes("has left: it has taken nothing for 300 ms"));
  h.pass_frames(20);
}

TEST_CASE("a server that breaks the protocol is left, with a reason, and tried again", "[network]") {
  scratch_directory const d("network-hostile");
  auto const path = (d.directory / "frames").string();
  auto const server = raw_socket::listening(path);
  lines log;
  auto r = reads("unix:" + path, log);
  r.patience = 300ms;
  r.how = delivery::lossless;
  streams::frame_receiver reader(std::move(r));
  auto const meet = [&] {
    auto s = server.accept();
    streams::reader_hello greeting;
    REQUIRE(s.receive(greeting));
    return s;
  };
  auto const header = [](streams::wire_kind kind, std::uint64_t number, std::uint32_t count,
                         std::uint64_t bytes) {
    streams::frame_header f{};
    f.kind = static_cast<std::uint32_t>(kind);
    f.data_bytes = bytes;
    f.origin = {5, number};
    block const about{count};
    std::memcpy(f.about, &about, sizeof about);
    return f;
  };
  std::string expected;
  {
    auto const s = meet();
    SECTION("garbage instead of a greeting") {
      CHECK(s.send(std::array<char, sizeof(streams::writer_hello)>{"HTTP/1.1 400 Bad Request"}));
      expected = "what answers there is no network sink";
    }
    SECTION("terms that do not fit") {
      CHECK(s.send(welcome(1001)));
      expected = "frames that are too large";
    }
    SECTION("a frame that is too large") {
      CHECK(s.send(welcome()));
      CHECK(s.send(header(streams::wire_kind::frame, 0, 1001, std::uint64_t{1} << 60)));
      expected = "bytes came that is not like block, 1000 bytes";
    }
    SECTION("a frame that is not what it says") {
      CHECK(s.send(welcome()));
      CHECK(s.send(header(streams::wire_kind::frame, 0, 999, 1000)));
      expected = "a frame of 1000 bytes came that is not like";
    }
    SECTION("no kind of message") {
      CHECK(s.send(welcome()));
      CHECK(s.send(header(streams::wire_kind{77}, 0, 0, 0)));
      expected = "there is no message of kind 77";
    }
    SECTION("half a frame, and then nothing") {
      CHECK(s.send(welcome()));
      CHECK(s.send(header(streams::wire_kind::frame, 0, 1000, 1000)));
      CHECK(s.send(std::array<char, 500>{}));
      CHECK(log.comes("a part of a frame is missing"));
      expected = "timed out";
    }
    SECTION("nothing at all") {
      CHECK(s.send(welcome()));
      expected = "timed out";
    }
    CHECK(log.comes(expected));
  }
  // The next one is as it should be, but repeats a frame.
  auto const s = meet();
  CHECK(s.send(welcome()));
  for (std::uint64_t const n : {0, 1, 1, 0, 3}) {
    std::vector<std::byte> const data(1000, std::byte(n));
    CHECK(s.send(header(streams::wire_kind::frame, n, 1000, 1000)));
    CHECK(s.send(*reinterpret_cast<std::array<std::byte, 1000> const*>(data.data())));
  }
  for (std::uint64_t const n : {0, 1, 3}) {
    std::uint64_t number = 0;
    CHECK(eventually([&] { return take(reader, number); }));
    CHECK(number == n);
  }
  CHECK(reader.counts().lost == 1);
}

TEST_CASE("a peer gains no time for its greeting by sending it byte by byte", "[network]") {
  int ends[2];
  REQUIRE(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) == 0);
  boost::asio::io_context io;
  auto const waits = std::make_shared<streams::timed_socket>(
      streams::timed_socket::stream_socket(io, {AF_UNIX, 0}, ends[1]), 200ms);
  std::vector<std::byte> into(1 << 20);
  error_code how;
  boost::asio::co_spawn(
      io, [&]() -> boost::asio::awaitable<void> { how = co_await waits->read(into); }, boost::asio::detached);
  raw_socket const slow(ends[0]);
  std::thread sends([&] {
    for (int i = 0; i < 5000 && slow.send(char(i)); ++i) std::this_thread::sleep_for(1ms);
    slow.end();
  });
  io.run();
  sends.join();
  CHECK(how == boost::asio::error::timed_out);
}

TEST_CASE("a server that only says that it lives is left, with a reason", "[network]") {
  scratch_directory const d("network-hostile");
  auto const path = (d.directory / "frames").string();
  auto const server = raw_socket::listening(path);
  lines log;
  streams::frame_receiver const reader(reads("unix:" + path, log));
  auto const s = server.accept();
  streams::reader_hello greeting;
  REQUIRE(s.receive(greeting));
  CHECK(s.send(welcome()));
  streams::frame_header alive{};
  alive.kind = static_cast<std::uint32_t>(streams::wire_kind::alive);
  int sent = 0;
  while (sent < 100'000 && s.send(alive)) ++sent;
  CHECK(sent < 100'000);
  CHECK(log.comes("it says too often that it lives"));
}

TEST_CASE("a reader whose graph is busy says that it lives, and the writer waits for it", "[network]") {
  scratch_directory const d("network-hostile");
  auto const path = (d.directory / "frames").string();
  lines log;
  SECTION("the reader") {
    auto const server = raw_socket::listening(path);
    auto r = reads("unix:" + path, log);
    r.how = delivery::lossless;
    streams::frame_receiver const reader(std::move(r));
    auto const s = server.accept();
    streams::reader_hello greeting;
    REQUIRE(s.receive(greeting));
    auto answer = welcome();
    answer.patience_ms = 40;
    CHECK(s.send(answer));
    for (std::uint64_t n = 0; n < 10; ++n) {
      streams::frame_header f{};
      f.kind = static_cast<std::uint32_t>(streams::wire_kind::frame);
      f.origin = {5, n};
      CHECK(s.send(f));
    }
    for (int i = 0; i < 5; ++i) {
      std::byte said{};
      REQUIRE(s.receive(said));
      CHECK(said == streams::wire_alive);
    }
  }
  SECTION("the writer") {
    auto w = writes("unix:" + path, log, 1 << 20);
    w.patience = 2s;
    streams::frame_sender writer(std::move(w));
    auto const s = raw_socket::to(path);
    CHECK(s.send(hello(delivery::lossless, 1 << 20)));
    REQUIRE(eventually([&] { return writer.has_readers(); }));
    std::uint64_t sent = 0;
    REQUIRE(eventually([&] { return !send(writer, sent, 1 << 20) || ++sent == 100; }));
    for (auto const end = std::chrono::steady_clock::now() + 5s; std::chrono::steady_clock::now() < end;) {
      static_cast<void>(s.send(streams::wire_alive));
      std::this_thread::sleep_for(5ms);
    }
    CHECK(writer.has_readers());
    CHECK(eventually([&] { return !writer.has_readers(); }));  // now it says nothing
    CHECK(log.comes("has left: it has taken nothing for 2000 ms"));
  }
}

}  // namespace network_test
