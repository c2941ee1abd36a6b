// Each side of shared buffers is killed again and again while it works, and half as often before that; the other side
// continues.
#include <atomic>
#include <fstream>
#include <random>

#include "tests/catch.hpp"
#include "tests/long_runs.hpp"
#include "tests/runtime/share_fixture.hpp"
#include "tests/seed.hpp"

using namespace share_test;

namespace {

int const kills = rondo_test::times(6, 100);
constexpr std::uint64_t most_leases =
    4;  // of one reader: the last three, and one that waits or that it checks

void wait_for_a_moment(std::mt19937_64& random, unsigned most_us) {
  std::this_thread::sleep_for(std::chrono::microseconds(random() % most_us));
}

/// Kills one while it starts, connects or performs the handshake.
void kill_early(char const* role, std::filesystem::path const& socket, std::mt19937_64& random) {
  victim v(role, socket);
  wait_for_a_moment(random, 6000);
  REQUIRE(v.killed());
}

}  // namespace

TEST_CASE("a killed importer leaks no block, and does not disturb another importer", "[share][kill]") {
  scratch s;
  std::mt19937_64 random(rondo_test::seed_of("share_kill_importers"));
  auto const before = open_descriptors();
  std::uint64_t leased = 0;
  {
    rondo::memfd_resource memory(1 << 20);
    rondo::buffer_pool pool({.cap_bytes = 1 << 20, .upstream = &memory});
    std::atomic<int> reports{0};
    rondo::buffer_exporter exporter(
        memory, {.path = s.socket, .slots = 12, .lease_timeout = 30s, .report = [&](std::string const& line) {
                   ++reports;
                   std::printf("%s\n", line.c_str());
                 }});
    publisher p(pool, exporter);
    std::atomic<bool> stop{false};
    std::string fault;
    std::uint64_t read = 0;
    {
      rondo::buffer_importer other(s.socket);
      std::jthread const reading([&] {
        try {
          for (reader r(other); !stop.load(std::memory_order_relaxed);) read += r.step(10ms) == errc::ok;
        } catch (std::exception const& e) {
          fault = e.what();
        }
      });
      std::jthread const publishing([&] {
        while (!stop.load(std::memory_order_relaxed)) p.step();
      });
      struct stopper {
        std::atomic<bool>& stop;
        ~stopper() { stop = true; }
      } const stop_at_end{stop};
      for (int round = 0; round < kills; ++round) {
        CAPTURE(round);
        if (round % 2 == 0) kill_early("import", s.socket, random);
        victim v("import", s.socket);
        REQUIRE(v.began());
        wait_for_a_moment(random, 1000);
        // More than the other importer can hold: some are the victim's.
        REQUIRE(eventually([&] {
          auto const now = exporter.statistics().leases;
          leased += now > most_leases ? now : 0;
          return now > most_leases;
        }));
        REQUIRE(v.killed());
      }
      // Only the other importer is left, which has been there from the start.
      CHECK(eventually([&] { return exporter.statistics().importers == 1; }));
      CHECK(other.connected());
    }
    CHECK(fault.empty());
    CHECK(read > 0);
    p.finish();
    CHECK(eventually([&] {
      auto const now = exporter.statistics();
      return now.importers == 0 && now.closing == 0 && pool.statistics().buffers_in_use == 0;
    }));
    auto const now = exporter.statistics();
    CHECK(now.exported == 0);
    CHECK(now.leases == 0);
    CHECK(now.cut_off == 0);
    CHECK(now.departed >= static_cast<std::uint64_t>(kills) + 1);
    CHECK(reports == 0);
    CHECK(pool.statistics().in_use_bytes == 0);
    std::printf("share_kill: %d importers killed, %llu leases seen before, %llu read by the other of %llu\n",
                kills, static_cast<unsigned long long>(leased), static_cast<unsigned long long>(read),
                static_cast<unsigned long long>(p.published()));
  }
  CHECK(leased > most_leases * static_cast<std::uint64_t>(kills));
  CHECK(open_descriptors() == before);
}

