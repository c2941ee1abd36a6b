// Failed handshakes: each is refused, and both sides get the reason.
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/socket.h>

#include <future>

#include "tests/catch.hpp"
#include "tests/runtime/share_impostor.hpp"

using namespace share_test;

namespace {

/// The exporter's answer to one packet: the text of its refusal, "welcome", or "end".
std::string answer_to(std::filesystem::path const& path, std::span<std::byte const> hello) {
  auto const socket = rondo::connect_to(path, 5s);
  if (rondo::send_packet(socket.get(), hello) != rondo::packet_io::done) return "not sent";
  rondo::packet p;
  if (!rondo::wait_readable(socket.get(), 30s)) return "silence";
  if (rondo::receive_packet(socket.get(), p) != rondo::packet_io::done) return "end";
  share::refusal r;
  if (share::read_packet(p.content(), r)) return r.text;
  share::welcome w;
  return share::read_packet(p.content(), w) ? "welcome" : "nonsense";
}

/// The text of the error when connecting there.
std::string error_of(std::filesystem::path const& path, std::chrono::milliseconds timeout = 30s) {
  try {
    rondo::buffer_importer const importer(path, {.timeout = timeout});
    return {};
  } catch (std::runtime_error const& e) {
    return e.what();
  }
}

}  // namespace

TEST_CASE("an invalid hello is refused, and both sides get the reason", "[share]") {
  refusing_exporter e;
  auto const refused = [&](auto const& bytes, std::string const& why) {
    auto const text = answer_to(e.s.socket, std::as_bytes(std::span(bytes)));
    CHECK(contains(text, why));
    CHECK(eventually([&] { return contains(e.report(), why); }));
    CHECK(contains(e.report(), e.s.socket.string()));
    CHECK(contains(e.report(), std::to_string(::getpid())));
  };
  refused(std::string("GET / HTTP/1.1\r\n\r\n"), "not the hello of a Rondo importer");
  refused(std::string("x"), "not the hello of a Rondo importer");
  refused(std::string(5000, 'x'), "not the hello of a Rondo importer");
  auto const changed = [&](auto change) {
    share::hello h;
    change(h);
    auto const bytes = share::bytes_of(h);
    return std::vector(bytes.begin(), bytes.end());
  };
  refused(changed([](share::hello& h) { h.header.magic ^= 1; }), "not the hello of a Rondo importer");
  refused(changed([](share::hello& h) { h.header.version = 7; }), "it uses protocol version 7");
  refused(changed([](share::hello& h) { h.header.kind = share::packet_kind::settled; }), "kind 5");
  refused(changed([](share::hello& h) { h.transports = 4; }), "cannot map host memory");
  refused(changed([](share::hello& h) { h.how = rondo::streams::delivery{3}; }), "it wants delivery 3");
  refused(changed([](share::hello& h) { h.capacity = 0; }), "its capacity is 0; use 1 to 1024");
  refused(changed([](share::hello& h) { h.capacity = 1025; }), "its capacity is 1025");
  auto longer = changed([](share::hello&) {});
  longer.push_back({});
  refused(longer, "49 bytes");
  CHECK(answer_to(e.s.socket, share::bytes_of(share::hello{})) == "welcome");
  CHECK(eventually([&] {
    auto const now = e.exporter.statistics();
    return now.refused == 11 && now.departed == 1 && now.importers == 0;
  }));
}

TEST_CASE("an importer beyond the limit is refused until another one leaves", "[share]") {
  refusing_exporter e(1);
  {
    rondo::buffer_importer const first(e.s.socket);
    CHECK(contains(error_of(e.s.socket), "all 1 places for importers are taken"));
  }
  CHECK(eventually([&] { return e.exporter.statistics().importers == 0; }));
  CHECK(error_of(e.s.socket).empty());
}

TEST_CASE("a silent client is cut off, and unwanted descriptors are closed", "[share]") {
  auto const before = open_descriptors();
  {
    refusing_exporter e(16, 20ms);
    auto const silent = rondo::connect_to(e.s.socket, 5s);
    CHECK(rondo::wait_readable(silent.get(), 30s));  // its end
    CHECK(eventually([&] { return contains(e.report(), "sent no hello"); }));
    auto const generous = rondo::connect_to(e.s.socket, 5s);
    std::array const fds{0, 1, 2};
    CHECK(rondo::send_packet(generous.get(), share::bytes_of(share::settled{}), fds) ==
          rondo::packet_io::done);
    CHECK(rondo::wait_readable(generous.get(), 30s));
  }
  CHECK(open_descriptors() == before);
}

