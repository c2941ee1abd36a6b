// profile_operation measures an operation, but not its warm-up.
#include "runtime/profile.hpp"

#include "runtime/memory/unified_buffer.hpp"
#include "tests/runtime/counter_fixture.hpp"

using namespace rondo_test;

namespace {

std::unique_ptr<rondo::runtime> profiled(char const* device) {
  rondo::config settings;
  settings.device = device;
  settings.lanes = 1;
  return start(settings);
}

}  // namespace

TEST_CASE("a profile has a time for each repeat, and the last result", "[profile]") {
  auto const rt = profiled("cpu");
  int calls = 0;
  auto const p = rondo::profile_operation(*rt,
                                          [&] {
                                            std::this_thread::sleep_for(2ms);
                                            return ++calls;
                                          },
                                          {.warm_up = 2, .repeats = 3});
  CHECK(calls == 5);
  CHECK(p.result == 5);
  CHECK(p.times.size() == 3);
  CHECK(p.fastest() >= 2ms);
  CHECK(p.fastest() <= p.median());
  CHECK(p.median() <= p.slowest());
  CHECK(p.host_bytes == 0);
  CHECK(rondo::to_text(p).find("3 times") != std::string::npos);
  CHECK_THROWS_AS(rondo::profile_operation(*rt, [] {}, {.repeats = 0}), std::invalid_argument);
}

TEST_CASE("a profile counts the buffers that are not released, and the copies", "[profile]") {
  auto const device = GENERATE(as<std::string>{}, "cpu", "emulated");
  INFO(device);
  auto const rt = profiled(device.c_str());
  bool const apart = !rt->memory().is_one();
  std::vector<rondo::unified_buffer<std::byte>> kept;
  auto const p = rondo::profile_operation(*rt,
                                          [&] {
                                            auto& data = kept.emplace_back(
                                                rt->memory(), std::vector<std::uint64_t>{1 << 20});
                                            std::ranges::fill(data.overwrite().value(), std::byte{1});
                                            static_cast<void>(data.device().value());
                                            static_cast<void>(data.device().value());  // nothing to copy
                                          },
                                          {.warm_up = 1, .repeats = 4});
  CHECK(p.host_bytes == 4 << 20);
  CHECK(p.device_bytes == (apart ? 4 << 20 : 0));
  CHECK(p.copies.to_device == (apart ? 4 : 0));
  CHECK(p.copies.to_host == 0);
  CHECK(p.copies.bytes == (apart ? 4u << 20 : 0u));
  auto const giving_back =
      rondo::profile_operation(*rt, [&] { kept.pop_back(); }, {.warm_up = 0, .repeats = 2});
  CHECK(giving_back.host_bytes == -(2 << 20));
}
