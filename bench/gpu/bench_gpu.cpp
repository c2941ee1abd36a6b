// bench_gpu: compares Rondo's device `cuda` with bare CUDA. bench_gpu --help lists the options.
#include <fmt/core.h>

#include <CLI/CLI.hpp>

#include "bench/gpu/bed.hpp"
#include "bench/gpu/cases.hpp"
#include "bench/harness/harness.hpp"

namespace rondo::bench::gpu {

std::vector<std::pair<std::string, std::string>> facts();  // gpu.hpp, which needs CUDA's headers

namespace {

struct options {
  unsigned long_seconds = 30, idle_seconds = 0;
  bool experiments = false;
};

bool rehearses() { return bench_device() == "emulated"; }

case_list selected_cases(options const& chosen) {
  if (chosen.idle_seconds != 0) return idle_cases(std::chrono::seconds(chosen.idle_seconds));
  if (chosen.experiments) return rehearses() ? case_list{} : experiment_cases();
  case_list cases = latency_cases();
  append(cases, lifecycle_cases());
  append(cases, device_cases());
  append(cases, memory_cases());
  append(cases, sustained_cases(std::chrono::seconds(chosen.long_seconds)));
  if (!rehearses())
    append(cases, ask_steps_cases()), append(cases, bare_cases()), append(cases, bins_cases());
  return cases;
}

}  // namespace
}  // namespace rondo::bench::gpu

int main(int argc, char** argv) {
  using namespace rondo::bench;
  gpu::options chosen;
  return bench_main(
      argc, argv,
      {.about =
           "Measures Rondo's device cuda beside bare CUDA, on the first GPU that CUDA_VISIBLE_DEVICES shows",
       .add_options =
           [&](CLI::App& app) {
             app.add_option("--device", gpu::bench_device(),
                            "emulated checks this program without a GPU; its figures mean nothing")
                 ->check(CLI::IsMember({"cuda", "emulated"}))
                 ->capture_default_str();
             app.add_option("--long", chosen.long_seconds, "how many seconds the sustained loads last")
                 ->check(CLI::PositiveNumber)
                 ->capture_default_str();
             app.add_flag("--experiments", chosen.experiments,
                          "ways to pass a message over the bus, in place of the benches");
             app.add_option("--idle", chosen.idle_seconds,
                            "keep an idle runtime up for so many seconds, in place of the benches");
           },
       .cases = [&] { return gpu::selected_cases(chosen); },
       .device_facts =
           [] {
             if (gpu::rehearses())
               return std::vector<std::pair<std::string, std::string>>{{"name", "emulated"}};
             return gpu::facts();
           }});
}
