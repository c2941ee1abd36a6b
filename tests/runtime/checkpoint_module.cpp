#include "tests/runtime/checkpoint_module.hpp"

#include "runtime/device/emulated/emulated_module.hpp"

namespace checkpoint_test {

RONDO_MODULE(desk, journal, notebook, courier)
RONDO_MODULE(other_desk, journal, other_journal)
RONDO_EMULATED_MODULE(desk)
RONDO_EMULATED_MODULE(other_desk)

rondo::config small_config(std::string device) {
  rondo::config c;
  c.device = std::move(device);
  c.actors = 64;
  c.teams = 1;
  c.lanes = 2;
  c.state_bytes = 4 << 20;
  c.latency_sample_every = 1;
  c.handler_limit_ms = 0;
  return c;
}

std::unique_ptr<rondo::runtime> start(rondo::config const& settings) {
  return std::make_unique<rondo::runtime>(rondo::use<desk>, settings);
}

std::unique_ptr<rondo::runtime> start_other_module() {
  return std::make_unique<rondo::runtime>(rondo::use<other_desk>, small_config());
}

std::vector<rondo::behaviour_info> describe() { return rondo::module_describer<desk>::describe(); }

std::vector<std::string> devices() { return {"cpu", "emulated"}; }

}  // namespace checkpoint_test
