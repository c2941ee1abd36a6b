// When copies happen, and how they are counted: prefetches, batches, pinned memory, pipelines.
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/post.hpp>
#include <future>
#include <numeric>

#include "runtime/core/runtime_core.hpp"
#include "runtime/device/emulated/emulated_device.hpp"
#include "runtime/memory/stream_pipeline.hpp"
#include "tests/runtime/counter_fixture.hpp"

using namespace rondo_test;
using rondo::buffer_state;
using rondo::unified_buffer;

namespace {

std::unique_ptr<rondo::runtime> start_on(std::string const& device, std::uint32_t delay_us = 0,
                                         std::uint64_t pinned_bytes = 1 << 20) {
  rondo::config settings;
  settings.device = device;
  settings.lanes = 1;
  settings.visibility_delay_us = delay_us;
  settings.pinned_bytes = pinned_bytes;
  settings.buffer_bytes_cap = 16 << 20;
  return start(settings);
}

unified_buffer<std::uint32_t> numbers(rondo::runtime& rt, std::uint64_t count, std::uint32_t from) {
  unified_buffer<std::uint32_t> data(rt.memory(), {count});
  auto view = data.overwrite().value();
  std::iota(view.begin(), view.end(), from);
  return data;
}

/// The first number on the device, read through a buffer there.
std::uint32_t first_on_device(unified_buffer<std::uint32_t>& data) {
  std::uint32_t seen = 0;
  auto& pool = *data.memory().device;
  auto const* const there = pool.address_of(data.device().value());
  rondo::copy_job const job{reinterpret_cast<std::byte*>(&seen), there, sizeof seen, false};
  REQUIRE(pool.home()->copy({&job, 1}));
  return seen;
}

}  // namespace

TEST_CASE("buffers copied to one side together are one batch", "[transfers]") {
  auto const rt = start_on("emulated");
  auto one = numbers(*rt, 100, 1), two = numbers(*rt, 100, 2), three = numbers(*rt, 100, 3);
  REQUIRE_FALSE(three.sync_to_device());
  auto const before = rt->transfers();
  REQUIRE_FALSE(rondo::sync_to_device(one, two, three));
  auto const down = rt->transfers() - before;
  CHECK(down.to_device == 2);  // the third one was already there
  CHECK(down.batches == 1);
  CHECK(down.bytes == 800);
  CHECK(first_on_device(one) == 1);
  CHECK(first_on_device(two) == 2);
  one.mark_device_dirty();
  two.mark_device_dirty();
  REQUIRE_FALSE(rondo::sync_to_host(one, two, three));
  CHECK((rt->transfers() - before).batches == 2);
  CHECK((rt->transfers() - before).to_host == 2);
  one.mark_host_dirty();
  REQUIRE_FALSE(rondo::sync_to_device(one, one));  // a buffer that is listed twice is copied once
  CHECK((rt->transfers() - before).to_device == 3);
  CHECK((rt->transfers() - before).bytes == 2000);
  unified_buffer<std::uint32_t> empty(rt->memory(), {10});
  one.mark_host_dirty();
  CHECK(rondo::sync_to_device(one, empty) == errc::buffer_empty);
  CHECK(one.state() == buffer_state::host_dirty);  // nothing was copied
}

TEST_CASE("copies over a modelled bus take their time at least, one after the other in each direction",
          "[transfers]") {
  rondo::bus_model const slow{.latency_ns = 2'000'000, .ns_per_byte = 1000};
  rondo::modelled_bus bus;
  auto const begun = rondo::modelled_bus::clock::now();
  auto const first = bus.crossed(slow, 3000), second = bus.crossed(slow, 1000);
  CHECK(first >= begun + 5ms);
  CHECK(second >= first + 1ms);

  auto const rt = start_on("emulated");
  static_cast<rondo::emulated_device&>(*rt->core().devices()[0].dev).model_bus(slow);
  auto data = numbers(*rt, 1000, 7);
  auto const before = rondo::modelled_bus::clock::now();
  REQUIRE_FALSE(data.sync_to_device());
  CHECK(rondo::modelled_bus::clock::now() >= before + 6ms);
  CHECK(first_on_device(data) == 7);
  CHECK(rondo::modelled_bus::clock::now() >= before + 8ms);
}

