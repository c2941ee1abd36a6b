#include "tests/runtime/ledger_fixture.hpp"
#include "runtime/device/emulated/emulated_module.hpp"

RONDO_EMULATED_MODULE(rondo_test::ledgers)

namespace rondo_test {

std::unique_ptr<rondo::runtime> start_ledgers(rondo::config const& settings) {
  return std::make_unique<rondo::runtime>(rondo::use<ledgers>, settings);
}

}  // namespace rondo_test
