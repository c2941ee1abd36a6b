#include "runtime/core/device_set.hpp"

#include "runtime/os/profiler_range.hpp"

namespace rondo {

namespace {

struct not_quiet {};

}  // namespace

device_set::device_set(std::vector<chosen_device> chosen) {
  for (auto& c : chosen) {
    auto& d = all_.emplace_back(hosted_device{std::move(c.dev), std::move(c.reason), std::move(c.player)});
    auto* const home = d.dev->home();
    if (home == nullptr) continue;
    d.region = std::make_unique<region_resource>(home->base(), home->bytes());
    d.buffers = std::make_unique<buffer_pool>(
        buffer_pool_options{.cap_bytes = home->bytes(),
                            .slots = home->slots(),
                            .where = place::device,
                            .upstream = d.region.get(),
                            .home = home,
                            .home_number = static_cast<std::uint32_t>(all_.size())});
    if (home->host_memory_bytes() != 0)
      d.pinned = std::make_unique<buffer_pool>(buffer_pool_options{.cap_bytes = home->host_memory_bytes(),
                                                                   .slots = home->slots(),
                                                                   .where = place::pinned_host,
                                                                   .upstream = &home->host_memory()});
  }
}

bool device_set::at_safepoint(std::chrono::nanoseconds limit, arena_access access,
                              std::function<void(std::vector<arena_ref> const&)> const& use) {
  [[maybe_unused]] profiler_range const range("safepoint");
  auto const until = std::chrono::steady_clock::now() + limit;
  std::vector<arena_ref> arenas;
  // Nested safepoints: when the last device has reached one, all have.
  std::function<bool()> const next = [&] {
    if (arenas.size() == all_.size()) return use(arenas), true;
    bool all = false;
    bool const quiet = all_[arenas.size()].dev->at_safepoint(until - std::chrono::steady_clock::now(), access,
                                                             [&](arena_ref const& arena) {
                                                               arenas.push_back(arena);
                                                               all = next();
                                                             });
    return quiet && all;
  };
  return next();
}

/// Upgrades each device within the safepoint of the previous one. False if a device reached no safepoint.
bool device_set::upgrade_from(std::uint32_t first, std::chrono::nanoseconds limit, program const& next,
                              std::function<std::uint64_t(std::uint32_t)> const& heap_end,
                              std::function<void(arena_ref const&)> const& use) {
  try {
    return all_[first].dev->upgrade(limit, next, heap_end(first), [&](arena_ref const& arena) {
      if (first + 1 < size() && !upgrade_from(first + 1, limit, next, heap_end, use)) throw not_quiet{};
      use(arena);
    });
  } catch (not_quiet) {
    return false;
  }
}

bool device_set::upgrade(std::chrono::nanoseconds limit, program const& next,
                         std::function<std::uint64_t(std::uint32_t)> const& heap_end,
                         std::function<void(arena_ref const&)> const& use) {
  return upgrade_from(0, limit, next, heap_end, use);
}

}  // namespace rondo
