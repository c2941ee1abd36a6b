// The ring kernel, a team's main loop: takes ready actors, runs them, helps with wide messages, backs off when idle.
//
// There is one `ring_kernel` object per team lane. In persistent mode `run` returns when the arena's stop word is set.
// In bounded rounds it also returns after a number of messages or a time, and the host starts the next round.
#pragma once

#include "kernels/actor/slice.hpp"

namespace rondo {

/// Limits of one call of `run`. 0: no limit.
struct round_limits {
  std::uint32_t messages = 0;
  std::uint64_t ns = 0;
};

/// How a team waits for work.
struct idle_policy {
  std::uint64_t spin_ns = 50'000;  // poll for this long before parking
  bool park = true;                // false: never sleep
  bool pinned_only = false;        // the team serves only the pinned actor that owns it
};

/// For a team whose mail all comes by mailboxes. Another kind of inbox: kernels/grid/direct_inbox.hpp.
struct no_inbox {
  static constexpr bool exists = false;
  RONDO_HD static constexpr bool has_work() noexcept { return false; }
  RONDO_HD static constexpr void join() noexcept {}
};

/// `Inbox`: what a pinned team looks at beside the mailbox of its actor.
template <class Module, class Inbox = no_inbox>
class ring_kernel {
 public:
  RONDO_HD ring_kernel(arena_ref arena, team const& t, host_port const& host, idle_policy idle,
                       Inbox inbox = {}) noexcept
      : scheduler_(arena, true),
        team_(t),
        host_(host),
        crew_(scheduler_, team_, host_),
        idle_(idle),
        inbox_(inbox) {
    if constexpr (packs_mail<Module>)
      if (!idle.pinned_only) packs_.desk = host.packs();
  }

  RONDO_HD Inbox& inbox() noexcept { return inbox_; }

  /// All lanes of the team call this. Returns the number of completed messages (lane 0).
  RONDO_HD std::uint64_t run(round_limits limits) {
    if (!team_.leader()) {
      crew_.serve([this](bool side_by_side, std::uint32_t band) {
        if constexpr (Module::has_lanes)
          if (side_by_side) return static_cast<void>(run_side_by_side(arena(), team_, host_, 0, band));
        inbox_.join();
      });
      return 0;
    }
    limits_ = limits;
    end_ns_ = limits.ns != 0 ? now_ns() + limits.ns : 0;
    quotas_ = limits.ns != 0 || limits.messages != 0 ? 1 : 16;
    std::uint64_t dealt = 0;
    std::uint64_t idle_since = 0;
    while (!arena().stopping()) {
      auto const n = turn();
      dealt += n.dealt;
      if (n.worked) {
        if (idle_since != 0) set_idle(false);
        idle_since = 0;
      }
      if (limits.messages != 0 && dealt >= limits.messages) break;
      if (n.worked && end_ns_ == 0) continue;
      auto const now = now_ns();
      if (end_ns_ != 0 && now >= end_ns_) break;
      if (n.worked) continue;
      if (idle_since == 0) {
        idle_since = now;
        scheduler_.share_all();
        set_idle(true);
      }
      back_off(now - idle_since, end_ns_ == 0 ? ~0ull : end_ns_ - now);
    }
    if (idle_since != 0) set_idle(false);
    scheduler_.share_all();
    play_pack();
    crew_.dismiss();
    return dealt;
  }

  /// The last call: waits until no pack is being played, and ends those that were.
  void end_packs() {
    if constexpr (packs_mail<Module>) {
      if (packs_.desk == nullptr) return;
      while (packs_.desk->in_play() != 0)
        if (!end_pack().worked) yield_thread();
      scheduler_.share_all();
    }
  }

  /// For a guest thread with a team of one lane: runs ready actors until none is left or `limit_ns` has passed, and
  /// leaves the rest to the other teams. Returns the number of completed messages.
  std::uint64_t drain(std::uint64_t limit_ns) {
    auto const end_ns = now_ns() + limit_ns;
    std::uint64_t dealt = 0;
    quotas_ = 1;
    if constexpr (packs_mail<Module>) packs_.desk = nullptr;  // the thread wants this done now
    scheduler_.linger_pauses = 0;                             // only this thread sends more mail
    if (scheduler_.count_ready() > 1) scheduler_.wake();      // other teams can take some
    scheduler_.be_quiet(true);
    while (!arena().stopping()) {
      auto const n = turn();
      dealt += n.dealt;
      if (!n.worked || now_ns() >= end_ns) break;
    }
    scheduler_.be_quiet(false);
    scheduler_.share_all();
    if (scheduler_.sees_work()) scheduler_.wake();
    return dealt;
  }

 private:
  struct turn_result {
    bool worked;
    std::uint32_t dealt;
  };

