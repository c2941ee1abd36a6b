// The living actors of a runtime: their names, and their cells and memory in each device's arena.
//
// Threads: any; one mutex. Not on the message path.
#pragma once

#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "runtime/base/errc.hpp"
#include "runtime/base/listed_actor.hpp"

namespace rondo {

/// Memory inside the arena for states and for rings of their own: offsets, by size, reused after release.
class arena_heap {
 public:
  arena_heap(std::uint64_t offset, std::uint64_t bytes) noexcept : next_(offset), end_(offset + bytes) {}
  struct piece {
    std::uint64_t offset;
    bool used_before;
  };
  std::optional<piece> take(std::uint64_t bytes, std::uint64_t alignment);
  void give_back(std::uint64_t offset, std::uint64_t bytes);
  /// Nothing was ever taken beyond it.
  std::uint64_t end_of_used() const noexcept { return next_; }

 private:
  std::uint64_t next_, end_;
  std::map<std::uint64_t, std::vector<std::uint64_t>> free_;  // by size
};

/// An actor of a checkpoint that shall live again where it lived.
struct revival {
  actor_id id;
  std::string name;
  std::uint16_t behaviour;
  std::uint64_t state_bytes;
  actor_options options;
  std::uint32_t capacity;
};

class directory {
 public:
  using entry = listed_actor;

  /// One arena per device, in the order of the devices.
  explicit directory(std::vector<arena_layout> const& arenas);

  /// Chooses a cell and memory on options.device, which exists. Fails with name_taken, actor_limit, out_of_memory. An empty
  /// name is not a name.
  result<launch_spec> add(std::string name, std::uint16_t behaviour, std::uint64_t state_bytes,
                          actor_options const& options, std::uint32_t capacity);
  /// Gives all of `actors` the cells and generations that they had, or none of them. On failure specs.size()
  /// is the place of the one at fault: actor_limit when the arena has no such cell, wrong_state when the cell
  /// was given to a later actor since or comes twice, name_taken, out_of_memory. wrong_state at once while
  /// any actor lives.
  errc revive(std::vector<revival> const& actors, std::vector<launch_spec>& specs);
  /// One of them while others live; errors as above.
  result<launch_spec> add_as(revival const& actor);
  /// Frees what the actor had, once it is gone. False for an id that is not alive.
  bool remove(actor_id id);

  /// What becomes of the actors of one behaviour when the module changes.
  struct succession {
    std::optional<std::uint16_t> behaviour;  // in the new module; none: there must be no such actor
    std::uint64_t state_bytes = 0;
    bool moves = false;  // its state is made anew, elsewhere
  };
  /// One living actor's part in that.
  struct successor {
    actor_id id;
    std::uint16_t old_behaviour, behaviour;
    std::uint64_t old_state, state;  // offsets; equal: the state stays
    std::uint64_t state_bytes;
  };
  /// Claims the memory that the living actors need when each old behaviour has `fates`. not_found for an actor that can
  /// have no successor, which `plan` then ends with; out_of_memory. Nothing has changed then.
  errc plan_upgrade(std::vector<succession> const& fates, std::vector<successor>& plan);
  /// Ends what plan_upgrade began: for those that `happened` says, by their place, the new behaviour and state hold.
  void finish_upgrade(std::vector<successor> const& plan, std::vector<bool> const& happened);
  /// No actor's memory on that device ends beyond it.
  std::uint64_t heap_end(std::uint32_t device) const;

  std::optional<entry> find(std::string_view name) const;
  std::optional<entry> find(actor_id id) const;
  /// The behaviour of a living actor. Services call it for each message, so it copies nothing else.
  std::optional<std::uint16_t> behaviour_of(actor_id id) const;
  /// At most `most` of those that live, by index, the first of at least `from`.
  std::vector<entry> list(std::uint32_t from = 0, std::size_t most = ~std::size_t{0}) const;
  /// So many cells of that device were ever used; they are its first ones.
  std::uint32_t cells_used(std::uint32_t device) const;
  std::uint32_t alive() const;

 private:
  /// One device's arena.
  struct cells {
    explicit cells(arena_layout const& a) : layout(a), heap(a.heap_at, a.shape.heap_bytes) {}

    /// Memory for an actor's state and, when it needs one, a ring of its own; false when there is none.
    bool claim_memory(launch_spec& spec, std::uint32_t cell, std::uint64_t state_bytes,
                      std::uint32_t capacity);
    void give_back_memory(launch_spec const& spec, std::uint64_t state_bytes);
    launch_spec describe(launch_spec memory, entry const& e, std::uint32_t capacity) const;
    void list_free();
    std::uint32_t index_of(std::size_t cell) const {
      return layout.shape.first_actor + static_cast<std::uint32_t>(cell);
    }

    arena_layout layout;
    arena_heap heap;
    std::vector<entry> entries;
    std::vector<std::uint32_t> free;
  };
  entry const* living(actor_id id) const;
  entry* living(actor_id id) { return const_cast<entry*>(std::as_const(*this).living(id)); }
  bool any_alive() const;
  errc revive_one(revival const& a, launch_spec& spec);

  mutable std::mutex mutex_;
  std::vector<cells> devices_;
  std::unordered_map<std::string, actor_id> names_;
};

}  // namespace rondo
