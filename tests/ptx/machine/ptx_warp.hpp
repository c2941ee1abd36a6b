// A warp: 32 lanes, each with its own place in the program, frames and local memory. Lanes at the same instruction
// execute it together.
//
// Which lanes run: those with the most calls on their stack, and among them those at the lowest instruction, so that
// lanes meet again after a branch; after `patience` instructions, those that have waited longest, so that each lane
// makes progress.
//
// Threads: one at a time. The handlers of instructions (ptx_forms.hpp) use the public part.
#pragma once

#include <array>
#include <bit>
#include <memory>

#include "tests/ptx/machine/ptx_memory.hpp"
#include "tests/ptx/machine/ptx_observer.hpp"

namespace ptx {

inline constexpr std::uint32_t warp_lanes = 32;

/// What the warps of a grid share.
struct launch {
  module const* code = nullptr;
  std::uint32_t entry = 0, blocks = 1, threads = 32;  // of a block
  std::byte const* params = nullptr;
  std::vector<memory_range> ranges;  // sorted; without the parameters
  weakness how;
  observer* watcher = nullptr;
  machine_clock* clock = nullptr;
  posted_writes* bus = nullptr;
};

/// The registers and the local memory of a warp's lanes. What is not used takes no memory. A warp that ends leaves it
/// to the next one, with what is in it: the pages that a short launch touches cost more than what it executes.
class lane_memory {
 public:
  // Of a lane. nvcc gives each value a register of its own, so that a function with many stages inlined has 30,000. Not
  // powers of two: the same register of all lanes would compete for one set of the processor's cache.
  static constexpr std::uint32_t local_bytes = (64 << 10) + 320, frame_slots = (256 << 10) + 40;

  lane_memory();
  ~lane_memory();
  std::uint64_t* frames(std::uint32_t lane) const noexcept {
    return reinterpret_cast<std::uint64_t*>(memory_->data()) + std::size_t{lane} * frame_slots;
  }
  std::byte* locals(std::uint32_t lane) const noexcept {
    return memory_->data() + sizeof(std::uint64_t) * frame_slots * warp_lanes +
           std::size_t{lane} * local_bytes;
  }

 private:
  std::unique_ptr<rondo::arena_memory> memory_;
};

enum class progress : std::uint8_t { ready, waiting, ended };

class warp {
 public:
  warp(launch const& grid, multiprocessor& sm, std::uint32_t block, std::uint32_t index);

  /// Executes up to `budget` instructions; fewer if all lanes wait. Throws ptx::error.
  progress run(std::uint32_t budget);
  /// If it waits: the time at which a lane wakes; ~0: none sleeps.
  std::uint64_t wakes_at() const noexcept;
  std::uint64_t executed() const noexcept { return executed_; }
  /// The instruction that `run` executes next, and the lanes at it, for a scheduler that looks before it lets a warp
  /// run.
  /// Null: all lanes wait, or have ended.
  instruction const* next(std::uint32_t& lanes) {
    if (!choose()) return nullptr;
    lanes = active_;
    return code_ + pc_;
  }
  bool ended() const noexcept { return ended_ == ~0u; }
  std::uint32_t block() const noexcept { return block_; }
  std::uint32_t index() const noexcept { return index_; }
  launch const& grid() const noexcept { return grid_; }

  // -- for handlers

  std::uint64_t get(std::uint32_t lane, operand o) const noexcept {
    return o >= 0 ? regs[lane][o] : constants[~o];
  }
  void set(std::uint32_t lane, operand o, std::uint64_t value) noexcept { regs[lane][o] = value; }
  [[noreturn]] void fail(instruction const& i, std::uint32_t lane, std::string const& what) const;

