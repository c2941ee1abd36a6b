// Containers that allocate from a pool.
#include "runtime/memory/pool_resource.hpp"

#include <list>
#include <string>
#include <thread>

#include "tests/runtime/counter_fixture.hpp"

using namespace rondo_test;

TEST_CASE("containers live in a pool, and return their memory", "[pool]") {
  rondo::buffer_pool pool({.cap_bytes = 1 << 20});
  {
    rondo::pool_resource memory(pool);
    std::pmr::vector<std::pmr::string> words(&memory);
    for (int i = 0; i < 100; ++i) words.emplace_back(static_cast<std::size_t>(60 + i), 'a');
    CHECK(words[42].size() == 102);
    CHECK(words[42].find_first_not_of('a') == std::pmr::string::npos);
    CHECK(pool.statistics().buffers_in_use >= 101);
    std::vector<std::thread> threads;
    for (int t = 0; t < 2; ++t)
      threads.emplace_back([&] {
        for (int round = 0; round < 200; ++round) {
          std::pmr::list<int> numbers(&memory);
          for (int i = 0; i < 10; ++i) numbers.push_back(i);
        }
      });
    for (auto& t : threads) t.join();
  }
  CHECK(pool.statistics().buffers_in_use == 0);
}

TEST_CASE("a pool's resource aligns, and fails with bad_alloc", "[pool]") {
  rondo::buffer_pool pool({.cap_bytes = 1 << 20});
  rondo::pool_resource memory(pool), other(pool);
  for (std::size_t const alignment : {1, 8, 64, 256, 4096}) {
    auto* const p = memory.allocate(100, alignment);
    CHECK(reinterpret_cast<std::uintptr_t>(p) % alignment == 0);
    memory.deallocate(p, 100, alignment);
  }
  auto* const nothing = memory.allocate(0);
  CHECK(nothing != nullptr);
  memory.deallocate(nothing, 0);
  CHECK_THROWS_AS(memory.allocate(2 << 20), std::bad_alloc);
  CHECK_THROWS_AS(memory.allocate(100, 8192), std::bad_alloc);
  CHECK(memory == memory);
  CHECK_FALSE(memory == other);
  CHECK(pool.statistics().buffers_in_use == 0);
}

TEST_CASE("a resource over a device's pool returns addresses of the device", "[pool]") {
  rondo::config settings;
  settings.device = "emulated";
  settings.buffer_bytes_cap = 1 << 20;
  auto const rt = start(settings);
  rondo::pool_resource memory(rt->buffers());
  auto* const p = static_cast<std::byte*>(memory.allocate(1000));
  auto const* const home = rt->buffers().home();
  CHECK(p >= home->base());
  CHECK(p + 1000 <= home->base() + home->bytes());
  memory.deallocate(p, 1000);
  CHECK(eventually([&] { return rt->buffers().statistics().buffers_in_use == 0; }));
}
