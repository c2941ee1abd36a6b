// A flock: boids (boids.hpp) that find their neighbours by cells. On every device, and with any number of teams, agents
// fly the same way.
//
// The agents exist twice: as they have moved, and sorted by their cells, so that those of a cell, and of cells beside
// each other in a row, lie beside each other. A step sorts them by counting, then moves each of them:
//
//   sum_cells, start_cells   from how many agents each cell has to where its first one lies: a prefix sum in two passes
//   place_agents             each agent takes the next place of its cell; the order depends on which team comes first
//   order_cells              so the agents of each cell are sorted by their numbers
//   move_agents              each agent looks around, moves, and counts itself in the cell where it is now
//
// Each pass is a wide message: teams compute parts of the agents, or of the cells, side by side. There are two sets of
// cells, used in turn: one is read while the next one is counted. Between passes the actor looks at its mail.
#pragma once

#include "actors/workloads/boids.hpp"
#include "kernels/actor/module.hpp"
#include "kernels/buffers/buffer_lease.hpp"

namespace rondo::workloads {

/// The memory of a flock besides its agents: a copy of them, sorted by cells; two sets of cells; and how many agents
/// each part of the cells has. A cell is one number: first how many agents it has, then where the first of them lies,
/// and when all are placed, where the first of the next cell lies. Before the first cell of a set there is a 0.
struct flock_places {
  /// Agents, or cells, that a tile handles.
  static constexpr std::uint32_t per_part = 1024;

  agent* sorted;
  std::uint32_t* cells[2];
  std::uint32_t* sums;

  RONDO_HD flock_places(std::byte* at, std::uint32_t agents, std::uint32_t cell_count) noexcept
      : sorted(reinterpret_cast<agent*>(at)) {
    cells[0] = reinterpret_cast<std::uint32_t*>(sorted + agents) + 1;
    cells[1] = cells[0] + cell_count + 1;
    sums = cells[1] + cell_count;
  }
  RONDO_HD static constexpr std::uint32_t parts_of(std::uint32_t count) noexcept {
    return (count + per_part - 1) / per_part;
  }
  RONDO_HD static constexpr std::uint64_t bytes(std::uint32_t agents, std::uint32_t cell_count) noexcept {
    return sizeof(agent) * std::uint64_t{agents} +
           sizeof(std::uint32_t) * (2 * (std::uint64_t{cell_count} + 1) + parts_of(cell_count));
  }
};

/// Asks to move a flock.
struct fly {
  buffer_ref agents;     // all of them, in any order, each with a number of its own; they are moved
  buffer_ref places;     // memory for flock_places; its contents mean nothing
  std::uint32_t radius;  // as boids::space has it
  std::uint32_t steps;
};
/// The end: `status` is ok, or why the flock cannot be moved.
struct flown {
  errc status = errc::ok;
  std::uint32_t steps = 0;
};
/// Asks for the steps so far.
struct steps_flown {};
/// A pass of a step. The actor sends it to itself.
struct flock_pass {};

struct flock {
  using messages = rondo::messages<rondo::ask<fly, flown>, flock_pass, again, rondo::ask<steps_flown, flown>>;
  static constexpr auto width = rondo::width::whole_team;
  static constexpr bool holds_addresses = true;  // of the buffers, while it flies

  /// How many others an agent looks at in a row of three cells. If there are more, it looks at those in the middle of
  /// the row, so that no side is preferred, and a step takes no longer when agents crowd.
  static constexpr std::uint32_t most_of_row = 24;

  RONDO_HD void on(context& ctx, fly const& m) {
    auto const status = ctx.team().broadcast(ctx.team().leader() ? begin(ctx, m) : errc::ok);
    if (status == errc::wrong_state) return ctx.reject(status);
    if (status != errc::ok) return static_cast<void>(ctx.reply(flown{status}));
    auto const asker = ctx.defer();
    if (ctx.team().leader()) asker_ = asker;
    auto* const cells = places().cells[0];
    for (auto const c : ctx.lanes(world_.cells())) cells[c] = 0;
    ctx.again();
  }
  /// The next pass waits in the mailbox behind the mail that came in between.
  RONDO_HD void on(context& ctx, again const&) {
    if (agents_ != nullptr && ctx.tell(ctx.self_as<flock>(), flock_pass{}) != errc::ok) ctx.again();
  }
  RONDO_HD flown on(context&, steps_flown const&) { return so_far_; }