  // Control. Each changes the lanes' places; lanes of the group that are not among `lanes` go on behind the
  // instruction.
  flow jump(std::uint32_t lanes, std::uint32_t to);
  flow jump_each(std::uint32_t lanes, std::array<std::uint32_t, warp_lanes> const& targets);
  flow call(instruction const& i, std::uint32_t lanes);
  flow ret(std::uint32_t lanes, instruction const& i);
  flow exit(std::uint32_t lanes, instruction const& i);
  flow sleep(std::uint32_t lanes, instruction const& i);
  /// Lets lanes wait for the others of their masks (o[4]), and then runs `act` for them: with the lanes, each at its
  /// own instruction.
  using lanes_act = void (*)(warp&, std::uint32_t lanes);
  flow meet(instruction const& i, std::uint32_t lanes, lanes_act act);
  flow meet_block(instruction const& i, std::uint32_t lanes, bool aligned);
  instruction const& at(std::uint32_t lane) const noexcept { return grid_.code->code[pcs_[lane]]; }
  std::uint32_t active() const noexcept { return active_; }

  // Memory (ptx_access.cpp).
  std::uint64_t load(instruction const& i, std::uint32_t lane, std::uint64_t address);
  void store(instruction const& i, std::uint32_t lane, std::uint64_t address, std::uint64_t value);
  template <class Change>
  std::uint64_t change(instruction const& i, std::uint32_t lane, std::uint64_t address, Change to);
  void check_aligned(instruction const& i, std::uint32_t lane, std::uint64_t address,
                     std::uint32_t bytes) const;
  /// Whether a load is to be done late where it can be.
  bool chooses_late(instruction const& i) noexcept {
    return i.order <= order::relaxed && random_.chance(grid_.how.slow_loads);
  }
  /// Whether element `n` of it is done later. Then its register gets its value before anybody sees it.
  bool puts_off(instruction const& i, std::uint32_t lane, std::uint64_t address, std::uint32_t n);
  void finish_loads(std::uint32_t lane);
  void publish(std::uint32_t lane, scope to);  // what a release does, and a barrier
  void acquire(std::uint32_t lane) noexcept { floors_[lane] = sm_.acquire(); }
  void join_memory(std::uint32_t lanes);  // what a barrier of lanes does
  void report(instruction const& i, access_kind kind);
  memory_range const* range_of(std::uint64_t address, std::uint32_t bytes);

  std::array<std::uint64_t*, warp_lanes> regs{};  // of each lane's frame
  std::uint64_t const* constants;
  std::array<std::byte*, warp_lanes> locals{};        // of each lane's frame
  std::array<std::uint64_t, warp_lanes> addresses{};  // of the access that is under way, for the observer
  std::array<went, warp_lanes> where{};
  multiprocessor& sm() noexcept { return sm_; }

 private:
  struct frame {
    std::uint32_t return_to, site;
    std::uint64_t* regs;
    std::byte* local;
    std::uint32_t function;
  };
  struct target {
    enum class kind { local, shared, global } what;
    std::uint64_t offset;
    memory_range const* range;
  };

  static constexpr std::uint32_t patience = 1024, age_every = 64;
  bool choose();
  void execute(std::uint32_t& budget);
  void wake();
  void go_on(std::uint32_t lanes) noexcept;  // behind the instruction
  flow end(std::uint32_t lanes, instruction const& i);
  void push_frame(instruction const& i, std::uint32_t lane, std::uint32_t function, std::uint32_t site);
  std::uint32_t elsewhere(std::uint32_t lane) const;
  bool waits_for(std::uint32_t lane, std::uint32_t other) const;
  void finish_meeting(std::uint32_t lanes, lanes_act act);
  target find(instruction const& i, std::uint32_t lane, std::uint64_t address, std::uint32_t bytes);
  void drain_some(std::uint32_t lane);
  void finish_used(instruction const& i);  // the loads of active lanes whose registers it reads or writes
  void finish_load(std::uint32_t lane, std::size_t index);
  void finish_overlapping(std::uint32_t lane, std::uint64_t address, std::uint32_t bytes);
  void age();  // lets some stores arrive and does some loads, so that each comes in the end
  void pass_on(pending_store const& s);

