// What differs between systems: shared memory, packets with descriptors, threads. The same tests run with what Linux
// has, and with what every system has.
#include <fcntl.h>
#include <sys/mman.h>

#include <cstring>
#include <string_view>
#include <thread>

#include "runtime/os/prepare_thread.hpp"
#include "runtime/sharing/memfd.hpp"
#include "runtime/sharing/packet_socket.hpp"
#include "tests/catch.hpp"
#include "tests/eventually.hpp"
#include "tests/forked.hpp"
#include "tests/scratch_directory.hpp"

using namespace rondo;
using namespace std::chrono_literals;

namespace {

std::span<std::byte const> bytes_of(std::string_view text) { return std::as_bytes(std::span(text)); }
std::string_view text_of(packet const& p) { return {reinterpret_cast<char const*>(p.bytes.data()), p.size}; }

/// A connection through a socket in a folder of its own. Its first end blocks, as an importer's.
struct connection {
  static inline int number = 0;
  rondo_test::scratch_directory place{"systems-" + std::to_string(++number)};
  packet_door door{place.directory / "door"};
  owned_fd first = connect_to(place.directory / "door", 10s);
  owned_fd second = accept_from(door.fd.get());
};

packet_io receive(int socket, packet& p) {
  auto got = packet_io::later;
  CHECK(rondo_test::eventually([&] { return (got = receive_packet(socket, p)) != packet_io::later; }));
  return got;
}

bool closes_at_exec(int fd) { return (::fcntl(fd, F_GETFD) & FD_CLOEXEC) != 0; }

}  // namespace

TEST_CASE("own memory is zeroed and shared with readers, who cannot write it", "[systems]") {
  own_memory memory("rondo-test", 3 * 4096);
  check_memfd(memory.fd.get(), 3 * 4096, "the memory");
  CHECK_THROWS_WITH(check_memfd(memory.fd.get(), 1 << 20, "the memory"), Catch::Contains("were announced"));
  CHECK(closes_at_exec(memory.fd.get()));
  shared_mapping const reading(memory.fd.get(), 3 * 4096, false, "the memory");
  CHECK(reading.data()[3 * 4096 - 1] == std::byte{0});
  memory.mapping.data()[4096] = std::byte{7};
  CHECK(reading.data()[4096] == std::byte{7});
  CHECK(::mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, memory.fd.get(), 0) == MAP_FAILED);
  char const one = 1;
  CHECK(::write(memory.fd.get(), &one, 1) < 0);
  CHECK(::ftruncate(memory.fd.get(), 4096) != 0);
}

TEST_CASE("memory that others write has its size, and stays when its descriptor is closed", "[systems]") {
  auto fd = make_memfd("rondo-test", 4096);
  check_memfd(fd.get(), 4096, "the memory");
  shared_mapping const one(fd.get(), 4096, true, "the memory"), other(fd.get(), 4096, false, "the memory");
  fd = {};
  one.data()[0] = std::byte{7};
  CHECK(other.data()[0] == std::byte{7});
}

TEST_CASE("what a forked child writes to shared memory reaches nobody", "[systems]") {
  own_memory const memory("rondo-test", 4096);
  memory.mapping.data()[0] = std::byte{7};
  CHECK(rondo_test::exit_status_of_child([&] {
          memory.mapping.data()[0] = std::byte{8};
          return static_cast<int>(memory.mapping.data()[0]);
        }) == 8);
  CHECK(memory.mapping.data()[0] == std::byte{7});
}

