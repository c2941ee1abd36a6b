// Fuzzes the configuration of a service: JSON written by people.
#include <string>

#include "runtime/service/service_config.hpp"
#include "tests/fuzz/fuzz_target.hpp"

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
  try {
    auto const c =
        rondo::service::parse_service_config(std::string(reinterpret_cast<char const*>(data), size), "input");
    rondo_fuzz::require(!c.name.empty(), "a service has a name");
    for (auto const& e : c.listen)
      rondo_fuzz::require(rondo::endpoint::parse(e.text(), "input").text() == e.text(),
                          "an endpoint's text is that endpoint");
    for (auto const& a : c.actors)
      rondo_fuzz::require(!a.name.empty() && !a.behaviour.empty(), "an actor has a name and a behaviour");
  } catch (rondo::config_error const&) {
  }
  return 0;
}
