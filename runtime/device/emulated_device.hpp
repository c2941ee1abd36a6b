// The device `emulated`: the test double of `cuda` on host threads, with an arena that only its own threads
// touch.
//
// Posts go through the lane pair to an I/O thread, completions through it to a poller, as on a GPU; teams
// have several lanes. What crosses the bus can be delayed, and faults can be ordered (emulation.hpp).
// Threads: as device.hpp says. The I/O thread alone reads or writes the arena on the host's behalf; others
// have it run their errands. `life_` guards the teams' threads, and is taken before errands.
#pragma once

#include <mutex>

#include "runtime/clock.hpp"
#include "runtime/device/emulated_io.hpp"
#include "runtime/memory/arena_memory.hpp"

namespace rondo {

template <class Module>
class emulated_device final : public device {
  using clock = std::chrono::steady_clock;

 public:
  emulated_device(arena_shape const& shape, team_thread_options const& options,
                  emulation_options const& emulation)
      : memory_(arena_ref::bytes_for(shape)),
        arena_(arena_ref::format(memory_.data(), shape)),
        options_(options),
        down_(emulation.submission_slots, emulation, 1),
        up_(emulation.completion_slots, emulation, 2),
        lanes_({down_.ref(), up_.ref()}, options.idle),
        faults_(emulation.faults),
        io_(arena_, lanes_, options.teams, options.idle, emulation.faults.lose_after_messages),
        threads_(arena_, options) {
    calibrate_clock();
  }
  /// Precondition: never started, or stopped. When `stop` said that a thread is stuck, the device must be
  /// kept.
  ~emulated_device() override { stop(std::chrono::seconds(5)); }

  device_info info() const override {
    bool const rounds = options_.round.messages != 0 || options_.round.ns != 0;
    return {"emulated", std::to_string(options_.teams) + " teams of " + std::to_string(options_.lanes) +
                            (options_.lanes == 1 ? " lane, " : " lanes, ") +
                            (rounds ? "bounded rounds" : "persistent") + ", behind a lane pair"};
  }
  arena_shape const& shape() const override { return arena_.shape(); }

  void start(record_sink sink, buffer_table_ref buffers) override {
    std::lock_guard lock(life_);
    lanes_.start(std::move(sink));
    port_.faults = &faults_;
    port_.io = &io_;
    host_ = {&port_, [](void* p, host_record const& r) { static_cast<port*>(p)->io->emit(r, [] {}); },
             buffers};
    threads_.start(host_);
    io_.start();
  }

  stop_report stop(std::chrono::nanoseconds limit) override {
    auto const end = clock::now() + limit;
    auto const left = [end] { return std::max<clock::duration>(end - clock::now(), closing_time); };
    lanes_.close(errc::stopped);  // before the lock: who holds it to launch an actor stops trying
    std::lock_guard lock(life_);
    if (!io_.started()) return report_;
    io_.end();
    report_ = threads_.stop(left());
    if (!io_.join(left())) note_stuck("the I/O thread waits for its completions to be taken");
    if (!report_.stopped) io_.give_up();  // who hangs may report one day: there will be no poller then
    if (!lanes_.stop(left())) note_stuck("the poller's record sink does not return");
    return report_;
  }

  errc post(actor_id to, message_header const& header, std::byte const* payload, std::uint32_t bytes,
            std::uint32_t stride, std::uint32_t count, actor_id ack, bool want_room) override {
    return lanes_.post(to, header, payload, bytes, stride, count, ack, want_room);
  }
  errc signal(actor_id to, std::uint32_t control) override { return lanes_.signal(to, control); }
  errc launch(launch_spec spec) override { return spec.pinned ? launch_pinned(spec) : lanes_.launch(spec); }

  void read_actors(std::uint32_t count, std::vector<actor_snapshot>& out) override {
    out.clear();
    io_.work().run(errands::kind::quick, reading_limit, [&] { read_actors_of(arena_, count, out); });
  }
  void read_teams(std::vector<team_snapshot>& out) override {
    out.clear();
    io_.work().run(errands::kind::quick, reading_limit, [&] { read_teams_of(arena_, out); });
  }

