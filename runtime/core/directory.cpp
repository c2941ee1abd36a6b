#include "runtime/core/directory.hpp"

#include <algorithm>

#include "kernels/base/clock.hpp"

namespace rondo {

std::optional<arena_heap::piece> arena_heap::take(std::uint64_t bytes, std::uint64_t alignment) {
  bytes = align_up(bytes, 64);
  if (auto const found = free_.find(bytes); found != free_.end() && !found->second.empty()) {
    auto const offset = found->second.back();
    found->second.pop_back();
    return piece{offset, true};
  }
  auto const offset = align_up(next_, alignment);
  if (offset + bytes > end_) return std::nullopt;
  next_ = offset + bytes;
  return piece{offset, false};
}

void arena_heap::give_back(std::uint64_t offset, std::uint64_t bytes) {
  free_[align_up(bytes, 64)].push_back(offset);
}

directory::directory(std::vector<arena_layout> const& arenas) : devices_(arenas.begin(), arenas.end()) {}

bool directory::cells::claim_memory(launch_spec& spec, std::uint32_t cell, std::uint64_t state_bytes,
                                    std::uint32_t capacity) {
  auto const state = heap.take(state_bytes, 64);
  if (!state) return false;
  spec.state_offset = state->offset;
  if (capacity <= layout.shape.ring_slots) return true;
  // A mailbox that does not fit into a shared ring has a dedicated one.
  spec.ring_slots = ceil_power_of_two(capacity);
  auto const ring = heap.take(mail_ring_ref::bytes_for(spec.ring_slots), 128);
  if (!ring) return heap.give_back(spec.state_offset, state_bytes), false;
  spec.ring_id = 1 + layout.shape.rings + cell;
  spec.ring_offset = ring->offset;
  spec.ring_has_past = ring->used_before;
  return true;
}

void directory::cells::give_back_memory(launch_spec const& spec, std::uint64_t state_bytes) {
  heap.give_back(spec.state_offset, state_bytes);
  if (spec.ring_id != 0) heap.give_back(spec.ring_offset, mail_ring_ref::bytes_for(spec.ring_slots));
}

launch_spec directory::cells::describe(launch_spec memory, entry const& e, std::uint32_t capacity) const {
  memory.heap_end = heap.end_of_used();
  memory.id = e.id;
  memory.capacity = capacity;
  memory.reserve = e.options.reserve;
  memory.supervise = e.options.supervise;
  memory.behaviour = e.behaviour;
  memory.batch = static_cast<std::uint8_t>(e.options.batch);
  memory.pinned = e.options.pinned;
  memory.active = e.options.active;
  return memory;
}

result<launch_spec> directory::add(std::string name, std::uint16_t behaviour, std::uint64_t state_bytes,
                                   actor_options const& options, std::uint32_t capacity) {
  std::lock_guard lock(mutex_);
  cells& on = devices_[options.device];
  if (!name.empty() && names_.contains(name)) return errc::name_taken;
  if (on.free.empty() && on.entries.size() == on.layout.shape.actors) return errc::actor_limit;
  auto const cell = on.free.empty() ? static_cast<std::uint32_t>(on.entries.size()) : on.free.back();
  launch_spec memory{};
  if (!on.claim_memory(memory, cell, state_bytes, capacity)) return errc::out_of_memory;
  if (on.free.empty())
    on.entries.emplace_back().id = {on.index_of(cell), 0};
  else
    on.free.pop_back();
  entry& e = on.entries[cell];
  ++e.id.generation;
  e.behaviour = behaviour;
  e.state_bytes = state_bytes;
  e.options = options;
  e.begun_ns = now_ns();
  e.handled_before = 0;
  e.live = true;
  if (!name.empty()) names_.emplace(name, e.id);
  e.name = std::move(name);
  return e.spec = on.describe(memory, e, capacity);
}

void directory::cells::list_free() {
  free.clear();
  for (auto e = entries.rbegin(); e != entries.rend(); ++e)  // so that the lowest cell is taken first
    if (!e->live) free.push_back(cell_of(e->id));
}

errc directory::revive(std::vector<revival> const& actors, std::vector<launch_spec>& specs) {
  std::lock_guard lock(mutex_);
  specs.clear();
  if (any_alive()) return errc::wrong_state;
  std::vector<std::vector<entry>> before;
  for (auto const& d : devices_) before.push_back(d.entries);
  errc outcome = errc::ok;
  for (auto const& a : actors) {
    launch_spec spec{};
    if (outcome = revive_one(a, spec); outcome != errc::ok) break;
    specs.push_back(spec);
  }
  if (outcome != errc::ok) names_.clear();
  for (std::size_t d = 0; d < devices_.size(); ++d) {
    cells& on = devices_[d];
    if (outcome != errc::ok) {
      for (auto const& e : on.entries)
        if (e.live) on.give_back_memory(e.spec, e.state_bytes);
      on.entries = before[d];
    }
    on.list_free();
  }
  return outcome;
}

result<launch_spec> directory::add_as(revival const& actor) {
  std::lock_guard lock(mutex_);
  launch_spec spec{};
  if (auto const refused = revive_one(actor, spec); refused != errc::ok) return refused;
  auto& on = devices_[device_of(actor.id)];
  on.list_free();
  on.entries[cell_of(actor.id)].spec.restored = spec.restored = false;
  return spec;
}

errc directory::revive_one(revival const& a, launch_spec& spec) {
  if (device_of(a.id) >= devices_.size()) return errc::actor_limit;
  cells& on = devices_[device_of(a.id)];
  auto const cell = cell_of(a.id);
  if (cell >= on.layout.shape.actors) return errc::actor_limit;
  for (auto i = on.entries.size(); i <= cell; ++i) on.entries.emplace_back().id = {on.index_of(i), 0};
  entry& e = on.entries[cell];
  // The same generation is the same actor, in a runtime that returns to its own checkpoint.
  bool const same = e.id.generation == a.id.generation && e.name == a.name && e.behaviour == a.behaviour;
  if (!a.name.empty() && names_.contains(a.name)) return errc::name_taken;
  if (e.live || (e.id.generation >= a.id.generation && !same)) return errc::wrong_state;
  launch_spec memory{};
  if (!on.claim_memory(memory, cell, a.state_bytes, a.capacity)) return errc::out_of_memory;
  e = {a.id, a.name, a.behaviour, true, a.state_bytes, a.options, {}, now_ns(), a.handled};
  e.spec = on.describe(memory, e, a.capacity);
  e.spec.restored = true;
  if (!a.name.empty()) names_.emplace(a.name, a.id);
  spec = e.spec;
  return errc::ok;
}

bool directory::remove(actor_id id) {
  std::lock_guard lock(mutex_);
  entry* const e = living(id);
  if (e == nullptr) return false;
  cells& on = devices_[device_of(id)];
  on.give_back_memory(e->spec, e->state_bytes);
  if (!e->name.empty()) names_.erase(e->name);
  e->live = false;
  on.free.push_back(cell_of(id));
  return true;
}

errc directory::plan_upgrade(std::vector<succession> const& fates, std::vector<successor>& plan) {
  std::lock_guard lock(mutex_);
  plan.clear();
  auto const succeed = [&](cells& on, entry const& e) {
    auto const& fate = fates[e.behaviour];
    auto const old_state = e.spec.state_offset;
    plan.push_back({e.id, e.behaviour, fate.behaviour.value_or(0), old_state, old_state, fate.state_bytes});
    if (!fate.behaviour) return errc::not_found;
    if (!fate.moves) return errc::ok;
    auto const memory = on.heap.take(fate.state_bytes, 64);
    if (memory) plan.back().state = memory->offset;
    return memory ? errc::ok : errc::out_of_memory;
  };
  for (auto& on : devices_)
    for (auto const& e : on.entries) {
      if (!e.live) continue;
      auto const outcome = succeed(on, e);
      if (outcome == errc::ok) continue;
      for (auto const& s : plan)
        if (s.state != s.old_state) devices_[device_of(s.id)].heap.give_back(s.state, s.state_bytes);
      return outcome;
    }
  return errc::ok;
}

void directory::finish_upgrade(std::vector<successor> const& plan, std::vector<bool> const& happened) {
  std::lock_guard lock(mutex_);
  for (std::size_t i = 0; i < plan.size(); ++i) {
    auto const& s = plan[i];
    auto& heap = devices_[device_of(s.id)].heap;
    entry* const e = living(s.id);  // null: it has terminated, and its old state was freed
    if (happened[i] && e != nullptr) {
      if (s.state != s.old_state) heap.give_back(s.old_state, e->state_bytes);
      e->behaviour = e->spec.behaviour = s.behaviour;
      e->state_bytes = s.state_bytes;
      e->spec.state_offset = s.state;
    } else if (s.state != s.old_state) {
      heap.give_back(s.state, s.state_bytes);
    }
  }
}

std::uint64_t directory::heap_end(std::uint32_t device) const {
  std::lock_guard lock(mutex_);
  return devices_[device].heap.end_of_used();
}

std::optional<directory::entry> directory::find(std::string_view name) const {
  std::lock_guard lock(mutex_);
  auto const found = names_.find(std::string(name));
  if (found == names_.end()) return std::nullopt;
  return *living(found->second);
}

std::optional<std::uint16_t> directory::behaviour_of(actor_id id) const {
  std::lock_guard lock(mutex_);
  auto const* const e = living(id);
  return e == nullptr ? std::nullopt : std::optional(e->behaviour);
}

std::optional<directory::entry> directory::find(actor_id id) const {
  std::lock_guard lock(mutex_);
  entry const* const e = living(id);
  return e != nullptr ? std::optional(*e) : std::nullopt;
}

std::vector<directory::entry> directory::list(std::uint32_t from, std::size_t most) const {
  std::lock_guard lock(mutex_);
  std::vector<entry> alive;
  for (auto const& d : devices_) {
    auto const first = d.index_of(0);
    for (std::size_t cell = from > first ? from - first : 0; cell < d.entries.size() && alive.size() < most;
         ++cell)
      if (d.entries[cell].live) alive.push_back(d.entries[cell]);
  }
  return alive;
}

std::uint32_t directory::cells_used(std::uint32_t device) const {
  std::lock_guard lock(mutex_);
  return static_cast<std::uint32_t>(devices_[device].entries.size());
}

std::uint32_t directory::alive() const {
  std::lock_guard lock(mutex_);
  std::size_t alive = 0;
  for (auto const& d : devices_) alive += d.entries.size() - d.free.size();
  return static_cast<std::uint32_t>(alive);
}

/// Null if the actor is not alive.
directory::entry const* directory::living(actor_id id) const {
  if (device_of(id) >= devices_.size()) return nullptr;
  auto const& entries = devices_[device_of(id)].entries;
  if (cell_of(id) >= entries.size()) return nullptr;
  entry const& e = entries[cell_of(id)];
  return e.live && e.id == id ? &e : nullptr;
}

bool directory::any_alive() const {
  return std::ranges::any_of(devices_, [](cells const& d) { return d.entries.size() != d.free.size(); });
}

}  // namespace rondo
