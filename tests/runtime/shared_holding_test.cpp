// Which importer holds which leases, and for how long; and which process owns the socket.
#include <barrier>
#include <optional>

#include "runtime/sharing/packet_socket.hpp"
#include "tests/catch.hpp"
#include "tests/runtime/share_fixture.hpp"

using namespace share_test;

namespace {

struct leased_by {
  std::vector<rondo::shared_lease> all;

  leased_by(rondo::buffer_importer const& importer, std::vector<rondo::shared_buffer_ref> const& refs) {
    for (auto const& ref : refs) all.push_back(importer.lease(ref).value());
  }
};

}  // namespace

TEST_CASE("only an importer that keeps withdrawn buffers too long is cut off", "[share]") {
  exporting e({.slots = 4, .lease_timeout = 30s, .keep_timeout = 100ms});
  rondo::buffer_importer const greedy(e.s.socket), modest(e.s.socket);
  std::vector<rondo::shared_buffer_ref> out;
  for (std::uint64_t tag = 0; tag < 4; ++tag) out.push_back(e.export_filled(tag));
  leased_by const held(greedy, out);
  // While nothing is withdrawn, all buffers may be leased.
  std::this_thread::sleep_for(300ms);
  CHECK(e.exporter.statistics().cut_off == 0);
  for (auto const& ref : out) REQUIRE(e.exporter.withdraw(ref) == errc::ok);
  auto const b = filled(e.pool, 9, 100);
  // An importer that keeps all of them, and beats, does not stop the exporter forever.
  REQUIRE(eventually([&] { return e.exporter.export_buffer(e.pool, b->ref()).has_value(); }));
  CHECK_FALSE(held.all[0].valid());
  CHECK(eventually([&] { return !greedy.connected(); }));
  CHECK(e.exporter.statistics().cut_off == 1);
  // The report follows. It contains those that were withdrawn in time; the next case counts them.
  CHECK(eventually([&] { return e.reports("bytes), the first for") == 1; }));
  CHECK(e.reports(" withdrawn buffers (") == 1);
  CHECK(modest.connected());
}

TEST_CASE("an exporter reports which importer holds what, and can evict it", "[share]") {
  exporting e({.slots = 4, .lease_timeout = 30s, .keep_timeout = std::chrono::milliseconds::max()});
  rondo::buffer_importer const greedy(e.s.socket), modest(e.s.socket);
  std::vector<rondo::shared_buffer_ref> out;
  for (std::uint64_t tag = 0; tag < 4; ++tag) out.push_back(e.export_filled(tag));
  leased_by const held(greedy, out);
  auto const one = modest.lease(out.front()).value();
  for (std::size_t i = 1; i < out.size(); ++i) REQUIRE(e.exporter.withdraw(out[i]) == errc::ok);
  auto all = e.exporter.importers();
  REQUIRE(all.size() == 2);
  CHECK(all[0].importer == 1);
  CHECK(all[0].process == ::getpid());
  CHECK(all[0].leases == 4);
  CHECK(all[0].kept == 3);
  CHECK(all[0].kept_bytes == 2400);
  CHECK(all[0].kept_for > 0ns);
  CHECK(all[1].leases == 1);
  CHECK(all[1].kept == 0);
  CHECK(e.exporter.statistics().leases == 5);
  // The eviction is immediate: the buffers are free when evict returns.
  REQUIRE(e.exporter.evict(1) == errc::ok);
  CHECK(e.exporter.statistics().closing == 0);
  CHECK_FALSE(held.all[0].valid());
  CHECK(one.valid());
  CHECK(e.exporter.evict(1) == errc::peer_gone);
  CHECK(e.exporter.evict(77) == errc::peer_gone);
  CHECK(eventually([&] { return !greedy.connected(); }));
  all = e.exporter.importers();
  REQUIRE(all.size() == 1);
  CHECK(all[0].importer == 2);
  CHECK(e.exporter.statistics().cut_off == 1);
  CHECK(e.exporter.statistics().departed == 0);
  // It may connect again.
  CHECK_NOTHROW(rondo::buffer_importer(e.s.socket));
}

TEST_CASE("of several exporters that replace a dead one exactly one succeeds", "[share]") {
  scratch s;
  constexpr int rounds = 300, rivals = 3;
  for (int round = 0; round < rounds; ++round) {
    leave_socket(s.socket);
    std::barrier start(rivals);
    std::array<std::optional<rondo::packet_door>, rivals> doors;
    {
      std::vector<std::jthread> all;
      for (auto& door : doors)
        all.emplace_back([&] {
          start.arrive_and_wait();
          try {
            door.emplace(s.socket);
          } catch (std::runtime_error const&) {  // another one has it
          }
        });
    }
    CAPTURE(round);
    REQUIRE(std::ranges::count_if(doors, [](auto const& d) { return d.has_value(); }) == 1);
    REQUIRE_NOTHROW(rondo::connect_to(s.socket, 5s));
  }
}

TEST_CASE("an exporter removes only its own socket", "[share]") {
  scratch s;
  std::optional<rondo::packet_door> first(s.socket);
  leave_socket(s.socket);  // by a process that does not use the lock
  first.reset();
  CHECK(std::filesystem::exists(s.socket));
  first.emplace(s.socket);
  first.reset();
  CHECK_FALSE(std::filesystem::exists(s.socket));
}