TEST_CASE("the importers of a killed exporter keep their leases, and a new exporter is found",
          "[share][kill]") {
  scratch s;
  std::mt19937_64 random(rondo_test::seed_of("share_kill_exporters"));
  auto const before = open_descriptors();
  int held = 0;
  for (int round = 0; round < kills; ++round) {
    CAPTURE(round);
    if (round % 2 == 0)
      kill_early("export", s.socket, random);  // the next exporter must cope with the files it leaves
    victim v("export", s.socket);
    REQUIRE(v.began());
    rondo::buffer_importer importer(s.socket);
    reader r(importer);
    auto const news = importer.receive(30s).value();
    auto const& own = news.lease;
    std::jthread const killer([&, wait = random() % 1500] {
      std::this_thread::sleep_for(std::chrono::microseconds(wait));
      v.send(SIGKILL);
    });
    errc outcome = errc::ok;
    while (outcome == errc::ok) outcome = r.step(30s);
    REQUIRE(outcome == errc::peer_gone);
    REQUIRE(WIFSIGNALED(v.wait()));
    REQUIRE_FALSE(importer.connected());
    REQUIRE(importer.lease(news.ref).error() == errc::peer_gone);
    REQUIRE(importer.receive(0ms).error() == errc::peer_gone);
    // Nobody is left who could write the leased bytes.
    REQUIRE(whole(own, news.tag));
    REQUIRE(own.valid());
    r.check_held();
    held += r.held() != 0;
  }
  std::printf("share_kill: %d exporters killed, %d times with more leases out\n", kills, held);
  CHECK(open_descriptors() == before);
}

TEST_CASE("an importer that is stopped loses its leases, and notices that when it continues",
          "[share][kill]") {
  scratch s;
  rondo::memfd_resource memory(1 << 20);
  rondo::buffer_pool pool({.cap_bytes = 1 << 20, .upstream = &memory});
  std::atomic<int> reported{0};
  std::atomic<std::uint64_t> newcomer{0};
  rondo::buffer_exporter exporter(
      memory,
      {.path = s.socket,
       .lease_timeout = 5000ms,  // long enough for a busy machine to let the victim beat
       .report = [&](std::string const& line) { reported += line.find("sent no heartbeat") != line.npos; },
       .joined = [&](std::uint64_t importer) { newcomer = importer; }});
  auto b = filled(pool, 7, 100);
  auto const shared = exporter.export_buffer(pool, b->ref()).value();
  REQUIRE(b->release() == errc::ok);
  victim v("hold", s.socket);
  REQUIRE(eventually([&] { return newcomer != 0; }));
  REQUIRE(exporter.announce_to(newcomer, shared, 7) == errc::ok);
  REQUIRE(v.began());
  REQUIRE(exporter.withdraw(shared) == errc::ok);
  CHECK(exporter.statistics().closing == 1);  // its lease keeps the block
  CHECK(pool.statistics().buffers_in_use == 1);
  v.send(SIGSTOP);
  CHECK(eventually([&] { return exporter.statistics().cut_off == 1; }));
  CHECK(eventually([&] { return reported == 1; }));
  CHECK(eventually([&] { return pool.statistics().buffers_in_use == 0; }));
  CHECK(exporter.announce_to(newcomer, shared, 7) == errc::peer_gone);
  {
    auto const next = filled(pool, 8, 100);  // which the stopped importer will read
    v.send(SIGCONT);
    auto const status = v.wait();
    CHECK(WIFEXITED(status));
    CHECK(WEXITSTATUS(status) == 7);
  }
}

TEST_CASE("the importers of a stopped exporter are disconnected, and keep their leases", "[share][kill]") {
  scratch s;
  victim v("show", s.socket);
  REQUIRE(v.began());
  rondo::buffer_importer importer(s.socket, {.timeout = 30s});
  auto const news = importer.receive(30s).value();
  auto const& lease = news.lease;
  v.send(SIGSTOP);
  CHECK(eventually([&] { return !importer.connected(); }));
  CHECK(importer.lease(news.ref).error() == errc::peer_gone);
  CHECK(whole(lease, 7));
  CHECK(lease.valid());
  CHECK(v.killed());
}

TEST_CASE("the child of a killed exporter keeps neither its socket nor its importers", "[share][kill]") {
  scratch s;
  auto const stays = s.socket.string() + "-child";
  std::ofstream(stays) << "stay";
  victim v("fork", s.socket);
  REQUIRE(v.began());
  rondo::buffer_importer importer(s.socket, {.timeout = 30s});
  REQUIRE(importer.receive(30s).has_value());  // so the child exists
  CHECK(v.killed());
  CHECK(eventually([&] { return !importer.connected(); }));
  rondo::memfd_resource memory(4096);
  CHECK_NOTHROW(rondo::buffer_exporter(memory, {.path = s.socket}));
  std::filesystem::remove(stays);
}
