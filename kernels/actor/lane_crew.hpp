// The crew of a team's lanes: lane 0 calls the others to join a handler of the whole team, or to take an actor each.
//
// Only lane 0 schedules. For a behaviour of the whole team it publishes the call, and all lanes run it between
// two syncs. With one lane, none of this costs anything.
#pragma once

#include "kernels/actor/module.hpp"
#include "kernels/mail/mail_window.hpp"

namespace rondo {

/// One handler call, as published to all lanes.
struct handler_call {
  enum class what : std::uint32_t {
    leave,
    join,
    fetch,
    side_by_side,
    one,
    batch,
    tiles,
    tile,
    finish,
    start,
    again,
    room
  };
  what kind;
  std::uint32_t actor, ticket, count;  // count: messages of a batch, or the number of the tile
};
// Of `fetch`: `actor` is the number of the ring's slots, and the word behind the call says where they are.
static_assert(sizeof(handler_call) <= sizeof(team_shared::command));

/// The result of a handler call.
struct call_result {
  errc failure = errc::ok;
  bool answered = false;
  unhandled how = unhandled::failed;  // with a failure
  std::uint32_t tiles = 0;
  std::uint32_t digest = 0;  // of the messages it sent
};

template <class Module>
class lane_crew {
 public:
  RONDO_HD lane_crew(scheduler& sched, team const& t, host_port const& host) noexcept
      : scheduler_(sched), team_(t), host_(host) {}

  /// Lane 0: runs `call` on all lanes if the behaviour has width::whole_team, otherwise on this lane.
  /// `own_mail`: as for a context.
  RONDO_CALL RONDO_HD call_result run(handler_call call, actor_id self,
                                      std::uint32_t* own_mail = nullptr) const {
    if (team_.lanes() == 1) return invoke(call, self, team_, own_mail);
    if (Module::width_of(scheduler_.arena().cell(call.actor).behaviour()) != width::whole_team)
      return invoke(call, self, team{team_.index()}, own_mail);  // alone: a team of one
    publish(team_, call);
    team_.sync();
    auto result = invoke(call, self, team_, own_mail);
    team_.sync();
    auto const failure = static_cast<errc>(team_.shared()->failure.exchange(0, memory_order::relaxed));
    if (failure != errc::ok) result.failure = failure, result.how = unhandled::failed;
    return result;
  }
  /// Lane 0: makes the other lanes return from `serve`.
  RONDO_HD void dismiss() const { tell(handler_call::what::leave); }
  /// Lane 0: makes the other lanes call the function that they have passed to `serve`.
  RONDO_HD void join() const {
    tell(handler_call::what::join);
    after_reading(team_);
  }
  /// The same, for run_side_by_side of ring_kernel.hpp with this band.
  RONDO_HD void run_side_by_side(std::uint32_t band) const {
    publish(team_, {handler_call::what::side_by_side, 0, 0, band});
    team_.sync();
    after_reading(team_);
  }
  /// Lane 0: fetches mail into the team's window. Precondition: there is a window.
  RONDO_HD window_contents fetch(window_request from) const {
    auto const t = team_;  // a copy, which stays in registers on a GPU
    if (t.lanes() != 1) {
      publish(t, {handler_call::what::fetch, from.ring.slot_count, from.ticket, from.most});
      t.shared()->command[2] = reinterpret_cast<std::uintptr_t>(from.ring.slots);
      t.sync();
      after_reading(t);
    }
    return fetch_mail(first_warp(t), from, *host_.mail);
  }
  /// Lanes other than 0: run published calls until dismissed.
  template <class Join>
  RONDO_CALL RONDO_HD void serve(Join const& join) const {
    auto const t = team_;  // a copy, which stays in registers on a GPU
    for (;;) {
      t.sync();
      handler_call call;
      __builtin_memcpy(&call, t.shared()->command, sizeof call);
      if (call.kind == handler_call::what::leave) return;
      bool const is_side_by_side = Module::has_lanes && call.kind == handler_call::what::side_by_side;
      if (is_side_by_side || call.kind == handler_call::what::join) {
        after_reading(t);
        join(is_side_by_side, call.count);
        continue;
      }
      if (call.kind == handler_call::what::fetch) {
        auto* const slots = reinterpret_cast<message_slot*>(t.shared()->command[2]);
        after_reading(t);
        if (t.lane() < hardware::warp_lanes)
          fetch_mail(first_warp(t), {{slots, call.actor}, call.ticket, call.count}, *host_.mail);
        continue;
      }
      invoke(call, {call.actor, scheduler_.arena().cell(call.actor).generation.load(memory_order::relaxed)},
             team_, nullptr);
      team_.sync();
    }
  }

