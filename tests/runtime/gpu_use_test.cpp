// While a ring kernel runs, nothing that waits for a whole GPU is begun.
#include "runtime/device/cuda/gpu_use.hpp"

#include <atomic>
#include <thread>

#include "tests/catch.hpp"

using Catch::Matchers::Contains;
using rondo::gpu_use;

TEST_CASE("memory that could wait for a ring kernel is refused while one runs, and afterwards allowed",
          "[gpu_use]") {
  gpu_use gpus;
  CHECK(gpus.keep_idle("allocating").owns_lock());
  gpus.begin_grid(1);
  CHECK_THROWS_WITH(gpus.keep_idle("allocating 64 bytes"),
                    Contains("allocating 64 bytes") && Contains("for ever") && Contains("one runtime"));
  CHECK_FALSE(gpus.try_keep_idle(1).owns_lock());
  CHECK(gpus.try_keep_idle(0).owns_lock());
  gpus.end_grid(1);
  CHECK(gpus.keep_idle("allocating").owns_lock());
  CHECK(gpus.try_keep_idle(1).owns_lock());
}

TEST_CASE("no ring kernel starts while a GPU must stay idle", "[gpu_use]") {
  gpu_use gpus;
  std::atomic<bool> started{false};
  auto idle = gpus.keep_idle("allocating");
  std::thread launch([&] {
    gpus.begin_grid(0);
    started = true;
  });
  std::this_thread::sleep_for(std::chrono::milliseconds(5));
  CHECK_FALSE(started);
  idle.unlock();
  launch.join();
  CHECK_THROWS(gpus.keep_idle("allocating"));
}

TEST_CASE("stack for threads is reserved once, and not while a ring kernel runs", "[gpu_use]") {
  gpu_use gpus;
  std::size_t reserved = 0;
  auto const reserve = [&](std::size_t bytes) {
    gpus.reserve_stack(0, bytes, [&](std::size_t b) { reserved = b; });
  };
  reserve(4096);
  CHECK(reserved == 4096);
  gpus.begin_grid(0);
  reserved = 0;
  reserve(4096);
  reserve(1024);
  CHECK(reserved == 0);
  CHECK_THROWS_WITH(reserve(8192), Contains("8192 bytes of stack"));
  gpus.end_grid(0);
  reserve(8192);
  CHECK(reserved == 8192);
}

TEST_CASE("a faulted GPU is reset by its last machine", "[gpu_use]") {
  gpu_use gpus;
  using ending = gpu_use::ending;
  for (int i = 0; i < 3; ++i) gpus.add_machine(0);
  CHECK(gpus.try_keep_idle(0).owns_lock());
  CHECK_FALSE(gpus.try_keep_idle_alone(0).owns_lock());
  CHECK(gpus.remove_machine(0, false) == ending::release);
  CHECK(gpus.remove_machine(0, true) == ending::leave);
  CHECK(gpus.try_keep_idle_alone(0).owns_lock());
  CHECK_FALSE(gpus.was_reset(0));
  CHECK(gpus.remove_machine(0, false) == ending::reset);
  CHECK(gpus.was_reset(0));
  CHECK_FALSE(gpus.was_reset(1));
  gpus.add_machine(0);
  CHECK(gpus.remove_machine(0, false) == ending::release);
}
