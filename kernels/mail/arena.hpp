// The arena: all memory of one ring kernel, laid out by offsets so that it can be copied, mapped, or restored as bytes.
//
// An arena starts as an arena_header and zeroed memory; everything after the header is valid when zero. Offsets are
// from the arena's base; the arena holds no pointers.
#pragma once

#include "kernels/base/log_level.hpp"
#include "kernels/mail/actor_cell.hpp"
#include "kernels/mail/mail_ring.hpp"
#include "kernels/mail/ready_queue.hpp"
#include "kernels/mail/wide_job.hpp"

namespace rondo {

/// The sizes and limits of one arena.
struct arena_shape {
  std::uint32_t first_actor = 0;  // the index of the first cell's actors; see device_of
  std::uint32_t actors = 1024;
  std::uint32_t rings = 1024;     // shared mail rings
  std::uint32_t ring_slots = 32;  // of a shared ring, a power of two; larger mailboxes have their own rings
  std::uint32_t teams = 2;
  std::uint32_t quota = 64;  // messages per slice
  std::uint32_t starvation_limit = 64;
  std::uint32_t latency_sample_every = 16;  // a power of two
  std::uint32_t handler_limit_ms = 1000;
  rondo::log_level log_level = rondo::log_level::info;  // the least that handlers log
  bool gates = false;  // mailboxes have gates (mail_gate.hpp): for a device with a grid of teams
  std::uint64_t heap_bytes = 1 << 20;  // actor states, and rings larger than ring_slots
};

/// Where a ring lives; entry 0 means "no ring".
struct ring_entry {
  /// The offset in units of 128 bytes; the upper 8 bits hold log2 of the slots. It is one word so that a stale sender
  /// that reads it while a successor's ring is set up gets a ring that exists; its exchange then fails.
  atomic<std::uint64_t> place;
  std::uint32_t tail;          // the next ticket, while no actor holds the ring; see set_tail
  atomic<std::uint32_t> next;  // in the stack of free rings
  std::uint32_t dedicated;     // 1: belongs to one actor and is never shared

  /// Relaxed: published by the actor's word or the free list. Atomic because snapshot.hpp reads it concurrently.
  RONDO_HD std::uint32_t saved_tail() noexcept {
    return as_atomic(tail).load(memory_order::relaxed) & ticket_mask;
  }
  RONDO_HD void set_tail(std::uint32_t ticket) noexcept {
    as_atomic(tail).store(ticket, memory_order::relaxed);
  }
  RONDO_HD void set_place(std::uint64_t offset, std::uint32_t slots) noexcept {
    auto const power = static_cast<std::uint64_t>(highest_bit(slots));
    place.store(power << 56 | offset / 128, memory_order::relaxed);  // relaxed: published by the actor's word
  }
};

/// What a team, or one of its lanes, runs: for the watchdog and fault reports. Written by the team, read by the host.
struct run_status {
  atomic<std::uint32_t> actor;  // index + 1 of the actor it runs; 0: none
  atomic<std::uint32_t> type;   // of the message being handled
  atomic<std::uint64_t> beats;  // messages begun, or done if they came together

