#include "tests/ptx/cost/virtual_grid.hpp"

#include <algorithm>

namespace ptx_cost {

namespace {

constexpr std::uint64_t never = ~0ull, sector_bytes = 32;

/// Every store arrives at once, and a weak load always takes what the L1 has: the time is ours, not the machine's.
ptx::grid_options options_of(ptx::observer& watcher, ptx::machine_clock& clock) {
  ptx::grid_options o;
  o.how.drain = 256;
  o.how.stale = 256;
  o.watcher = &watcher;
  o.clock = &clock;
  return o;
}

}  // namespace

virtual_grid::virtual_grid(ptx::module const& code, std::uint32_t entry, std::uint32_t blocks,
                           std::uint32_t threads, ptx::kernel_params const& params,
                           std::vector<ptx::memory_range> memory, costs const& c)
    : costs_(c),
      code_(code),
      grid_(code, entry, blocks, threads, params, std::move(memory), options_of(*this, *this)),
      sectors_(blocks) {
  for (auto const& w : grid_.warps()) {
    warps_.push_back({.w = w.get(), .clock = 1'000'000'000, .frames = w->regs, .pending = {}, .looks = {}});
    logs_.emplace_back();
  }
}

void virtual_grid::choose_first() noexcept {
  first_ = 0;
  for (std::size_t n = 1; n < warps_.size(); ++n)
    if (warps_[n].clock < warps_[first_].clock) first_ = n;
}

void virtual_grid::advance() {
  auto& s = warps_[first_];
  if (s.clock == never) throw ptx::error(code_.file + ": all warps have ended");
  last_ = static_cast<std::uint32_t>(first_);
  last_ps_ = s.clock;
  has_posted_ = has_stored_ = false;
  std::uint32_t lanes = 0;
  if (auto const* const i = s.w->next(lanes); i == nullptr) {
    rest();
  } else if (!wait_for_operands(*i, lanes) && !wait_for_release(*i)) {
    s.w->run(1);
    s.paid_release = false;
    s.clock += costs_.warp_instruction_ps;
  }
  choose_first();
}

void virtual_grid::rest() {
  auto& s = warps_[first_];
  if (s.w->ended()) {
    s.clock = never;
    return;
  }
  auto until = s.w->wakes_at();
  if (until == never) {  // at a barrier: until some other warp has gone on
    until = s.clock / 1000 + 10;
  }
  auto const at = std::max(until * 1000, s.clock + 1000);
  logs_[first_].add(s.clock, 0, step::sleep, at - s.clock);
  s.clock = at;
}

// -- waiting

std::uint64_t virtual_grid::register_of(ptx::instruction const&, std::uint32_t lane, ptx::operand o) const {
  auto const& s = warps_[first_];
  return static_cast<std::uint64_t>(s.w->regs[lane] - s.frames[lane]) + static_cast<std::uint32_t>(o);
}

/// True if it has to wait: then the warp's clock is at the end of that.
bool virtual_grid::wait_for_operands(ptx::instruction const& i, std::uint32_t lanes) {
  auto& s = warps_[first_];
  std::erase_if(s.pending, [&](auto const& p) { return p.ready <= s.clock; });
  auto worst = s.held_up;
  auto const lane = static_cast<std::uint32_t>(std::countr_zero(lanes));
  auto const look = [&](ptx::operand o) {
    if (o <= 0 || o == ptx::no_guard) return;
    auto const reg = register_of(i, lane, o);
    for (auto const& p : s.pending)
      if (p.reg == reg && p.ready > worst.ready) worst = p;
  };
  if (!s.pending.empty()) {
    look(i.guard);
    bool const excluded = i.guard != ptx::no_guard && [&] {
      for (std::uint32_t n = 0; n < ptx::warp_lanes; ++n)
        if ((lanes >> n & 1) != 0 && (s.w->regs[n][i.guard] != 0) != i.guard_negated) return false;
      return true;
    }();
    if (!excluded)
      for (auto const o : i.o) look(o);
  }
  if (worst.ready <= s.clock) return false;
  auto& ended = s.trip_ended[static_cast<std::size_t>(worst.kind)];
  bool const in_series = worst.issued >= ended;
  if (in_series) ended = worst.ready;
  logs_[first_].add(s.clock, worst.place, worst.kind, worst.ready - s.clock, in_series);
  s.clock = worst.ready;
  return true;
}

bool virtual_grid::wait_for_release(ptx::instruction const& i) {
  auto& s = warps_[first_];
  bool const releases = i.bytes != 0 && (i.order == ptx::order::release || i.order == ptx::order::acq_rel ||
                                         i.order == ptx::order::sc);
  if (!releases || s.paid_release) return false;
  s.paid_release = true;
  fence(i);
  return true;
}

void virtual_grid::fence(ptx::instruction const& i) {
  auto& s = warps_[first_];
  auto const scope = i.space == ptx::space::shared ? ptx::scope::cta : i.scope;
  auto end = s.clock;
  step kind = step::fence_cta;
  switch (scope) {
    case ptx::scope::cta:
      end += costs_.fence_cta_ps;
      break;
    case ptx::scope::gpu:
      kind = step::fence_gpu;
      end += costs_.fence_gpu_ps;
      break;
    case ptx::scope::sys:
      kind = step::fence_sys;
      end += costs_.fence_sys_ps;
      if (s.last_host_store != 0) end = std::max(end, s.last_host_store + costs_.fence_sys_write_ps);
      break;
  }
  logs_[first_].add(s.clock, i.place, kind, end - s.clock);
  s.clock = end;
}

// -- what the machine does

void virtual_grid::executes(ptx::warp const&, ptx::instruction const& i, std::uint32_t) {
  logs_[first_].add(warps_[first_].clock, i.place, step::issue, costs_.warp_instruction_ps);
}

void virtual_grid::fences(ptx::warp const&, ptx::instruction const& i, std::uint32_t) { fence(i); }

void virtual_grid::accesses(ptx::warp const&, ptx::instruction const& i, ptx::warp_access const& a) {
  if (a.kind != ptx::access_kind::store) add_load(i, a);
  if (a.kind != ptx::access_kind::load) add_store(i, a);
}

void virtual_grid::learn(ptx::instruction const& i, std::uint64_t address, std::uint32_t bytes) {
  auto& s = warps_[first_];
  auto& log = logs_[first_];
  auto& look = s.looks[static_cast<std::uint64_t>(&i - code_.code.data()) << 47 ^ address];
  bool const waits = look.ps != 0 && look.stores == s.stores;
  auto const last_ps = look.ps;
  look = {s.clock, s.stores};
  for (auto word = address / 4; word <= (address + bytes - 1) / 4; ++word) {
    auto const it = stamps_.find(word);
    if (it == stamps_.end() || it->second.where.warp == first_) continue;
    auto const& [message, where, ps] = it->second;
    if (message > log.message || (waits && ps > last_ps && message == log.message))
      log.learn(message, where, s.clock > ps ? s.clock - ps : 0);
  }
}

void virtual_grid::add_load(ptx::instruction const& i, ptx::warp_access const& a) {
  auto& s = warps_[first_];
  auto& l1 = sectors_[s.w->block()];
  bool const atomic = a.kind == ptx::access_kind::atomic;
  pending_load result{0, s.clock, s.clock, step::near_wait, i.place};
  auto const take = [&](std::uint64_t ready, step kind) {
    if (ready > result.ready) result.ready = ready, result.kind = kind;
  };
  bool host = false;
  for (std::uint32_t lane = 0; lane < ptx::warp_lanes; ++lane) {
    auto const address = a.addresses[lane], sector = address / sector_bytes;
    bool const weak = i.order == ptx::order::weak && !atomic;
    switch (a.where[lane]) {
      case ptx::went::nowhere:
        continue;
      case ptx::went::constant:
        break;
      case ptx::went::shared:
        take(s.clock + costs_.shared_ps, step::near_wait);
        break;
      case ptx::went::local:
        take(s.clock + costs_.l1_load_ps, step::near_wait);
        break;
      case ptx::went::l1: {
        take(s.clock + costs_.l1_load_ps, step::near_wait);
        if (auto const it = l1.find(sector); it != l1.end()) take(it->second.ready, it->second.kind);
        break;
      }
      case ptx::went::device:
        learn(i, address, a.bytes);
        take(s.clock + (atomic ? costs_.l2_atomic_ps : costs_.l2_load_ps), step::l2_trip);
        if (weak) l1[sector] = {s.clock + costs_.l2_load_ps, step::l2_trip};
        break;
      case ptx::went::host:
        host = true;
        learn(i, address, a.bytes);
        take(s.clock + costs_.pcie_read_ps, step::pcie_trip);
        if (weak) l1[sector] = {s.clock + costs_.pcie_read_ps, step::pcie_trip};
        break;
    }
  }
  if (host) logs_[first_].add(s.clock, i.place, step::pcie_read, 0);
  if (atomic && result.kind == step::l2_trip) logs_[first_].add(s.clock, i.place, step::atomic, 0);
  if (result.ready == s.clock) return;
  bool const holds_up =
      i.order != ptx::order::weak && i.order != ptx::order::relaxed && i.order != ptx::order::release;
  if (holds_up) s.held_up = result;
  auto const lane = static_cast<std::uint32_t>(
      std::find_if(a.where, a.where + ptx::warp_lanes, [](auto w) { return w != ptx::went::nowhere; }) -
      a.where);
  for (std::uint32_t n = 0; n < (atomic ? 1u : i.elements); ++n) {
    if (i.o[n] <= 0) continue;
    result.reg = register_of(i, lane, i.o[n]);
    s.pending.push_back(result);
  }
}

void virtual_grid::add_store(ptx::instruction const& i, ptx::warp_access const& a) {
  auto& s = warps_[first_];
  auto& log = logs_[first_];
  std::array<std::uint64_t, ptx::warp_lanes> sectors{};
  std::size_t count = 0;
  bool far = false;
  for (std::uint32_t lane = 0; lane < ptx::warp_lanes; ++lane) {
    if (a.where[lane] != ptx::went::device && a.where[lane] != ptx::went::host) continue;
    far = true;
    auto const address = a.addresses[lane];
    for (auto word = address / 4; word <= (address + a.bytes - 1) / 4; ++word)
      stamps_[word] = {log.message, {static_cast<std::uint32_t>(first_), log.end()}, s.clock};
    if (a.where[lane] != ptx::went::host) continue;
    auto const end = sectors.begin() + static_cast<long>(count);
    if (std::find(sectors.begin(), end, address / sector_bytes) == end)
      sectors[count++] = address / sector_bytes;
  }
  has_stored_ = far;
  s.stores += far;
  if (far && a.bytes == 1) log.add(s.clock, i.place, step::byte_store, 0);
  for (std::size_t n = 0; n < count; ++n) {
    log.add(s.clock, i.place, step::posted_write, 0);
    arrival_ = std::max(s.clock + costs_.posted_write_ps, arrival_ + costs_.posted_write_gap_ps);
    s.last_host_store = s.clock;
    has_posted_ = true;
  }
}

// -- for the host's script

void virtual_grid::note_host_store(void const* at, std::size_t bytes, std::uint64_t message) {
  auto const address = reinterpret_cast<std::uint64_t>(at);
  for (auto word = address / 4; word <= (address + bytes - 1) / 4; ++word)
    stamps_[word] = {message, {the_host, 0}, now_ps() + costs_.pcie_read_ps / 2};
}

void virtual_grid::forget_logs() {
  for (auto& log : logs_) log.forget();
}

}  // namespace ptx_cost