 private:
  RONDO_HD void tell(handler_call::what kind) const {
    if (team_.lanes() == 1) return;
    publish(team_, {kind, 0, 0, 0});
    team_.sync();
  }
  /// The function that all join in syncs the first warp alone: a lane of another warp would read the next call instead
  /// of this one.
  RONDO_HD static void after_reading(team const& t) {
    if (t.lanes() > hardware::warp_lanes) t.sync();
  }
  RONDO_HD static team first_warp(team const& t) noexcept {
    return t.lanes() == 1 ? team{t.index()} : team{t.index(), t.lane(), hardware::warp_lanes, *t.shared()};
  }
  RONDO_HD static void publish(team const& t, handler_call call) noexcept {
    __builtin_memcpy(t.shared()->command, &call, sizeof call);
  }

  RONDO_CALL RONDO_HD call_result invoke(handler_call call, actor_id self, team const& lanes,
                                         std::uint32_t* own_mail) const {
    arena_ref const& arena = scheduler_.arena();
    actor_cell const& cell = arena.cell(call.actor);
    std::byte* const state = arena.state(cell);
    context ctx{scheduler_, lanes, host_, self, own_mail};
    call_result result;
    if (call.kind == handler_call::what::start) {
      message_header const none{};
      ctx.begin(none);
      Module::start(cell.behaviour(), state, ctx);
    } else if (call.kind == handler_call::what::again || call.kind == handler_call::what::room) {
      message_header h;
      bool const goes_on = call.kind == handler_call::what::again;
      h.type = goes_on ? type_id<again> : type_id<room>;
      ctx.begin(h);
      bool const listed = goes_on ? Module::template handle_own<again>(cell.behaviour(), state, ctx)
                                  : Module::template handle_own<room>(cell.behaviour(), state, ctx);
      if (!listed) ctx.fail(errc::unknown_message);
    } else {
      mail_ring_ref const ring =
          arena.ring_at(arena.owner(cell).held_ring.load(memory_order::relaxed));  // relaxed: the owner's own
      message_slot const& slot = ring.slot(call.ticket);
      ctx.begin(slot.header);
      if (call.kind == handler_call::what::one)
        Module::handle_one(cell.behaviour(), state, ctx, slot);
      else if (call.kind == handler_call::what::batch)
        Module::handle_batch(cell.behaviour(), state, ctx, slot.header.type, ring.payloads(call.ticket),
                             call.count);
      else if (call.kind == handler_call::what::tiles)
        result.tiles = Module::handle_wide(wide_step::tiles, cell.behaviour(), state, ctx, slot, 0);
      else if (call.kind == handler_call::what::tile)
        Module::handle_wide(wide_step::tile, cell.behaviour(), state, ctx, slot, call.count);
      else
        Module::handle_wide(wide_step::finish, cell.behaviour(), state, ctx, slot, 0);
    }
    if (ctx.failure() != errc::ok && ctx.how() == unhandled::failed && lanes.lanes() > 1)
      note_failure(ctx.failure());  // any lane may fail; the first reason wins
    result.failure = ctx.failure();
    result.answered = ctx.answered();
    result.how = ctx.how();
    result.digest = ctx.digest();
    return result;
  }

  RONDO_HD void note_failure(errc reason) const noexcept {
    std::uint32_t none = 0;
    // Relaxed: the sync after the handler orders it.
    team_.shared()->failure.compare_exchange(none, static_cast<std::uint32_t>(reason), memory_order::relaxed,
                                             memory_order::relaxed);
  }

  scheduler& scheduler_;
  team const& team_;
  host_port const& host_;
};

}  // namespace rondo