  bool lost() const noexcept override { return io_.lost(); }

  /// What was submitted before is in the mailboxes, or refused, when `use` runs; later submissions wait in
  /// the ring. False for a lost device too.
  bool at_quiet_point(std::chrono::nanoseconds limit,
                      std::function<void(arena_ref const&)> const& use) override {
    auto const end = clock::now() + limit;
    std::lock_guard lock(life_);
    bool quiet = false;
    io_.work().run(errands::kind::whole, limit, [&] {
      bool const runs = io_.started();
      if (io_.lost() || (runs && !io_.take_all_submitted(end))) return;
      if (!pause_teams(end)) return;
      quiet = true;
      restart_teams const restart{runs ? &threads_ : nullptr, host_};
      use(arena_);
    });
    return quiet;
  }

  // -- faults for tests; from any thread, between start and stop

  /// The device is lost, as by a fault of a GPU: teams stop, each one is reported with
  /// record_kind::device_lost, and what was submitted ends with errc::device_lost.
  void lose() noexcept { io_.lose(); }
  /// The I/O team takes nothing until it is let go, or stopped: the submission ring fills up.
  void hold_submissions(bool held) noexcept { io_.hold(held); }
  /// The same for the poller and the completion ring.
  void hold_completions(bool held) noexcept { lanes_.poller().hold(held); }

 private:
  using teams = team_threads<faulty_module<Module>>;
  static constexpr std::chrono::seconds reading_limit{10};
  static constexpr std::chrono::milliseconds closing_time{
      100};  // for each of I/O thread and poller, at least

  struct port : emulated_port {
    emulated_io<Module>* io = nullptr;
  };
  struct restart_teams {
    teams* threads;
    host_port const& host;
    ~restart_teams() {
      if (threads != nullptr) threads->start(host);
    }
  };

  /// On the I/O thread. Teams may wait for the poller, and the poller for one who waits for an errand: do
  /// those.
  bool pause_teams(clock::time_point end) {
    auto paused = std::async(std::launch::async, [&] { return threads_.pause(end - clock::now()); });
    while (paused.wait_for(std::chrono::microseconds(100)) != std::future_status::ready)
      io_.work().serve(errands::kind::quick);
    return paused.get();
  }

  /// On the I/O thread, where no launch is half done: a team without an actor is free.
  errc launch_pinned(launch_spec spec) {
    auto const give_up = clock::now() + std::chrono::seconds(1);
    std::unique_lock lock(life_, std::try_to_lock);
    for (; !lock.owns_lock(); lock.try_lock(), yield_thread())
      if (auto const reason = lanes_.closed_for(); reason != errc::ok || clock::now() > give_up)
        return reason != errc::ok ? reason : errc::device_busy;
    auto outcome = errc::device_busy;
    io_.work().run(errands::kind::whole, std::chrono::seconds(1), [&] {
      std::uint32_t team = 0;
      outcome = lanes_.closed_for();
      if (outcome != errc::ok) return;
      if (!threads_.find_pinned_team(team)) return void(outcome = errc::actor_limit);
      spec.team = static_cast<std::uint16_t>(team);
      scheduler sender{arena_};
      launch_actor<Module>(sender, spec);
    });
    return outcome;
  }

  void note_stuck(char const* who) {
    report_.stopped = false;
    report_.stuck.emplace_back(who);
  }

  arena_memory memory_;
  arena_ref arena_;
  team_thread_options options_;
  emulated_ring<submission> down_;
  emulated_ring<host_record> up_;
  host_lanes<emulated_bus> lanes_;
  handler_faults faults_;
  emulated_io<Module> io_;
  port port_;
  host_port host_;
  std::mutex life_;
  teams threads_;
  stop_report report_;
};

}  // namespace rondo