  /// Records that the team begins a message of this type. Relaxed: only a report.
  RONDO_HOT RONDO_HD void begin(std::uint32_t message_type) noexcept {
    if constexpr (with_telemetry) {
      type.store(message_type, memory_order::relaxed);
      beats.add_single_writer(1);
    }
  }
  /// The same of messages that come together, which are counted once they are done: `done` since the last call.
  RONDO_HOT RONDO_HD void begin_behind(std::uint32_t done, std::uint32_t message_type) noexcept {
    if constexpr (with_telemetry) type.store(message_type, memory_order::relaxed);
    has_done(done);
  }
  /// Counts them.
  RONDO_HOT RONDO_HD void has_done(std::uint32_t messages) noexcept {
    if constexpr (with_telemetry)
      if (messages != 0) beats.add_single_writer(messages);
  }
};

/// What one team is doing; also used for parking.
struct alignas(64) team_status : run_status {
  atomic<std::uint32_t> doorbell;      // bumped to wake the team
  atomic<std::uint32_t> pinned_actor;  // index + 1 of the actor that owns this team; 0: none
  atomic<std::uint32_t> still;         // the team's answer to the stop word (stop_word.hpp)
  atomic<std::uint32_t> side_by_side;  // 1: each lane runs an actor of its own, see arena_ref::lane
};

/// Offsets of the arena's parts, in bytes from its base.
struct arena_layout {
  std::uint64_t magic, bytes;
  arena_shape shape;
  std::uint32_t ready_entries, ring_entries;
  std::uint64_t cells, owners_at, epochs_at, room_lists_at, ring_table, ready_positions_at, ready_entries_at,
      teams_at, lanes_at, jobs_at, rings_at, heap_at;
};

struct arena_header : arena_layout {
  alignas(64) atomic<std::uint32_t> stop;        // 0: teams run; see stop_word.hpp
  std::uint32_t halts;                           // number of the last halt; only the keeper uses it
  alignas(64) atomic<std::uint64_t> free_rings;  // {tag, first free ring} of a stack
  alignas(64) atomic<std::uint32_t> free_ring_count;
  alignas(64) atomic<std::uint64_t> parked;      // one bit per parked team
  alignas(64) atomic<std::uint32_t> idle_teams;  // looking for work, or parked
  alignas(64) atomic<std::uint32_t> open_jobs;   // wide jobs with unclaimed tiles
  alignas(64) atomic<std::uint32_t> journal;     // journal_bits; changes at safepoints
  atomic<std::uint32_t> epoch_ended;             // 1: some cell's epoch is not 0
};

/// Extra duties of owners, for runtime/recording.hpp.
enum journal_bits : std::uint32_t {
  journal_report = 1,  // report each completed message to the host
  journal_mute =
      2,  // drop what handlers send and do not retry failed messages: the host supplies all messages
};

inline constexpr std::uint64_t arena_magic = 0x31'616e'6572'61'6f64ull;  // "do-arena1"

/// A non-owning view of an arena. Cheap to copy; built once per thread.
class arena_ref {
 public:
  arena_ref() = default;
  /// Precondition: `base` is aligned to 4096 bytes and holds an arena made by arena_ref::format.
  RONDO_HD explicit arena_ref(std::byte* base) noexcept : header_(reinterpret_cast<arena_header*>(base)) {
    first_actor_ = header_->shape.first_actor;
    cells_ = header_->shape.actors;
    first_cell_ = at<actor_cell>(header_->cells);
    owners_less_cells_ = reinterpret_cast<std::uintptr_t>(base) + header_->owners_at -
                         5 * (reinterpret_cast<std::uintptr_t>(base) + header_->cells);
    ring_table_ = at<ring_entry>(header_->ring_table);
    gates_ = header_->shape.gates;
  }

  /// Bytes that an arena of `shape` needs.
  static std::uint64_t bytes_for(arena_shape const& shape) noexcept;
  /// Writes header, ring table and free list. Precondition: `base` holds bytes_for(shape) zeroed bytes.
  static arena_ref format(std::byte* base, arena_shape const& shape) noexcept;

