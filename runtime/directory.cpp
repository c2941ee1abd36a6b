#include "runtime/directory.hpp"

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

directory::directory(arena_layout const& layout)
    : layout_(layout), heap_(layout.heap_at, layout.shape.heap_bytes) {}

bool directory::claim_memory(launch_spec& spec, std::uint32_t index, std::uint64_t state_bytes,
                             std::uint32_t capacity) {
  auto const state = heap_.take(state_bytes, 64);
  if (!state) return false;
  spec.state_offset = state->offset;
  if (capacity <= layout_.shape.ring_slots) return true;
  // A mailbox that does not fit a shared ring has one of its own.
  spec.ring_slots = ceil_power_of_two(capacity);
  auto const ring = heap_.take(mail_ring_ref::bytes_for(spec.ring_slots), 128);
  if (!ring) return heap_.give_back(spec.state_offset, state_bytes), false;
  spec.ring_id = 1 + layout_.shape.rings + index;
  spec.ring_offset = ring->offset;
  spec.ring_has_past = ring->used_before;
  return true;
}

void directory::give_back_memory(launch_spec const& spec, std::uint64_t state_bytes) {
  heap_.give_back(spec.state_offset, state_bytes);
  if (spec.ring_id != 0) heap_.give_back(spec.ring_offset, mail_ring_ref::bytes_for(spec.ring_slots));
}

launch_spec directory::describe(launch_spec memory, entry const& e, std::uint32_t capacity) const {
  memory.heap_end = heap_.end_of_used();
  memory.id = e.id;
  memory.capacity = capacity;
  memory.supervise = e.options.supervise;
  memory.behaviour = e.behaviour;
  memory.pinned = e.options.pinned;
  memory.active = e.options.active;
  return memory;
}

result<launch_spec> directory::add(std::string name, std::uint16_t behaviour, std::uint64_t state_bytes,
                                   actor_options const& options, std::uint32_t capacity) {
  std::lock_guard lock(mutex_);
  if (!name.empty() && names_.contains(name)) return errc::name_taken;
  if (free_.empty() && entries_.size() == layout_.shape.actors) return errc::actor_limit;
  auto const index = free_.empty() ? static_cast<std::uint32_t>(entries_.size()) : free_.back();
  launch_spec memory{};
  if (!claim_memory(memory, index, state_bytes, capacity)) return errc::out_of_memory;
  if (free_.empty())
    entries_.emplace_back().id = {index, 0};
  else
    free_.pop_back();
  entry& e = entries_[index];
  ++e.id.generation;
  e.behaviour = behaviour;
  e.state_bytes = state_bytes;
  e.options = options;
  e.live = true;
  if (!name.empty()) names_.emplace(name, index);
  e.name = std::move(name);
  return e.spec = describe(memory, e, capacity);
}

errc directory::revive(std::vector<revival> const& actors, std::vector<launch_spec>& specs) {
  std::lock_guard lock(mutex_);
  specs.clear();
  if (entries_.size() != free_.size()) return errc::wrong_state;
  auto const before = entries_;
  errc outcome = errc::ok;
  for (auto const& a : actors) {
    if (a.id.index >= layout_.shape.actors) {
      outcome = errc::actor_limit;
      break;
    }
    for (auto i = static_cast<std::uint32_t>(entries_.size()); i <= a.id.index; ++i)
      entries_.emplace_back().id = {i, 0};
    entry& e = entries_[a.id.index];
    // The same generation again is the same actor, in a runtime that goes back to a checkpoint of its own.
    bool const same = e.id.generation == a.id.generation && e.name == a.name && e.behaviour == a.behaviour;
    if (e.live || (e.id.generation >= a.id.generation && !same)) outcome = errc::wrong_state;
    if (!a.name.empty() && names_.contains(a.name)) outcome = errc::name_taken;
    launch_spec memory{};
    if (outcome == errc::ok && !claim_memory(memory, a.id.index, a.state_bytes, a.capacity))
      outcome = errc::out_of_memory;
    if (outcome != errc::ok) break;
    e = {a.id, a.name, a.behaviour, true, a.state_bytes, a.options, {}};
    e.spec = describe(memory, e, a.capacity);
    e.spec.restored = true;
    if (!a.name.empty()) names_.emplace(a.name, a.id.index);
    specs.push_back(e.spec);
  }
  if (outcome != errc::ok) {
    for (auto const& e : entries_)
      if (e.live) give_back_memory(e.spec, e.state_bytes);
    entries_ = before;
    names_.clear();
  }
  free_.clear();
  for (auto e = entries_.rbegin(); e != entries_.rend(); ++e)  // the lowest is taken first
    if (!e->live) free_.push_back(e->id.index);
  return outcome;
}