  RONDO_HD arena_ref const& arena() const noexcept { return scheduler_.arena(); }
  RONDO_HD team_status& status() const noexcept { return *status_; }

  RONDO_HD turn_result turn() {
    if constexpr (packs_mail<Module>)
      if (packs_.desk != nullptr)
        if (auto const n = see_to_packs(); n.worked) return n;
    // Relaxed: claim acquires the actor.
    if (auto const pinned = status().pinned_actor.load(memory_order::relaxed); pinned != 0)
      if (auto const n = serve_pinned(pinned - 1); n.worked) return n;
    if (idle_.pinned_only) return {take_in_alone() != 0, 0};
    std::uint32_t helped = 0;
    // Relaxed: a hint.
    if (arena().header().open_jobs.load(memory_order::relaxed) != 0 && help_with_jobs(helped))
      return {true, helped};
    std::uint32_t index = 0;
    if (!scheduler_.next(index)) return {play_pack(), 0};
    std::uint32_t dealt = 0;
    do {
      set_actor(index + 1);
      if (takes_lane(index))
        dealt += call_side_by_side(index);
      else if constexpr (packs_mail<Module>)
        dealt += slice<Module>{scheduler_, team_, host_, index, packs()}.run(quotas_);
      else
        dealt += slice<Module>{scheduler_, team_, host_, index}.run(quotas_);
    } while (quotas_ > 1 && scheduler_.next_kept(index));
    set_actor(0);
    return {true, dealt};
  }

  // -- actors side by side, one on each lane

  RONDO_HD bool takes_lane(std::uint32_t index) const noexcept {
    return Module::has_lanes && team_.lanes() != 1 && is_of_lane(arena(), index);
  }
  RONDO_HD static bool is_of_lane(arena_ref const& arena, std::uint32_t index) noexcept {
    return Module::width_of(arena.cell(index).some_behaviour()) == width::lane;
  }
  /// Lane 0, which owns `index`: calls the other lanes.
  RONDO_HD std::uint32_t call_side_by_side(std::uint32_t index) {
    if constexpr (!Module::has_lanes) return 0;
    auto const band = static_cast<std::uint32_t>(scheduler_.first_band());
    crew_.run_side_by_side(band);
    return run_side_by_side(arena(), team_, host_, index, band);
  }
  /// All lanes: each runs an actor of its own, lane 0 `index`, the others what is in front of the band's queue; and
  /// then the one that it made ready itself, if it kept that. Returns the number of completed messages (lane 0).
  RONDO_CALL RONDO_HD static std::uint32_t run_side_by_side(arena_ref const& arena, team const& t,
                                                            host_port const& host, std::uint32_t index,
                                                            std::uint32_t band) {
    if (t.lane() >= max_lanes) return 0;
    auto const lanes = t.first_lanes();
    auto const alone = lanes.beside_others();
    auto port = host;
    port.stage = nullptr, port.mail = nullptr;  // they are the team's
    scheduler sched{arena, true};
    sched.linger_pauses = 0;  // the other lanes would wait, too
    auto const takes = [&](std::uint32_t i) { return is_of_lane(arena, i); };
    auto& status = arena.lane(t.index(), t.lane());
    // Relaxed, all of the status: only a report.
    if (t.leader()) arena.team(t.index()).side_by_side.store(1, memory_order::relaxed);
    bool has_one = sched.next_by_lanes(lanes, static_cast<int>(band), takes, index) || t.leader();
    std::uint32_t dealt = 0;
    while (lanes.any(has_one)) {
      if (!has_one) continue;
      status.actor.store(index + 1, memory_order::relaxed);
      dealt += slice<Module>{sched, alone, port, index}.run(1);
      status.actor.store(0, memory_order::relaxed);
      has_one = !arena.stopping() && sched.next_kept_if(takes, index);
    }
    sched.share_all();
    if (t.leader()) arena.team(t.index()).side_by_side.store(0, memory_order::relaxed);
    return lanes.sum(dealt);
  }

  // -- packs, of a `cpu` device with a GPU beside it

