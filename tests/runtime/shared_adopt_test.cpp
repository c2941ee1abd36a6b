// Buffers of another process in this process's pool.
#include "runtime/sharing/adopt.hpp"
#include "tests/catch.hpp"
#include "tests/runtime/share_fixture.hpp"

using namespace share_test;

namespace {

rondo::announced_buffer next_of(exporting& e, rondo::buffer_importer& importer, std::uint64_t tag) {
  auto const shared = e.export_filled(tag);
  REQUIRE(e.exporter.announce(shared, tag).value() == 1);
  REQUIRE(e.exporter.withdraw(shared) == errc::ok);
  return importer.receive(30s).value();
}

}  // namespace

TEST_CASE("a foreign buffer is leased by its handle in place, and goes back after its last use", "[share]") {
  exporting e;
  rondo::buffer_importer importer(e.s.socket);
  rondo::buffer_pool pool({.cap_bytes = 4096, .slots = 4});
  auto news = next_of(e, importer, 7);
  auto const* const at = news.lease.bytes().data();
  auto owned = rondo::adopt(pool, std::move(news.lease)).value();
  auto const ref = owned.ref();
  CHECK(ref.bytes == 800);
  CHECK(owned.span().empty());  // it may not be written
  CHECK(pool.write(ref).status() == errc::buffer_in_use);
  CHECK(pool.statistics().foreign_buffers == 1);
  CHECK(pool.statistics().buffers_in_use == 0);
  auto lease = pool.read<std::uint64_t>(ref);
  REQUIRE(lease);
  CHECK(reinterpret_cast<std::byte const*>(lease.view().data()) == at);  // nothing was copied
  CHECK(lease.view()[99] == 7);
  CHECK(pool.read(ref.slice(0, 801)).status() == errc::buffer_out_of_bounds);
  SECTION("the owner's release, and then a lease's end") {
    CHECK(owned.release() == errc::ok);
    CHECK(pool.read(ref).status() == errc::stale_buffer);
    CHECK(lease.view()[0] == 7);
    CHECK(e.exporter.statistics().leases == 1);
    lease.end();
  }
  SECTION("a lease's end, and then the release") {
    lease.end();
    CHECK(e.exporter.statistics().leases == 1);
    CHECK(pool.release(owned.detach()) == errc::ok);
    CHECK(pool.release(ref) == errc::double_release);
  }
  SECTION("the end of an owner that was found by the handle") {
    lease.end();
    auto const again = pool.adopt(owned.detach()).value();
    CHECK(again.span().empty());
  }
  CHECK(e.exporter.statistics().leases == 0);  // at once, without another call of the pool
  CHECK(e.all_back());
  CHECK(pool.read(ref).status() == errc::stale_buffer);
  CHECK(pool.statistics().foreign_buffers == 0);
}

TEST_CASE("slots of foreign buffers are reused in new generations, beside the pool's own", "[share]") {
  exporting e;
  rondo::buffer_importer importer(e.s.socket);
  rondo::buffer_pool pool({.cap_bytes = 4096, .slots = 2});
  std::vector<rondo::buffer_ref> gone;
  for (std::uint64_t tag = 1; tag <= 50; ++tag) {
    auto const own = pool.acquire_buffer(64).value();
    auto news = next_of(e, importer, tag);
    auto const owned = rondo::adopt(pool, std::move(news.lease)).value();
    CHECK(own.ref().slot != owned.ref().slot);
    CHECK(pool.write(own.ref()));
    REQUIRE(pool.read<std::uint64_t>(owned.ref()).view()[1] == tag);
    for (auto const& ref : gone) REQUIRE(pool.read(ref).status() == errc::stale_buffer);
    gone.push_back(owned.ref());
  }
  CHECK(pool.statistics().buffers_in_use == 0);
  CHECK(pool.statistics().hits + pool.statistics().misses == 50);
  // A lease that finds no slot is given back.
  auto const a = pool.acquire_buffer(64).value(), b = pool.acquire_buffer(64).value();
  auto news = next_of(e, importer, 1);
  CHECK(rondo::adopt(pool, std::move(news.lease)).error() == errc::slots_exhausted);
  CHECK(rondo::adopt(pool, {}).error() == errc::stale_buffer);
  CHECK(e.all_back());
}