TEST_CASE("a prefetched copy runs concurrently with the program, once", "[transfers]") {
  auto const delay_us = GENERATE(0u, 300u);
  auto const rt = start_on("emulated", delay_us);
  auto data = numbers(*rt, 1000, 5);
  REQUIRE_FALSE(data.prefetch_to_device());
  REQUIRE_FALSE(data.prefetch_to_device());  // it waits for the first copy; there is nothing left to do
  CHECK(first_on_device(data) == 5);
  CHECK(rt->transfers().to_device == 1);
  CHECK(rt->transfers().batches == 1);
  CHECK(data.state() == buffer_state::synchronized);

  REQUIRE_FALSE(data.edit().value().size() != 1000);
  REQUIRE_FALSE(data.prefetch_to_device());
  data.overwrite().value()[0] = 9;  // waits, because the copy reads this side
  CHECK(data.state() == buffer_state::host_dirty);
  CHECK(first_on_device(data) == 9);
  CHECK(rt->transfers().to_device == 3);
  {
    auto given_up = numbers(*rt, 1000, 7);
    REQUIRE_FALSE(given_up.prefetch_to_device());
  }  // its blocks stay until the copy has ended
  auto moved = numbers(*rt, 1000, 8);
  REQUIRE_FALSE(moved.prefetch_to_device());
  auto const target = std::make_unique<unified_buffer<std::uint32_t>>(std::move(moved));
  CHECK(first_on_device(*target) == 8);
}

TEST_CASE("while a view writes, neither side is accessible", "[transfers]") {
  auto const device = GENERATE(as<std::string>{}, "cpu", "emulated");
  INFO(device);
  auto const rt = start_on(device);
  auto data = numbers(*rt, 10, 1);
  auto const is_in_use = [&] {
    return data.device().has_error() && data.host().has_error() && data.edit().has_error() &&
           data.overwrite().has_error() && data.device_for_overwriting().has_error() &&
           data.device().error() == errc::buffer_in_use && data.prefetch_to_device() == errc::buffer_in_use;
  };
  {
    auto view = data.edit().value();
    CHECK(is_in_use());
    auto moved = std::move(view);
    CHECK(is_in_use());
    moved[3] = 40;
  }
  CHECK(data.device().has_value());
  CHECK(data.host().value()[3] == 40);
}

