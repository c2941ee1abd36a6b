// Buffers that two processes share; here one process is both sides, which makes no difference to them.
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <boost/asio/bind_executor.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/use_future.hpp>
#include <cstring>

#include "runtime/memory/buffer_home.hpp"
#include "runtime/messaging/blocking.hpp"
#include "runtime/sharing/packet_socket.hpp"
#include "tests/catch.hpp"
#include "tests/runtime/share_fixture.hpp"

using namespace share_test;

namespace {

/// A device whose memory belongs to this process: the tests may access it, the pool's users may not.
struct fake_home final : rondo::buffer_home {
  std::vector<std::byte> bytes_there = std::vector<std::byte>(1 << 16);
  bool lost = false;

  std::byte* base() const noexcept override { return const_cast<std::byte*>(bytes_there.data()); }
  std::uint64_t bytes() const noexcept override { return bytes_there.size(); }
  std::uint32_t slots() const noexcept override { return 4; }
  errc open(rondo::buffer_ref, std::byte*) noexcept override { return errc::ok; }
  errc close(rondo::buffer_ref) noexcept override { return errc::stopped; }
  void collect() noexcept override {}
  bool copy(std::span<rondo::copy_job const> jobs) override {
    for (auto const& job : jobs) std::memcpy(job.to, job.from, job.bytes);
    return !lost;
  }
  std::pmr::memory_resource& host_memory() noexcept override { return *std::pmr::new_delete_resource(); }
  std::uint64_t host_memory_bytes() const noexcept override { return 0; }
};

}  // namespace

TEST_CASE("an exported buffer is read in place, and cannot be written while it is exported", "[share]") {
  exporting e;
  rondo::buffer_importer importer(e.s.socket);
  CHECK(importer.connected());
  auto b = filled(e.pool, 42, 1000);
  auto const shared = e.exporter.export_buffer(e.pool, b->ref()).value();
  CHECK(e.exporter.announce(shared, 5).value() == 1);
  auto news = importer.receive(30s).value();
  CHECK(news.ref == shared);
  CHECK(news.tag == 5);
  auto& lease = news.lease;
  CHECK(lease.as<std::uint64_t>().size() == 1000);
  CHECK(whole(lease, 42));
  CHECK(e.pool.write(b->ref()).status() == errc::buffer_in_use);
  CHECK(e.pool.read(b->ref()));
  // Proof that it is in place: a write behind the lease's back is visible.
  b->span<std::uint64_t>()[999] = 43;
  CHECK(lease.as<std::uint64_t>()[999] == 43);
  CHECK(lease.valid());
  CHECK(e.exporter.statistics().leases == 1);
  CHECK(e.exporter.withdraw(shared) == errc::ok);
  CHECK(e.pool.write(b->ref()).status() == errc::buffer_in_use);  // it is still being read
  lease.end();
  CHECK_FALSE(lease.valid());
  CHECK(lease.bytes().empty());
  CHECK(eventually([&] { return bool(e.pool.write(b->ref())); }));
  CHECK(e.exporter.statistics().copies == 0);
}

TEST_CASE("a withdrawn buffer is stale, and its bytes stay until the last lease ends", "[share]") {
  exporting e;
  rondo::buffer_importer first(e.s.socket), second(e.s.socket);
  auto const shared = e.export_filled(1);
  auto a = first.lease(shared).value();
  auto b = second.lease(shared).value();
  CHECK(e.exporter.withdraw(shared) == errc::ok);
  CHECK(e.exporter.withdraw(shared) == errc::double_release);
  CHECK(first.lease(shared).error() == errc::stale_buffer);
  CHECK(e.exporter.statistics().closing == 1);
  auto const other = e.export_filled(2);
  CHECK(other.slot != shared.slot);
  CHECK(whole(a, 1));
  a.end();
  CHECK(whole(b, 1));
  CHECK(e.exporter.statistics().closing == 1);
  b = std::move(a);  // also ends it
  CHECK(eventually([&] { return e.exporter.statistics().closing == 0; }));
  CHECK(e.pool.statistics().buffers_in_use == 1);  // the other one
}

TEST_CASE("a slot is reused in a new generation", "[share]") {
  exporting e({.slots = 2});
  rondo::buffer_importer importer(e.s.socket);
  std::vector<rondo::shared_buffer_ref> gone;
  for (std::uint64_t tag = 1; tag <= 50; ++tag) {
    auto const shared = e.export_filled(tag);
    auto lease = importer.lease(shared).value();
    REQUIRE(whole(lease, tag));
    REQUIRE(e.exporter.withdraw(shared) == errc::ok);
    lease.end();
    gone.push_back(shared);
    for (auto const& ref : gone) REQUIRE(importer.lease(ref).error() == errc::stale_buffer);
    REQUIRE(eventually([&] { return e.exporter.statistics().closing == 0; }));
  }
  CHECK(gone.back().generation > 1);
  auto const a = e.export_filled(1), b = e.export_filled(2);
  auto const c = filled(e.pool, 3, 1);
  CHECK(e.exporter.export_buffer(e.pool, c->ref()).error() == errc::slots_exhausted);
  CHECK(e.exporter.withdraw(a) == errc::ok);
  CHECK(e.exporter.withdraw(b) == errc::ok);
}