TEST_CASE("a foreign buffer of a killed exporter stays readable, and its handle stays checked",
          "[share][kill]") {
  scratch s;
  rondo::buffer_pool pool;
  victim v("last", s.socket);
  REQUIRE(v.began());
  rondo::buffer_importer importer(s.socket, {.timeout = 30s});
  CHECK(v.wait() != 0);
  std::vector<rondo::buffer> all;
  for (std::uint64_t tag = 1; tag <= 3; ++tag)
    all.push_back(rondo::adopt(pool, importer.receive(30s).value().lease).value());
  CHECK(eventually([&] { return !importer.connected(); }));
  for (std::uint64_t tag = 1; tag <= 3; ++tag) {
    auto const lease = pool.read<std::uint64_t>(all[tag - 1].ref());
    REQUIRE(lease);
    for (auto const word : lease.view()) REQUIRE(word == tag);
  }
  auto const ref = all[0].ref();
  all.clear();
  CHECK(pool.read(ref).status() == errc::stale_buffer);
}

TEST_CASE("a pool that ends gives foreign buffers back, and reports those in use", "[share]") {
  exporting e;
  rondo::buffer_importer importer(e.s.socket);
  std::vector<std::string> lines;
  {
    rondo::buffer_pool pool({.slots = 2, .report = [&](std::string const& line) { lines.push_back(line); }});
    auto news = next_of(e, importer, 7);
    static_cast<void>(rondo::adopt(pool, std::move(news.lease)).value().detach());
  }
  REQUIRE(lines.size() == 1);
  CHECK(lines[0].find("was never released") != std::string::npos);
  CHECK(e.all_back());
}

TEST_CASE("many threads lease and release foreign buffers, and each goes back once", "[share]") {
  exporting e({.slots = 64});
  rondo::buffer_importer importer(e.s.socket, {.how = rondo::streams::delivery::lossless, .capacity = 8});
  rondo::buffer_pool pool({.slots = 16});
  std::atomic<std::uint64_t> wrong{0};
  constexpr std::uint64_t all = 2000;
  std::jthread const publishing([&] {
    for (std::uint64_t tag = 1; tag <= all;) {
      auto const seen = e.exporter.freed();
      auto b = filled(e.pool, tag, 100);
      auto const shared = e.exporter.export_buffer(e.pool, b->ref()).value();
      bool const announced = e.exporter.announce(shared, tag).has_value();
      static_cast<void>(e.exporter.withdraw(shared));
      if (announced)
        ++tag;
      else if (e.exporter.wait_freed(seen, 60s) != errc::ok)
        return;
    }
  });
  std::mutex mutex;
  std::uint64_t received = 0;
  {
    std::vector<std::jthread> readers;
    for (int i = 0; i < 4; ++i)
      readers.emplace_back([&, i] {
        for (;;) {
          std::unique_lock lock(mutex);
          if (received == all) return;
          auto news = importer.receive(60s);
          if (!news) return void(++wrong);
          ++received;
          auto const tag = news->tag;
          auto const owned = rondo::adopt(pool, std::move(news->lease)).value().detach();
          lock.unlock();
          auto one = pool.read<std::uint64_t>(owned), two = pool.read<std::uint64_t>(owned);
          wrong += !one || !two || one.view()[tag % 100] != tag;
          wrong += pool.release(owned) != errc::ok;
          one.end();
          wrong += two.view()[i] != tag;
          wrong += bool(pool.read(owned));
        }
      });
  }
  CHECK(wrong == 0);
  CHECK(received == all);
  CHECK(pool.statistics().foreign_buffers == 0);
  CHECK(e.all_back());
}
