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

result<launch_spec> directory::add(std::string name, std::uint16_t behaviour, std::uint64_t state_bytes,
                                   actor_options const& options, std::uint32_t capacity) {
  std::lock_guard lock(mutex_);
  if (!name.empty() && names_.contains(name)) return errc::name_taken;
  if (free_.empty() && entries_.size() == layout_.shape.actors) return errc::actor_limit;
  launch_spec spec{};
  auto const state = heap_.take(state_bytes, 64);
  if (!state) return errc::out_of_memory;
  spec.state_offset = state->offset;
  std::uint32_t index = 0;
  if (free_.empty()) {
    index = static_cast<std::uint32_t>(entries_.size());
    entries_.emplace_back().id = {index, 0};
  } else {
    index = free_.back();
    free_.pop_back();
  }
  entry& e = entries_[index];
  // A mailbox that does not fit a shared ring has one of its own.
  if (capacity > layout_.shape.ring_slots) {
    spec.ring_slots = ceil_power_of_two(capacity);
    auto const ring = heap_.take(mail_ring_ref::bytes_for(spec.ring_slots), 128);
    if (!ring) {
      heap_.give_back(spec.state_offset, state_bytes);
      free_.push_back(index);
      return errc::out_of_memory;
    }
    spec.ring_id = 1 + layout_.shape.rings + index;
    spec.ring_offset = ring->offset;
    spec.ring_has_past = ring->used_before;
  }
  ++e.id.generation;
  e.behaviour = behaviour;
  e.state_bytes = state_bytes;
  e.options = options;
  e.live = true;
  if (!name.empty()) names_.emplace(name, index);
  e.name = std::move(name);
  spec.id = e.id;
  spec.capacity = capacity;
  spec.supervise = options.supervise;
  spec.behaviour = behaviour;
  spec.pinned = options.pinned;
  spec.active = options.active;
  return e.spec = spec;
}

bool directory::remove(actor_id id) {
  std::lock_guard lock(mutex_);
  if (id.index >= entries_.size() || !entries_[id.index].live || !(entries_[id.index].id == id)) return false;
  entry& e = entries_[id.index];
  heap_.give_back(e.spec.state_offset, e.state_bytes);
  if (e.spec.ring_id != 0) heap_.give_back(e.spec.ring_offset, mail_ring_ref::bytes_for(e.spec.ring_slots));
  if (!e.name.empty()) names_.erase(e.name);
  e.live = false;
  free_.push_back(id.index);
  return true;
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
