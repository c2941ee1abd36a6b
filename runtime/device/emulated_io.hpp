// The I/O thread of an emulated device: runs the I/O team, does errands in the arena, and loses the device on
// demand.
//
// Threads: start and join from one thread at a time, take_all_submitted on the I/O thread (in an errand), the
// rest from any. Until `start` and after `join` errands run on their caller's thread.
#pragma once

#include <optional>

#include "kernels/io_team.hpp"
#include "runtime/device/arena_reader.hpp"
#include "runtime/device/emulation.hpp"
#include "runtime/device/errands.hpp"
#include "runtime/device/host_lanes.hpp"

namespace rondo {

template <class Module>
class emulated_io {
 public:
  /// `teams`: those that take any actor; the device_lost records name them all, and pinned ones that have an
  /// actor.
  emulated_io(arena_ref arena, host_lanes<emulated_bus>& lanes, std::uint32_t teams, idle_policy idle,
              std::uint64_t lose_after_messages)
      : arena_(arena), lanes_(lanes), teams_(teams), idle_(idle), lose_after_(lose_after_messages) {}

  void start() {
    // Relaxed: no thread yet.
    for (auto* word : {&ending_, &losing_, &lost_, &given_up_}) word->store(0, memory_order::relaxed);
    taken_ = 0;
    team_.emplace(arena_, lanes_.lanes().down,
                  host_port{this, [](void* self, host_record const& r) {
                              auto& io = *static_cast<emulated_io*>(self);
                              // The poller may wait for one who waits for an errand.
                              io.emit(r, [&io] { io.errands_.serve(errands::kind::quick); });
                            }});
    std::packaged_task<void()> task([this] { run(); });
    ended_ = task.get_future();
    thread_ = std::thread(std::move(task));
  }
  bool started() const noexcept { return thread_.joinable(); }
  /// Has the thread refuse what is submitted, with errc::stopped, and end. The way down is closed already.
  void end() noexcept {
    ending_.store(1, memory_order::release);
    lanes_.io_bell().ring();
  }
  /// False when it did not end within `limit`; it is left behind then, and records are given up.
  bool join(std::chrono::nanoseconds limit) {
    bool const ended = ended_.wait_for(limit) == std::future_status::ready;
    ended ? thread_.join() : thread_.detach();
    return ended;
  }
  /// Records that find no room are dropped from here on: nobody takes them any more.
  void give_up() noexcept { given_up_.store(1, memory_order::release); }

  errands& work() noexcept { return errands_; }

  /// Puts a record into the completion ring; waits for room, and calls `meanwhile` then. Threads: teams, I/O.
  template <class Meanwhile>
  void emit(host_record const& record, Meanwhile meanwhile) {
    std::uint64_t ticket = 0;
    auto const fill = [&](std::uint32_t, host_record& to) { copy_record(to, record); };
    while (lanes_.lanes().up.try_push(1, fill, ticket) != push_outcome::pushed) {
      if (given_up_.load(memory_order::acquire) != 0) return;
      meanwhile();
      yield_thread();
    }
    if (idle_.park) lanes_.poller().bell().ring();
  }

  /// Deals with all that was submitted so far. False when that does not succeed before `end`.
  bool take_all_submitted(std::chrono::steady_clock::time_point end) {
    if (!team_) return true;
    for (auto const target = lanes_.lanes().down.tail(); team_->head() < target;) {
      // A device that is about to be lost takes no more, and is lost when this errand is over.
      if (std::chrono::steady_clock::now() > end || ending_.load(memory_order::relaxed) != 0 ||
          is_set(losing_))
        return false;
      if (take(64) == 0) yield_thread();
    }
    return true;
  }

  void lose() noexcept {
    losing_.store(1, memory_order::release);
    lanes_.io_bell().ring();
  }
  bool lost() const noexcept { return lost_.load(memory_order::acquire) != 0; }
  void hold(bool held) noexcept {
    held_.store(held, memory_order::release);
    lanes_.io_bell().ring();
  }

 private:
  static bool is_set(atomic<std::uint32_t> const& word) noexcept {
    return word.load(memory_order::acquire) != 0;  // pairs with the release store of who set it
  }

  void run() {
    prepare_team_thread("rondo-io", -1);
    errands_.open();
    idle_thread idle{idle_.spin_ns, idle_.park};
    while (!is_set(ending_)) {
      errands_.serve(errands::kind::whole);
      if (is_set(losing_) && !lost()) lose_device();
      if (take(64) != 0) {
        idle.worked();
        continue;
      }
      bool const deaf = is_set(held_);
      idle.wait(lanes_.io_bell(), deaf || !team_->has_work(), [&] {
        return is_set(ending_) || errands_.any() || (is_set(losing_) && !lost()) ||
               (deaf ? !is_set(held_) : team_->has_work());
      });
    }
    refuse_all(errc::stopped);
    errands_.close();
  }

  std::uint32_t take(std::uint32_t limit) {
    if (is_set(held_)) return 0;
    if (lose_after_ != 0) {
      if (taken_ >= lose_after_) return losing_.store(1, memory_order::relaxed), 0;  // relaxed: to ourselves
      limit = static_cast<std::uint32_t>(std::min<std::uint64_t>(limit, lose_after_ - taken_));
    }
    auto const taken = team_->step(limit);
    taken_ += taken;
    return taken;
  }

  /// Ends what was submitted before the way down was closed. Who claimed a ticket then is about to publish
  /// it.
  void refuse_all(errc reason) {
    for (auto const last = lanes_.close(reason); team_->head() < last;)
      if (!team_->refuse_next(reason)) yield_thread();
  }

  void lose_device() {
    lanes_.close(errc::device_lost);
    std::vector<host_record> records;
    for (std::uint32_t t = 0; t < arena_.shape().teams; ++t) {
      team_status& status = arena_.team(t);
      if (t < teams_ || status.pinned_actor.load(memory_order::relaxed) != 0)
        records.push_back(describe(t, status));
    }
    arena_.header().fault.store(static_cast<std::uint32_t>(errc::device_lost),
                                memory_order::relaxed);  // a report
    arena_.header().stop.store(1, memory_order::release);
    for (std::uint32_t t = 0; t < arena_.shape().teams; ++t) scheduler{arena_}.ring_doorbell(t);
    lost_.store(1, memory_order::release);
    refuse_all(errc::device_lost);
    for (std::size_t i = 0; i < records.size(); ++i) {
      records[i].detail = records.size() - 1 - i;
      emit(records[i], [this] { errands_.serve(errands::kind::quick); });
    }
  }

  host_record describe(std::uint32_t team, team_status const& status) const {
    host_record r{.kind = record_kind::device_lost, .reason = errc::device_lost, .team = team};
    auto const actor = status.actor.load(memory_order::relaxed);  // relaxed: a report
    if (actor == 0) return r;
    actor_cell const& cell = arena_.cell(actor - 1);
    r.actor = {actor - 1, cell.generation.load(memory_order::relaxed)};
    r.behaviour = cell.behaviour;
    r.body.header.type = status.type.load(memory_order::relaxed);
    return r;
  }

  arena_ref arena_;
  host_lanes<emulated_bus>& lanes_;
  std::uint32_t teams_;
  idle_policy idle_;
  std::uint64_t lose_after_, taken_ = 0;
  errands errands_{lanes_.io_bell()};
  atomic<std::uint32_t> ending_{0}, losing_{0}, lost_{0}, held_{0}, given_up_{0};
  std::optional<io_team<Module, emulated_bus>> team_;
  std::future<void> ended_;
  std::thread thread_;
};

}  // namespace rondo