  launch const& grid_;
  multiprocessor& sm_;
  instruction const* code_;
  std::uint32_t block_, index_;
  random_source random_;
  lane_memory memory_;

  // Lanes. Each that has not ended is in one of the first three sets.
  std::uint32_t ready_ = 0, meeting_ = 0, at_barrier_ = 0, sleeping_ = 0, ended_ = 0;
  std::uint32_t active_ = 0, pc_ = 0;  // the group that runs, and where
  std::uint32_t limit_ = ~0u;          // another group waits there
  bool alone_ = true;                  // no other group is ready, or it has to wait
  std::uint32_t since_turn_ = 0;
  bool by_age_ = false;                          // choose those that have waited longest
  std::array<std::uint32_t, warp_lanes> pcs_{};  // of lanes that are not active
  std::array<std::uint32_t, warp_lanes> depth_{};
  std::array<std::uint64_t, warp_lanes> last_ran_{}, wake_ns_{}, generations_{};
  std::array<std::uint32_t, warp_lanes> masks_{};  // of meeting lanes
  std::array<std::vector<frame>, warp_lanes> frames_;
  std::uint64_t executed_ = 0, aged_ = 0;

  struct late_load {
    instruction const* i;
    operand to;
    std::uint64_t address;
  };
  std::array<std::vector<late_load>, warp_lanes> loads_;  // of the current frame; oldest first
  std::uint32_t late_lanes_ = 0;                          // that have some
  std::array<store_buffer, warp_lanes> stores_;
  std::array<std::uint64_t, warp_lanes> floors_{};
  memory_range const* last_range_ = nullptr;
};

/// A value of `i.bytes` from memory, as the destination's register holds it; `sub` 1: signed.
inline std::uint64_t widened(instruction const& i, std::uint64_t value) noexcept {
  if (i.sub == 0) return value;
  auto const shift = 64 - 8 * i.bytes;
  return static_cast<std::uint64_t>(static_cast<std::int64_t>(value << shift) >> shift) &
         (~0ull >> (64 - 8 * i.width));
}

template <class Visit>
void for_each_lane(std::uint32_t lanes, Visit visit) {
  for (; lanes != 0; lanes &= lanes - 1) visit(static_cast<std::uint32_t>(std::countr_zero(lanes)));
}

/// `to` gets a pointer to a word of memory, changes it atomically, and returns its old value.
template <class Change>
std::uint64_t warp::change(instruction const& i, std::uint32_t lane, std::uint64_t address, Change to) {
  check_aligned(i, lane, address, i.bytes);
  auto const found = find(i, lane, address, i.bytes);
  if (found.what == target::kind::local) fail(i, lane, "an atomic on local memory");
  finish_loads(lane);
  bool const releases = i.order == order::release || i.order == order::acq_rel || i.order == order::sc;
  if (releases) publish(lane, i.scope);
  std::uint64_t old = 0;
  if (found.what == target::kind::shared) {
    if (!sm_.was_written(found.offset, i.bytes))
      fail(i, lane, "an atomic on shared memory that nobody has written");
    old = to(sm_.shared() + found.offset);
    where[lane] = went::shared;
  } else {
    if (found.range->kind == memory_kind::host)
      fail(i, lane, "an atomic read-modify-write on host memory, which does not cross the bus");
    if (found.range->kind == memory_kind::constant) fail(i, lane, "an atomic on constant memory");
    stores_[lane].drain_overlapping(address, i.bytes, [&](pending_store const& s) { pass_on(s); });
    old = sm_.atomically(address, i.bytes, [&] { return to(reinterpret_cast<std::byte*>(address)); });
    where[lane] = went::device;
  }
  if (i.order != order::relaxed && i.order != order::release) acquire(lane);
  return old;
}

}  // namespace ptx
