// The direct inbox of a pinned team: it takes the submissions to its actor itself, and hands its actor what needs no
// mailbox.
//
// A message waits in the mailbox only if it has to: behind other mail, for an actor that is paused or runs on several
// lanes, for another attempt. Otherwise its handler reads it where the team has fetched it. While the ring holds a
// message whose priority is not the default, everything up to it goes to the mailbox, where the actor picks by priority
// (G3).
//
// A team takes submissions between two handlers; of a mailbox it may handle 128 messages before it looks again. So
// whoever awaits the outcome of a tell to a pinned actor awaits the end of what runs, too.
//
// Threads: the lanes of one team. On a GPU the first warp fetches; on a host, lane 0 alone. A team of the pool has
// none.
#pragma once

#include "kernels/base/stop_word.hpp"
#include "kernels/base/way_points.hpp"
#include "kernels/grid/io_team.hpp"

namespace rondo {

template <class Module, class Bus>
class direct_inbox {
#if defined(__CUDA_ARCH__)
  static constexpr std::uint32_t fetching_lanes = hardware::warp_lanes;
#else
  static constexpr std::uint32_t fetching_lanes = 1;
#endif

 public:
  static constexpr bool exists = true;
  static constexpr bool joins = fetching_lanes > 1;  // whether other lanes join lane 0

  /// `direct`: null for a team of the pool, which never reads `ring`. The others are as in io_team.
  RONDO_HD direct_inbox(arena_ref arena, direct_ring<Bus> const* direct,
                        bus_ring_ref<submission, Bus> const& ring, atomic<std::uint64_t>& orders,
                        host_port const& host, team const& t, io_window& window) noexcept
      : direct_(direct), team_(t), io_(arena, ring, orders, host, fetchers_of(t), window) {}

  /// Whether it is time to look at the ring. Each look crosses the bus, of which all pinned teams share what a GPU may
  /// read. So while other actors send mail, or nothing at all has come for milliseconds, most of the team's looks are
  /// at the mailbox alone. `dealt`: how many messages of the mailbox were handled since the last call. After 128 it is
  /// time, so that an actor that is busy with others' mail, or its own, hears the host.
  RONDO_HD bool is_due(std::uint32_t dealt) noexcept {
    if (direct_ == nullptr) return false;
    bool const others_send = dealt > posted_;
    posted_ = others_send || dealt == 0 ? 0 : posted_ - dealt;
    quiet_looks_ = others_send ? 0 : quiet_looks_ + 1;
    if (others_send) interval_ = longest_interval, looks_ += dealt / 16;
    idle_turns_ = dealt == 0 ? idle_turns_ + 1 : 0;
    if (quiet_looks_ > 64) interval_ = joins && idle_turns_ > patient_turns ? longest_interval : 1;
    if (++looks_ < interval_) return false;
    looks_ = 0;
    return true;
  }

  /// The same without an actor that handles mail: nobody is in a hurry, and the bus is for others.
  RONDO_HD bool is_due_alone() noexcept {
    constexpr std::uint32_t every = joins ? 64 : 1;
    return direct_ != nullptr && looks_++ % every == 0;  // the first time, too: a round may be short
  }

  /// Lane 0, while the others join: takes what was submitted. handle(contents, items, then) may handle the first
  /// messages, which then need no mailbox: it returns how many. `contents`: of `items`; then() is to be called behind
  /// each. Returns the number of messages taken.
  template <class Handle>
  RONDO_HD std::uint32_t take(Handle const& handle) {
    if (direct_ == nullptr) return 0;
    std::uint32_t all = 0, taken = 0;
    do {
      // Relaxed, and in flight together with the items: one that is seen late is seen next time.
      auto const urgent = direct_->urgent.load(memory_order::relaxed);
      auto const [n, contents] = fetch();
      if (n != 0) io_.give_back(contents.count, n);
      auto const done = urgent <= io_.head() ? handle_first(handle, contents) : 0;
      taken = n == 0 ? 0 : io_.carry_out(io_.share(done), n);
      if (taken != 0) interval_ = 1, idle_turns_ = 0;
      posted_ += taken - done;
      urgent_waits_ = taken != 0 && urgent > io_.head();
      all += taken;
    } while (io_.is_within_batch() && (taken != 0 || !io_.gives_up()));
    return all;
  }
  /// Lane 0: whether there is more to take before the actor picks its next message.
  RONDO_HD bool urgent_waits() const noexcept { return urgent_waits_; }
  /// The other lanes.
  RONDO_HD void join() {
    if (direct_ == nullptr || team_.lane() >= fetching_lanes) return;
    std::uint32_t n = 0;
    do {
      n = fetch().n;
      if (n == 0) continue;
      auto told = io_.share(0);
#if defined(__CUDA_ARCH__)
      for (; told == write_reply; told = io_.share(0)) io_.host().emit_staged_by_lanes(fetchers_of(team_));
#endif
      io_.carry_out(told, n);
    } while (io_.is_within_batch() && (n != 0 || !io_.gives_up()));
  }

