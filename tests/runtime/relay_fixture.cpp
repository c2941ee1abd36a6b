#include "tests/runtime/relay_fixture.hpp"
#include "runtime/device/emulated/emulated_module.hpp"

RONDO_EMULATED_MODULE(rondo_test::relays)

namespace rondo_test {

std::unique_ptr<rondo::runtime> start_relays(rondo::config const& settings) {
  return std::make_unique<rondo::runtime>(rondo::use<relays>, settings);
}

std::vector<rondo::actor_ref<relay>> launch_chain(rondo::runtime& rt, std::uint32_t count) {
  std::vector<rondo::actor_ref<relay>> chain;
  for (std::uint32_t i = 0; i < count; ++i)
    chain.push_back(rt.launch<relay>("relay " + std::to_string(i), {.device = i % rt.device_count()}));
  for (std::uint32_t i = 0; i + 1 < count; ++i)
    if (chain[i].try_tell(link{chain[i + 1].id()})) throw std::runtime_error("a relay takes no link");
  return chain;
}

}  // namespace rondo_test
