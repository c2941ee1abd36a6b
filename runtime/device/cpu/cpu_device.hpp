// The `cpu` device: its teams are threads of this process, and senders write directly into the mailboxes.
#pragma once

#include <algorithm>
#include <memory>
#include <mutex>
#include <utility>

#include "runtime/device/cpu/guest_gate.hpp"
#include "runtime/device/cpu/team_threads.hpp"
#include "runtime/device/program.hpp"
#include "runtime/graph/call_list.hpp"
#include "runtime/memory/arena_memory.hpp"
#include "runtime/os/clock.hpp"
#include "runtime/player/pack_player.hpp"

namespace rondo {

class cpu_device final : public device {
 public:
  /// `player`: a GPU beside it; null: none. `place`: where handlers of portable behaviours run.
  cpu_device(team_program const& program, arena_shape const& shape, team_thread_options const& options,
             std::shared_ptr<kernel_player> player = nullptr, portable_place place = portable_place::cheaper)
      : memory_(arena_ref::bytes_for(shape)),
        arena_(arena_ref::format(memory_.data(), shape)),
        program_(program),
        options_(options),
        packs_(program.portable(), std::move(player), place, arena_, options.teams),
        threads_(program, arena_, options) {
    calibrate_clock();
    auto const& parts = arena_.header();
    memory_.prefer_large_pages(parts.cells, parts.rings_at - parts.cells);
    memory_.prefer_large_pages(parts.heap_at, parts.bytes - parts.heap_at);
  }
  /// If `stop` reported stuck teams, the device must not be destroyed.
  ~cpu_device() override { cpu_device::stop(std::chrono::seconds(5)); }

  device_info info() const override {
    return {"cpu",
            std::to_string(options_.teams) + " teams of 1 lane, " +
                (options_.round.messages != 0 || options_.round.ns != 0 ? "bounded rounds" : "persistent"),
            options_.teams, options_.pinned_teams};
  }
  arena_shape const& shape() const override { return arena_.shape(); }
  route mail() noexcept override { return route(arena_); }

  graph_engine& captures() noexcept override { return graphs_; }
  pack_player* packs() noexcept override { return &packs_; }

  void start(event_sink sink, buffer_table_ref buffers, graph_player* player = nullptr,
             own_threads const* threads = nullptr) override {
    sink_ = std::move(sink);
    own_threads_ = threads;
    beside_ = {player, &packs_};
    host_ = {this, [](void* self, device_event const& r) { static_cast<cpu_device*>(self)->sink_(r); },
             buffers, &beside_};
    std::lock_guard lock(pinning_);
    if (std::exchange(ended_, false)) gate_.open();
    running_ = true;
    threads_.set_owner(threads);
    threads_.start(host_);
  }
  stop_report stop(std::chrono::nanoseconds limit) override {
    std::lock_guard lock(pinning_);
    running_ = false;
    auto const until = std::chrono::steady_clock::now() + limit;
    auto report = threads_.stop(limit);
    if (!report.stopped && packs_.in_play() != 0)
      report.stuck.push_back("a GPU is still running handlers of portable behaviours");
    // The stop word is set: a guest leaves after its handler, and no other guest enters.
    if (!std::exchange(ended_, true) && !gate_.close(until)) {
      report.stopped = false;
      report.stuck.push_back("a guest thread is still running a handler");
    }
    return report;
  }

  std::unique_ptr<guest> make_guest() override {
    auto const place = gate_.take_place(options_.guest_teams);
    if (place == options_.guest_teams) return nullptr;
    return std::make_unique<guest_of>(*this, place);
  }

  errc signal(actor_id to, std::uint32_t control) override {
    std::lock_guard lock(launching_);  // a signal must not reach a successor in the actor's cell
    return scheduler{arena_}.signal(to, control) ? errc::ok : errc::actor_gone;
  }
  errc launch(launch_spec spec, launch_arguments const& with = {}) override {
    std::unique_lock pinning(pinning_, std::defer_lock);
    if (spec.pinned) {
      pinning.lock();
      std::uint32_t team = 0;
      if (!running_) return errc::stopped;
      if (!threads_.find_pinned_team(team)) return errc::actor_limit;
      spec.team = team;
    }
    scheduler sender{arena_};
    std::lock_guard lock(launching_);
    place_arguments(arena_, with);
    program_.launch(sender, spec);
    return errc::ok;
  }
  std::size_t launch_many(std::span<launch_spec const> specs, arguments_of const& with) override {
    scheduler sender{arena_};
    std::lock_guard lock(launching_);
    for (std::size_t i = 0; i < specs.size(); ++i) {
      if (with) place_arguments(arena_, with(i));
      program_.launch(sender, specs[i]);
    }
    return specs.size();
  }

