// The directory of a runtime's living actors: their names, and their cells and memory in each device's arena.
//
// Threads: any; one mutex. Not on the message path.
#pragma once

#include <map>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "runtime/base/errc.hpp"
#include "runtime/base/listed_actor.hpp"

namespace rondo {

/// An allocator of memory in the arena, for states and dedicated rings. It returns offsets and reuses freed pieces by
/// size.
class arena_heap {
 public:
  arena_heap(std::uint64_t offset, std::uint64_t bytes) noexcept
      : begin_(offset), next_(offset), end_(offset + bytes) {}
  struct piece {
    std::uint64_t offset;
    bool used_before;
  };
  std::optional<piece> take(std::uint64_t bytes, std::uint64_t alignment);
  void give_back(std::uint64_t offset, std::uint64_t bytes);
  std::uint64_t bytes() const noexcept { return end_ - begin_; }
  std::uint64_t free_bytes() const noexcept { return end_ - begin_ - used_; }
  /// The end of all memory that was ever taken.
  std::uint64_t end_of_used() const noexcept { return next_; }

 private:
  std::uint64_t begin_, next_, end_, used_ = 0;
  std::map<std::uint64_t, std::vector<std::uint64_t>> free_;  // by size
};

/// An actor of a checkpoint to be restored in its old cell, with others like it in the cells behind.
struct revival {
  actor_id id;
  std::string name;
  std::uint16_t behaviour;
  std::uint64_t state_bytes;
  actor_options options;
  std::uint32_t capacity;
  std::uint64_t handled = 0;
  std::span<actor_totals const> followers{};  // the counters of those others
};

class directory {
 public:
  using entry = listed_actor;

  /// One arena per device, in the order of the devices.
  explicit directory(std::vector<arena_layout> const& arenas);

  /// Chooses a cell and memory on options.device. Precondition: the device exists. Fails with name_taken, actor_limit,
  /// or out_of_memory. An empty name means no name.
  result<launch_spec> add(std::string name, std::uint16_t behaviour, std::uint64_t state_bytes,
                          actor_options const& options, std::uint32_t capacity);
  /// The same for as many actors without names as `specs` has elements, all or none. `capacities`: at least as many.
  errc add_many(std::uint16_t behaviour, std::uint64_t state_bytes, actor_options const& options,
                std::span<std::uint32_t const> capacities, std::span<launch_spec> specs);
  /// Gives all of `actors` their old cells and generations, or none. On failure, `at_fault` is the
  /// index of the one at fault: actor_limit if the arena does not have the cell, wrong_state if the cell now belongs to
  /// a later actor or occurs twice, name_taken, out_of_memory. Fails with wrong_state at once while any actor is
  /// alive.
  errc revive(std::vector<revival> const& actors, std::vector<launch_spec>& specs, std::size_t& at_fault);
  /// The same for one actor, while others may be alive; errors as above.
  result<launch_spec> add_as(revival const& actor);
  /// Of each device, the highest generation that an actor there ever had.
  std::vector<std::uint32_t> generations() const;
  /// Actors that are added from now on get higher generations than these, by device. So no id of the runtime that had
  /// them is used again.
  void begin_above(std::vector<std::uint32_t> const& generations);
  /// Frees the cell and memory of an actor that is gone. False if the id is not alive.
  bool remove(actor_id id);

  /// The fate of one behaviour's actors when the module changes.
  struct succession {
    std::optional<std::uint16_t> behaviour;  // in the new module; nullopt: there must be no such actor
    std::uint64_t state_bytes = 0;
    bool moves = false;  // a new state is constructed in other memory
  };
  /// The change of one living actor.
  struct successor {
    actor_id id;
    std::uint16_t old_behaviour, behaviour;
    std::uint64_t old_state, state;  // offsets; equal: the state stays
    std::uint64_t state_bytes;
  };
  /// Allocates the memory that living actors need for `fates`, which has an entry per old behaviour. Errors, without
  /// changes: not_found if an actor has no successor (it is then the last entry of `plan`), out_of_memory.
  errc plan_upgrade(std::vector<succession> const& fates, std::vector<successor>& plan);
  /// The same for some actors of one device, which all get this behaviour. Errors, without changes: actor_gone,
  /// out_of_memory.
  errc plan_change(std::span<actor_id const> actors, succession const& fate, std::vector<successor>& plan);
  /// Completes plan_upgrade or plan_change: each actor whose entry in `happened` is true gets its new behaviour and
  /// state.
  void finish_upgrade(std::vector<successor> const& plan, std::vector<bool> const& happened);
  /// An upper bound of all actors' memory on that device.
  std::uint64_t heap_end(std::uint32_t device) const;