  /// Null: not now.
  team_packs* packs() noexcept { return packs_.desk != nullptr ? &packs_ : nullptr; }
  /// True if there was one.
  RONDO_HD bool play_pack() noexcept {
    if constexpr (packs_mail<Module>)
      if (packs_.open != nullptr) return packs_.play(), true;
    return false;
  }
  turn_result see_to_packs() {
    if (packs_.desk->ended() != 0)
      if (auto const n = end_pack(); n.worked) return n;
    if (packs_.open != nullptr && now_ns() - packs_.open->opened_ns > longest_packing_ns) packs_.play();
    return {false, 0};
  }
  /// Ends a pack that was played: delivers what its handlers have sent, and takes its actors over.
  turn_result end_pack() {
    auto* const pack = packs_.desk->take_ended();
    if (pack == nullptr) return {false, 0};
    std::uint32_t dealt = 0;
    if (pack->failure == errc::ok)
      for (std::uint32_t i = 0; i < pack->sends().count; ++i) deliver(*pack, pack->send(i));
    for (std::uint32_t i = 0; i < pack->runs(); ++i) {
      auto const index = pack->from(i).actor;
      set_actor(index + 1);
      dealt += slice<Module>{scheduler_, team_, host_, index, packs()}.end_run(*pack, i);
    }
    set_actor(0);
    packs_.desk->close(*pack);
    return {true, dealt};
  }
  void deliver(mail_pack const& pack, packed_send const& s) {
    packed_run const& run = pack.run(s.run);
    context ctx{scheduler_, team_, host_, run.self};
    actor_cell const& cell = arena().cell(run.self.index);
    mail_ring_ref const ring = arena().ring_at(
        arena().owner(cell).held_ring.load(memory_order::relaxed));  // relaxed: the pack has its owner's
    auto const ticket = pack.from(s.run).ticket + (s.message - run.first);
    message_header const& h = ring.slot(ticket).header;
    ctx.begin(h);
    auto const& portable = *Module::packed(static_cast<std::uint16_t>(run.behaviour));
    if (s.entry == 0)
      ctx.reply_packed(portable.takes[pack.message(s.message).entry].reply, s.payload, s.bytes);
    else
      ctx.tell_patiently(s.to, portable.sends[s.entry - 1], static_cast<std::uint8_t>(s.priority), s.payload,
                         s.bytes);
  }

  /// Takes what is in the inbox while no actor can.
  RONDO_HD std::uint32_t take_in_alone() {
    if constexpr (Inbox::exists)
      if (inbox_.is_due_alone() && !arena().stopping()) return take_in([](auto const&...) { return 0u; });
    return 0;
  }
  /// Takes what is in the inbox; see direct_inbox::take.
  template <class Handle>
  RONDO_HD std::uint32_t take_in([[maybe_unused]] Handle const& handle) {
    std::uint32_t taken = 0;
    if constexpr (Inbox::exists) do {
        if constexpr (Inbox::joins) crew_.join();
        taken += inbox_.take(handle);
      } while (inbox_.urgent_waits());
    return taken;
  }

  RONDO_HD void set_actor(std::uint32_t index_plus_one) noexcept {
    status().actor.store(index_plus_one, memory_order::relaxed);  // relaxed: only a report
  }

  RONDO_CALL RONDO_HD bool help_with_jobs(std::uint32_t& dealt) {
    bool helped = false;
    for (std::uint32_t j = 0; j < wide_jobs_for(arena().shape().teams); ++j) {
      wide_job& job = arena().job(j);
      std::uint32_t tile = 0;
      while (job.try_claim(tile)) {
        helped = true;
        auto const index = job.actor;
        auto const ticket = job.ticket;
        set_actor(index + 1);
        actor_id const self{index, arena().cell(index).generation.load(memory_order::relaxed)};
        if (slice<Module>::run_tile(crew_, job, tile, self)) {
          auto const failure = slice<Module>::close(arena(), job);
          dealt += slice<Module>{scheduler_, team_, host_, index}.resume(ticket, failure);
          break;
        }
      }
      set_actor(0);
    }
    return helped;
  }

  /// Polls this team's pinned actor until it is gone, no mail has come for the spin time, or the kernel stops.
  RONDO_CALL RONDO_HD turn_result serve_pinned(std::uint32_t index) {
    mail_left_ = false;
    if (!scheduler_.claim(index, 0)) return {false, 0};
    set_actor(index + 1);
    slice<Module> actor{scheduler_, team_, host_, index};
    std::uint32_t total = 0, looks = 0;
    std::uint64_t idle_since = 0, shown_ns = 0;
    for (;;) {
      std::uint32_t dealt = 0;
      bool const lives = actor.poll(dealt);
      scheduler_.share_kept();  // this team does not run other actors
      if (!lives) break;
      if constexpr (Inbox::exists) {
        bool const is_due = inbox_.is_due(dealt);
        if (is_due && take_in([&](window_contents const& contents, auto* items, auto const& then) {
                        auto const handled = actor.handle_now(contents, items, then);
                        dealt += handled;
                        return handled;
                      }) != 0)
          idle_since = 0;
      }
      total += dealt;
      if (dealt != 0) idle_since = 0;
      if ((++looks & 63) != 0 && dealt < actor.quota()) {
        if (dealt == 0) relax();
        continue;
      }
      auto const now = now_ns();
      bool const shows = dealt == 0 || now - shown_ns > longest_unshown_ns;
      actor.show(shows);
      if (shows) shown_ns = now;
      if (dealt == 0) set_actor(0);  // otherwise a team that only polls would seem stuck in a handler
      if (idle_since == 0) idle_since = now;
      bool const tired = threads_park && idle_.park && dealt == 0 && now - idle_since > idle_.spin_ns;
      bool const over =
          (limits_.messages != 0 && total >= limits_.messages) || (end_ns_ != 0 && now >= end_ns_);
      if ((tired || over || arena().stopping()) && actor.release(mail_left_)) break;
      if (dealt == 0 && (looks & 1023) == 0) yield_thread();
    }
    set_actor(0);
    return {total != 0, total};
  }