TEST_CASE("the host's side is pinned where that is faster, while pinned memory lasts", "[transfers]") {
  auto const rt = start_on("emulated", 0, 64 << 10);
  auto const* const pinned = rt->memory().pinned;
  REQUIRE(pinned != nullptr);
  CHECK(pinned->where() == rondo::place::pinned_host);
  auto small = numbers(*rt, 1000, 1);
  CHECK(pinned->statistics().buffers_in_use == 1);
  auto large = numbers(*rt, 100'000, 2);  // more than is available
  CHECK(pinned->statistics().buffers_in_use == 1);
  CHECK(rt->host_buffers().statistics().buffers_in_use == 1);
  CHECK(first_on_device(small) == 1);
  CHECK(first_on_device(large) == 2);
  CHECK(start_on("cpu")->memory().pinned == nullptr);
  CHECK(start_on("emulated", 0, 0)->memory().pinned == nullptr);
}

TEST_CASE("a buffer without memory refuses every operation", "[transfers]") {
  unified_buffer<int> none;
  CHECK(none.overwrite().error() == rondo::errc::buffer_empty);
  CHECK(none.host().error() == rondo::errc::buffer_empty);
  CHECK(none.edit().error() == rondo::errc::buffer_empty);
  CHECK(none.device().error() == rondo::errc::buffer_empty);
  CHECK(none.device_for_overwriting().error() == rondo::errc::buffer_empty);
  CHECK(none.sync_to_device() == rondo::errc::buffer_empty);
  CHECK(none.prefetch_to_host() == rondo::errc::buffer_empty);
  CHECK_FALSE(none.drop_host());
}

TEST_CASE("the host's side stays as long as a view of it exists", "[transfers]") {
  auto const rt = start_on("emulated");
  auto data = numbers(*rt, 100, 1);
  REQUIRE_FALSE(data.sync_to_device());
  {
    auto const view = data.host().value();
    CHECK(data.drop_host() == rondo::errc::buffer_in_use);
    CHECK(view[99] == 100);
  }
  CHECK_FALSE(data.drop_host());
  CHECK(data.state() == buffer_state::device_only);
}

TEST_CASE("a cancelled sync copies nothing", "[transfers]") {
  auto const rt = start_on("emulated");
  auto data = numbers(*rt, 100, 1);
  std::promise<void> others_are_done;
  boost::asio::post(data.memory().copier, [done = others_are_done.get_future().share()] { done.wait(); });
  boost::asio::cancellation_signal signal;
  std::promise<rondo::error_code> outcome;
  auto const before = rt->transfers();
  data.async_sync_to_device(
      boost::asio::bind_cancellation_slot(signal.slot(), [&](rondo::error_code e) { outcome.set_value(e); }));
  signal.emit(boost::asio::cancellation_type::terminal);
  others_are_done.set_value();
  CHECK(outcome.get_future().get() == rondo::errc::cancelled);
  CHECK((rt->transfers() - before).to_device == 0);
  CHECK_FALSE(data.sync_to_device());
}

TEST_CASE("a shape with more bytes than a 64-bit number can hold is refused", "[transfers]") {
  auto const device = GENERATE(as<std::string>{}, "cpu", "emulated");
  auto const rt = start_on(device);
  for (auto const& shape : {std::vector<std::uint64_t>{1ull << 40, 1ull << 40}, {1ull << 62, 1}}) {
    unified_buffer<std::uint32_t> huge(rt->memory(), shape);  // modulo 2^64 this would be 0
    CHECK(huge.overwrite().error() == errc::pool_exhausted);
    CHECK(huge.device_for_overwriting().error() == errc::pool_exhausted);
  }
}

TEST_CASE("a pipeline computes each item once, in order, and loads ahead", "[transfers]") {
  auto const device = GENERATE(as<std::string>{}, "cpu", "emulated");
  auto const depth = GENERATE(2u, 5u);
  INFO(device << ", depth " << depth);
  auto const rt = start_on(device, 50);
  rondo::stream_pipeline<std::uint32_t> items(rt->memory(), {256}, depth);
  std::atomic<std::uint64_t> loaded{0};
  std::uint64_t computed = 0;
  bool far_ahead = false;
  auto const report = items.run(
      [&](std::span<std::uint32_t> to, std::uint64_t i) {
        std::ranges::fill(to, static_cast<std::uint32_t>(i * i));
        loaded.store(i + 1);
        return i < 100;
      },
      [&](rondo::buffer_ref item, std::uint64_t i) {
        CHECK(i == computed);
        far_ahead = far_ahead || loaded.load() > i + depth;
        if (i == 0)  // the next item is loaded while this one is computed, or this never ends
          CHECK(eventually([&] { return loaded.load() >= 2; }));
        std::uint32_t seen[256] = {};
        if (auto* const home = rt->buffers().home(); home != nullptr) {
          rondo::copy_job const job{reinterpret_cast<std::byte*>(seen), rt->buffers().address_of(item),
                                    sizeof seen, false};
          REQUIRE(home->copy({&job, 1}));
        } else {
          std::ranges::copy(rt->buffers().read<std::uint32_t>(item).view(), seen);
        }
        CHECK(std::ranges::all_of(seen, [&](std::uint32_t x) { return x == i * i; }));
        ++computed;
        return error_code{};
      });
  REQUIRE(report);
  CHECK(report->items == 100);
  CHECK(computed == 100);
  CHECK_FALSE(far_ahead);
  CHECK(report->elapsed.count() > 0);
  CHECK(rt->transfers().to_device == (rt->memory().is_one() ? 0 : 100));
}

TEST_CASE("a pipeline ends with the first error", "[transfers]") {
  auto const rt = start_on("emulated");
  rondo::stream_pipeline<std::uint32_t> items(rt->memory(), {16});
  auto const fill = [](std::span<std::uint32_t> to, std::uint64_t i) {
    std::ranges::fill(to, static_cast<std::uint32_t>(i));
    return true;  // forever
  };
  auto const failed = items.run(fill, [](rondo::buffer_ref, std::uint64_t i) {
    return i == 7 ? error_code(errc::handler_failed) : error_code{};
  });
  CHECK(failed.error() == errc::handler_failed);
  CHECK_THROWS_WITH(items.run(
                        [](std::span<std::uint32_t>, std::uint64_t i) -> bool {
                          if (i == 3) throw std::runtime_error("torn file");
                          return true;
                        },
                        [](rondo::buffer_ref, std::uint64_t) { return error_code{}; }),
                    "torn file");
  CHECK_THROWS_WITH(items.run(fill,
                              [](rondo::buffer_ref, std::uint64_t) -> error_code {
                                throw std::runtime_error("no result");
                              }),
                    "no result");
  rondo::stream_pipeline<std::uint32_t> huge(rt->memory(), {1 << 30});
  CHECK(huge.run(fill, [](rondo::buffer_ref, std::uint64_t) { return error_code{}; }).error() ==
        errc::pool_exhausted);
  CHECK_THROWS_AS((rondo::stream_pipeline<std::uint32_t>(rt->memory(), {16}, 1)), std::invalid_argument);
}