  std::optional<entry> find(std::string_view name) const;
  std::optional<entry> find(actor_id id) const;
  /// The name of the living actor in this cell; empty: it has none, or there is none.
  std::string name_in(std::uint32_t index) const;
  /// The behaviour of a living actor. A service calls this for each message, so it copies nothing else.
  std::optional<std::uint16_t> behaviour_of(actor_id id) const;
  /// All living actors in the order of their indices.
  std::vector<living_actor> all_living() const;
  /// The same with all that is known of them: at most `most`, starting at index `from`.
  std::vector<entry> list(std::uint32_t from = 0, std::size_t most = ~std::size_t{0}) const;
  /// The number of cells of that device that were ever used; they are the first ones.
  std::uint32_t cells_used(std::uint32_t device) const;
  std::size_t free_cells(std::uint32_t device) const;
  /// `pinned_teams`: as many as that device has.
  actor_room room(std::uint32_t device, std::uint32_t pinned_teams) const;
  /// What an actor takes of the memory of that device.
  std::uint64_t bytes_of(std::uint32_t device, std::uint64_t state_bytes, std::uint32_t capacity) const;
  std::uint32_t alive() const;

 private:
  /// What is kept of an actor besides its name: one cache line, because a program may have a million of them.
  struct alignas(64) record {
    std::uint64_t state_offset = 0;  // of a free cell: its place in `free`
    std::uint64_t state_bytes = 0;
    std::uint64_t ring_offset = 0;  // of a dedicated ring; 0: it has none
    std::uint64_t begun_ns = 0;
    std::uint32_t generation = 0;
    std::uint32_t capacity = 0;
    supervision supervise{};
    std::uint32_t reserved_slots = 0;
    std::uint16_t behaviour = 0;
    std::uint8_t reserved_from = 0, batch = 0;
    bool live : 1 = false, pinned : 1 = false, active : 1 = false;
    bool restored : 1 = false, ring_has_past : 1 = false;
    bool has_name : 1 = false, gave_capacity : 1 = false;  // the latter: in its options
    bool had_handled : 1 = false;                          // messages, before it was restored
  };
  static_assert(sizeof(record) == 64);

  /// One device's arena.
  struct cells {
    explicit cells(arena_layout const& a);

    /// The lowest free cell that was used, or the next one; nullopt if all are in use.
    std::optional<std::uint32_t> free_cell() const;
    /// Puts a new life into that cell and allocates its memory. Null if there is not enough.
    record* begin(std::uint32_t cell, std::uint16_t behaviour, std::uint64_t state_bytes,
                  actor_options const& options, std::uint32_t capacity, std::uint64_t now);
    void end(record& r);
    /// The cell of an actor that has ended is free; one that gets an actor is not. Constant time.
    void add_free(std::uint32_t cell);
    void take_free(std::uint32_t cell);
    bool has_own_ring(std::uint32_t capacity) const { return capacity > layout.shape.ring_slots; }
    launch_spec spec_of(std::uint32_t cell) const;
    void list_free();
    std::uint32_t index_of(std::size_t cell) const {
      return layout.shape.first_actor + static_cast<std::uint32_t>(cell);
    }

    arena_layout layout;
    arena_heap heap;
    std::vector<record> records;
    std::vector<std::uint32_t> free;
    std::uint32_t begins_above = 0;  // the generation
    std::uint32_t pinned = 0;        // living actors that are
  };
  record const* living(actor_id id) const;
  record* living(actor_id id) { return const_cast<record*>(std::as_const(*this).living(id)); }
  entry entry_of(std::uint32_t device, std::uint32_t cell) const;
  void set_name(record& r, actor_id id, std::string name);
  bool any_alive() const;
  errc revive_one(revival const& a, actor_id id, std::uint64_t handled, launch_spec& spec);
  errc plan_one(cells& on, std::uint32_t cell, succession const& fate, std::vector<successor>& plan);
  void undo(std::vector<successor> const& plan);

  mutable std::mutex mutex_;
  std::vector<cells> devices_;
  std::unordered_map<std::string, actor_id> named_;
  // By index, also of the last actor of a free cell.
  std::unordered_map<std::uint32_t, std::string> names_;      // if its record says has_name
  std::unordered_map<std::uint32_t, std::uint64_t> handled_;  // if it says had_handled
};

}  // namespace rondo