  void read_actors(std::uint32_t first, std::uint32_t count, std::vector<actor_snapshot>& out) override {
    out.clear();
    first += shape().first_actor;
    for (std::uint32_t i = first; i < first + count; ++i)
      if (is_used(arena_, i)) out.push_back(read_actor(arena_, i));
  }
  void read_teams(std::vector<team_snapshot>& out) override {
    out.clear();
    for (std::uint32_t t = 0; t < shape().teams; ++t) out.push_back(read_team(arena_, t));
  }

  bool at_safepoint(std::chrono::nanoseconds limit, arena_access,
                    std::function<void(arena_ref const&)> const& use) override {
    std::lock_guard lock(pinning_);
    auto const until = std::chrono::steady_clock::now() + limit;
    if (!threads_.pause(limit)) return false;
    restart_teams const restart{running_ ? &threads_ : nullptr, host_};
    struct opener {
      guest_gate& gate;
      ~opener() { gate.open(); }
    } const open{gate_};
    if (!gate_.close(until)) return false;
    use(arena_);
    return true;
  }
  bool upgrade(std::chrono::nanoseconds limit, program const& next, std::uint64_t,
               std::function<void(arena_ref const&)> const& use) override {
    return at_safepoint(limit, arena_access::writes, [&](arena_ref const& arena) {
      use(arena);
      std::lock_guard lock(launching_);
      program_ = next.teams;
      threads_.set_program(next.teams);
      packs_.set_program(next.teams.portable());
      ++guest_program_;
    });
  }

 private:
  class guest_of final : public guest {
   public:
    guest_of(cpu_device& of, std::uint32_t place) noexcept : device_(of), place_(place) {}
    ~guest_of() override { device_.gate_.give_back_place(place_); }

    std::uint64_t run(std::chrono::nanoseconds limit) override {
      if (!device_.gate_.enter()) {  // at a safepoint or the end: the teams handle the posted messages
        scheduler{device_.arena_}.wake();
        return 0;
      }
      struct leaver {
        guest_gate& gate;
        ~leaver() { gate.leave(); }
      } const leave{device_.gate_};
      own_threads::scope const own(device_.own_threads_);
      if (!team_ || program_ != device_.guest_program_) {
        auto const& o = device_.options_;
        team_ = device_.program_.make_guest(device_.arena_, o.teams + o.pinned_teams + place_, device_.host_);
        program_ = device_.guest_program_;
      }
      constexpr auto longest = std::chrono::nanoseconds::max() / 2;  // that can be added to any time
      return team_(
          static_cast<std::uint64_t>(std::clamp(limit, std::chrono::nanoseconds(0), longest).count()));
    }

   private:
    cpu_device& device_;
    std::uint32_t place_;
    std::uint64_t program_ = 0;
    guest_team team_;
  };

  struct restart_teams {
    team_threads* threads;  // null: the device was stopped and stays stopped
    host_port const& host;
    ~restart_teams() {
      if (threads != nullptr) threads->start(host);
    }
  };

  arena_memory memory_;
  arena_ref arena_;
  team_program program_;  // guarded by launching_
  team_thread_options options_;
  event_sink sink_;
  own_threads const* own_threads_ = nullptr;
  host_side beside_;
  host_port host_;
  call_list_engine graphs_;
  pack_player packs_;
  std::mutex pinning_;  // guards the teams' threads and their pinned actors
  guest_gate gate_;
  bool ended_ = false;               // stop has closed the gate; guarded by pinning_
  std::uint64_t guest_program_ = 0;  // counts changes of program_; written while the gate is closed
  bool running_ = false;             // between start and stop; guarded by pinning_
  std::mutex launching_;             // one launch or signal at a time; taken after pinning_
  team_threads threads_;
};

}  // namespace rondo