TEST_CASE("a handle of another exporter, or outside its buffer, is refused", "[share]") {
  exporting e;
  rondo::buffer_importer importer(e.s.socket);
  auto const shared = e.export_filled(9, 100);
  auto const error_of = [&](rondo::shared_buffer_ref ref) { return importer.lease(ref).error(); };
  CHECK(error_of({}) == errc::stale_buffer);
  auto ref = shared;
  ref.share += 2;
  CHECK(error_of(ref) == errc::stale_buffer);
  CHECK(e.exporter.withdraw(ref) == errc::stale_buffer);
  ref = shared;
  ref.slot = 1u << 31;
  CHECK(error_of(ref) == errc::stale_buffer);
  CHECK(e.exporter.withdraw(ref) == errc::stale_buffer);
  ref = shared;
  ++ref.generation;
  CHECK(error_of(ref) == errc::stale_buffer);
  CHECK(e.exporter.withdraw(ref) == errc::stale_buffer);
  CHECK(error_of(shared.slice(800, 1)) == errc::buffer_out_of_bounds);
  ref = shared;
  ref.bytes = 801;
  CHECK(error_of(ref) == errc::buffer_out_of_bounds);
  ref.offset = 8, ref.bytes = ~0ull;
  CHECK(error_of(ref) == errc::buffer_out_of_bounds);
  auto const part = importer.lease(shared.slice(8, 16)).value();
  CHECK(part.bytes().size() == 16);
  CHECK_THROWS_AS(importer.lease(shared.slice(4, 16)).value().as<std::uint64_t>(), std::invalid_argument);
  CHECK(importer.lease(shared.slice(800, 0)).has_value());
  CHECK(e.exporter.statistics().leases == 1);  // refused leases are not counted
}

TEST_CASE("importers can neither write the bytes nor shrink the memory", "[share]") {
  exporting e;
  auto const map = [&](int protection) {
    void* const p = ::mmap(nullptr, 4096, protection, MAP_SHARED, e.memory.fd(), 0);
    if (p != MAP_FAILED) ::munmap(p, 4096);
    return p != MAP_FAILED;
  };
  CHECK(map(PROT_READ));
  CHECK_FALSE(map(PROT_READ | PROT_WRITE));
  CHECK(::ftruncate(e.memory.fd(), 4096) != 0);
  CHECK(::fallocate(e.memory.fd(), 0, 0, 1 << 20) != 0);  // nor allocate memory in the unused part
  struct stat status {};
  REQUIRE(::stat(e.s.socket.c_str(), &status) == 0);
  CHECK((status.st_mode & 0777) == 0600);
}

TEST_CASE("a buffer that cannot be shared in place is copied, which is reported once", "[share]") {
  exporting e;
  rondo::buffer_importer importer(e.s.socket);
  SECTION("in the program's heap") {
    rondo::buffer_pool heap({.cap_bytes = 1 << 16});
    for (std::uint64_t tag = 1; tag <= 3; ++tag) {
      auto const b = filled(heap, tag, 50);
      auto const shared = e.exporter.export_buffer(heap, b->ref()).value();
      CHECK(heap.write(b->ref()));
      CHECK(whole(importer.lease(shared).value(), tag));
      CHECK(e.exporter.withdraw(shared) == errc::ok);
    }
    CHECK(e.exporter.export_buffer(heap, {}).error() == errc::stale_buffer);
    CHECK(e.reports("outside the exporter's memory") == 1);
  }
  SECTION("in a device's memory") {
    fake_home home;
    rondo::region_resource region(home.base(), home.bytes());
    rondo::buffer_pool pool(
        {.slots = 4, .where = rondo::place::device, .upstream = &region, .home = &home, .home_number = 1});
    for (std::uint64_t tag = 1; tag <= 3; ++tag) {
      auto const b = pool.acquire_buffer(400);
      auto* const at = pool.address_of(b->ref());
      for (int i = 0; i < 50; ++i) std::memcpy(at + i * 8, &tag, 8);
      auto const shared = e.exporter.export_buffer(pool, b->ref()).value();
      CHECK(whole(importer.lease(shared).value(), tag));
      CHECK(e.exporter.withdraw(shared) == errc::ok);
      auto beyond = b->ref();
      beyond.bytes = 1 << 20;
      CHECK(e.exporter.export_buffer(pool, beyond).error() == errc::buffer_out_of_bounds);
      home.lost = true;
      CHECK(e.exporter.export_buffer(pool, b->ref()).error() == errc::device_lost);
      home.lost = false;
    }
    CHECK(e.exporter.export_buffer(pool, {}).error() == errc::stale_buffer);
    CHECK(e.reports("in a device's memory") == 1);
  }
  CHECK(e.reports("") == 1);
  CHECK(e.exporter.statistics().copies == 3);
  CHECK(e.exporter.statistics().exported == 0);
}

