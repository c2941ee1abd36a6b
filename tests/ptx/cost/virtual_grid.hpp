// A grid in virtual time: the machine executes it on one thread, each warp has its own clock, and each step costs what
// the table says. Deterministic for a seed.
//
// How time passes
//  - The warp with the least time executes next; of several, the first.
//  - A load does not wait. Its warp waits at the first instruction that names a register still to be loaded, to read or
//    to write it: a scoreboard of PTX registers, kept per warp and not per lane, as on a GPU. An acquire load holds up
//    whatever follows.
//  - A weak load finds its sector in the L1 of its multiprocessor (one block each) if some warp there has fetched it
//    and none has acquired since: an acquire, when it ends, empties the whole L1. If the sector is still on its way,
//    the load waits for the same trip. That is about time alone: the machine decides by lane which value it sees.
//  - A store does not wait. A release waits for a fence of its scope first.
//  - Loads and stores take effect when they are issued: a store and a load that both take half a trip to the L2 meet
//    there in the order in which they were issued. Over the bus, a load sees the host's memory half a trip after it was
//    issued, which the host's script allows for (bed.hpp), and a store arrives `posted_write_ps` after it was issued.
//  - What reaches the L2 queues there: each sector's atomics one after the other, and all that one slice serves.
// A wait counts as a trip if its load was issued after the trip before had ended: trips in series.
// Not modelled: contention for the bus (except for the gap between posted writes) and the multiprocessor's issue
// slots; the machine code that ptxas makes of the PTX, which has fewer instructions and other registers.
//
// Threads: one.
#pragma once

#include <unordered_map>
#include <unordered_set>

#include "tests/ptx/cost/costs.hpp"
#include "tests/ptx/cost/path.hpp"
#include "tests/ptx/machine/ptx_grid.hpp"

namespace ptx_cost {

class virtual_grid final : ptx::observer, ptx::machine_clock {
 public:
  virtual_grid(ptx::module const& code, std::uint32_t entry, std::uint32_t blocks, std::uint32_t threads,
               ptx::kernel_params const& params, std::vector<ptx::memory_range> memory, costs const& c);

  /// One step of the warp with the least time. Throws ptx::error if all have ended.
  void advance();
  /// The least time of all warps. It never goes back.
  std::uint64_t now_ps() const noexcept { return warps_[first_].clock; }

  // -- for the host's script

  /// The host has written these bytes, as a part of `message`.
  void note_host_store(void const* at, std::size_t bytes, std::uint64_t message);
  /// Whether the last step stored to host memory; when the last such store arrives.
  bool has_posted() const noexcept { return has_posted_; }
  bool has_stored() const noexcept { return has_stored_; }
  std::uint64_t arrival_ps() const noexcept { return arrival_; }
  /// Where the last step was, and when.
  mark last_step() const { return {last_, logs_[last_].end()}; }
  std::uint64_t last_ps() const noexcept { return last_ps_; }

  std::vector<warp_log> const& logs() const noexcept { return logs_; }
  void forget_logs();
  /// From now on, collects the numbers of the sectors of device memory that warps access: 32 bytes each. Null: no more.
  void collect_sectors(std::unordered_set<std::uint64_t>* into) noexcept { sectors_ = into; }
  ptx::module const& code() const noexcept { return code_; }
  std::uint64_t executed() const noexcept { return grid_.executed(); }
  /// Of a multiprocessor's clock: a warp instruction takes four.
  double cycle_ps() const noexcept { return static_cast<double>(costs_.warp_instruction_ps) / 4; }

 private:
  struct pending_load {
    std::uint64_t reg;  // counted from the beginning of its lane's frames
    std::uint64_t issued, ready;
    step kind;
    std::uint32_t place;
  };
  struct last_look {
    std::uint64_t ps = 0, stores = 0;
  };
  struct warp_state {
    ptx::warp* w;
    std::uint64_t clock = 0;
    std::array<std::uint64_t*, ptx::warp_lanes> frames{};  // the beginning of each lane's
    std::vector<pending_load> pending;
    pending_load held_up{};                              // by an acquire: until `ready`
    std::array<std::uint64_t, step_kinds> trip_ended{};  // the last counted one of each kind
    bool paid_release = false;
    std::uint64_t last_host_store = 0, stores = 0;  // `stores`: counts those beyond its block
    std::unordered_map<std::uint64_t, last_look>
        looks{};  // the last time that an instruction loaded from an address
  };
  struct store_stamp {
    std::uint64_t message;
    mark where;
    std::uint64_t ps;
  };
  struct trip {
    std::uint64_t issued, ready;
    step kind;
  };
  /// Of a multiprocessor.
  struct near_cache {
    std::unordered_map<std::uint64_t, trip> sectors{};  // by number: the last trip for each
    std::vector<std::uint64_t> acquires{};  // when those end that are under way: a heap, the first on top
    std::uint64_t emptied = 0;              // when the last one ended
  };

  std::uint64_t now_ns() noexcept override { return now_ps() / 1000; }
  std::uint64_t cycles(ptx::warp const&) const noexcept override {
    return now_ps() * 4 / costs_.warp_instruction_ps;
  }
  void executes(ptx::warp const&, ptx::instruction const& i, std::uint32_t lanes) override;
  void accesses(ptx::warp const&, ptx::instruction const& i, ptx::warp_access const& a) override;
  void fences(ptx::warp const&, ptx::instruction const& i, std::uint32_t lanes) override;

  void sift_first() noexcept;
  void will_empty(std::uint64_t ps);
  trip const* cached(std::uint64_t sector);
  std::uint64_t queue_at_l2(std::uint64_t sector, bool atomic);
  bool is_host_memory(std::uint64_t address) const noexcept;
  void rest();  // the first warp has nothing to execute
  bool wait_for_operands(ptx::instruction const& i, std::uint32_t lanes);
  bool wait_for_release(ptx::instruction const& i);
  void fence(ptx::instruction const& i);
  void learn(ptx::instruction const& i, std::uint64_t address, std::uint32_t bytes);
  void add_load(ptx::instruction const& i, ptx::warp_access const& a);
  void add_store(ptx::instruction const& i, ptx::warp_access const& a);
  std::uint64_t register_of(ptx::instruction const& i, std::uint32_t lane, ptx::operand o) const;

  costs costs_;
  ptx::module const& code_;
  std::vector<ptx::memory_range> host_memory_;
  ptx::grid grid_;
  std::vector<warp_state> warps_;
  std::vector<warp_log> logs_;
  std::vector<std::size_t> order_;  // of the warps: a heap, the least time on top; of equal ones, the first
  std::vector<near_cache> caches_;  // by block
  std::vector<std::uint64_t> slices_;                         // of the L2: when each is free
  std::unordered_map<std::uint64_t, std::uint64_t> atomics_;  // by sector: when its last atomic is done
  std::unordered_map<std::uint64_t, store_stamp> stamps_;     // of the last store to each 4 bytes
  std::unordered_set<std::uint64_t>* sectors_ = nullptr;
  std::size_t first_ = 0;
  std::uint32_t last_ = 0;
  std::uint64_t last_ps_ = 0, arrival_ = 0;
  bool has_posted_ = false, has_stored_ = false;
};

}  // namespace ptx_cost