  RONDO_HD std::uint32_t tiles(context&, flock_pass const&) {
    return agents_ != nullptr ? flock_places::parts_of(elements()) : 0;
  }
  RONDO_HD void tile(context& ctx, flock_pass const&, std::uint32_t part) {
    constexpr auto most = flock_places::per_part;
    auto const first = part * most, count = elements() - first < most ? elements() - first : most;
    auto const to = places();
    auto *const cells = to.cells[so_far_.steps % 2], *const next = to.cells[1 - so_far_.steps % 2];
    switch (pass_) {
      case pass::count_agents:
        for (auto const i : ctx.lanes(count)) take_place(cells, agents_[first + i]);
        break;
      case pass::sum_cells: {
        std::uint32_t sum = 0;
        for (auto const c : ctx.lanes(count)) sum += cells[first + c];
        sum = ctx.team().sum(sum);
        if (ctx.team().leader()) to.sums[part] = sum;
        break;
      }
      case pass::start_cells:
        start_cells(ctx, to.sums, part, cells + first, count);
        break;
      case pass::place_agents:
        for (auto const i : ctx.lanes(count)) {
          auto const& a = agents_[first + i];
          to.sorted[take_place(cells, a)] = a;
        }
        break;
      case pass::order_cells:
        for (auto const i : ctx.lanes(count)) {
          auto const c = std::int64_t{first} + i;
          sort_by_number(to.sorted + cells[c - 1], cells[c] - cells[c - 1]);
          next[c] = 0;
        }
        break;
      case pass::move_agents:
        for (auto const i : ctx.lanes(count)) {
          auto const& me = to.sorted[first + i];
          auto const now = boids::moved(world_, me, around(me, to.sorted, cells));
          agents_[first + i] = now;
          take_place(next, now);
        }
        break;
    }
  }
  RONDO_HD void finish(context& ctx, flock_pass const&) {
    if (agents_ == nullptr) return;
    bool const goes_on = ctx.team().broadcast(ctx.team().leader() && advance());
    if (goes_on) return ctx.again();
    if (ctx.team().leader()) end(ctx);  // before the reply: the asker may use the buffers at once
    ctx.reply_to(asker_, so_far_);
  }

 private:
  enum class pass : std::uint32_t {
    count_agents,  // before the first step
    sum_cells,
    start_cells,
    place_agents,
    order_cells,
    move_agents
  };

  /// One lane: takes the buffers.
  RONDO_HD errc begin(context& ctx, fly const& m) noexcept {
    using boids::space;
    // One flock at a time. Only this lane looks: the others might already see the buffers that it has taken.
    if (agents_ != nullptr) return errc::wrong_state;
    constexpr std::uint64_t most = 1u << 29;  // a message has fewer than 2^20 tiles
    auto const count = m.agents.bytes / sizeof(agent);
    if (count == 0 || count > most || m.radius < space::least_radius || m.radius > space::most_radius)
      return errc::buffer_out_of_bounds;
    world_ = space(m.radius);
    count_ = static_cast<std::uint32_t>(count);
    if (m.places.bytes < flock_places::bytes(count_, world_.cells())) return errc::buffer_out_of_bounds;
    buffer_view<std::byte> agents, memory;
    if (auto const e = ctx.buffers().try_write(m.agents, agents); e != errc::ok) return e;
    if (auto const e = ctx.buffers().try_write(m.places, memory); e != errc::ok)
      return ctx.buffers().end_write(m.agents), e;
    agents_ = reinterpret_cast<agent*>(agents.data());
    memory_ = memory.data();
    asked_ = m;
    so_far_ = {};
    pass_ = pass::count_agents;
    auto const to = places();
    to.cells[0][-1] = to.cells[1][-1] = 0;
    return errc::ok;
  }
  /// One lane: to the next pass. False after the last step.
  RONDO_HD bool advance() noexcept {
    bool const has_moved = pass_ == pass::move_agents;
    if (has_moved) ++so_far_.steps;
    pass_ = has_moved ? pass::sum_cells : static_cast<pass>(static_cast<std::uint32_t>(pass_) + 1);
    return so_far_.steps < asked_.steps;
  }
  RONDO_HD void end(context& ctx) noexcept {
    ctx.buffers().end_write(asked_.places);
    ctx.buffers().end_write(asked_.agents);
    agents_ = nullptr;
  }

