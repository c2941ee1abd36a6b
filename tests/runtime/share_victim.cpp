// One side of shared buffers, which runs until it is killed.
//
//   share_victim export <socket>   publishes; writes a line when importers may connect
//   share_victim import <socket>   reads; writes a line when it has its first lease; exits with 1 if it reads other
//                                  data
//   share_victim show <socket>     exports one buffer, and does nothing else; importers notice a stop within two
//                                  seconds
//   share_victim fork <socket>     the same, and forks a child once it has an importer, which stays while
//                                  <socket>-child exists
//   share_victim last <socket>     announces three buffers to its first importer, and kills itself
//   share_victim stuck-lossless|stuck-latest|stuck-every <socket>   leases one buffer of two, writes a line, and reads
//                                                                   no more
//   share_victim hold <socket>     leases one buffer, writes a line, and exits with 7 when the lease was cut off
#include <atomic>
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

[[noreturn]] void show(std::filesystem::path const& socket, bool forks) {
  rondo::memfd_resource memory(1 << 20);
  rondo::buffer_pool pool({.cap_bytes = 1 << 20, .upstream = &memory});
  std::atomic<bool> joined{false};
  rondo::buffer_exporter exporter(
      memory, {.path = socket, .lease_timeout = 1s, .joined = [&](std::uint64_t) { joined = true; }});
  auto const b = filled(pool, 7, 100);
  auto const shared = exporter.export_buffer(pool, b->ref()).value();
  say_begun();
  while (!joined) std::this_thread::sleep_for(1ms);
  if (forks && ::fork() == 0) {
    while (std::filesystem::exists(socket.string() + "-child")) std::this_thread::sleep_for(10ms);
    std::_Exit(0);
  }
  for (;; std::this_thread::sleep_for(1ms)) exporter.announce(shared, 7);
}

[[noreturn]] void announce_last(std::filesystem::path const& socket) {
  rondo::memfd_resource memory(1 << 20);
  rondo::buffer_pool pool({.cap_bytes = 1 << 20, .upstream = &memory});
  std::atomic<bool> joined{false};
  rondo::buffer_exporter exporter(memory, {.path = socket, .joined = [&](std::uint64_t) { joined = true; }});
  say_begun();
  while (!joined) std::this_thread::sleep_for(1ms);
  for (std::uint64_t tag = 1; tag <= 3; ++tag) {
    auto const b = filled(pool, tag, 100);
    static_cast<void>(exporter.announce(exporter.export_buffer(pool, b->ref()).value(), tag));
  }
  for (;;) ::kill(::getpid(), SIGKILL);
}

[[noreturn]] void get_stuck(std::filesystem::path const& socket, std::string const& how) {
  using rondo::streams::delivery;
  rondo::buffer_importer importer(socket, {.how = how == "lossless" ? delivery::lossless
                                                  : how == "latest" ? delivery::latest
                                                                    : delivery::every,
                                           .capacity = 2});
  auto const news = importer.receive(60s).value();
  say_begun();
  for (;;) std::this_thread::sleep_for(1s);
}

[[noreturn]] void read(std::filesystem::path const& socket) {
  rondo::buffer_importer importer(socket);
  reader r(importer);
  bool begun = false;
  for (;;) {
    auto const outcome = r.step(30s);
    if (outcome != errc::ok)
      throw std::runtime_error(std::string("reading ended with ") + rondo::name_of(outcome));
    if (!begun && outcome == errc::ok) say_begun();
    begun = begun || outcome == errc::ok;
  }
}

int hold(std::filesystem::path const& socket) {
  rondo::buffer_importer importer(socket);
  auto const news = importer.receive(30s).value();
  auto const& lease = news.lease;
  say_begun();
  bool same = true;
  do same = whole(lease, news.tag);
  while (lease.valid());
  static_cast<void>(same);  // the result is meaningless: the last bytes were read without a lease
  return importer.connected() || importer.lease(news.ref).error() != errc::peer_gone ? 1 : 7;
}

}  // namespace

int main(int count, char** arguments) try {
  std::string const role = count == 3 ? arguments[1] : "";
  if (role == "export") publish(arguments[2]);
  if (role == "import") read(arguments[2]);
  if (role == "show" || role == "fork") show(arguments[2], role == "fork");
  if (role == "last") announce_last(arguments[2]);
  if (role.starts_with("stuck-")) get_stuck(arguments[2], role.substr(6));
  if (role == "hold") return hold(arguments[2]);
  return std::fprintf(stderr, "usage: share_victim export|import|show|fork|last|stuck-...|hold <socket>\n"),
         2;
} catch (std::exception const& e) {
  std::fprintf(stderr, "share_victim: %s\n", e.what());
  std::_Exit(1);
}
