#include "tests/runtime/counter_fixture.hpp"
#include "runtime/device/emulated/emulated_module.hpp"

RONDO_EMULATED_MODULE(rondo_test::counters)

namespace rondo_test {

std::unique_ptr<rondo::runtime> start(rondo::config const& settings) {
  return std::make_unique<rondo::runtime>(rondo::use<counters>, settings);
}

std::unique_ptr<rondo::runtime> start() {
  rondo::config settings;
  settings.device = "cpu";
  settings.teams = 2;
  return start(settings);
}

}  // namespace rondo_test
