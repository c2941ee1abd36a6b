#include "tests/ptx/cost/virtual_grid.hpp"

#include <algorithm>
#include <functional>

namespace ptx_cost {

namespace {

constexpr std::uint64_t never = ~0ull, sector_bytes = 32;
constexpr std::size_t l2_slices = 96;  // assumed, for an H100

/// Every store arrives at once, and a weak load always takes what the L1 has: the time is ours, not the machine's.
ptx::grid_options options_of(ptx::observer& watcher, ptx::machine_clock& clock) {
  ptx::grid_options o;
  o.how.drain = 256;
  o.how.stale = 256;
  o.how.slow_loads = 0;
  o.watcher = &watcher;
  o.clock = &clock;
  return o;
}

std::vector<ptx::memory_range> host_memory_of(std::vector<ptx::memory_range> all) {
  std::erase_if(all, [](auto const& r) { return r.kind != ptx::memory_kind::host; });
  return all;
}

}  // namespace

virtual_grid::virtual_grid(ptx::module const& code, std::uint32_t entry, std::uint32_t blocks,
                           std::uint32_t threads, ptx::kernel_params const& params,
                           std::vector<ptx::memory_range> memory, costs const& c)
    : costs_(c),
      code_(code),
      host_memory_(host_memory_of(memory)),
      grid_(code, entry, blocks, threads, params, std::move(memory), options_of(*this, *this)),
      caches_(blocks),
      slices_(l2_slices) {
  for (auto const& w : grid_.warps()) {
    warps_.push_back({.w = w.get(), .clock = 1'000'000'000, .frames = w->regs, .pending = {}, .looks = {}});
    logs_.emplace_back();
    order_.push_back(order_.size());
  }
}

/// After the time of the first warp has changed.
void virtual_grid::sift_first() noexcept {
  auto const is_before = [this](std::size_t a, std::size_t b) {
    return warps_[a].clock != warps_[b].clock ? warps_[a].clock < warps_[b].clock : a < b;
  };
  for (std::size_t at = 0;;) {
    auto next = 2 * at + 1;
    if (next >= order_.size()) break;
    if (next + 1 < order_.size() && is_before(order_[next + 1], order_[next])) ++next;
    if (is_before(order_[at], order_[next])) break;
    std::swap(order_[at], order_[next]);
    at = next;
  }
  first_ = order_.front();
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
  sift_first();
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
  bool const is_fence = i.bytes == 0;  // and not the release of a store
  if (is_fence && i.order == ptx::order::acquire && scope != ptx::scope::cta) {
    kind = step::fence_acquire;
    end += costs_.fence_acquire_ps;
  } else
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
  bool const acquires = is_fence && i.order != ptx::order::release;
  if (acquires && scope != ptx::scope::cta) will_empty(end);
}

// -- near and far memory

/// All that the multiprocessor of the first warp has fetched before `ps` is gone then.
void virtual_grid::will_empty(std::uint64_t ps) {
  auto& acquires = caches_[warps_[first_].w->block()].acquires;
  acquires.push_back(ps);
  std::push_heap(acquires.begin(), acquires.end(), std::greater{});
}

/// The trip that brought a sector to the first warp's multiprocessor, or will; null: it is not there.
virtual_grid::trip const* virtual_grid::cached(std::uint64_t sector) {
  auto& cache = caches_[warps_[first_].w->block()];
  while (!cache.acquires.empty() && cache.acquires.front() <= warps_[first_].clock) {
    cache.emptied = cache.acquires.front();
    std::pop_heap(cache.acquires.begin(), cache.acquires.end(), std::greater{});
    cache.acquires.pop_back();
  }
  auto const it = cache.sectors.find(sector);
  return it == cache.sectors.end() || it->second.issued < cache.emptied ? nullptr : &it->second;
}

/// How long an access by the first warp waits until the L2 serves it. All arrive half a trip after they were issued, so
/// the order in which they are issued is that in which they arrive.
std::uint64_t virtual_grid::queue_at_l2(std::uint64_t sector, bool atomic) {
  auto const now = warps_[first_].clock;
  // By the last 20 bits of the address: the same wherever the system maps memory that is aligned so (bed.cpp).
  auto& slice = slices_[(sector % (1 << 15) * 0x9e37'79b9'7f4a'7c15ull >> 32) % l2_slices];
  auto begin = std::max(now, slice);
  slice = begin + costs_.l2_sector_ps;
  if (atomic) {
    auto& last = atomics_[sector];
    begin = std::max(begin, last);
    last = begin + costs_.l2_same_address_ps;
  }
  return begin - now;
}

bool virtual_grid::is_host_memory(std::uint64_t address) const noexcept {
  return std::any_of(host_memory_.begin(), host_memory_.end(),
                     [=](auto const& r) { return r.has(address, 1); });
}

// -- what the machine does

void virtual_grid::executes(ptx::warp const&, ptx::instruction const& i, std::uint32_t) {
  logs_[first_].add(warps_[first_].clock, i.place, step::issue, costs_.warp_instruction_ps);
}

void virtual_grid::fences(ptx::warp const&, ptx::instruction const& i, std::uint32_t) { fence(i); }

void virtual_grid::accesses(ptx::warp const&, ptx::instruction const& i, ptx::warp_access const& a) {
  if (std::find(a.where, a.where + ptx::warp_lanes, ptx::went::local) != a.where + ptx::warp_lanes)
    logs_[first_].add(warps_[first_].clock, i.place, step::local_access, 0);
  for (std::uint32_t lane = 0; sectors_ != nullptr && lane < ptx::warp_lanes; ++lane)
    if (a.where[lane] == ptx::went::device || a.where[lane] == ptx::went::l1)
      for (auto at = a.addresses[lane] / 32; at <= (a.addresses[lane] + a.bytes - 1) / 32; ++at)
        sectors_->insert(at);
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
  bool const atomic = a.kind == ptx::access_kind::atomic;
  pending_load result{0, s.clock, s.clock, step::near_wait, i.place};
  auto const take = [&](std::uint64_t ready, step kind) {
    if (ready > result.ready) result.ready = ready, result.kind = kind;
  };
  bool host = false;
  bool const weak = i.order == ptx::order::weak && !atomic;
  // Lanes that load from the same sector make one trip; each lane's atomic is one of its own.
  std::array<std::uint64_t, ptx::warp_lanes> fetched{};
  std::size_t fetches = 0;
  for (std::uint32_t lane = 0; lane < ptx::warp_lanes; ++lane) {
    auto const address = a.addresses[lane], sector = address / sector_bytes;
    switch (a.where[lane]) {
      case ptx::went::nowhere:
      case ptx::went::constant:
        continue;
      case ptx::went::shared:
        take(s.clock + costs_.shared_ps, step::near_wait);
        continue;
      case ptx::went::local:
        take(s.clock + costs_.l1_load_ps, step::near_wait);
        continue;
      case ptx::went::l1:
        break;
      case ptx::went::device:
      case ptx::went::host:
        learn(i, address, a.bytes);
        break;
    }
    auto const end = fetched.begin() + static_cast<long>(fetches);
    if (!atomic && std::find(fetched.begin(), end, sector) != end) continue;
    fetched[fetches++] = sector;
    if (auto const* const there = weak ? cached(sector) : nullptr; there != nullptr) {
      take(s.clock + costs_.l1_load_ps, step::near_wait);
      take(there->ready, there->kind);
      continue;
    }
    bool const crosses =
        a.where[lane] == ptx::went::l1 ? is_host_memory(address) : a.where[lane] == ptx::went::host;
    trip made{s.clock, s.clock + costs_.pcie_read_ps, step::pcie_trip};
    if (!crosses) {
      auto const takes = atomic ? costs_.l2_atomic_ps : costs_.l2_load_ps;
      made = {s.clock, s.clock + queue_at_l2(sector, atomic) + takes, step::l2_trip};
    }
    host = host || crosses;
    take(made.ready, made.kind);
    if (weak) caches_[s.w->block()].sectors[sector] = made;
  }
  if (host) logs_[first_].add(s.clock, i.place, step::pcie_read, 0);
  if (atomic && result.kind == step::l2_trip) logs_[first_].add(s.clock, i.place, step::atomic, 0);
  if (result.ready == s.clock) return;
  bool const holds_up =
      i.order != ptx::order::weak && i.order != ptx::order::relaxed && i.order != ptx::order::release;
  if (holds_up) {
    s.held_up = result;
    if (result.kind != step::near_wait) will_empty(result.ready);
  }
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
  std::size_t count = 0, posted = 0;
  bool far = false;
  for (std::uint32_t lane = 0; lane < ptx::warp_lanes; ++lane) {
    if (a.where[lane] != ptx::went::device && a.where[lane] != ptx::went::host) continue;
    far = true;
    auto const address = a.addresses[lane];
    for (auto word = address / 4; word <= (address + a.bytes - 1) / 4; ++word)
      stamps_[word] = {log.message, {static_cast<std::uint32_t>(first_), log.end()}, s.clock};
    auto const end = sectors.begin() + static_cast<long>(count);
    if (std::find(sectors.begin(), end, address / sector_bytes) != end) continue;
    sectors[count++] = address / sector_bytes;
    if (a.where[lane] == ptx::went::host)
      ++posted;
    else if (a.kind == ptx::access_kind::store)  // an atomic has been there
      queue_at_l2(address / sector_bytes, false);
  }
  has_stored_ = far;
  s.stores += far;
  if (far && a.bytes == 1) log.add(s.clock, i.place, step::byte_store, 0);
  for (std::size_t n = 0; n < posted; ++n) {
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
