// A forked child that ends, or destroys its copies of the parent's objects, harms the parent through none of them; and
// it makes objects of its own.
#include <fcntl.h>

#include <boost/asio/post.hpp>
#include <cstring>

#include "runtime/files/file_lock.hpp"
#include "runtime/memory/unified_buffer.hpp"
#include "runtime/recording.hpp"
#include "runtime/replay.hpp"
#include "runtime/sharing/adopt.hpp"
#include "runtime/sharing/buffer_exporter.hpp"
#include "runtime/sharing/buffer_importer.hpp"
#include "tests/catch.hpp"
#include "tests/forked.hpp"
#include "tests/runtime/counter_fixture.hpp"
#include "tests/scratch_directory.hpp"

using namespace rondo_test;

namespace {

rondo::config settings_for(std::string const& device) {
  rondo::config c;
  c.device = device;
  c.teams = 2;
  c.lanes = 1;
  c.buffer_bytes_cap = 1 << 20;
  c.share_buffers = true;
  c.stop_timeout_ms = 600'000;  // a child that waits for threads that it does not have is ended by its alarm
  return c;
}

/// One of each object of the library that has threads, files, sockets or shared memory.
struct household {
  household(std::string const& device, std::filesystem::path const& in,
            std::filesystem::path const& from = {})
      : folder(in) {
    std::filesystem::create_directories(folder);
    rt = start(settings_for(device));
    actor.emplace(rt->launch<counter>("a"));
    exporter.emplace(*rt->shared_memory(),
                     rondo::buffer_exporter_options{.path = socket(), .copies_bytes = 1 << 20});
    picture = rt->host_buffers().acquire_buffer(64).value();
    std::memset(picture.span().data(), 7, 64);
    auto const shared = exporter->export_buffer(rt->host_buffers(), picture.ref()).value();
    importer.emplace(from.empty() ? socket() : from);
    exporter->announce(shared, 1).value();
    if (from.empty()) {
      lease = std::move(importer->receive(patience)->lease);
      exporter->announce(shared, 2).value();
      adopted = rondo::adopt(rt->host_buffers(), std::move(importer->receive(patience)->lease)).value();
    }
    tape.emplace(*rt, folder / "tape");
    ticks = rt->every(1ms, *actor, add{1});
    both_sides.emplace(rt->memory(), std::initializer_list<std::uint64_t>{16});
    both_sides->overwrite().value()[0] = 1;
    static_cast<void>(both_sides->prefetch_to_device());
    lock.emplace(folder / "state");
  }
  std::filesystem::path socket() const { return folder / "socket"; }
  std::uint64_t sum() { return actor->ask(get{}, patience, rondo::block).value().value; }

  std::filesystem::path folder;
  std::unique_ptr<rondo::runtime> rt;
  std::optional<rondo::actor_ref<counter>> actor;
  rondo::buffer picture;
  std::optional<rondo::buffer_exporter> exporter;
  std::optional<rondo::buffer_importer> importer;
  rondo::shared_lease lease;
  rondo::buffer adopted;
  std::optional<rondo::recording> tape;
  rondo::timer ticks;
  std::optional<rondo::unified_buffer<int>> both_sides;
  std::optional<rondo::file_lock> lock;
};

/// That the child of a parent with this household has harmed nothing.
void require_unharmed(household& h) {
  auto const before = h.sum();
  REQUIRE(eventually([&] { return h.sum() > before + 2; }));  // it still ticks
  // Leases hold, and the exporter knows of them.
  REQUIRE(h.importer->connected());
  REQUIRE(h.lease.valid());
  auto const now = h.exporter->statistics();
  REQUIRE(now.importers == 1);
  REQUIRE(now.departed + now.cut_off + now.refused == 0);
  REQUIRE(now.leases == 2);
  for (auto const byte : h.lease.bytes()) REQUIRE(byte == std::byte{7});
  rondo::buffer_importer const another(h.socket());
  REQUIRE(another.connected());
  // Nobody else gets the lock.
  REQUIRE_THROWS_WITH(rondo::file_lock(h.folder / "state"),
                      Catch::Contains("another process holds its lock"));
  // The recording is complete, and has everything once.
  std::promise<void> ended;  // on the runtime's thread, so that no tick is on its way
  boost::asio::post(h.rt->executor(), [&] { h.ticks.cancel(), ended.set_value(); });
  soon(ended.get_future());
  auto const told = h.sum();
  h.tape->end();
  auto const again = start({.device = "cpu", .teams = 1});
  auto const report = rondo::replay(*again, h.folder / "tape");
  REQUIRE(report.complete);
  REQUIRE(report.differing == 0);
  REQUIRE(again->find<counter>("a").value().ask(get{}, patience, rondo::block).value().value == told);
}

std::optional<household> of_the_program;  // destroyed by exit

}  // namespace