  RONDO_HD arena_header& header() const noexcept { return *header_; }
  RONDO_HD arena_shape const& shape() const noexcept { return header_->shape; }
  RONDO_HD std::byte* base() const noexcept { return reinterpret_cast<std::byte*>(header_); }
  /// The cell of the actors with this index.
  RONDO_HD actor_cell& cell(std::uint32_t index) const noexcept { return first_cell_[index - first_actor_]; }
  /// What the owner of the actor in a cell of this arena keeps.
  RONDO_HOT RONDO_HD owner_cell& owner(actor_cell const& cell) const noexcept {
    static_assert(sizeof(owner_cell) == 5 * sizeof(actor_cell));
    return *reinterpret_cast<owner_cell*>(owners_less_cells_ + 5 * reinterpret_cast<std::uintptr_t>(&cell));
  }
  RONDO_HD owner_cell& owner_of(std::uint32_t index) const noexcept { return owner(cell(index)); }
  RONDO_HD bool has_cell(std::uint32_t index) const noexcept { return index - first_actor_ < cells_; }
  /// Whether senders take room and tickets at a gate (mail_gate.hpp). Always on a GPU.
  RONDO_HOT RONDO_HD bool has_gates() const noexcept {
#if defined(__CUDA_ARCH__)
    return true;
#else
    return gates_;
#endif
  }
  /// The epoch in which the mailbox with this index admits messages across a bus; see L5 of queue_pair.hpp. Those for
  /// reserved room have their own. The actors of a cell share it one after the other.
  RONDO_HD atomic<std::uint32_t>& epoch(std::uint32_t index, bool reserved) const noexcept {
    return at<atomic<std::uint32_t>>(header_->epochs_at)[2 * (index - first_actor_) + reserved];
  }
  RONDO_HD room_list& room_list_of(std::uint32_t index) const noexcept {
    return at<room_list>(header_->room_lists_at)[index - first_actor_];
  }
  /// Whether the actor belongs to another device.
  RONDO_HD bool is_elsewhere(actor_id id) const noexcept {
    return (id.index & host_ask_bit) == 0 && device_of(id) != first_actor_ >> device_shift;
  }
  RONDO_HD std::byte* state(actor_cell const& cell) const noexcept { return base() + cell.state_offset; }
  RONDO_HD team_status& team(std::uint32_t index) const noexcept {
    return at<team_status>(header_->teams_at)[index];
  }
  /// What a lane of a team runs, while each lane has an actor of its own.
  RONDO_HD run_status& lane(std::uint32_t team, std::uint32_t lane) const noexcept {
    return at<run_status>(header_->lanes_at)[team * max_lanes + lane];
  }
  RONDO_HD wide_job& job(std::uint32_t index) const noexcept { return at<wide_job>(header_->jobs_at)[index]; }
  RONDO_HD ring_entry& ring(std::uint32_t id) const noexcept { return ring_table_[id]; }
  RONDO_HOT RONDO_HD mail_ring_ref ring_at(std::uint32_t id) const noexcept { return ring_in(place_of(id)); }
  /// The same in two steps: on a GPU the first is a load that nobody needs to wait for yet. Relaxed: published by the
  /// actor's word, or its gate.
  RONDO_HOT RONDO_HD std::uint64_t place_of(std::uint32_t id) const noexcept {
    return ring_table_[id].place.load(memory_order::relaxed);
  }
  RONDO_HOT RONDO_HD mail_ring_ref ring_in(std::uint64_t place) const noexcept {
    return mail_ring_ref::at(base() + (place & 0x00ff'ffff'ffff'ffffull) * 128, 1u << (place >> 56));
  }
  /// The same for the team that runs the actor that holds this ring.
  RONDO_HOT RONDO_HD mail_ring_ref held_ring_at(std::uint32_t id) const noexcept {
    return ring_in(ring_table_[id].place.load_own());
  }
  /// Where there are gates: how many messages wait in the mailbox of a cell with this word, as its owner has shown it
  /// last.
  RONDO_HD std::uint32_t waiting(actor_cell const& cell, actor_word word) const noexcept {
    if (word.ring() == 0) return 0;
    // Acquire: the head in that ring. Until the owner has adopted it, nothing was taken.
    auto& own = owner(cell);
    bool const adopted = own.held_ring.load(memory_order::acquire) == word.ring();
    auto const head =
        adopted ? as_atomic(own.head).load(memory_order::relaxed) : ring(word.ring()).saved_tail();
    auto const waiting = (word.tail() - head) & ticket_mask;
    return waiting <= ticket_mask / 2 ? waiting : 0;  // the head is newer than the word
  }
  RONDO_HD ready_queue_ref ready(int band) const noexcept {
    return {at<ready_positions>(header_->ready_positions_at) + band,
            at<ready_entry>(header_->ready_entries_at) + std::uint64_t(band) * header_->ready_entries,
            header_->ready_entries};
  }
  RONDO_HD std::uint32_t journal() const noexcept {
    return header_->journal.load_own();  // it changes at safepoints alone
  }
  RONDO_HD bool stopping() const noexcept {
    return header_->stop.load(memory_order::relaxed) != 0;  // relaxed: a request; nothing is read through it
  }

 private:
  template <class T>
  RONDO_HD T* at(std::uint64_t offset) const noexcept {
    return reinterpret_cast<T*>(base() + offset);
  }

  arena_header* header_ = nullptr;  // the arena begins with it
  actor_cell* first_cell_ = nullptr;
  std::uintptr_t owners_less_cells_ = 0;  // the first owner cell's address less five times the first cell's
  std::uint32_t first_actor_ = 0, cells_ = 0;
  bool gates_ = false;
  ring_entry* ring_table_ = nullptr;
};

namespace detail {

/// Assigns the offsets of an arena of `shape` in order. Only this function knows the layout.
inline arena_layout plan_arena(arena_shape const& shape) noexcept {
  arena_layout h{};
  h.magic = arena_magic;
  h.shape = shape;
  h.ready_entries = ceil_power_of_two(shape.actors < 2 ? 2 : shape.actors);
  h.ring_entries = 1 + shape.rings + shape.actors;  // none, the shared, at most one dedicated per actor
  std::uint64_t next = align_up(sizeof(arena_header), 4096);
  auto const claim = [&next](std::uint64_t bytes, std::uint64_t alignment) {
    auto const offset = align_up(next, alignment);
    next = offset + bytes;
    return offset;
  };
  h.cells = claim(sizeof(actor_cell) * shape.actors, 128);
  h.owners_at = claim(sizeof(owner_cell) * shape.actors, 128);
  h.epochs_at = claim(2 * sizeof(atomic<std::uint32_t>) * shape.actors, 64);
  h.room_lists_at = claim(sizeof(room_list) * shape.actors, 64);
  h.ring_table = claim(sizeof(ring_entry) * h.ring_entries, 64);
  h.ready_positions_at = claim(sizeof(ready_positions) * ready_bands, 64);
  h.ready_entries_at = claim(sizeof(ready_entry) * ready_bands * h.ready_entries, 64);
  h.teams_at = claim(sizeof(team_status) * shape.teams, 64);
  h.lanes_at = claim(sizeof(run_status) * max_lanes * shape.teams, 64);
  h.jobs_at = claim(sizeof(wide_job) * wide_jobs_for(shape.teams), 64);
  h.rings_at = claim(mail_ring_ref::bytes_for(shape.ring_slots) * shape.rings, 4096);
  h.heap_at = claim(shape.heap_bytes, 4096);
  h.bytes = align_up(next, 4096);
  return h;
}

}  // namespace detail

inline std::uint64_t arena_ref::bytes_for(arena_shape const& shape) noexcept {
  return detail::plan_arena(shape).bytes;
}

inline arena_ref arena_ref::format(std::byte* base, arena_shape const& shape) noexcept {
  static_cast<arena_layout&>(*reinterpret_cast<arena_header*>(base)) = detail::plan_arena(shape);
  arena_ref arena{base};
  for (std::uint32_t id = 1; id <= shape.rings; ++id) {
    ring_entry& r = arena.ring(id);
    r.set_place(arena.header().rings_at + mail_ring_ref::bytes_for(shape.ring_slots) * (id - 1),
                shape.ring_slots);
    r.next.store(id < shape.rings ? id + 1 : 0, memory_order::relaxed);  // relaxed: no other thread yet
  }
  arena.header().free_rings.store(shape.rings != 0 ? 1 : 0, memory_order::relaxed);
  arena.header().free_ring_count.store(shape.rings, memory_order::relaxed);
  return arena;
}

}  // namespace rondo
