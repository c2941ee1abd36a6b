#include "runtime/messaging/trace_log.hpp"

#include <algorithm>
#include <random>

namespace rondo {

namespace {

std::uint64_t random_number() {
  std::random_device source;
  return std::uint64_t{source()} << 32 | source();
}

}  // namespace

trace_log::trace_log(std::uint32_t every, std::uint32_t capacity, namer names)
    : every_(every), capacity_(capacity), first_trace_(random_number()), names_(std::move(names)) {}

std::uint64_t trace_log::new_trace() noexcept {
  for (;;)
    if (auto const t = first_trace_ + traces_.fetch_add(1, memory_order::relaxed);
        t != 0)  // relaxed: only a number
      return t;
}

trace_tag trace_log::new_tag(std::uint64_t trace) noexcept {
  auto const call = next_hop(0, calls_.fetch_add(1, memory_order::relaxed) + 1);  // relaxed: only a number
  return {trace, next_hop(call, 1), call};
}

void trace_log::note(trace_hop hop) {
  std::lock_guard lock(mutex_);
  hops_.push_back(std::move(hop));
  if (hops_.size() <= capacity_) return;
  hops_.pop_front();
  ++forgotten_;
}

std::vector<trace_hop> trace_log::read(std::uint64_t trace) const {
  std::vector<trace_hop> found;
  {
    std::lock_guard lock(mutex_);
    std::ranges::copy_if(hops_, std::back_inserter(found),
                         [=](trace_hop const& h) { return trace == 0 || h.trace == trace; });
  }
  if (names_) std::ranges::for_each(found, names_);
  return found;
}

std::uint64_t trace_log::forgotten() const {
  std::lock_guard lock(mutex_);
  return forgotten_;
}

}  // namespace rondo