TEST_CASE(
    "what a forked child destroys stays whole in its parent, for each object with threads, sockets, files or "
    "shared memory",
    "[fork]") {
  scratch_directory const dir("fork");
  auto const device = GENERATE(as<std::string>{}, "cpu", "emulated", "cpu,emulated");
  CAPTURE(device);
  std::optional<household> h(std::in_place, device, dir.directory / "parent");
  REQUIRE(exit_status_of_child([&] {
            h.reset();
            return 7;
          }) == 7);
  require_unharmed(*h);
}

TEST_CASE(
    "a forked child may call exit, which destroys the statics of the program, also in a handler of an actor",
    "[fork]") {
  scratch_directory const dir("fork");
  auto& h = of_the_program.emplace("cpu", dir.directory / "parent");
  std::promise<int> of_a_team;
  hook = [&] { of_a_team.set_value(exit_status_of_child([]() -> int { std::exit(7); })); };
  REQUIRE(exit_status_of_child([]() -> int { std::exit(7); }) == 7);
  REQUIRE_FALSE(h.actor->try_tell(call{}));
  REQUIRE(soon(of_a_team.get_future()) == 7);
  h.tape.reset();  // replayed, the call would fork again
  std::filesystem::remove(h.folder / "tape");
  h.tape.emplace(*h.rt, h.folder / "tape");
  require_unharmed(h);
  of_the_program.reset();
}

TEST_CASE("after a fork, a child makes a runtime, an exporter, an importer and a recording of its own",
          "[fork]") {
  scratch_directory const dir("fork");
  if (!children_have_threads) return;
  auto const device = GENERATE(as<std::string>{}, "cpu", "emulated");
  CAPTURE(device);
  household h(device, dir.directory / "parent");
  REQUIRE(exit_status_of_child([&] {
            {
              household mine(device, dir.directory / "child");
              if (!mine.actor->ask(get{}, patience, rondo::block)) return 1;
              if (!mine.lease.valid() || mine.lease.bytes()[0] != std::byte{7}) return 2;
              if (!std::filesystem::exists(mine.socket())) return 3;
              mine.ticks.cancel();
              mine.tape->end();
              household const reader(device, dir.directory / "reader", h.socket());
              if (!reader.importer->connected()) return 4;
            }
            return std::filesystem::exists(dir.directory / "child" / "socket") ? 5 : 7;
          }) == 7);
  REQUIRE(eventually([&] { return h.exporter->statistics().importers == 1; }));  // the child's has left
  REQUIRE(h.lease.valid());
  REQUIRE(h.exporter->statistics().leases == 2);
}

TEST_CASE("a forked child has no leases, and nothing that it writes reaches memory that its parent shares",
          "[fork]") {
  scratch_directory const dir("fork");
  household h("cpu", dir.directory / "parent");
  REQUIRE(exit_status_of_child([&] {
            if (h.lease.valid() || h.importer->connected()) return 1;
            if (h.importer->lease({}).error() != errc::peer_gone) return 2;
            if (h.lease.bytes()[0] != std::byte{7}) return 3;
            std::memset(h.picture.span().data(), 8, 64);  // in memory that importers map
            auto all = h.rt->host_buffers().acquire_buffer(1 << 16).value();
            std::memset(all.span().data(), 9, all.bytes());
            h.lease.end();
            h.adopted.release();
            auto const report = h.rt->stop();
            return report.stopped || report.stuck.empty() ? 4 : 7;
          }) == 7);
  require_unharmed(h);
}

TEST_CASE("a descriptor that a forked child has opened is not closed by its copies of the parent's objects",
          "[fork]") {
  scratch_directory const dir("fork");
  std::optional<household> h(std::in_place, "cpu", dir.directory / "parent");
  REQUIRE(exit_status_of_child([&] {
            std::vector<int> mine;  // which have the numbers of those that were closed at the fork, and more
            for (int i = 0; i < 64; ++i) mine.push_back(::open("/dev/null", O_RDONLY | O_CLOEXEC));
            h.reset();
            for (int const fd : mine)
              if (::fcntl(fd, F_GETFD) < 0) return 1;
            return 7;
          }) == 7);
  require_unharmed(*h);
}
