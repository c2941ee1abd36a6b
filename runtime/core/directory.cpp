#include "runtime/core/directory.hpp"

#include <algorithm>

#include "kernels/base/clock.hpp"
#include "runtime/memory/arena_memory.hpp"

namespace rondo {

std::optional<arena_heap::piece> arena_heap::take(std::uint64_t bytes, std::uint64_t alignment) {
  bytes = align_up(bytes, 64);
  if (auto const found = free_.find(bytes); found != free_.end() && !found->second.empty()) {
    auto const offset = found->second.back();
    found->second.pop_back();
    used_ += bytes;
    return piece{offset, true};
  }
  auto const offset = align_up(next_, alignment);
  if (offset + bytes > end_) return std::nullopt;
  next_ = offset + bytes;
  used_ += bytes;
  return piece{offset, false};
}

void arena_heap::give_back(std::uint64_t offset, std::uint64_t bytes) {
  free_[align_up(bytes, 64)].push_back(offset);
  used_ -= align_up(bytes, 64);
}

directory::directory(std::vector<arena_layout> const& arenas) : devices_(arenas.begin(), arenas.end()) {}

// -- cells

directory::cells::cells(arena_layout const& a) : layout(a), heap(a.heap_at, a.shape.heap_bytes) {
  // Memory that is not touched costs nothing. Moving the records to a larger place would.
  records.reserve(a.shape.actors);
  prefer_large_pages(records.data(), records.capacity() * sizeof(record));
}

std::optional<std::uint32_t> directory::cells::free_cell() const {
  if (!free.empty()) return free.back();
  if (records.size() == layout.shape.actors) return std::nullopt;
  return static_cast<std::uint32_t>(records.size());
}

directory::record* directory::cells::begin(std::uint32_t cell, std::uint16_t behaviour,
                                           std::uint64_t state_bytes, actor_options const& options,
                                           std::uint32_t capacity, std::uint64_t now) {
  auto const state = heap.take(state_bytes, 64);
  if (!state) return nullptr;
  arena_heap::piece ring{};
  if (has_own_ring(capacity)) {  // it does not fit into a shared one
    auto const own = heap.take(mail_ring_ref::bytes_for(ceil_power_of_two(capacity)), 128);
    if (!own) return heap.give_back(state->offset, state_bytes), nullptr;
    ring = *own;
  }
  if (cell == records.size())
    records.emplace_back();
  else
    take_free(cell);
  record& r = records[cell];
  r = {.state_offset = state->offset,
       .state_bytes = state_bytes,
       .ring_offset = ring.offset,
       .begun_ns = now,
       .generation = std::max(r.generation, begins_above) + 1,
       .capacity = capacity,
       .supervise = options.supervise,
       .reserved_slots = options.reserve.slots,
       .behaviour = behaviour,
       .reserved_from = options.reserve.from,
       .batch = static_cast<std::uint8_t>(options.batch),
       .live = true,
       .pinned = options.pinned,
       .active = options.active,
       .ring_has_past = ring.used_before,
       .gave_capacity = options.capacity.has_value()};
  pinned += options.pinned;
  return &r;
}

/// The memory of its last life; the cell is not listed as free yet.
void directory::cells::end(record& r) {
  heap.give_back(r.state_offset, r.state_bytes);
  if (r.ring_offset != 0)
    heap.give_back(r.ring_offset, mail_ring_ref::bytes_for(ceil_power_of_two(r.capacity)));
  r.live = false;
  pinned -= r.pinned;
}

void directory::cells::add_free(std::uint32_t cell) {
  records[cell].state_offset = free.size();
  free.push_back(cell);
}
void directory::cells::take_free(std::uint32_t cell) {
  auto const at = records[cell].state_offset;
  free[at] = free.back();
  records[free[at]].state_offset = at;
  free.pop_back();
}

launch_spec directory::cells::spec_of(std::uint32_t cell) const {
  record const& r = records[cell];
  bool const own_ring = r.ring_offset != 0;
  return {.id = {index_of(cell), r.generation},
          .state_offset = r.state_offset,
          .ring_offset = r.ring_offset,
          .heap_end = heap.end_of_used(),
          .ring_id = own_ring ? 1 + layout.shape.rings + cell : 0,
          .ring_slots = own_ring ? ceil_power_of_two(r.capacity) : 0,
          .capacity = r.capacity,
          .reserve = {r.reserved_slots, r.reserved_from},
          .supervise = r.supervise,
          .team = 0,
          .behaviour = r.behaviour,
          .batch = r.batch,
          .pinned = r.pinned,
          .active = r.active,
          .ring_has_past = r.ring_has_past,
          .restored = r.restored};
}

void directory::cells::list_free() {
  free.clear();
  for (auto cell = records.size(); cell-- != 0;)  // so that the lowest cell is taken first
    if (!records[cell].live) add_free(static_cast<std::uint32_t>(cell));
}

directory::entry directory::entry_of(std::uint32_t device, std::uint32_t cell) const {
  auto const& on = devices_[device];
  record const& r = on.records[cell];
  auto const index = on.index_of(cell);
  entry e;
  e.spec = on.spec_of(cell);
  e.id = e.spec.id;
  if (r.has_name) e.name = names_.at(index);
  e.behaviour = r.behaviour;
  e.live = r.live;
  e.state_bytes = r.state_bytes;
  e.options = {.device = device,
               .capacity = r.gave_capacity ? std::optional(r.capacity) : std::nullopt,
               .pinned = r.pinned,
               .active = r.active,
               .reserve = e.spec.reserve,
               .batch = r.batch,
               .supervise = r.supervise};
  e.begun_ns = r.begun_ns;
  if (r.had_handled) e.handled_before = handled_.at(index);
  return e;
}

// -- names

void directory::set_name(record& r, actor_id id, std::string name) {
  if (name.empty()) return;
  named_.emplace(name, id);
  names_.insert_or_assign(id.index, std::move(name));
  r.has_name = true;
}

// -- lives

result<launch_spec> directory::add(std::string name, std::uint16_t behaviour, std::uint64_t state_bytes,
                                   actor_options const& options, std::uint32_t capacity) {
  std::lock_guard lock(mutex_);
  cells& on = devices_[options.device];
  if (!name.empty() && named_.contains(name)) return errc::name_taken;
  auto const cell = on.free_cell();
  if (!cell) return errc::actor_limit;
  record* const r = on.begin(*cell, behaviour, state_bytes, options, capacity, now_ns());
  if (r == nullptr) return errc::out_of_memory;
  auto const spec = on.spec_of(*cell);
  set_name(*r, spec.id, std::move(name));
  return spec;
}

errc directory::add_many(std::uint16_t behaviour, std::uint64_t state_bytes, actor_options const& options,
                         std::span<std::uint32_t const> capacities, std::span<launch_spec> specs) {
  std::lock_guard lock(mutex_);
  cells& on = devices_[options.device];
  auto const now = now_ns();
  for (std::size_t i = 0; i < specs.size(); ++i) {
    auto const cell = on.free_cell();
    if (cell && on.begin(*cell, behaviour, state_bytes, options, capacities[i], now) != nullptr) {
      specs[i] = on.spec_of(*cell);
      continue;
    }
    while (i-- != 0) {
      auto const back = cell_of(specs[i].id);
      on.end(on.records[back]);
      on.add_free(back);
    }
    return cell ? errc::out_of_memory : errc::actor_limit;
  }
  return errc::ok;
}

errc directory::revive(std::vector<revival> const& actors, std::vector<launch_spec>& specs,
                       std::size_t& at_fault) {
  std::lock_guard lock(mutex_);
  specs.clear();
  at_fault = 0;
  if (any_alive()) return errc::wrong_state;
  std::vector<std::vector<record>> before;
  for (auto const& d : devices_) before.push_back(d.records);
  auto const names_before = names_;
  auto const handled_before = handled_;
  errc outcome = errc::ok;
  std::size_t all = 0, with_past = 0;
  for (auto const& a : actors) {
    all += 1 + a.followers.size();
    with_past +=
        std::size_t(a.handled != 0) + static_cast<std::size_t>(std::ranges::count_if(
                                          a.followers, [](actor_totals const& t) { return t.handled != 0; }));
  }
  specs.resize(all);
  handled_.reserve(handled_.size() + with_past);
  auto spec = specs.begin();
  for (; outcome == errc::ok && at_fault < actors.size(); ++at_fault) {
    auto const& a = actors[at_fault];
    auto const n = static_cast<std::uint32_t>(a.followers.size());
    outcome = revive_one(a, a.id, a.handled, *spec++);
    for (std::uint32_t i = 0; i < n && outcome == errc::ok; ++i)
      outcome = revive_one(a, {a.id.index + 1 + i, a.id.generation}, a.followers[i].handled, *spec++);
    if (outcome != errc::ok) break;
  }
  if (outcome != errc::ok) named_.clear(), names_ = names_before, handled_ = handled_before;
  for (std::size_t d = 0; d < devices_.size(); ++d) {
    cells& on = devices_[d];
    if (outcome != errc::ok) {
      for (auto& r : on.records)
        if (r.live) on.end(r);
      on.records.assign(before[d].begin(), before[d].end());
    }
    on.list_free();
  }
  return outcome;
}

std::vector<std::uint32_t> directory::generations() const {
  std::lock_guard lock(mutex_);
  std::vector<std::uint32_t> all;
  for (auto const& on : devices_) {
    all.push_back(on.begins_above);
    for (auto const& r : on.records) all.back() = std::max(all.back(), r.generation);
  }
  return all;
}

void directory::begin_above(std::vector<std::uint32_t> const& generations) {
  std::lock_guard lock(mutex_);
  for (std::size_t d = 0; d < std::min(devices_.size(), generations.size()); ++d)
    devices_[d].begins_above = std::max(devices_[d].begins_above, generations[d]);
}

result<launch_spec> directory::add_as(revival const& actor) {
  std::lock_guard lock(mutex_);
  launch_spec spec{};
  if (auto const refused = revive_one(actor, actor.id, actor.handled, spec); refused != errc::ok)
    return refused;
  devices_[device_of(actor.id)].records[cell_of(actor.id)].restored = spec.restored = false;
  return spec;
}

/// One actor of a revival: itself, or one of its followers.
errc directory::revive_one(revival const& a, actor_id id, std::uint64_t handled, launch_spec& spec) {
  if (device_of(id) >= devices_.size()) return errc::actor_limit;
  cells& on = devices_[device_of(id)];
  auto const cell = cell_of(id);
  if (cell >= on.layout.shape.actors) return errc::actor_limit;
  while (on.records.size() <= cell) {
    on.records.emplace_back();
    on.add_free(static_cast<std::uint32_t>(on.records.size() - 1));
  }
  record const old = on.records[cell];
  // The same generation is the same actor, in a runtime that returns to its own checkpoint.
  bool const same = old.generation == id.generation && old.behaviour == a.behaviour &&
                    (old.has_name ? names_.at(id.index) : std::string()) == a.name;
  if (!a.name.empty() && named_.contains(a.name)) return errc::name_taken;
  if (old.live || (old.generation >= id.generation && !same)) return errc::wrong_state;
  record* const r = on.begin(cell, a.behaviour, a.state_bytes, a.options, a.capacity, now_ns());
  if (r == nullptr) return errc::out_of_memory;
  r->generation = id.generation;
  r->restored = true;
  set_name(*r, id, a.name);
  if (handled != 0) handled_.insert_or_assign(id.index, handled), r->had_handled = true;
  spec = on.spec_of(cell);
  return errc::ok;
}

bool directory::remove(actor_id id) {
  std::lock_guard lock(mutex_);
  record* const r = living(id);
  if (r == nullptr) return false;
  cells& on = devices_[device_of(id)];
  if (r->has_name) named_.erase(names_.at(id.index));
  on.end(*r);
  on.add_free(cell_of(id));
  return true;
}

// -- upgrades

errc directory::plan_upgrade(std::vector<succession> const& fates, std::vector<successor>& plan) {
  std::lock_guard lock(mutex_);
  plan.clear();
  for (auto& on : devices_)
    for (std::uint32_t cell = 0; cell < on.records.size(); ++cell) {
      if (!on.records[cell].live) continue;
      auto const outcome = plan_one(on, cell, fates[on.records[cell].behaviour], plan);
      if (outcome == errc::ok) continue;
      undo(plan);
      return outcome;
    }
  return errc::ok;
}

errc directory::plan_change(std::span<actor_id const> actors, succession const& fate,
                            std::vector<successor>& plan) {
  std::lock_guard lock(mutex_);
  plan.clear();
  for (auto const id : actors) {
    auto const outcome =
        living(id) == nullptr ? errc::actor_gone : plan_one(devices_[device_of(id)], cell_of(id), fate, plan);
    if (outcome == errc::ok) continue;
    undo(plan);
    return outcome;
  }
  return errc::ok;
}

/// Appends the actor to the plan, also if it fails.
errc directory::plan_one(cells& on, std::uint32_t cell, succession const& fate,
                         std::vector<successor>& plan) {
  record const& r = on.records[cell];
  plan.push_back({{on.index_of(cell), r.generation},
                  r.behaviour,
                  fate.behaviour.value_or(0),
                  r.state_offset,
                  r.state_offset,
                  fate.state_bytes});
  if (!fate.behaviour) return errc::not_found;
  if (!fate.moves) return errc::ok;
  auto const memory = on.heap.take(fate.state_bytes, 64);
  if (memory) plan.back().state = memory->offset;
  return memory ? errc::ok : errc::out_of_memory;
}
void directory::undo(std::vector<successor> const& plan) {
  for (auto const& s : plan)
    if (s.state != s.old_state) devices_[device_of(s.id)].heap.give_back(s.state, s.state_bytes);
}

void directory::finish_upgrade(std::vector<successor> const& plan, std::vector<bool> const& happened) {
  std::lock_guard lock(mutex_);
  for (std::size_t i = 0; i < plan.size(); ++i) {
    auto const& s = plan[i];
    auto& heap = devices_[device_of(s.id)].heap;
    record* const r = living(s.id);  // null: it has terminated, and its old state was freed
    if (happened[i] && r != nullptr) {
      if (s.state != s.old_state) heap.give_back(s.old_state, r->state_bytes);
      r->behaviour = s.behaviour;
      r->state_bytes = s.state_bytes;
      r->state_offset = s.state;
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
  auto const found = named_.find(std::string(name));
  if (found == named_.end()) return std::nullopt;
  return entry_of(device_of(found->second), cell_of(found->second));
}

std::optional<std::uint16_t> directory::behaviour_of(actor_id id) const {
  std::lock_guard lock(mutex_);
  record const* const r = living(id);
  return r == nullptr ? std::nullopt : std::optional(r->behaviour);
}

std::optional<directory::entry> directory::find(actor_id id) const {
  std::lock_guard lock(mutex_);
  return living(id) != nullptr ? std::optional(entry_of(device_of(id), cell_of(id))) : std::nullopt;
}

std::string directory::name_in(std::uint32_t index) const {
  std::lock_guard lock(mutex_);
  if (device_of({index, 0}) >= devices_.size()) return {};
  auto const& on = devices_[device_of({index, 0})];
  auto const cell = cell_of({index, 0});
  bool const has_name = cell < on.records.size() && on.records[cell].live && on.records[cell].has_name;
  return has_name ? names_.at(index) : std::string();
}

std::vector<living_actor> directory::all_living() const {
  std::lock_guard lock(mutex_);
  std::vector<living_actor> all;
  std::size_t count = 0;
  for (auto const& on : devices_) count += on.records.size() - on.free.size();
  all.reserve(count);
  for (auto const& on : devices_)
    for (std::uint32_t cell = 0; cell < on.records.size(); ++cell) {
      record const& r = on.records[cell];
      if (!r.live) continue;
      all.push_back({{on.index_of(cell), r.generation}, r.behaviour, {}});
      if (r.has_name) all.back().name = names_.at(on.index_of(cell));
    }
  return all;
}

std::vector<directory::entry> directory::list(std::uint32_t from, std::size_t most) const {
  std::lock_guard lock(mutex_);
  std::vector<entry> alive;
  for (std::uint32_t device = 0; device < devices_.size(); ++device) {
    cells const& d = devices_[device];
    auto const first = d.index_of(0);
    for (auto cell = from > first ? from - first : 0; cell < d.records.size() && alive.size() < most; ++cell)
      if (d.records[cell].live) alive.push_back(entry_of(device, cell));
  }
  return alive;
}

std::uint32_t directory::cells_used(std::uint32_t device) const {
  std::lock_guard lock(mutex_);
  return static_cast<std::uint32_t>(devices_[device].records.size());
}

std::size_t directory::free_cells(std::uint32_t device) const {
  std::lock_guard lock(mutex_);
  cells const& d = devices_[device];
  return d.layout.shape.actors - d.records.size() + d.free.size();
}

actor_room directory::room(std::uint32_t device, std::uint32_t pinned_teams) const {
  std::lock_guard lock(mutex_);
  cells const& d = devices_[device];
  return {.actors = d.layout.shape.actors,
          .free_actors = d.layout.shape.actors - d.records.size() + d.free.size(),
          .bytes = d.heap.bytes(),
          .free_bytes = d.heap.free_bytes(),
          .pinned_teams = pinned_teams,
          .free_pinned_teams = pinned_teams - std::min(pinned_teams, d.pinned),
          .rings = d.layout.shape.rings,
          .ring_slots = d.layout.shape.ring_slots};
}

std::uint64_t directory::bytes_of(std::uint32_t device, std::uint64_t state_bytes,
                                  std::uint32_t capacity) const {
  auto const state = align_up(state_bytes, 64);  // the layout never changes: no lock
  if (!devices_[device].has_own_ring(capacity)) return state;
  return state + align_up(mail_ring_ref::bytes_for(ceil_power_of_two(capacity)), 64);
}

std::uint32_t directory::alive() const {
  std::lock_guard lock(mutex_);
  std::size_t alive = 0;
  for (auto const& d : devices_) alive += d.records.size() - d.free.size();
  return static_cast<std::uint32_t>(alive);
}

/// Null if the actor is not alive.
directory::record const* directory::living(actor_id id) const {
  if (device_of(id) >= devices_.size()) return nullptr;
  auto const& records = devices_[device_of(id)].records;
  if (cell_of(id) >= records.size()) return nullptr;
  record const& r = records[cell_of(id)];
  return r.live && r.generation == id.generation ? &r : nullptr;
}

bool directory::any_alive() const {
  return std::ranges::any_of(devices_, [](cells const& d) { return d.records.size() != d.free.size(); });
}

}  // namespace rondo
