#include "bench/gpu/bed.hpp"

#include "runtime/core/make_device.hpp"
#include "runtime/device/emulated/emulated_module.hpp"
#include "runtime/observe/telemetry.hpp"

#include <dirent.h>

#include <algorithm>
#include <fstream>

RONDO_EMULATED_MODULE(rondo::bench::gpu::bench_actors)

namespace rondo::bench::gpu {
namespace {

/// Binds the thread of this process that has this name. The thread gives itself the name some time after its start.
void pin_thread(std::string_view name, int cpu) {
  auto const give_up = std::chrono::steady_clock::now() + std::chrono::seconds(2);
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(static_cast<std::size_t>(cpu), &set);
  while (std::chrono::steady_clock::now() < give_up) {
    std::unique_ptr<DIR, int (*)(DIR*)> const tasks(opendir("/proc/self/task"), closedir);
    for (dirent const* task = nullptr; tasks && (task = readdir(tasks.get())) != nullptr;) {
      std::string found;
      std::getline(std::ifstream(std::string("/proc/self/task/") + task->d_name + "/comm"), found);
      if (found == name && sched_setaffinity(std::atoi(task->d_name), sizeof set, &set) == 0) return;
    }
    std::this_thread::sleep_for(std::chrono::microseconds(100));
  }
  throw std::runtime_error("cannot bind the thread " + std::string(name) + " to processor " +
                           std::to_string(cpu));
}

}  // namespace

bed_options& chosen_bed() {
  static bed_options options;
  return options;
}

config settings_for(std::uint32_t actors, std::uint32_t pinned, bool polling) {
  config c;
  c.device = chosen_bed().device;
  c.actors = std::max(c.actors, actors);
  c.pinned_teams = pinned;
  c.polling = polling;
  if (chosen_bed().rehearsal) {
    c.lanes = 1;
    c.teams = 2;
    c.pinned_teams = std::clamp(pinned, 1u, 100u);
    c.polling = false;  // more threads than processors
  }
  return c;
}

void seat_threads(cpu_pair cpus) {
  pin_thread("rondo-poller", cpus[1]);
  pin_to(cpus[0]);
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

measurement with_runtime(config const& settings, std::function<measurement(runtime&)> const& work) {
  runtime rt{use<bench_actors>, settings};
  measurement const m = work(rt);
  at_rest(rt);
  if (auto const report = rt.stop(); !report.stopped)
    throw device_stuck("the device did not stop: " +
                       (report.stuck.empty() ? std::string("no team is stuck") : report.stuck.front()));
  return m;
}

bare_device::bare_device(config const& settings)
    : device_(std::move(make_devices(program_of<bench_actors>(), settings).front().dev)),
      directory_({detail::plan_arena(device_->shape())}) {
  device_->start([box = box_.get()](device_event const& r) { box->take(r); }, {});
}

void bare_device::stop() {
  if (!end()) throw device_stuck("the device did not stop");
}

/// The threads that still run keep using its memory, so it is never freed.
bool bare_device::end() {
  if (!device_ || device_->stop(std::chrono::seconds(5)).stopped) return true;
  (void)device_.release();
  (void)box_.release();
  return false;
}

actor_id bare_device::launch_echo(actor_options const& options) {
  auto const spec =
      directory_.add("", bench_actors::index_of<echo>(), sizeof(echo), options, config{}.default_capacity);
  if (!spec) throw std::runtime_error("launching an echo: " + spec.error().message());
  if (auto const refused = device_->launch(*spec); refused != errc::ok)
    throw std::runtime_error(std::string("launching an echo: ") + name_of(refused));
  return spec->id;
}

message const& bare_device::ask_untyped(actor_id to, std::uint32_t type, void const* payload,
                                        std::uint32_t bytes) {
  message_header h;
  h.type = type;
  h.flags = flag_wants_reply;
  h.reply_to = {host_ask_bit, ++asked_};
  if (auto const refused = device_->mail().post({.to = to, .header = h, .payloads = payload, .bytes = bytes});
      refused != errc::ok)
    throw std::runtime_error(std::string("posting an ask: ") + name_of(refused));
  while (box_->answered.load(std::memory_order_acquire) != asked_) relax();  // the watchdog bounds this loop
  if (box_->reason != errc::ok)
    throw std::runtime_error(std::string("an ask ended with ") + name_of(box_->reason));
  return box_->answer;
}

void bare_device::letter_box::take(device_event const& r) noexcept {
  if (r.kind != event_kind::reply) return;
  reason = r.reason;
  answer.header.type = r.body.header.type;
  __builtin_memcpy(answer.payload, r.body.payload, r.body.bytes);
  // Release: publishes the answer. There is one ask at a time, so nobody reads the answer while it is written.
  answered.store(r.body.header.reply_to.generation, std::memory_order_release);
}

}  // namespace rondo::bench::gpu
