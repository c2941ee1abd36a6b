// One side of shared buffers, until it is killed.
//
//   share_victim export <socket>   publishes; writes a line when importers may come
//   share_victim import <socket>   reads; writes a line when it has its first lease; ends with 1 when it reads other data
//   share_victim hold <socket>     leases one buffer, writes a line, and ends with 7 when the lease was cut off
#include <cstdio>

#include "tests/runtime/share_fixture.hpp"

using namespace share_test;

namespace {

void say_begun() {
  std::puts("begun");
  std::fflush(stdout);
}

[[noreturn]] void publish(std::filesystem::path const& socket) {
  rondo::memfd_resource memory(1 << 20);
  rondo::buffer_pool pool({.cap_bytes = 1 << 20, .upstream = &memory});
  rondo::buffer_exporter exporter(memory, {.path = socket, .slots = 12, .lease_timeout = 60s});
  publisher p(pool, exporter);
  say_begun();
  for (;;) p.step();
}

[[noreturn]] void read(std::filesystem::path const& socket) {
  rondo::buffer_importer importer(socket);
  reader r(importer);
  bool begun = false;
  for (;;) {
    auto const outcome = r.step(30s);
    if (outcome != errc::ok && outcome != errc::stale_buffer)
      throw std::runtime_error(std::string("reading ended with ") + rondo::name_of(outcome));
    if (!begun && outcome == errc::ok) say_begun();
    begun = begun || outcome == errc::ok;
  }
}

int hold(std::filesystem::path const& socket) {
  rondo::buffer_importer importer(socket);
  auto const news = importer.receive(30s).value();
  auto const lease = importer.lease(news.ref).value();
  say_begun();
  bool same = true;
  do same = whole(lease, news.tag);
  while (lease.valid());
  static_cast<void>(same);  // nothing follows from it: what was read last was not leased any more
  return importer.connected() || importer.lease(news.ref).error() != errc::peer_gone ? 1 : 7;
}

}  // namespace

int main(int count, char** arguments) try {
  std::string const role = count == 3 ? arguments[1] : "";
  if (role == "export") publish(arguments[2]);
  if (role == "import") read(arguments[2]);
  if (role == "hold") return hold(arguments[2]);
  return std::fprintf(stderr, "usage: share_victim export|import|hold <socket>\n"), 2;
} catch (std::exception const& e) {
  std::fprintf(stderr, "share_victim: %s\n", e.what());
  std::_Exit(1);
}