  RONDO_HD flock_places places() const noexcept { return {memory_, count_, world_.cells()}; }
  /// What the pass handles: agents, or cells.
  RONDO_HD std::uint32_t elements() const noexcept {
    bool const is_of_cells =
        pass_ == pass::sum_cells || pass_ == pass::start_cells || pass_ == pass::order_cells;
    return is_of_cells ? world_.cells() : count_;
  }

  /// The next place in the agent's cell; or, while agents are counted, how many it had.
  RONDO_HD std::uint32_t take_place(std::uint32_t* cells, agent const& a) const noexcept {
    // Relaxed: the end of the pass publishes the sums, and the places that are taken differ.
    return as_atomic(cells[world_.cell_of(a)]).fetch_add(1u, memory_order::relaxed);
  }
  /// Each lane has cells that lie beside each other.
  RONDO_HD static void start_cells(context& ctx, std::uint32_t const* sums, std::uint32_t part,
                                   std::uint32_t* cells, std::uint32_t count) noexcept {
    auto const& team = ctx.team();
    std::uint32_t before = 0, own = 0;
    for (auto const p : ctx.lanes(part)) before += sums[p];
    before = team.sum(before);
    auto const first = count * team.lane() / team.lanes(), end = count * (team.lane() + 1) / team.lanes();
    for (auto c = first; c < end; ++c) own += cells[c];
    auto at = before + team.scan(own, [](std::uint32_t a, std::uint32_t b) { return a + b; }) - own;
    for (auto c = first; c < end; ++c) {
      auto const agents = cells[c];
      cells[c] = at;
      at += agents;
    }
  }
  /// Shell's method: a few agents, most of which lie in order, are moved little; many take little longer for each.
  RONDO_HD static void sort_by_number(agent* first, std::uint32_t count) noexcept {
    for (auto gap = count / 9 * 4 + 1;; gap = gap > 4 ? gap / 9 * 4 + 1 : 1) {
      for (auto i = gap; i < count; ++i) {
        auto const a = first[i];
        auto at = i;
        for (; at >= gap && first[at - gap].number > a.number; at -= gap) first[at] = first[at - gap];
        first[at] = a;
      }
      if (gap == 1) return;
    }
  }

  /// What an agent sees in the nine cells around it, row by row.
  RONDO_HD boids::surroundings around(agent const& me, agent const* sorted,
                                      std::uint32_t const* cells) const noexcept {
    auto const side = world_.side, column = world_.line_of(me.x), row = world_.line_of(me.y);
    auto const left = column == 0 ? side - 1 : column - 1, right = column + 1 == side ? 0 : column + 1;
    std::uint32_t const rows[] = {row == 0 ? side - 1 : row - 1, row, row + 1 == side ? 0 : row + 1};
    boids::surroundings seen;
    for (auto const r : rows) {
      // Three cells beside each other are one run of agents; where the row wraps around, they are two.
      auto const* const ends = cells + std::int64_t{r} * side;
      auto const from = ends[std::int64_t{left} - 1];
      if (left < right) {
        look_along(seen, me, sorted + from, ends[right] - from, nullptr, 0);
      } else {
        auto const first = ends[-1];
        look_along(seen, me, sorted + from, ends[side - 1] - from, sorted + first, ends[right] - first);
      }
    }
    return seen;
  }
  /// Looks at a run of agents and then at another one, as if they were one.
  RONDO_HD void look_along(boids::surroundings& seen, agent const& me, agent const* one, std::uint32_t ones,
                           agent const* two, std::uint32_t twos) const noexcept {
    auto const all = ones + twos, count = all < most_of_row ? all : most_of_row;
    auto const first = (all - count) / 2, end = first + count;
    auto const split = ones < first ? first : ones < end ? ones : end;
    for (auto i = first; i < split; ++i) seen.look_at(world_, me, one[i]);
    for (auto i = split; i < end; ++i) seen.look_at(world_, me, two[i - ones]);
  }

  fly asked_{};
  reply_token asker_{};
  boids::space world_{};
  agent* agents_ = nullptr;  // while they fly
  std::byte* memory_ = nullptr;
  std::uint32_t count_ = 0;
  pass pass_ = pass::count_agents;
  flown so_far_{};
};

}  // namespace rondo::workloads