  /// Lane 0: whether a submission waits that was not taken yet.
  RONDO_HD bool has_work() const noexcept { return direct_ != nullptr && io_.has_work(); }
  /// Lane 0: whether everything is taken that comes before the team may stand still.
  RONDO_HD bool has_taken_all() const noexcept {
    // Relaxed: the stop word published it.
    return direct_ == nullptr || io_.head() >= direct_->last.load(memory_order::relaxed);
  }
  /// All lanes: takes everything that comes before `stop` may make the team stand still. Handles nothing.
  RONDO_HD void take_all(atomic<std::uint32_t> const& stop) {
    auto const is_behind = [&] {
      auto const word =
          stop.load(memory_order::relaxed);  // relaxed: stand_still loads it again, and `last` after it
      return word != 0 && (word & leave_bit) == 0 && !has_taken_all();
    };
    while (team_.broadcast(team_.leader() && is_behind()))
      team_.leader() ? void(take([](auto const&...) { return 0u; })) : join();
  }

 private:
  static constexpr std::uint32_t longest_interval = 8;
  static constexpr std::uint32_t patient_turns = 2048;  // on a GPU some 4 ms

  RONDO_HD static team fetchers_of(team const& t) noexcept {
    if constexpr (joins) return {t.index(), t.lane(), fetching_lanes, *t.shared()};
    return team{t.index()};
  }

  struct fetched {
    std::uint32_t n = 0;  // submissions
    window_contents contents{};
  };
  /// A function of its own, so that the lanes come together in it and load side by side.
  RONDO_CALL RONDO_HD fetched fetch() {
    pass(way_point::looks);
    auto const n = io_.fetch(io_.most_at_once);
    if (n == 0) return {};
    pass(way_point::finds);
    return {n, io_.find_direct_mail(n)};
  }
  /// Lane 0: has the first messages of the window handled, as many as need no mailbox, while the other lanes wait to
  /// write replies. Returns how many.
  template <class Handle>
  RONDO_HD std::uint32_t handle_first(Handle const& handle, window_contents const& contents) {
    if (contents.count == 0) return 0;
#if defined(__CUDA_ARCH__)
    io_.host().open_stage(true);
    auto const done = handle(contents, io_.items(), [this] {
      if (!io_.host().has_staged()) return;
      io_.share(write_reply);
      io_.host().emit_staged_by_lanes(fetchers_of(team_));
    });
    io_.host().open_stage(false);
    return done;
#else
    return handle(contents, io_.items(), [] {});
#endif
  }

  static constexpr std::uint32_t write_reply = ~0u;  // lane 0 tells the others, instead of how many are done

  direct_ring<Bus> const* direct_;
  team team_;
  io_team<Module, Bus> io_;
  std::uint32_t interval_ = 1;     // every which of the team's looks is at the ring, too
  std::uint32_t looks_ = 0;        // since the last one at the ring
  std::uint32_t quiet_looks_ = 0;  // since the last mail of other actors
  std::uint32_t idle_turns_ = 0;   // since anything came
  std::uint32_t posted_ = 0;  // messages that this team has put into mailboxes, and that were not handled yet
  bool urgent_waits_ = false;
};

}  // namespace rondo
