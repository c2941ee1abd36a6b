// Clips that come from a server, or go to one.
#include <boost/asio.hpp>
#include <filesystem>
#include <fstream>
#include <thread>

#include "tests/streams/passage.hpp"

using namespace clip_test;

namespace {

/// A server that sends one file after the other to who calls, and the last one again and again.
class file_server {
 public:
  explicit file_server(std::vector<std::string> const& files) {
    for (auto const& file : files) {
      std::ifstream in(file, std::ios::binary);
      bytes_.emplace_back(std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>());
    }
    sends_ = std::jthread([this](std::stop_token const& stops) {
      while (!stops.stop_requested()) {
        boost::asio::ip::tcp::socket caller(io_);
        boost::system::error_code gone;
        acceptor_.accept(caller, gone);
        if (gone || stops.stop_requested()) continue;
        auto const& bytes = bytes_[std::min<std::size_t>(calls_++, bytes_.size() - 1)];
        boost::asio::write(caller, boost::asio::buffer(bytes), gone);
      }
    });
  }
  ~file_server() {
    sends_.request_stop();
    boost::asio::ip::tcp::socket(io_).connect(acceptor_.local_endpoint());  // wakes it
  }
  std::string url() const { return "tcp://127.0.0.1:" + std::to_string(acceptor_.local_endpoint().port()); }
  std::size_t calls() const { return calls_; }

 private:
  boost::asio::io_context io_;
  boost::asio::ip::tcp::acceptor acceptor_{io_, {boost::asio::ip::address_v4::loopback(), 0}};
  std::vector<std::string> bytes_;
  std::atomic<std::size_t> calls_{0};
  std::jthread sends_;
};

}  // namespace

TEST_CASE("a server that has gone is called again, and the times go on", "[clips]") {
  rondo_test::scratch_directory const dir("clips");
  auto const path = [&](char const* name) { return (dir.directory / name).string(); };
  make({.file = path("in.mkv")});
  file_server const server({path("in.mkv")});
  passage p;
  p.from.url = text_of<1024>(server.url());
  p.from.reconnect = 0.05;
  p.ticks = 50;  // of two and a half clips
  auto const o = pass("", path("out.mkv"), p);
  check_times(o.out.times, at_rate({25, 1}, 50), 0.0011);
  CHECK(server.calls() == 3);
  CHECK_THAT(o.remarks, Contains("has gone (it has ended); it is called again in 0.05 s (call 2)"));
}

TEST_CASE("a server that is back with another video fails the graph, which says what is other", "[clips]") {
  rondo_test::scratch_directory const dir("clips");
  auto const path = [&](char const* name) { return (dir.directory / name).string(); };
  make({.file = path("in.mkv"), .sound = "libopus"});
  make({.file = path("large.mkv"), .width = 320, .height = 240, .sound = "libopus"});
  make({.file = path("flac.mkv"), .sound = "flac"});
  for (auto const& [next, says] :
       {std::pair{"large.mkv", "has other pictures now: 320x240"}, {"flac.mkv", "has other sound now: "}}) {
    file_server const server({path("in.mkv"), path(next)});
    passage p;
    p.from.url = text_of<1024>(server.url());
    p.from.reconnect = 0.01;
    CHECK_THAT(try_to_pass("", path("out.mkv"), p).error, Contains(says));
  }
}

TEST_CASE("a video goes to a server if its address is given as such", "[clips]") {
  rondo_test::scratch_directory const dir("clips");
  auto const path = [&](char const* name) { return (dir.directory / name).string(); };
  make({.file = path("in.mkv")});
  boost::asio::io_context io;
  boost::asio::ip::tcp::acceptor acceptor(io, {boost::asio::ip::address_v4::loopback(), 0});
  std::jthread receives([&] {
    boost::asio::ip::tcp::socket caller(io);
    acceptor.accept(caller);
    std::string bytes;
    boost::system::error_code end;
    boost::asio::read(caller, boost::asio::dynamic_buffer(bytes), end);
    std::ofstream(path("received.ts"), std::ios::binary) << bytes;
  });
  passage p;
  p.to.url = text_of<1024>("tcp://127.0.0.1:" + std::to_string(acceptor.local_endpoint().port()));
  p.to.container = "mpegts";
  pass(path("in.mkv"), "", p);
  receives.join();
  CHECK(clip_test::read(path("received.ts")).times.size() == 20);
}