TEST_CASE("an exporter that shuts down ends its leases, and importers are notified", "[share]") {
  std::unique_ptr<exporting> e = std::make_unique<exporting>();
  rondo::buffer_importer importer(e->s.socket);
  auto const shared = e->export_filled(3);
  auto const lease = importer.lease(shared).value();
  auto pending = importer.async_receive(boost::asio::use_future);
  e.reset();
  CHECK(importer.receive(30s).error() == errc::peer_gone);
  CHECK_THROWS_AS(pending.get(), boost::system::system_error);
  CHECK_FALSE(importer.connected());
  CHECK_FALSE(lease.valid());
  CHECK(lease.bytes().size() == 800);  // still mapped
  CHECK(importer.lease(shared).error() == errc::peer_gone);
  CHECK(importer.async_receive(rondo::block).error() == errc::peer_gone);
}

TEST_CASE("announcements arrive in order at each receiver, for any completion token", "[share]") {
  std::atomic<std::uint64_t> joined{0};
  exporting e({.joined = [&](std::uint64_t importer) { joined = importer; }});
  boost::asio::io_context context;
  std::vector<std::uint64_t> tags;
  std::thread::id ran_on;
  errc last = errc::ok;
  {
    rondo::buffer_importer importer(e.s.socket);
    REQUIRE(eventually([&] { return joined != 0; }));
    auto const shared = e.export_filled(1);
    CHECK(importer.receive(0ms).error() == errc::timed_out);
    auto const receive = [&](rondo::error_code error, rondo::announced_buffer a) {
      ran_on = std::this_thread::get_id();
      if (error)
        last = static_cast<errc>(error.value());
      else
        tags.push_back(a.tag);
    };
    for (int i = 0; i < 3; ++i) importer.async_receive(boost::asio::bind_executor(context, receive));
    for (std::uint64_t tag = 1; tag <= 3; ++tag)
      CHECK(e.exporter.announce_to(joined, shared, tag) == errc::ok);
    context.run();  // until all three have arrived
    CHECK(tags == std::vector<std::uint64_t>{1, 2, 3});
    CHECK(ran_on == std::this_thread::get_id());
    for (std::uint64_t tag = 4; tag <= 5; ++tag) CHECK(e.exporter.announce(shared, tag).value() == 1);
    CHECK(importer.async_receive(rondo::block)->tag == 4);
    CHECK(importer.async_receive(boost::asio::use_future).get().tag == 5);
    importer.async_receive(boost::asio::bind_executor(context, receive));
  }
  context.restart();
  context.run();
  CHECK(last == errc::cancelled);
  CHECK(eventually([&] { return e.exporter.announce_to(joined, {}, 0) == errc::peer_gone; }));
}

TEST_CASE("a blocking receive fails on the importer's own thread", "[share]") {
  exporting e;
  std::promise<std::pair<rondo::error_code, rondo::error_code>> result;
  rondo::buffer_importer importer(e.s.socket);
  importer.async_receive([&](rondo::error_code, rondo::announced_buffer) {
    result.set_value({importer.receive(60s).error(), importer.async_receive(rondo::block).error()});
  });
  auto const shared = e.export_filled(1);
  REQUIRE(eventually([&] { return e.exporter.announce(shared, 1).value() == 1; }));
  auto refused = result.get_future();
  REQUIRE(refused.wait_for(60s) == std::future_status::ready);
  CHECK(refused.get() ==
        std::pair<rondo::error_code, rondo::error_code>(errc::would_deadlock, errc::would_deadlock));
}

TEST_CASE("leases may outlive their importer, but are no longer counted", "[share]") {
  exporting e;
  auto const shared = e.export_filled(4);
  rondo::shared_lease lease;
  {
    rondo::buffer_importer importer(e.s.socket);
    lease = importer.lease(shared).value();
    CHECK(lease.valid());
  }
  CHECK(whole(lease, 4));
  CHECK(eventually([&] { return !lease.valid(); }));
  CHECK(e.exporter.withdraw(shared) == errc::ok);
  CHECK(e.all_back());
  CHECK(e.exporter.statistics().departed == 1);
}

TEST_CASE("many importers lease concurrently, and leave nothing behind", "[share]") {
  exporting e({.slots = 64, .importers = 8});
  std::atomic<int> faults{0};
  std::atomic<std::uint64_t> reads{0};
  std::atomic<bool> stop{false};
  publisher p(e.pool, e.exporter);
  {
    std::vector<std::jthread> readers;
    for (int i = 0; i < 8; ++i)
      readers.emplace_back([&] {
        try {
          rondo::buffer_importer importer(e.s.socket);
          for (reader r(importer); !stop;) reads += r.step(5ms) == errc::ok;
        } catch (std::exception const& error) {
          std::printf("%s\n", error.what());
          ++faults;
        }
      });
    CHECK(eventually([&] {
      p.step();
      return reads > 500 || faults != 0;
    }));
    stop = true;
  }
  p.finish();
  CHECK(faults == 0);
  CHECK(e.all_back());
  CHECK(eventually([&] { return e.exporter.statistics().importers == 0; }));
  CHECK(e.exporter.statistics().departed == 8);
}
