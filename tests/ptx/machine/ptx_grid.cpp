#include "tests/ptx/machine/ptx_grid.hpp"

#include <cstring>

namespace ptx {

grid::grid(module const& code, std::uint32_t entry, std::uint32_t blocks, std::uint32_t threads,
           kernel_params const& params, std::vector<memory_range> memory, grid_options const& options)
    : bus_(options.how) {
  auto const& f = code.functions.at(entry);
  if (!f.entry || f.first == ~0u) throw error(code.file + ": '" + f.name + "' is no entry");
  params_.resize(f.param_bytes + 8);
  if (params.size() != f.params.size())
    throw error(code.file + ": '" + f.name + "' has " + std::to_string(f.params.size()) +
                " parameters, not " + std::to_string(params.size()));
  for (std::size_t n = 0; n < params.size(); ++n) {
    if (params[n].size() != f.params[n].bytes)
      throw error(code.file + ": parameter " + std::to_string(n) + " of '" + f.name + "' has " +
                  std::to_string(f.params[n].bytes) + " bytes, not " + std::to_string(params[n].size()));
    std::memcpy(params_.data() + f.params[n].offset, params[n].data(), params[n].size());
  }
  launch_.code = &code;
  launch_.entry = entry;
  launch_.blocks = blocks;
  launch_.threads = threads;
  launch_.params = params_.data();
  launch_.how = options.how;
  launch_.watcher = options.watcher;
  launch_.clock = options.clock != nullptr ? options.clock : &real_time_;
  launch_.bus = &bus_;
  auto const add = [&](void const* at, std::uint64_t bytes, memory_kind kind, char const* name) {
    auto const begin = reinterpret_cast<std::uint64_t>(at);
    if (bytes != 0) memory.push_back({begin, begin + bytes, kind, name});
  };
  add(code.globals.data(), code.globals_used, memory_kind::device, "variables");
  add(code.constant_memory.data(), code.constants_used, memory_kind::constant, "constants");
  add(params_.data(), params_.size(), memory_kind::constant, "parameters");
  std::sort(memory.begin(), memory.end(), [](auto const& a, auto const& b) { return a.begin < b.begin; });
  launch_.ranges = std::move(memory);
  for (std::uint32_t b = 0; b < blocks; ++b) {
    blocks_.push_back(std::make_unique<multiprocessor>(options.how, bus_, b, code.shared_bytes, threads));
    for (std::uint32_t w = 0; w < (threads + warp_lanes - 1) / warp_lanes; ++w)
      warps_.push_back(std::make_unique<warp>(launch_, *blocks_.back(), b, w));
  }
  left_.store(warps_.size(), std::memory_order_relaxed);
}

grid::~grid() {
  stop();
  for (auto& t : threads_)
    if (t.joinable()) t.join();
}

void grid::start() {
  for (auto& w : warps_) threads_.emplace_back([this, &w] { serve(*w); });
}

void grid::serve(warp& w) {
  // A warp that has looked this often, and found nothing to do each time, leaves the processor to others for a while:
  // many grids have more warps than the machine has processors.
  constexpr std::uint32_t looks = 32, short_look = 256;
  constexpr std::chrono::microseconds pause{50};
  std::uint32_t looked = 0;
  try {
    while (!stopping_.load(std::memory_order_acquire)) {
      auto const before = w.executed();
      auto const p = w.run(512);
      if (p == progress::ended) break;
      looked = w.executed() - before < short_look ? looked + 1 : 0;
      if (p != progress::waiting) continue;
      auto const until = w.wakes_at(), now = launch_.clock->now_ns();
      if (until > now && until != ~0ull && until - now > 2000)
        std::this_thread::sleep_for(
            std::chrono::nanoseconds(std::min<std::uint64_t>(until - now, 1'000'000)));
      else if (looked < looks)
        std::this_thread::yield();
      else
        std::this_thread::sleep_for(pause);
    }
  } catch (error const& e) {
    fail(e.what());
  }
  if (left_.fetch_sub(1, std::memory_order_acq_rel) == 1) bus_.flush();
}

void grid::fail(std::string const& what) {
  std::lock_guard lock(mutex_);
  if (failure_.empty()) failure_ = what;
  stop();
}

void grid::wait() {
  for (auto& t : threads_)
    if (t.joinable()) t.join();
  bus_.flush();
  std::lock_guard lock(mutex_);
  if (!failure_.empty()) throw error(failure_);
}

bool grid::step(std::uint32_t instructions) {
  bool any = false, all_ended = true, sleeps = false;
  for (auto& w : warps_) {
    auto const before = w->executed();
    auto const p = w->run(instructions);
    any = any || w->executed() != before || p == progress::ready;
    all_ended = all_ended && p == progress::ended;
    sleeps = sleeps || w->wakes_at() != ~0ull;
  }
  if (all_ended) {
    bus_.flush();
    left_.store(0, std::memory_order_release);
    return false;
  }
  if (!any && !sleeps)
    throw error(launch_.code->file + ": all threads wait for each other, or for threads that have ended");
  return true;
}

std::uint64_t grid::executed() const noexcept {
  std::uint64_t all = 0;
  for (auto const& w : warps_) all += w->executed();
  return all;
}

}  // namespace ptx
