#include "runtime/device/emulated/emulation.hpp"

#include <algorithm>
#include <thread>

#include "runtime/os/prepare_thread.hpp"

namespace rondo {

namespace {

/// splitmix64 (Steele, Lea, Flood: Fast splittable pseudorandom number generators, 2014).
std::uint64_t mix(std::uint64_t x) noexcept {
  x += 0x9e37'79b9'7f4a'7c15ull;
  x = (x ^ (x >> 30)) * 0xbf58'476d'1ce4'e5b9ull;
  x = (x ^ (x >> 27)) * 0x94d0'49bb'1331'11ebull;
  return x ^ (x >> 31);
}

}  // namespace

emulation_options emulation_options_for(config const& c) {
  emulation_options o;
  o.seed = c.seed;
  o.visibility_delay_ns = std::uint64_t{c.visibility_delay_us} * 1000;
  return o;
}

modelled_bus::clock::time_point modelled_bus::crossed(bus_model const& model, std::uint64_t bytes) {
  auto const ns = [](double n) { return std::chrono::nanoseconds(static_cast<std::int64_t>(n)); };
  std::lock_guard lock(mutex_);
  free_at_ = std::max(clock::now(), free_at_) + ns(model.ns_per_byte * static_cast<double>(bytes));
  return free_at_ + std::chrono::nanoseconds(model.latency_ns);
}

/// Other sleeps end later by more than a small copy takes.
void modelled_bus::wait_until(clock::time_point when) { sleep_punctually_until(when); }

emulated_wire::emulated_wire(std::uint32_t slots, emulation_options const& o, std::uint64_t stream)
    : visible_at_ns(o.visibility_delay_ns != 0 ? slots : 0),
      delay_ns(o.visibility_delay_ns),
      seed(o.seed + stream) {}

std::uint64_t emulated_bus::delay_of(std::uint64_t number) const noexcept {
  return mix(wire_->seed ^ mix(number)) % (wire_->delay_ns + 1);
}

bool handler_faults::fails_next_call() noexcept {
  auto const call = calls_.fetch_add(1, memory_order::relaxed) + 1;  // relaxed: a count
  if (call == plan_.stall_handler) std::this_thread::sleep_for(std::chrono::microseconds(plan_.stall_us));
  return call == plan_.fail_handler;
}

}  // namespace rondo
