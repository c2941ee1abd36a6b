#include "bench/rondo_actors.hpp"

#include "bench/rondo_cases.hpp"
#include "runtime/device/emulated/emulated_module.hpp"

RONDO_EMULATED_MODULE(rondo::bench::bench_actors)

namespace rondo::bench {

std::unique_ptr<runtime> start(config const& settings) {
  return std::make_unique<runtime>(use<bench_actors>, settings);
}

case_list rondo_cases() {
  case_list cases = rondo_messaging_cases();
  append(cases, rondo_ask_cases());
  append(cases, rondo_scale_cases());
  return cases;
}

}  // namespace rondo::bench
