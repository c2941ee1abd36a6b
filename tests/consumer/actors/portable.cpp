// docs/actors.md, "Portable behaviours".
#include <filesystem>
#include <string>

#include "runtime/runtime.hpp"
#include "tests/consumer/actors/account.hpp"
#include "tests/consumer/actors/check.hpp"
#if defined(HAS_KERNELS)
#include "tests/consumer/actors/account_kernels.hpp"
RONDO_KERNELS(account_kernels)
#endif

using namespace std::chrono_literals;

RONDO_MODULE(bank, account)

/// How many messages the GPU has handled.
std::uint64_t total_on(rondo::config settings) {
  rondo::runtime rt{rondo::use<bank>, settings};
  auto const a = rt.launch<account>("a");
  for (int i = 0; i < 10; ++i) check(!a.try_tell(deposit{5}));
  check(a.ask(get_balance{}, {.timeout = 1min, .priority = 0}, rondo::block).value().value == 50);
  auto const& where = rt.info().portable;
  return where.empty() ? 0 : where[0].on_gpu;
}

int main() {
  check(total_on({.device = "cpu"}) == 0);
#if defined(HAS_KERNELS)
  // pocl ends the process where there is no /sys.
  if (std::filesystem::exists("/sys/devices/system/cpu"))
    check(total_on({.device = "opencl:Portable", .portable = "gpu"}) == 11);
#endif
}
