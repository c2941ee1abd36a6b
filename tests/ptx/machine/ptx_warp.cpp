#include "tests/ptx/machine/ptx_warp.hpp"

#include <algorithm>
#include <chrono>
#include <cstring>

namespace ptx {

std::uint64_t machine_clock::now_ns() noexcept {
  return static_cast<std::uint64_t>(std::chrono::steady_clock::now().time_since_epoch().count());
}

std::uint64_t machine_clock::cycles(warp const& of) const noexcept { return of.executed(); }

namespace {

struct free_memory {
  std::mutex mutex;
  std::vector<std::unique_ptr<rondo::arena_memory>>
      all;  // guarded by mutex; as many as there were warps at once
};

free_memory& free_lanes() {
  static free_memory lanes;
  return lanes;
}

}  // namespace

lane_memory::lane_memory() {
  auto& from = free_lanes();
  std::lock_guard lock(from.mutex);
  if (from.all.empty()) {
    memory_ = std::make_unique<rondo::arena_memory>(
        (sizeof(std::uint64_t) * frame_slots + std::size_t{local_bytes}) * warp_lanes);
    from.all.reserve(from.all.capacity() + 1);  // so that the destructor need not
  } else {
    memory_ = std::move(from.all.back());
    from.all.pop_back();
  }
}

lane_memory::~lane_memory() {
  auto& to = free_lanes();
  std::lock_guard lock(to.mutex);
  to.all.push_back(std::move(memory_));
}

warp::warp(launch const& grid, multiprocessor& sm, std::uint32_t block, std::uint32_t index)
    : constants(grid.code->constants.data()),
      grid_(grid),
      sm_(sm),
      code_(grid.code->code.data()),
      block_(block),
      index_(index),
      random_(grid.how.seed * 1'000'003 + block * 64 + index) {
  auto const lanes = std::min(warp_lanes, grid.threads - index * warp_lanes);
  ready_ = lanes == warp_lanes ? ~0u : (1u << lanes) - 1;
  auto const& entry = grid.code->functions[grid.entry];
  for_each_lane(ready_, [&](std::uint32_t lane) {
    regs[lane] = memory_.frames(lane);
    locals[lane] = memory_.locals(lane);
    frames_[lane].push_back({0, 0, regs[lane], locals[lane], grid.entry});
    pcs_[lane] = entry.first;
  });
  ended_ = ~ready_;
}

void warp::fail(instruction const& i, std::uint32_t lane, std::string const& what) const {
  throw error(grid_.code->where(i) + ": lane " + std::to_string(lane) + " of warp " + std::to_string(index_) +
              " of block " + std::to_string(block_) + ": " + what);
}

// -- which lanes run

/// False if no lane is ready.
bool warp::choose() {
  if ((sleeping_ | at_barrier_) != 0) wake();
  if (ready_ == 0) return active_ = 0, false;
  auto const first = static_cast<std::uint32_t>(std::countr_zero(ready_));
  auto best = first;
  if (since_turn_ >= patience) since_turn_ = 0, by_age_ = !by_age_;
  for_each_lane(ready_, [&](std::uint32_t lane) {
    bool const better =
        by_age_ ? last_ran_[lane] < last_ran_[best]
                : depth_[lane] > depth_[best] || (depth_[lane] == depth_[best] && pcs_[lane] < pcs_[best]);
    if (better) best = lane;
  });
  pc_ = pcs_[best];
  active_ = 0;
  limit_ = ~0u;
  for_each_lane(ready_, [&](std::uint32_t lane) {
    if (pcs_[lane] == pc_)
      active_ |= 1u << lane;
    else if (!by_age_ && depth_[lane] == depth_[best])
      limit_ = std::min(limit_, pcs_[lane]);
  });
  alone_ = by_age_ || active_ == ready_;
  return true;
}

void warp::wake() {
  if (sleeping_ != 0) {
    auto const now = grid_.clock->now_ns();
    for_each_lane(sleeping_, [&](std::uint32_t lane) {
      if (wake_ns_[lane] > now) return;
      sleeping_ &= ~(1u << lane);
      ready_ |= 1u << lane;
    });
  }
  // Each barrier is looked at once, so that lanes that wait together go on together.
  std::uint32_t looked_at = ~0u;
  std::uint64_t generation = 0;
  bool is_late = false;
  for_each_lane(at_barrier_, [&](std::uint32_t lane) {
    auto& b = sm_.barrier(masks_[lane]);
    if (looked_at != masks_[lane]) {
      generation = b.generation.load(std::memory_order_acquire);
      is_late = grid_.how.late != 0 && random_.chance(grid_.how.late);
    }
    looked_at = masks_[lane];
    if (generation == generations_[lane] || is_late) return;
    floors_[lane] = std::max(floors_[lane], b.released_floor);
    at_barrier_ &= ~(1u << lane);
    ready_ |= 1u << lane;
    ++pcs_[lane];
  });
}

std::uint64_t warp::wakes_at() const noexcept {
  std::uint64_t at = ~0ull;
  for_each_lane(sleeping_, [&](std::uint32_t lane) { at = std::min(at, wake_ns_[lane]); });
  return at;
}

progress warp::run(std::uint32_t budget) {
  while (budget != 0) {
    if (!choose()) {
      age();
      return ended_ == ~0u ? progress::ended : progress::waiting;
    }
    execute(budget);
    if (executed_ - aged_ < age_every) continue;
    aged_ = executed_;
    age();
  }
  return progress::ready;
}

void warp::execute(std::uint32_t& budget) {
  auto const leave = [&] { for_each_lane(active_, [&](std::uint32_t lane) { pcs_[lane] = pc_; }); };
  auto const group = active_;
  auto const note = [&] {
    if (ready_ != group) for_each_lane(group, [&](std::uint32_t lane) { last_ran_[lane] = executed_; });
  };
  for (;;) {
    auto const& i = code_[pc_];
    auto lanes = active_;
    if ((late_lanes_ & active_) != 0) {
      if (random_.chance(grid_.how.slow_loads / 4)) {  // others go on meanwhile
        budget = 0;
        leave();
        return note();
      }
      finish_used(i);
    }
    if (i.guard != no_guard) {
      for_each_lane(active_, [&](std::uint32_t lane) {
        if ((regs[lane][i.guard] != 0) == i.guard_negated) lanes &= ~(1u << lane);
      });
    }
    ++executed_;
    if (grid_.watcher != nullptr) grid_.watcher->executes(*this, i, active_);
    auto const then = lanes == 0 ? flow::next : i.run(*this, i, lanes);
    if (then == flow::choose) {
      ++since_turn_;
      --budget;
      return note();
    }
    if (then == flow::next) ++pc_;
    ++since_turn_;
    if (--budget == 0 || (!alone_ && (then == flow::jumped || pc_ >= limit_)) ||
        (since_turn_ >= patience && ready_ != active_)) {
      leave();
      return note();
    }
  }
}

void warp::go_on(std::uint32_t lanes) noexcept {
  for_each_lane(lanes, [&](std::uint32_t lane) { pcs_[lane] = pc_ + 1; });
}

// -- control

flow warp::jump(std::uint32_t lanes, std::uint32_t to) {
  if (lanes == active_) return pc_ = to, flow::jumped;
  go_on(active_ & ~lanes);
  for_each_lane(lanes, [&](std::uint32_t lane) { pcs_[lane] = to; });
  return flow::choose;
}

flow warp::jump_each(std::uint32_t lanes, std::array<std::uint32_t, warp_lanes> const& targets) {
  go_on(active_ & ~lanes);
  for_each_lane(lanes, [&](std::uint32_t lane) { pcs_[lane] = targets[lane]; });
  return flow::choose;
}

void warp::push_frame(instruction const& i, std::uint32_t lane, std::uint32_t index,
                      std::uint32_t site_index) {
  finish_loads(lane);
  auto const& site = grid_.code->calls[site_index];
  auto const& callee = grid_.code->functions[index];
  auto const& caller = frames_[lane].back();
  auto const& from = grid_.code->functions[caller.function];
  auto* const slots = caller.regs + from.slots;
  auto* const local = caller.local + from.local_bytes;
  if (slots + callee.slots > memory_.frames(lane + 1) ||
      local + callee.local_bytes > memory_.locals(lane + 1))
    fail(i, lane, "the stack of a lane is full");
  if (site.params.size() != callee.params.size() || site.results.size() != callee.results.size())
    fail(i, lane, "a call with other parameters than '" + callee.name + "' has");
  for (std::size_t n = 0; n < site.params.size(); ++n)
    std::memcpy(reinterpret_cast<std::byte*>(slots) + callee.params[n].offset,
                reinterpret_cast<std::byte*>(caller.regs) + site.params[n].offset,
                std::min(site.params[n].bytes, callee.params[n].bytes));
  frames_[lane].push_back({pc_ + 1, site_index, slots, local, index});
  regs[lane] = slots;
  locals[lane] = local;
  ++depth_[lane];
}

flow warp::call(instruction const& i, std::uint32_t lanes) {
  auto const& site = grid_.code->calls[i.target];
  auto const callee_of = [&](std::uint32_t lane) {
    if (site.callee != ~0u) return site.callee;
    auto const n = (get(lane, i.o[1]) - function_addresses) / 16;
    if (n >= grid_.code->functions.size() || grid_.code->functions[n].first == ~0u)
      fail(i, lane, "a call of what is no function");
    return static_cast<std::uint32_t>(n);
  };
  bool together = lanes == active_;
  auto const first = callee_of(static_cast<std::uint32_t>(std::countr_zero(lanes)));
  go_on(active_ & ~lanes);
  for_each_lane(lanes, [&](std::uint32_t lane) {
    auto const callee = callee_of(lane);
    together = together && callee == first;
    push_frame(i, lane, callee, i.target);
    pcs_[lane] = grid_.code->functions[callee].first;
  });
  if (!together) return flow::choose;
  pc_ = grid_.code->functions[first].first;
  return flow::jumped;
}

flow warp::ret(std::uint32_t lanes, instruction const& i) {
  auto const outermost = std::uint32_t{0};
  std::uint32_t ending = 0, back = ~0u;
  bool together = lanes == active_;
  if (!together) go_on(active_ & ~lanes);
  for_each_lane(lanes, [&](std::uint32_t lane) {
    finish_loads(lane);
    if (depth_[lane] == outermost) {
      ending |= 1u << lane;
      return;
    }
    auto const from = frames_[lane].back();
    frames_[lane].pop_back();
    --depth_[lane];
    auto const& to = frames_[lane].back();
    auto const& site = grid_.code->calls[from.site];
    auto const& callee = grid_.code->functions[from.function];
    for (std::size_t n = 0; n < site.results.size(); ++n)
      std::memcpy(reinterpret_cast<std::byte*>(to.regs) + site.results[n].offset,
                  reinterpret_cast<std::byte*>(from.regs) + callee.results[n].offset, site.results[n].bytes);
    regs[lane] = to.regs;
    locals[lane] = to.local;
    pcs_[lane] = from.return_to;
    together = together && (back == ~0u || back == from.return_to);
    back = from.return_to;
  });
  if (ending != 0) return end(ending, i);
  if (!together) return flow::choose;
  pc_ = back;
  return flow::jumped;
}

flow warp::exit(std::uint32_t lanes, instruction const& i) {
  go_on(active_ & ~lanes);
  return end(lanes, i);
}

/// Precondition: the other lanes' places are set.
flow warp::end(std::uint32_t lanes, instruction const& i) {
  for_each_lane(meeting_, [&](std::uint32_t lane) {
    if ((masks_[lane] & lanes) != 0)
      fail(i, static_cast<std::uint32_t>(std::countr_zero(masks_[lane] & lanes)),
           "exits, but lane " + std::to_string(lane) + " waits for it at " + grid_.code->where(at(lane)));
  });
  for_each_lane(lanes, [&](std::uint32_t lane) { publish(lane, scope::cta); });
  ended_ |= lanes;
  ready_ &= ~lanes;
  if (!sm_.leave(static_cast<std::uint32_t>(std::popcount(lanes))))
    fail(i, static_cast<std::uint32_t>(std::countr_zero(lanes)),
         "exits, but threads of its block wait for it at a barrier");
  if (ended_ == ~0u) sm_.flush_to_device();
  return flow::choose;
}

flow warp::sleep(std::uint32_t lanes, instruction const& i) {
  auto const now = grid_.clock->now_ns();
  go_on(active_);
  for_each_lane(lanes, [&](std::uint32_t lane) { wake_ns_[lane] = now + get(lane, i.o[0]); });
  sleeping_ |= lanes;
  ready_ &= ~lanes;
  return flow::choose;
}

// -- meetings

flow warp::meet(instruction const& i, std::uint32_t lanes, lanes_act act) {
  auto const first = static_cast<std::uint32_t>(std::countr_zero(lanes));
  auto const mask = static_cast<std::uint32_t>(get(first, i.o[4]));
  bool same = true;
  for_each_lane(active_, [&](std::uint32_t lane) { pcs_[lane] = pc_; });
  for_each_lane(lanes, [&](std::uint32_t lane) {
    masks_[lane] = static_cast<std::uint32_t>(get(lane, i.o[4]));
    if ((masks_[lane] >> lane & 1) == 0) fail(i, lane, "executes it with a mask that does not name it");
    same = same && masks_[lane] == mask;
  });
  if (same && mask == lanes) {  // all are here
    act(*this, lanes);
    return flow::next;
  }
  go_on(active_ & ~lanes);
  meeting_ |= lanes;
  ready_ &= ~lanes;
  for_each_lane(lanes, [&](std::uint32_t lane) {
    if ((meeting_ >> lane & 1) == 0) return;  // has met
    auto const wanted = masks_[lane];
    if ((wanted & ended_) != 0) fail(i, lane, "waits for a lane that has exited or never was");
    if ((wanted & at_barrier_) != 0) wake();  // another warp may have released them
    if ((wanted & at_barrier_) != 0) fail(i, lane, "waits for a lane that waits at a barrier of the block");
    for_each_lane(elsewhere(lane), [&](std::uint32_t other) {
      if (waits_for(other, lane))
        fail(i, lane,
             "waits for lane " + std::to_string(other) +
                 ", which waits with another mask or elsewhere: " + grid_.code->where(at(other)));
    });
    if ((wanted & meeting_) == wanted && elsewhere(lane) == 0) finish_meeting(wanted, act);
  });
  return flow::choose;
}

/// The lanes that `lane` waits for, and that wait with another mask or elsewhere.
std::uint32_t warp::elsewhere(std::uint32_t lane) const {
  std::uint32_t found = 0;
  for_each_lane(masks_[lane] & meeting_, [&](std::uint32_t other) {
    bool const same =
        masks_[other] == masks_[lane] && at(other).run == at(lane).run && at(other).sub == at(lane).sub;
    found |= std::uint32_t{!same} << other;
  });
  return found;
}
/// Whether `lane` cannot go on before `other` does, perhaps because of lanes between them.
bool warp::waits_for(std::uint32_t lane, std::uint32_t other) const {
  std::uint32_t reached = 0, next = 1u << lane;
  while (auto const fresh = next & ~reached) {
    reached |= fresh;
    for_each_lane(fresh, [&](std::uint32_t l) { next |= elsewhere(l); });
  }
  return (reached >> other & 1) != 0;
}

void warp::finish_meeting(std::uint32_t lanes, lanes_act act) {
  act(*this, lanes);
  for_each_lane(lanes, [&](std::uint32_t lane) { ++pcs_[lane]; });
  meeting_ &= ~lanes;
  ready_ |= lanes;
}

flow warp::meet_block(instruction const& i, std::uint32_t lanes, bool aligned) {
  go_on(active_ & ~lanes);
  for_each_lane(lanes, [&](std::uint32_t lane) {
    auto const n = static_cast<std::uint32_t>(get(lane, i.o[0]));
    if (n >= multiprocessor::barriers) fail(i, lane, "a barrier beyond 15");
    for_each_lane(meeting_, [&](std::uint32_t other) {
      if ((masks_[other] >> lane & 1) != 0)
        fail(i, lane,
             "waits for the block, but lane " + std::to_string(other) + " waits for it at " +
                 grid_.code->where(at(other)));
    });
    if (aligned)
      for_each_lane(at_barrier_, [&](std::uint32_t other) {
        if (pcs_[other] != pc_) fail(i, lane, "lanes of one warp wait at different aligned barriers");
      });
    publish(lane, scope::cta);
    masks_[lane] = n;
    pcs_[lane] = pc_;
    generations_[lane] = sm_.barrier(n).generation.load(std::memory_order_acquire);
  });
  at_barrier_ |= lanes;
  ready_ &= ~lanes;
  for_each_lane(lanes, [&](std::uint32_t lane) {
    auto const expected = i.sub == 1 ? static_cast<std::uint32_t>(get(lane, i.o[1])) : 0;
    if (!sm_.arrive(masks_[lane], 1, expected, floors_[lane]))
      fail(i, lane, "waits for threads of its block that have exited");
  });
  return flow::choose;
}

}  // namespace ptx