  RONDO_HD void set_idle(bool idle) noexcept {
    if (idle_.pinned_only) return;
    auto& teams = arena().header().idle_teams;  // relaxed: a hint for senders
    if (idle)
      teams.fetch_add(1, memory_order::relaxed);
    else
      teams.fetch_sub(1, memory_order::relaxed);
  }

  /// One step of waiting: spin, then park until a sender rings the doorbell.
  RONDO_CALL RONDO_HD void back_off(std::uint64_t idle_ns, std::uint64_t limit_ns) noexcept {
    bool const may_park = threads_park && idle_.park && (idle_.pinned_only || team_.index() < 64);
    if (!may_park || idle_ns < idle_.spin_ns) {
      for (int i = 0; i < 16; ++i) relax();
      if (idle_ns > 2'000) yield_thread();  // with pauses alone, a thread woken on this core would wait
      return;
    }
    auto& bell = status().doorbell;
    auto const seen = bell.load(memory_order::relaxed);  // relaxed: the fence acquires the work behind a ring
    auto& parked = arena().header().parked;
    auto const bit =
        idle_.pinned_only ? 0 : 1ull << team_.index();  // its actor's senders ring a pinned team's doorbell
    parked.fetch_or(bit, memory_order::relaxed);        // relaxed: the fence orders it
    atomic_fence(memory_order::seq_cst);                // the edge `wake` of ready_actors.hpp
    if (work_is_visible())
      relax();  // another thread is about to publish it
    else
      wait_word(bell, seen, limit_ns < 1'000'000'000 ? limit_ns : 1'000'000'000);
    parked.fetch_and(~bit, memory_order::relaxed);
  }

  RONDO_HD bool work_is_visible() const noexcept {
    if (arena().stopping() || inbox_.has_work()) return true;
    if constexpr (packs_mail<Module>)
      if (packs_.desk != nullptr && packs_.desk->ended() != 0) return true;
    if (!idle_.pinned_only && scheduler_.sees_work()) return true;
    if (auto const pinned = status().pinned_actor.load(memory_order::relaxed); pinned != 0) {
      // Relaxed, all three: the fence acquires them. This team wrote the last two, or a launch did, which rings the
      // doorbell.
      actor_cell const& cell = arena().cell(pinned - 1);
      owner_cell const& own = arena().owner(cell);
      actor_word const word{cell.word.load(memory_order::relaxed)};
      if (word.has(actor_word::signalled | actor_word::paused)) return word.has(actor_word::signalled);
      return mail_left_ || (word.ring() != 0 && (word.ring() != own.held_ring.load(memory_order::relaxed) ||
                                                 word.tail() != own.tail_seen.load(memory_order::relaxed)));
    }
    return false;
  }

  scheduler scheduler_;
  team team_;
  host_port host_;
  lane_crew<Module> crew_;
  idle_policy idle_;
  round_limits limits_;
  team_status* status_ = &scheduler_.arena().team(team_.index());
  std::uint32_t quotas_ = 1;  // how many quotas an actor may use while no other waits
  std::uint64_t end_ns_ = 0;  // of the round; 0: none
  bool mail_left_ = false;    // in its pinned actor, when this team released it
  [[no_unique_address]] Inbox inbox_;
  // A pinned actor that uses up its quota each turn shows its counters this often. On a GPU each time costs two fences.
  static constexpr std::uint64_t longest_unshown_ns = detail::fences_cost_trips ? 50'000 : 0;
  // A pack waits no longer than this for more mail.
  static constexpr std::uint64_t longest_packing_ns = 50'000;
#if defined(__CUDA_ARCH__)
  // Not a member, even an empty one: nvcc would keep the whole object in memory, with 528 bytes more of stack.
  static constexpr std::conditional_t<packs_mail<Module>, team_packs, packs_nothing> packs_{};
#else
  [[no_unique_address]] std::conditional_t<packs_mail<Module>, team_packs, packs_nothing> packs_{};
#endif
};

}  // namespace rondo