TEST_CASE("packets arrive one by one, with their descriptors", "[systems]") {
  connection c;
  REQUIRE(c.second);
  CHECK(closes_at_exec(c.first.get()));
  CHECK(closes_at_exec(c.second.get()));
  packet p;
  CHECK(receive_packet(c.second.get(), p) == packet_io::later);
  auto const memory = make_memfd("rondo-test", 4096);
  std::array const fds{memory.get(), memory.get()};
  CHECK(send_packet(c.first.get(), bytes_of("one")) == packet_io::done);
  CHECK(send_packet(c.first.get(), bytes_of("with descriptors"), fds) == packet_io::done);
  CHECK(send_packet(c.first.get(), bytes_of(std::string(packet::most_bytes, 'x'))) == packet_io::done);
  REQUIRE(receive(c.second.get(), p) == packet_io::done);
  CHECK(text_of(p) == "one");
  CHECK(p.fd_count == 0);
  REQUIRE(receive(c.second.get(), p) == packet_io::done);
  CHECK(text_of(p) == "with descriptors");
  REQUIRE(p.fd_count == 2);
  check_memfd(p.fds[1].get(), 4096, "the memory");
  CHECK(closes_at_exec(p.fds[1].get()));
  REQUIRE(receive(c.second.get(), p) == packet_io::done);
  CHECK(p.size == packet::most_bytes);
  CHECK_FALSE(p.cut);
  CHECK(p.fd_count == 0);
  CHECK(receive_packet(c.second.get(), p) == packet_io::later);
}

TEST_CASE("a packet that is too large is cut, and one that is empty ends the connection", "[systems]") {
  connection c;
  packet p;
  CHECK(send_packet(c.first.get(), bytes_of(std::string(packet::most_bytes + 1, 'x'))) == packet_io::done);
  REQUIRE(receive(c.second.get(), p) == packet_io::done);
  CHECK(p.cut);
  connection other;
  CHECK(send_packet(other.first.get(), {}) == packet_io::done);
  CHECK(receive(other.second.get(), p) == packet_io::gone);
}

TEST_CASE("packets that were sent before a peer ended arrive before its end", "[systems]") {
  connection c;
  packet p;
  CHECK(send_packet(c.second.get(), bytes_of("never read")) == packet_io::done);
  CHECK(send_packet(c.first.get(), bytes_of("last")) == packet_io::done);
  c.first = {};
  REQUIRE(receive(c.second.get(), p) == packet_io::done);
  CHECK(text_of(p) == "last");
  CHECK(receive(c.second.get(), p) == packet_io::gone);
  CHECK(peer_has_gone(c.second.get()));
  CHECK(send_packet(c.second.get(), bytes_of("too late")) == packet_io::gone);  // and no SIGPIPE
}

TEST_CASE("a full connection takes whole packets or none", "[systems][stress]") {
  connection c;
  std::string const text(packet::most_bytes - 12, 'x');
  std::uint64_t sent = 0, came = 0;
  packet p;
  for (int round = 0; round < 20; ++round) {
    while (send_packet(c.first.get(), bytes_of(text)) == packet_io::done) ++sent;
    CHECK(sent > came);
    for (int i = 0; i < 7 && receive_packet(c.second.get(), p) == packet_io::done; ++i, ++came)
      REQUIRE(text_of(p) == text);
  }
  while (came < sent && receive(c.second.get(), p) == packet_io::done) ++came;
  CHECK(came == sent);
}

TEST_CASE("the system names a peer's process and user", "[systems]") {
  connection c;
  auto const who = identity_of(c.second.get());
  CHECK(who.uid == ::geteuid());
  CHECK((who.pid == ::getpid() || who.pid == 0));
  CHECK(identity_of(-1).uid == static_cast<uid_t>(-1));
  CHECK_FALSE(peer_has_gone(c.second.get()));
}

TEST_CASE("only the user of a door may connect to it", "[systems]") {
  connection c;
  CHECK((std::filesystem::status(c.place.directory / "door").permissions() & std::filesystem::perms::all) ==
        (std::filesystem::perms::owner_read | std::filesystem::perms::owner_write));
}

TEST_CASE("a thread's time grows while it runs, or is not known", "[systems]") {
  prepare_thread("rondo-test", -1);
  auto const mine = thread_time::of_this_thread();
  auto const first = mine.run_time();
  CHECK(thread_time().run_time() == 0ns);
  if (first == 0ns) return;
  CHECK(rondo_test::eventually([&] { return mine.run_time() > first; }));
  auto const when = std::chrono::steady_clock::now() + 1ms;
  sleep_punctually_until(when);
  CHECK(std::chrono::steady_clock::now() >= when);
}