bool directory::remove(actor_id id) {
  std::lock_guard lock(mutex_);
  if (id.index >= entries_.size() || !entries_[id.index].live || !(entries_[id.index].id == id)) return false;
  entry& e = entries_[id.index];
  give_back_memory(e.spec, e.state_bytes);
  if (!e.name.empty()) names_.erase(e.name);
  e.live = false;
  free_.push_back(id.index);
  return true;
}

errc directory::plan_upgrade(std::vector<succession> const& fates, std::vector<successor>& plan) {
  std::lock_guard lock(mutex_);
  plan.clear();
  errc outcome = errc::ok;
  for (auto const& e : entries_) {
    if (!e.live) continue;
    auto const& fate = fates[e.behaviour];
    auto const old_state = e.spec.state_offset;
    plan.push_back({e.id, e.behaviour, fate.behaviour.value_or(0), old_state, old_state, fate.state_bytes});
    if (!fate.behaviour) outcome = errc::not_found;
    if (outcome == errc::ok && fate.moves) {
      auto const memory = heap_.take(fate.state_bytes, 64);
      memory ? void(plan.back().state = memory->offset) : void(outcome = errc::out_of_memory);
    }
    if (outcome != errc::ok) break;
  }
  if (outcome != errc::ok)
    for (auto const& s : plan)
      if (s.state != s.old_state) heap_.give_back(s.state, s.state_bytes);
  return outcome;
}

void directory::finish_upgrade(std::vector<successor> const& plan, std::vector<bool> const& happened) {
  std::lock_guard lock(mutex_);
  for (std::size_t i = 0; i < plan.size(); ++i) {
    auto const& s = plan[i];
    entry& e = entries_[s.id.index];
    bool const same = e.live && e.id == s.id;  // else it ended meanwhile, and its old state was given back
    if (happened[i] && same) {
      if (s.state != s.old_state) heap_.give_back(s.old_state, e.state_bytes);
      e.behaviour = e.spec.behaviour = s.behaviour;
      e.state_bytes = s.state_bytes;
      e.spec.state_offset = s.state;
    } else if (s.state != s.old_state) {
      heap_.give_back(s.state, s.state_bytes);
    }
  }
}

std::uint64_t directory::heap_end() const {
  std::lock_guard lock(mutex_);
  return heap_.end_of_used();
}

std::optional<directory::entry> directory::find(std::string_view name) const {
  std::lock_guard lock(mutex_);
  auto const found = names_.find(std::string(name));
  if (found == names_.end()) return std::nullopt;
  return entries_[found->second];
}

std::optional<directory::entry> directory::find(actor_id id) const {
  std::lock_guard lock(mutex_);
  if (id.index >= entries_.size() || !entries_[id.index].live || !(entries_[id.index].id == id))
    return std::nullopt;
  return entries_[id.index];
}

std::vector<directory::entry> directory::list() const {
  std::lock_guard lock(mutex_);
  std::vector<entry> alive;
  for (auto const& e : entries_)
    if (e.live) alive.push_back(e);
  return alive;
}

std::uint32_t directory::cells_used() const {
  std::lock_guard lock(mutex_);
  return static_cast<std::uint32_t>(entries_.size());
}

std::uint32_t directory::alive() const {
  std::lock_guard lock(mutex_);
  return static_cast<std::uint32_t>(entries_.size() - free_.size());
}

}  // namespace rondo
