#include "tests/ptx/cost/bed.hpp"

#include <bit>
#include <cstring>
#include <stdexcept>

#include "runtime/device/cuda/cuda_program.hpp"

namespace ptx_cost {

namespace {

constexpr std::uint64_t patience_ps = 1'000'000'000'000;  // of virtual time: a second
constexpr std::uint32_t state_bytes = 256, direct_slots = 512;

rondo::arena_shape shape_of(bed_options const& o) {
  rondo::arena_shape s;
  s.latency_sample_every = 64;  // as a runtime's configuration says
  s.teams = o.teams + o.pinned_teams;
  s.ring_slots = o.capacity;
  s.actors = s.rings = std::bit_ceil(std::max({64u, 2 * s.teams, o.actors}));
  s.heap_bytes = std::max(s.heap_bytes, std::uint64_t{state_bytes} * (s.actors + 1));
  return s;
}

}  // namespace

bed::bed(ptx::module const& code, bed_options const& o, costs const& c)
    : costs_(c),
      random_(o.seed),
      image_(shape_of(o)),
      owners_(o.pinned_teams, 0, shape_of(o).actors),
      pool_teams_(o.teams),
      capacity_(o.capacity) {
  using enum ptx::memory_kind;
  auto& g = launch_;
  g.arena = arena_ = memory(image_.size(), device);
  std::memcpy(arena_, image_.arena().base(), image_.arena().header().heap_at);
  g.state = of<rondo::grid_state>(1, device);
  g.control = of<rondo::control_block>(1, host);
  g.reports = of<rondo::team_report>(o.teams + o.pinned_teams, host);
  g.page = of<rondo::actor_snapshot>(rondo::page_actors, host);
  g.queues = {ring<rondo::submission>(1024, &writers_.emplace_back()),
              ring<rondo::device_event>(1024, of<rondo::bus_writers>(1, device)),
              of<rondo::direct_ring<rondo::prompt_bus>>(o.pinned_teams, host), o.pinned_teams};
  for (std::uint32_t n = 0; n < o.pinned_teams; ++n)
    g.queues.direct[n].ring = ring<rondo::submission>(direct_slots, &writers_.emplace_back());
  constexpr std::uint32_t buffers = 4096;
  g.buffers = {of<rondo::buffer_entry>(buffers, device), buffers,
               of<rondo::atomic<std::uint32_t, rondo::scope::system>>(16, device), 1};
  g.idle = {.spin_ns = 50'000, .park = true};  // the defaults of a configuration
  g.pool_teams = o.teams;
  g.pinned_teams = o.pinned_teams;
  g.control->request.store(rondo::make_request(1, rondo::request_kind::run), rondo::memory_order::relaxed);
  queues_.emplace(g.queues, owners_, rondo::idle_policy{.park = false});
  events_.emplace(g.queues.up);
  auto const per_block = rondo::warp_teams_per_block;
  auto const blocks = 1 + (g.teams() + per_block - 1) / per_block;
  grid_.emplace(code, code.find_entry("run_grid"), blocks, per_block * rondo::warp_size,
                ptx::params_of(g, rondo::warp_size), ranges_, costs_);
}

/// The beginning of all memory is aligned alike, so that lines of the L1 do not depend on where the system maps it.
std::byte* bed::memory(std::size_t bytes, ptx::memory_kind kind) {
  constexpr std::uint64_t alignment = 1 << 20;
  auto const& m = memory_.emplace_back(bytes + alignment);
  auto const begin = (reinterpret_cast<std::uint64_t>(m.data()) + alignment - 1) / alignment * alignment;
  ranges_.push_back({begin, begin + bytes, kind, kind == ptx::memory_kind::host ? "pinned" : "device"});
  return reinterpret_cast<std::byte*>(begin);
}

template <class Item>
rondo::bus_ring_ref<Item> bed::ring(std::uint32_t slots, rondo::bus_writers* writers) {
  rondo::bus_ring_ref<Item> const r{of<rondo::bus_slot<Item>>(slots, ptx::memory_kind::host),
                                    of<rondo::bus_progress>(1, ptx::memory_kind::host), writers, slots};
  // As if one lap had passed: the first one writes all chunks of each slot.
  for (std::uint32_t t = 0; t < slots; ++t)
    for (auto& chunk : r.slot(t).chunks)
      chunk.store(rondo::bus_slot<Item>::tag(t), rondo::memory_order::relaxed);
  r.progress->consumed.store(slots, rondo::memory_order::relaxed);
  for (auto* const count : {&writers->tail, &writers->seen})
    count->store(slots, rondo::memory_order::relaxed);
  return r;
}

rondo::actor_id bed::launch(std::uint16_t behaviour, bool pinned) {
  rondo::launch_spec spec{};
  spec.id = {next_cell_, 1};
  spec.heap_end = image_.arena().header().heap_at + std::uint64_t{state_bytes} * (next_cell_ + 1);
  spec.state_offset = spec.heap_end - state_bytes;
  spec.capacity = capacity_;
  spec.behaviour = behaviour;
  spec.pinned = pinned;
  spec.active = true;
  if (pinned) spec.team = pool_teams_ + owners_.take(spec.id).value();
  ++next_cell_;
  if (queues_->launch(spec) != rondo::errc::ok) throw std::runtime_error("a launch was refused");
  auto const& cell = arena().cell(spec.id.index);
  wait_until([&] {
    return rondo::actor_word{cell.word.load(rondo::memory_order::relaxed)}.has(rondo::actor_word::open);
  });
  return spec.id;
}

std::uint64_t bed::submit(rondo::actor_id to, rondo::message_header header, void const* payloads,
                          std::uint32_t bytes, std::uint32_t count, bool is_new) {
  auto const stored = grid_->now_ps() + costs_.pcie_read_ps / 2;
  header.stamp(stored / 1000);
  auto const team = owners_.team_of(to);
  auto const& ring = team ? launch_.queues.direct[*team].ring : launch_.queues.down;
  auto const ticket = ring.tail();
  rondo::mail_view const mail{to, header, payloads, bytes, bytes, count};
  if (queues_->submit(mail, {}) != rondo::errc::ok) throw std::runtime_error("a submission was refused");
  message_ += is_new;
  for (auto t = ticket; t != ring.tail(); ++t)
    grid_->note_host_store(&ring.slot(t), sizeof(rondo::bus_slot<rondo::submission>), message_);
  return stored - costs_.host_submit_ps;
}

sighting bed::wait_for_event(rondo::device_event& event) {
  for (auto const until = grid_->now_ps() + patience_ps; grid_->now_ps() < until;) {
    grid_->advance();
    if (!grid_->has_posted()) continue;
    if (!events_->fetch(event)) continue;
    events_->advance(1);
    events_->publish();
    return {grid_->arrival_ps() + costs_.host_take_ps, grid_->last_step()};
  }
  throw std::runtime_error("the grid sent no event within a second of its time");
}

sighting bed::wait_until(std::function<bool()> const& is_so) {
  for (auto const until = grid_->now_ps() + patience_ps; grid_->now_ps() < until;) {
    grid_->advance();
    if (grid_->has_stored() && is_so()) return {grid_->last_ps(), grid_->last_step()};
  }
  throw std::runtime_error("the grid did not do within a second of its time what it was told");
}

void bed::pass(std::uint64_t ps) {
  for (auto const until = grid_->now_ps() + ps; grid_->now_ps() < until;) grid_->advance();
}

void bed::think() { pass(1'000'000 + random_() % 4'000'000); }

}  // namespace ptx_cost