TEST_CASE("silent clients do not keep importers out", "[share]") {
  refusing_exporter e(2);
  std::vector<rondo::owned_fd> silent;
  for (int i = 0; i < 300; ++i) silent.push_back(rondo::connect_to(e.s.socket, 5s));
  CHECK_NOTHROW(rondo::buffer_importer(e.s.socket, {.timeout = 30s}));
  // The first ones have been disconnected, and notice it.
  REQUIRE(rondo::wait_readable(silent.front().get(), 30s));
  rondo::packet p;
  CHECK(rondo::receive_packet(silent.front().get(), p) == rondo::packet_io::gone);
}

TEST_CASE(
    "an importer whose time limit has no room for an answer is refused, and the exporter is not suspected",
    "[share]") {
  refusing_exporter e;
  for (auto const timeout : {0ms, -5ms, std::chrono::milliseconds::min()})
    CHECK_THROWS_WITH(
        rondo::buffer_importer(e.s.socket, {.timeout = timeout}),
        Catch::Matchers::Contains("timeout is " + std::to_string(timeout.count()) + " ms; use at least 1"));
}

TEST_CASE("extreme time limits are handled", "[share]") {
  refusing_exporter e;
  rondo::buffer_importer importer(e.s.socket, {.timeout = std::chrono::milliseconds::max()});
  auto waits =
      std::async(std::launch::async, [&] { return importer.receive(std::chrono::nanoseconds::max()); });
  CHECK(waits.wait_for(50ms) == std::future_status::timeout);
  auto const b = filled(e.pool, 7, 8);
  CHECK(e.exporter.announce(e.exporter.export_buffer(e.pool, b->ref()).value(), 7).value() == 1);
  CHECK(waits.get().has_value());
  // A listener with a full queue that accepts nobody.
  auto const path = e.s.socket.string() + "-full";
  rondo::packet_door const door(path);
  std::vector<rondo::owned_fd> queue;
  auto const began = std::chrono::steady_clock::now();
  for (int i = 0; i < 1000; ++i) try {
      queue.push_back(rondo::connect_to(path, 0ms));
    } catch (std::runtime_error const&) {
      break;
    }
  CHECK(queue.size() < 1000);
  CHECK(std::chrono::steady_clock::now() - began < 60s);
}

TEST_CASE("a path with a byte 0 in it is refused", "[share]") {
  using namespace std::string_literals;
  CHECK_THROWS_WITH(rondo::packet_door("\0abstract"s), Catch::Contains("contains a NUL byte"));
  CHECK_THROWS_WITH(rondo::connect_to("/tmp/a\0b"s, 1s), Catch::Contains("contains a NUL byte"));
}

