// The memory accesses of a warp's lanes.
#include <algorithm>
#include <cstring>

#include "tests/ptx/machine/ptx_warp.hpp"

namespace ptx {

namespace {

std::string hex(std::uint64_t value) {
  char text[32];
  std::snprintf(text, sizeof text, "0x%llx", static_cast<unsigned long long>(value));
  return text;
}

}  // namespace

memory_range const* warp::range_of(std::uint64_t address, std::uint32_t bytes) {
  if (last_range_ != nullptr && last_range_->has(address, bytes)) return last_range_;
  auto const& all = grid_.ranges;
  auto const after = std::upper_bound(all.begin(), all.end(), address,
                                      [](std::uint64_t a, memory_range const& r) { return a < r.begin; });
  if (after == all.begin() || !std::prev(after)->has(address, bytes)) return nullptr;
  return last_range_ = &*std::prev(after);
}

void warp::check_aligned(instruction const& i, std::uint32_t lane, std::uint64_t address,
                         std::uint32_t bytes) const {
  if ((address & (bytes - 1)) != 0)
    fail(i, lane, "a misaligned access of " + std::to_string(bytes) + " bytes at " + hex(address));
}

warp::target warp::find(instruction const& i, std::uint32_t lane, std::uint64_t address,
                        std::uint32_t bytes) {
  addresses[lane] = address;
  if (i.space == space::shared || i.space == space::generic) {
    auto const offset =
        i.space == space::shared ? address : address - reinterpret_cast<std::uint64_t>(sm_.shared());
    if (offset < sm_.shared_bytes() && bytes <= sm_.shared_bytes() - offset)
      return {target::kind::shared, offset, nullptr};
    if (i.space == space::shared) fail(i, lane, "outside its block's shared memory: " + hex(address));
  }
  if (i.space == space::local || i.space == space::generic) {
    auto const first = reinterpret_cast<std::uint64_t>(memory_.locals(lane));
    if (address - first < lane_memory::local_bytes && bytes <= first + lane_memory::local_bytes - address)
      return {target::kind::local, address - first, nullptr};
    auto const all = reinterpret_cast<std::uint64_t>(memory_.locals(0));
    if (address - all < reinterpret_cast<std::uint64_t>(memory_.locals(warp_lanes)) - all)
      fail(i, lane, "the local memory of another lane");
    if (i.space == space::local) fail(i, lane, "outside its local memory: " + hex(address));
  }
  auto const* const range = range_of(address, bytes);
  if (range == nullptr) fail(i, lane, "outside all known memory: " + hex(address));
  return {target::kind::global, 0, range};
}

bool warp::puts_off(instruction const& i, std::uint32_t lane, std::uint64_t address, std::uint32_t n) {
  auto const found = find(i, lane, address, i.bytes);
  if (found.what != target::kind::global || found.range->kind == memory_kind::constant) return false;
  finish_overlapping(lane, address, i.bytes);
  loads_[lane].push_back({&i, i.o[n], address});
  late_lanes_ |= 1u << lane;
  return true;
}

void warp::finish_load(std::uint32_t lane, std::size_t index) {
  auto const l = loads_[lane][index];
  loads_[lane].erase(loads_[lane].begin() + static_cast<long>(index));
  if (loads_[lane].empty()) late_lanes_ &= ~(1u << lane);
  set(lane, l.to, widened(*l.i, load(*l.i, lane, l.address)));
}

void warp::finish_loads(std::uint32_t lane) {
  while (!loads_[lane].empty()) finish_load(lane, random_() % loads_[lane].size());
}

/// Two loads of the same bytes are done in their order.
void warp::finish_overlapping(std::uint32_t lane, std::uint64_t address, std::uint32_t bytes) {
  auto& all = loads_[lane];
  for (std::size_t n = 0; n < all.size();)
    if (all[n].address < address + bytes && address < all[n].address + all[n].i->bytes)
      finish_load(lane, n);
    else
      ++n;
}

void warp::finish_used(instruction const& i) {
  for_each_lane(late_lanes_ & active_, [&](std::uint32_t lane) {
    auto const is_used = [&](late_load const& l) {
      return l.to == i.guard || std::find(std::begin(i.o), std::end(i.o), l.to) != std::end(i.o);
    };
    auto& all = loads_[lane];
    for (auto n = all.size(); n-- > 0;)
      if (is_used(all[n])) finish_load(lane, n);
  });
}

std::uint64_t warp::load(instruction const& i, std::uint32_t lane, std::uint64_t address) {
  auto const found = find(i, lane, address, i.bytes);
  switch (found.what) {
    case target::kind::local: {
      std::uint64_t value = 0;
      std::memcpy(&value, reinterpret_cast<void const*>(address), i.bytes);
      where[lane] = went::local;
      return value;
    }
    case target::kind::shared:
      if (!sm_.was_written(found.offset, i.bytes))
        fail(i, lane, "reads shared memory that nobody has written");
      where[lane] = went::shared;
      if (i.order == order::acquire) acquire(lane);
      return load_bytes(reinterpret_cast<std::uint64_t>(sm_.shared()) + found.offset, i.bytes);
    case target::kind::global:
      break;
  }
  if (found.range->kind == memory_kind::constant) {
    where[lane] = went::constant;
    return load_bytes(address, i.bytes);
  }
  finish_overlapping(lane, address, i.bytes);
  drain_some(lane);
  auto loaded = sm_.load(*found.range, address, i.bytes, i.order == order::weak, floors_[lane]);
  stores_[lane].overlay(address, i.bytes, loaded.value);
  if (i.order == order::acquire) acquire(lane);
  auto const went_to = loaded.from_l1                           ? went::l1
                       : found.range->kind == memory_kind::host ? went::host
                                                                : went::device;
  where[lane] =
      std::max(where[lane], went_to);  // a vector's later elements hit the sector that its first one fetched
  return loaded.value;
}

void warp::store(instruction const& i, std::uint32_t lane, std::uint64_t address, std::uint64_t value) {
  auto const found = find(i, lane, address, i.bytes);
  if (i.order == order::release) publish(lane, i.scope);
  switch (found.what) {
    case target::kind::local:
      where[lane] = went::local;
      std::memcpy(reinterpret_cast<void*>(address), &value, i.bytes);
      return;
    case target::kind::shared:
      where[lane] = went::shared;
      store_bytes({reinterpret_cast<std::uint64_t>(sm_.shared()) + found.offset, value, i.bytes});
      return sm_.set_written(found.offset, i.bytes);
    case target::kind::global:
      break;
  }
  if (found.range->kind == memory_kind::constant) fail(i, lane, "writes constant memory");
  finish_loads(lane);
  where[lane] = found.range->kind == memory_kind::host ? went::host : went::device;
  stores_[lane].push({address, value, i.bytes});
  drain_some(lane);
}

void warp::pass_on(pending_store const& s) { sm_.accept(*range_of(s.address, s.bytes), s); }

void warp::drain_some(std::uint32_t lane) {
  auto& buffer = stores_[lane];
  while (!buffer.empty() && (buffer.size() > store_buffer::room || random_.chance(grid_.how.drain)))
    buffer.drain(random_() % buffer.size(), [this](pending_store const& s) { pass_on(s); });
}

void warp::publish(std::uint32_t lane, scope to) {
  finish_loads(lane);
  stores_[lane].flush([this](pending_store const& s) { pass_on(s); });
  if (to == scope::cta) return;
  sm_.flush_to_device();
  if (to == scope::sys) grid_.bus->flush();
}

void warp::join_memory(std::uint32_t lanes) {
  std::uint64_t floor = 0;
  for_each_lane(lanes, [&](std::uint32_t lane) {
    publish(lane, scope::cta);
    floor = std::max(floor, floors_[lane]);
  });
  for_each_lane(lanes, [&](std::uint32_t lane) { floors_[lane] = floor; });
}

void warp::age() {
  for_each_lane(late_lanes_, [&](std::uint32_t lane) { finish_load(lane, random_() % loads_[lane].size()); });
  for (auto& buffer : stores_)
    if (!buffer.empty())
      buffer.drain(random_() % buffer.size(), [this](pending_store const& s) { pass_on(s); });
  sm_.age();
  grid_.bus->age();
}

void warp::report(instruction const& i, access_kind kind) {
  grid_.watcher->accesses(*this, i,
                          {kind, std::uint32_t{i.bytes} * i.elements, addresses.data(), where.data()});
}

}  // namespace ptx
