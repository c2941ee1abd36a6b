#include "tests/service/service_fixture.hpp"

#include "runtime/device/emulated/emulated_module.hpp"

RONDO_EMULATED_MODULE(rondo::basics::basics_module)

namespace rondo_test {

std::unique_ptr<rondo::runtime> start_basics(rondo::config const& settings) {
  return std::make_unique<rondo::runtime>(rondo::use<basics::basics_module>, settings);
}

}  // namespace rondo_test