TEST_CASE("an importer refuses everything that is not from an exporter", "[share]") {
  scratch s;
  auto const before = open_descriptors();
  auto const error_with = [&](impostor::answer answer, std::chrono::milliseconds timeout = 30s) {
    impostor const i(s.socket, std::move(answer));
    auto const text = error_of(s.socket, timeout);
    CHECK((text.empty() || contains(text, s.socket.string())));
    return text;
  };
  CHECK(contains(error_of(s.socket), "does not exist"));
  CHECK(contains(error_with([](int) {}), "closed without an answer"));
  CHECK(contains(error_with([](int socket) { rondo::wait_readable(socket, 30s); }, 20ms),
                 "no answer to the hello within 20 ms"));
  leave_socket(s.socket);
  CHECK(contains(error_of(s.socket), "no process listens there any more"));
  CHECK(contains(
      error_with([](int socket) { rondo::send_packet(socket, std::as_bytes(std::span("hello yourself"))); }),
      "is not a welcome"));
  CHECK(contains(error_with([](int socket) {
                   share::refusal r;
                   std::fill(std::begin(r.text), std::end(r.text),
                             '\a');  // without a terminator, and not printable
                   rondo::send_packet(socket, share::bytes_of(r));
                 }),
                 "the exporter refused: ???"));
  auto const with_welcome = [&](auto change, auto change_memory) {
    return error_with([&](int socket) {
      memory_of_an_exporter memory;
      auto w = good_welcome();
      change(w);
      change_memory(memory);
      rondo::send_packet(socket, share::bytes_of(w), memory.fds());
      rondo::wait_readable(socket, 30s);
    });
  };
  auto const keep = [](auto&) {};
  CHECK(with_welcome(keep, keep) == "");  // so that each check below fails only because of its change
  auto const with_field = [&](auto change) { return with_welcome(change, keep); };
  CHECK(contains(with_field([](auto& w) { ++w.header.version; }), "is not a welcome"));
  CHECK(contains(with_field([](auto& w) { w.transports = 4; }), "transports 4"));
  CHECK(contains(with_field([](auto& w) { w.slots = 0; }), "0 slots"));
  CHECK(contains(with_field([](auto& w) { w.slots = ~0u; }), "4294967295 slots"));
  CHECK(contains(with_field([](auto& w) { w.row = 2; }), "row 2 of 2"));
  CHECK(contains(with_field([](auto& w) { w.rows = ~0u; }), "row 1 of 4294967295"));
  CHECK(contains(with_field([](auto& w) { w.data_bytes = ~0ull; }), "bytes of data"));
  CHECK(
      contains(with_field([](auto& w) { w.data_bytes = 8192; }), "has 4096 bytes, but 8192 were announced"));
  CHECK(contains(with_field([](auto& w) { w.slots = 5; }), "the directory has"));
  CHECK(contains(with_field([](auto& w) { w.share = 8; }), "the directory does not match the welcome"));
  CHECK(contains(with_field([](auto& w) { w.beat_ns = 0; }), "lacks"));
  auto const with_memory = [&](auto change) { return with_welcome(keep, change); };
#if RONDO_LINUX
  CHECK(contains(with_memory([](auto& m) {
                   m.data = rondo::owned_fd(::memfd_create("unsealed", MFD_CLOEXEC));
                   if (::ftruncate(m.data.get(), 4096) != 0) std::abort();
                 }),
                 "not sealed against shrinking"));
#endif
  CHECK(
      contains(with_memory([](auto& m) { m.row = rondo::owned_fd(::open("/dev/null", O_RDWR | O_CLOEXEC)); }),
               "this importer's row has 0 bytes"));
  CHECK(contains(error_with([](int socket) { rondo::send_packet(socket, share::bytes_of(good_welcome())); }),
                 "is missing from the welcome"));
  CHECK(open_descriptors() == before);
}

TEST_CASE("an exporter's options and path are checked", "[share]") {
  scratch s;
  rondo::memfd_resource memory(4096);
  auto const error_with = [&](rondo::buffer_exporter_options o) -> std::string {
    try {
      rondo::buffer_exporter const e(memory, std::move(o));
      return {};
    } catch (std::exception const& e) {
      return e.what();
    }
  };
  CHECK(error_with({.path = s.socket}).empty());
  CHECK_FALSE(std::filesystem::exists(s.socket));  // it removes its socket
  CHECK(contains(error_with({.path = s.socket, .slots = 0}), "slots is 0; use 1 to 65536"));
  CHECK(contains(error_with({.path = s.socket, .slots = 65537}), "slots is 65537"));
  CHECK(error_with({.path = s.socket, .slots = 65536}).empty());
  CHECK(contains(error_with({.path = s.socket, .importers = 5000}), "importers is 5000"));
  CHECK(contains(error_with({.path = s.socket, .lease_timeout = 1ms}), "lease_timeout is 1 ms"));
  CHECK(contains(error_with({.path = s.socket, .keep_timeout = 1ms}), "keep_timeout is 1 ms"));
  CHECK(error_with({.path = s.socket, .keep_timeout = std::chrono::milliseconds::max()}).empty());
  CHECK(contains(error_with({}), "the path of a socket"));
  CHECK(contains(error_with({.path = s.directory / std::string(120, 'x')}), "107 bytes"));
  CHECK(contains(error_with({.path = s.directory / "none" / "there"}), "cannot be opened"));
  CHECK(contains(error_with({.path = s.directory}), "not a socket"));
  rondo::buffer_exporter const first(memory, {.path = s.socket});
  CHECK(contains(error_with({.path = s.socket}), "another process listens there"));
}
