// Packets and shared words that no exporter or importer of this library writes.
#include <sys/socket.h>

#include "tests/catch.hpp"
#include "tests/runtime/share_impostor.hpp"

using namespace share_test;

TEST_CASE("an importer that sends invalid packets later is cut off", "[share]") {
  refusing_exporter e;
  auto const socket = rondo::connect_to(e.s.socket, 5s);
  rondo::packet p;
  CHECK(rondo::send_packet(socket.get(), share::bytes_of(share::hello{})) == rondo::packet_io::done);
  CHECK(rondo::wait_readable(socket.get(), 30s));
  CHECK(rondo::receive_packet(socket.get(), p) == rondo::packet_io::done);
  CHECK(p.fd_count == 3);
  CHECK(rondo::send_packet(socket.get(), share::bytes_of(share::hello{})) == rondo::packet_io::done);
  CHECK(eventually([&] { return contains(e.report(), "a packet that is not an importer's"); }));
  CHECK(eventually([&] { return e.exporter.statistics().importers == 0; }));
}

TEST_CASE("an importer that receives anything but announcements disconnects", "[share]") {
  scratch s;
  impostor const i(s.socket, [](int socket) {
    memory_of_an_exporter const memory;
    rondo::send_packet(socket, share::bytes_of(good_welcome()), memory.fds());
    rondo::send_packet(socket, std::as_bytes(std::span("what?")));
    rondo::wait_readable(socket, 30s);
  });
  rondo::buffer_importer importer(s.socket);
  CHECK(importer.receive(30s).error() == errc::peer_gone);
  CHECK_FALSE(importer.connected());
}

TEST_CASE("an importer disconnects from an exporter that announces what it never exported, or too much",
          "[share]") {
  scratch s;
  auto const found_with = [&](std::uint32_t count, std::uint32_t generation, std::uint32_t slot) {
    impostor const i(s.socket, [&](int socket) {
      memory_of_an_exporter const memory;
      rondo::shared_mapping const m(memory.directory.get(), share::directory::size_of(rows, slots), true,
                                    "directory");
      share::directory(m.data(), rows).open(0, 1, 0, 8);
      rondo::send_packet(socket, share::bytes_of(good_welcome()), memory.fds());
      share::announcement const a{.ref = {9, slot, generation, 0, 8}};
      for (std::uint32_t n = 0; n < count; ++n) rondo::send_packet(socket, share::bytes_of(a));
      rondo::wait_readable(socket, 30s);
    });
    rondo::buffer_importer importer(s.socket, {.capacity = 2});
    CHECK(eventually([&] { return !importer.connected() || count == 2; }));
    std::uint32_t received = 0;
    while (auto const news = importer.receive(importer.connected() ? 30s : 0s)) {
      CHECK(news->lease.bytes().size() == 8);
      if (++received == count) break;
    }
    return received;
  };
  CHECK(found_with(2, 1, 0) == 2);  // so that each check below fails only because of its change
  CHECK(found_with(3, 1, 0) == 2);
  CHECK(found_with(1, 2, 0) == 0);
  CHECK(found_with(1, 0, 0) == 0);
  CHECK(found_with(1, 1, 1) == 0);
  CHECK(found_with(1, 1, ~0u) == 0);
}

TEST_CASE("an importer that lies about what it has given back harms only itself", "[share]") {
  refusing_exporter e;
  auto const lie = GENERATE(1ull, 1ull << 40, ~0ull);
  rondo::buffer_importer honest(e.s.socket, {.capacity = 8});
  auto const liar = rondo::connect_to(e.s.socket, 5s);
  share::hello hello;
  hello.how = rondo::streams::delivery::lossless;
  rondo::send_packet(liar.get(), share::bytes_of(hello));
  rondo::packet p;
  REQUIRE(rondo::wait_readable(liar.get(), 30s));
  REQUIRE(rondo::receive_packet(liar.get(), p) == rondo::packet_io::done);
  rondo::shared_mapping const m(p.fds[2].get(), share::row::size_of(slots), true, "row");
  share::row const row(m.data());
  row.returned().store(lie, rondo::memory_order::relaxed);
  row.leases(0).store(static_cast<std::uint32_t>(lie), rondo::memory_order::relaxed);
  REQUIRE(eventually([&] { return e.exporter.statistics().importers == 2; }));
  auto const b = filled(e.pool, 7, 8);
  auto const shared = e.exporter.export_buffer(e.pool, b->ref()).value();
  std::uint64_t announced = 0;
  for (std::uint64_t tag = 0; tag < 4; ++tag) announced += e.exporter.announce(shared, tag).has_value();
  CHECK(announced < 4);  // at most as many as it says to have given back, and its capacity
  CHECK(e.exporter.withdraw(shared) == errc::ok);
  REQUIRE(e.exporter.evict(2) == errc::ok);
  for (std::uint64_t tag = 0; tag < announced; ++tag) CHECK(honest.receive(30s).value().tag == tag);
  CHECK(eventually([&] { return e.exporter.statistics().closing == 0; }));
}

TEST_CASE("a directory that points outside the data is refused", "[share]") {
  scratch s;
  memory_of_an_exporter const memory;
  rondo::shared_mapping const m(memory.directory.get(), share::directory::size_of(rows, slots), true,
                                "directory");
  auto& slot = share::directory(m.data(), rows).slot(0);
  slot.state.store(share::slot_state(1, true), rondo::memory_order::relaxed);
  impostor const i(s.socket, [&](int socket) {
    rondo::send_packet(socket, share::bytes_of(good_welcome()), memory.fds());
    rondo::wait_readable(socket, 30s);
  });
  rondo::buffer_importer const importer(s.socket);
  for (auto const& [offset, bytes] :
       {std::pair{0ull, 4097ull}, {4096ull, 1ull}, {1ull, ~0ull}, {~0ull >> 1, 1ull}}) {
    slot.offset.store(offset, rondo::memory_order::relaxed);
    slot.bytes.store(bytes, rondo::memory_order::relaxed);
    CHECK(importer.lease({9, 0, 1, 0, 1}).error() == errc::buffer_out_of_bounds);
  }
  slot.offset.store(~0ull, rondo::memory_order::relaxed);  // on a device that was not opened
  CHECK(importer.lease({9, 0, 1, 0, 1}).error() == errc::buffer_elsewhere);
  slot.offset.store(4095, rondo::memory_order::relaxed);
  slot.bytes.store(1, rondo::memory_order::relaxed);
  CHECK(importer.lease({9, 0, 1, 0, 1}).has_value());
}
