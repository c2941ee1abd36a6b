#include "bench/gpu/bed.hpp"

#include "runtime/device/emulated/emulated_module.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "bench/harness/sampling.hpp"

RONDO_EMULATED_MODULE(rondo::bench::gpu::bench_actors)

namespace rondo::bench::gpu {
namespace {

/// Binds the thread of this process that has this name. The thread gives itself the name some time after its start.
void pin_thread(std::string_view name, int cpu) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(static_cast<std::size_t>(cpu), &set);
  wait_until("the thread " + std::string(name), [&] {
    for (auto const& task : std::filesystem::directory_iterator("/proc/self/task")) {
      std::string found;
      std::getline(std::ifstream(task.path() / "comm"), found);
      if (found == name && sched_setaffinity(std::stoi(task.path().filename()), sizeof set, &set) == 0)
        return true;
    }
    return false;
  });
}

}  // namespace

std::string& bench_device() {
  static std::string name = "cuda";
  return name;
}

config settings_for(std::uint32_t actors, std::uint32_t pinned, bool polling) {
  config c;
  c.device = bench_device();
  c.actors = std::max(c.actors, actors);
  c.pinned_teams = pinned;
  c.polling = polling;
  if (c.device == "emulated") {
    c.lanes = 1;
    c.teams = 2;
    c.pinned_teams = std::clamp(pinned, 1u, 100u);
    c.polling = false;  // more threads than processors
  }
  return c;
}

telemetry at_rest(runtime& rt) {
  auto const give_up = std::chrono::steady_clock::now() + std::chrono::seconds(10);
  for (;;) {
    auto t = rt.snapshot();
    if (t.waiting == 0 && t.conserved()) return t;
    if (std::chrono::steady_clock::now() > give_up)
      throw std::runtime_error(
          "messages are not conserved: accepted " + std::to_string(t.live.accepted + t.retired.accepted) +
          ", handled " + std::to_string(t.live.handled + t.retired.handled) + ", rejected " +
          std::to_string(t.live.rejected + t.retired.rejected) + ", dead " +
          std::to_string(t.live.dead + t.retired.dead) + ", waiting " + std::to_string(t.waiting));
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

measurement measure(runtime& rt, cpu_pair const& cpus, std::function<measurement(runtime&)> const& work) {
  pin_thread("rondo-poller", cpus[1]);
  pin_to(cpus[0]);
  measurement const m = work(rt);
  at_rest(rt);
  if (auto const report = rt.stop(); !report.stopped)
    throw std::runtime_error("the device did not stop: " +
                             (report.stuck.empty() ? std::string("no team is stuck") : report.stuck.front()));
  return m;
}

}  // namespace rondo::bench::gpu
