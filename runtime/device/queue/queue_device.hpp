// The host's side of a device with its own memory: `cuda`, and its test double `emulated`. They differ only in the
// machine (`Machine`): where memory is, how a grid is launched, and how the host learns that it has ended.
//
// A machine has
//   using bus = ...;                              the bus of its queue pair
//   static constexpr bool rings;                  whether its teams ring for the poller
//   std::byte* device_memory(bytes), pinned_memory(bytes);      zeroed; before the first launch; live as long as the
//                                                               machine
//   queue_pair_ref<bus> queues(submissions, completions);         likewise, for the rings
//   bus_ring_ref<submission, bus> direct_ring(submissions);       likewise, for a pinned team
//   void begin(host_queues<bus>&), nudge(grid<bus> const&);      before a series of launches; wakes a sleeping keeper
//   void launch(grid<bus> const&);                clears the grid's state and the stop word; throws std::runtime_error
//   grid_end wait();                              until the grid has ended or the machine has faulted
//   bool copy_out(std::byte* to, std::byte const* from, bytes), copy_in(...);   false: the machine has faulted
//   bool copy(std::span<copy_job const>), graph_engine& captures();               buffer_home.hpp
//   buffer_memory(bytes), share(), mark_ready();                                 buffer_home.hpp
//   bool end(limit);                              after a grid: false if part of it still runs
//   auto code_of(program const&);                 a module's code for it; throws std::runtime_error if there is none
//   void set_code(code const&);                   between two launches: the code of the next launch
//   std::string name(), description(), fault();
//
// Threads: as in device.hpp. `rondo-grid` launches grids and waits for their end; `rondo-poller` takes completions
// (host_queues.hpp). No call to the machine is on the message path.
#pragma once

#include <algorithm>
#include <condition_variable>
#include <cstddef>
#include <future>
#include <mutex>

#include "kernels/grid/grid.hpp"
#include "runtime/device/program.hpp"
#include "runtime/device/queue/arena_image.hpp"
#include "runtime/device/queue/host_queues.hpp"
#include "runtime/device/queue/keeper_link.hpp"
#include "runtime/device/queue/queue_buffers.hpp"
#include "runtime/device/queue/queue_device_options.hpp"
#include "runtime/device/queue/refuse_all.hpp"
#include "runtime/device/queue/team_owners.hpp"
#include "runtime/device/queue/team_reports.hpp"
#include "runtime/os/clock.hpp"
#include "runtime/os/prepare_thread.hpp"
#include "runtime/os/start_thread.hpp"

namespace rondo {

enum class grid_end { over, faulted };

template <class Machine>
class queue_device : public device {
  using clock = std::chrono::steady_clock;
  using bus = typename Machine::bus;

 public:
  /// `args` construct the machine. Propagates its exceptions: std::runtime_error if it is out of memory.
  template <class... Args>
  queue_device(arena_shape const& shape, queue_device_options const& options, Args&&... args)
      : options_(options),
        machine_(std::forward<Args>(args)...),
        image_(shape),
        owners_(options.pinned_teams, shape.first_actor, shape.actors),
        queues_(make_queues(), owners_, options.idle, Machine::rings ? 0 : options.nap_ns),
        buffers_(machine_, queues_, options.buffer_bytes, options.buffer_slots, options.pinned_bytes,
                 (shape.first_actor >> device_shift) + 1),
        control_(*of_pinned<control_block>(1)),
        keeper_(control_, [this] {
          machine_.nudge(grid_);
          queues_.io_bell().ring();  // for run_grids, which may rest between two rounds
        }) {
    calibrate_clock();
    grid_.arena = machine_.device_memory(image_.size());
    grid_.state = reinterpret_cast<grid_state*>(machine_.device_memory(sizeof(grid_state)));
    grid_.control = &control_;
    grid_.reports = of_pinned<team_report>(shape.teams);
    grid_.page = of_pinned<actor_snapshot>(page_actors);
    grid_.queues = queues_.queues();
    grid_.idle = options.idle;
    grid_.round = options.round;
    grid_.pool_teams = options.teams;
    grid_.pinned_teams = options.pinned_teams;
    grid_.buffers = buffers_.table();
    if (!image_.begin(machine_, grid_.arena))
      throw std::runtime_error("the device '" + machine_.name() +
                               "' faulted at its start: " + machine_.fault());
  }
  /// Precondition: never started, or stopped. If `stop` reported stuck teams, the device must not be destroyed.
  ~queue_device() override { queue_device::stop(std::chrono::seconds(5)); }
  device_info info() const override {
    auto const how = rounds() ? ", bounded rounds, behind a queue pair" : ", persistent, behind a queue pair";
    return {machine_.name(), machine_.description(options_.teams, options_.pinned_teams) + how,
            options_.teams, options_.pinned_teams};
  }
  arena_shape const& shape() const override { return image_.arena().shape(); }
  Machine& machine() noexcept { return machine_; }
  buffer_home* home() noexcept override { return &buffers_; }
  graph_engine& captures() noexcept override { return machine_.captures(); }

  void start(event_sink sink, buffer_table_ref, graph_player* = nullptr,
             own_threads const* threads = nullptr) override {
    std::lock_guard lock(life_);
    if (lost())
      throw std::runtime_error("the device '" + machine_.name() + "' was lost: " + machine_.fault());
    sink_ = [this, sink = std::move(sink)](device_event const& r) {
      if (r.kind == event_kind::terminated)
        owners_.give_back(r.actor);  // before its host may launch a successor
      sink(r);
    };
    ending_.store(0, memory_order::relaxed);  // relaxed: no grid yet
    grid_.queues.up.abandon(false);
    request(request_kind::run);
    queues_.start(sink_, threads);
    // The thread before the grid: what runs without it could not be stopped.
    std::promise<bool> launched;
    std::packaged_task<void()> task([this, runs = launched.get_future()]() mutable {
      if (runs.get()) run_grids();
    });
    grids_ended_ = task.get_future();
    try {
      grid_thread_ = start_thread("a device's grids", std::move(task));
      machine_.begin(queues_);
      machine_.launch(grid_);
    } catch (...) {
      launched.set_value(false);
      if (grid_thread_.joinable()) grid_thread_.join();
      queues_.close(errc::stopped);
      queues_.stop(closing_time);
      throw;
    }
    keeper_.begin();
    launched.set_value(true);
  }

  stop_report stop(std::chrono::nanoseconds limit) override {
    auto const until = clock::now() + limit;
    auto const left = [until] { return std::max<clock::duration>(until - clock::now(), closing_time); };
    queues_.close(errc::stopped);
    std::lock_guard lock(life_);
    if (!grid_thread_.joinable()) return report_;
    report_ = {};
    ending_.store(1, memory_order::release);
    auto const end = request(request_kind::end);
    bool ended = grids_ended_.wait_for(left()) == std::future_status::ready;
    if (!ended) {
      note_stuck_teams();
      // Teams that wait for a sink that does not return drop their events and leave.
      grid_.queues.up.abandon(true);
      ended = grids_ended_.wait_for(closing_time) == std::future_status::ready;
    }
    if (!ended) {
      grid_thread_.detach();
    } else {
      grid_thread_.join();
      if (!machine_.end(left())) note_stuck_teams();
    }
    // A faulted device has already refused them. A hanging one may still read submissions: the I/O team unless it
    // acknowledged the request, and its pinned teams.
    if (!lost() && ended)
      refuse_submitted(errc::stopped);
    else if (!lost() && keeper_.is_acknowledged(end))
      refuse_all(queues_.queues().down, sink_, errc::stopped);
    if (!report_.stopped) grid_.queues.up.abandon(true);
    if (!queues_.stop(left())) note_stuck("the poller's event sink does not return");
    return report_;
  }

  route mail() noexcept override { return route(queues_); }
  errc signal(actor_id to, std::uint32_t control) override { return queues_.signal(to, control); }
  errc launch(launch_spec spec, launch_arguments const& with = {}) override {
    if (spec.pinned) {
      auto const team = owners_.take(spec.id);
      if (!team) return errc::actor_limit;
      spec.team = options_.teams + *team;
    }
    image_.raise_heap_end(spec.heap_end);
    auto const refused = queues_.launch(spec, with);
    if (refused != errc::ok && spec.pinned) owners_.give_back(spec.id);
    return refused;
  }

  void read_actors(std::uint32_t first, std::uint32_t count, std::vector<actor_snapshot>& out) override {
    out.clear();
    std::lock_guard lock(asking_);
    for (std::uint32_t read = 0; read < count;) {
      auto const on_page = std::min(count - read, page_actors);
      if (!keeper_.ask(first + read, on_page, reading_limit)) return read_image(first, count, out);
      for (std::uint32_t i = 0; i < on_page; ++i)
        if (grid_.page[i].state != lifecycle::free) out.push_back(grid_.page[i]);
      read += on_page;
    }
  }
  /// Without a keeper, gives the reports of its last look.
  void read_teams(std::vector<team_snapshot>& out) override {
    out.clear();
    std::lock_guard lock(asking_);
    keeper_.ask(0, 0, reading_limit);
    for (std::uint32_t t = 0; t < shape().teams; ++t) out.push_back(grid_.reports[t].read());
  }
  std::optional<queue_counts> read_queues() const noexcept override { return queues_.counts(); }
  bool lost() const noexcept override { return lost_.load(memory_order::acquire) != 0; }
  std::string why_lost() const override { return lost() ? machine_.fault() : std::string(); }

  /// When `use` runs, earlier submissions are in the mailboxes or refused; later submissions wait in
  /// the ring. `use` gets a copy of the arena.
  bool at_safepoint(std::chrono::nanoseconds limit, arena_access access,
                    std::function<void(arena_ref const&)> const& use) override {
    std::lock_guard lock(life_);
    if (!pause(limit)) return false;
    struct go_on {
      queue_device& of;
      ~go_on() { of.request(request_kind::run); }
    } const afterwards{*this};
    return use_image(access, use);
  }

  bool upgrade(std::chrono::nanoseconds limit, program const& next, std::uint64_t heap_end,
               std::function<void(arena_ref const&)> const& use) override {
    auto const code = machine_.code_of(next);
    std::lock_guard lock(life_);
    if (!pause(limit)) return false;
    image_.raise_heap_end(heap_end);
    try {
      if (!use_image(arena_access::writes, use)) return request(request_kind::run), false;
    } catch (...) {
      request(request_kind::run);
      throw;
    }
    if (!grid_thread_.joinable()) return machine_.set_code(code), true;
    // The teams leave without running again; the next grid has the new code.
    std::unique_lock change(changing_);
    change_ = grid_change::wanted;
    request(request_kind::end);
    changed_.wait_for(change, std::max<clock::duration>(limit, reading_limit),
                      [&] { return change_ == grid_change::ready || !keeper_.is_answered(); });
    bool const ready = change_ == grid_change::ready;  // else it was lost, or hangs outside handlers
    if (ready) {
      machine_.set_code(code);
      request(request_kind::run);
    }
    change_ = grid_change::none;
    changed_.notify_all();
    return ready;
  }

 protected:
  host_queues<bus>& queues() noexcept { return queues_; }
  /// The arena in the device's memory; for tests, on a machine whose memory the host can reach.
  arena_ref device_arena() const noexcept { return arena_ref{grid_.arena}; }

 private:
  static constexpr std::chrono::milliseconds closing_time{100};  // the minimum for each part that must end
  static constexpr std::chrono::seconds reading_limit{10};

  bool rounds() const noexcept { return options_.round.messages != 0 || options_.round.ns != 0; }
  template <class T>
  T* of_pinned(std::size_t count) {
    return reinterpret_cast<T*>(machine_.pinned_memory(count * sizeof(T)));
  }

  queue_pair_ref<bus> make_queues() {
    auto queues = machine_.queues(options_.submission_slots, options_.completion_slots);
    queues.direct_rings = options_.pinned_teams;
    if (options_.pinned_teams == 0) return queues;
    queues.direct = of_pinned<direct_ring<bus>>(options_.pinned_teams);
    for (std::uint32_t n = 0; n < options_.pinned_teams; ++n)
      queues.direct[n].ring = machine_.direct_ring(options_.submission_slots);
    return queues;
  }

  // -- the grid

  /// The thread `rondo-grid`: relaunches the grid when a round is over, until the device ends.
  void run_grids() {
    prepare_thread("rondo-grid", -1);
    own_threads::scope const own(queues_.owner());
    bool well = true;
    for (;;) {
      well = machine_.wait() == grid_end::over;
      if (!well || ending_.load(memory_order::acquire) != 0) break;
      let_change();
      if (grid_.control->dealt.load(memory_order::relaxed) == 0) rest();  // relaxed: the grid has ended
      if (ending_.load(memory_order::acquire) != 0) break;
      try {
        machine_.launch(grid_);
      } catch (std::exception const&) {  // the machine knows why
        well = false;
        break;
      }
    }
    {
      std::lock_guard lock(changing_);
      keeper_.end();
    }
    changed_.notify_all();
    if (!well) lose();
  }

  /// Between two launches: if the grid ended for a change of code, waits until that is done.
  void let_change() {
    std::unique_lock lock(changing_);
    if (change_ != grid_change::wanted) return;
    change_ = grid_change::ready;
    changed_.notify_all();
    changed_.wait(lock, [&] { return change_ == grid_change::none; });
  }

  /// Between two rounds, if the last one found no work: sleeps until there is a submission, request, or query.
  void rest() {
    if (!options_.idle.park) return;
    // Relaxed: the next grid checks again. With a time limit, as a team may have been kept from its work for a round.
    queues_.io_bell().sleep(
        [&] {
          return ending_.load(memory_order::relaxed) != 0 || keeper_.is_wanted() || queues_.has_submissions();
        },
        100'000'000);
  }

  /// Completes everything pending with device_lost, and reports what each team ran at the keeper's last look.
  void lose() {
    queues_.close(errc::device_lost);
    lost_.store(1, memory_order::release);
    refuse_submitted(errc::device_lost);
    for (auto const& lost : loss_of_teams(grid_.reports, grid_.teams(), options_.teams)) sink_(lost);
  }

  /// Refuses what was submitted before the rings of submissions were closed. Precondition: the device no longer reads
  /// them.
  void refuse_submitted(errc reason) {
    queues_.close(reason);
    queues_.for_each_ring([&](auto const& ring) { refuse_all(ring, sink_, reason); });
  }

  /// Brings the device to a safepoint: the teams stand still, or the device was stopped, and the sink has handled every
  /// event. False, without effect, if a handler did not return within `limit` or hung when the device was stopped, or
  /// if the device is lost. Precondition: the caller holds life_.
  bool pause(std::chrono::nanoseconds limit) {
    if (lost()) return false;
    if (!grid_thread_.joinable()) return !keeper_.is_answered();
    if (keeper_.is_acknowledged_within(request(request_kind::pause), limit) && queues_.poller().drain(limit))
      return true;
    request(request_kind::run);
    return false;
  }
  /// Precondition: the caller holds life_. What a direct ring awaits was submitted before: so its tail is read before
  /// that of the ring that has it.
  std::uint64_t request(request_kind kind) {
    auto const& queues = grid_.queues;
    for (std::uint32_t n = 0; n < queues.direct_rings; ++n)  // relaxed: the request publishes it
      queues.direct[n].last.store(kind == request_kind::pause ? queues.direct[n].ring.tail() : 0,
                                  memory_order::relaxed);
    return keeper_.request(kind, queues.down.tail());
  }

  // -- the arena's image

  /// Precondition: no other thread writes to the arena.
  bool use_image(arena_access access, std::function<void(arena_ref const&)> const& use) {
    std::lock_guard no_queries(asking_);
    if (!image_.fetch(machine_, grid_.arena)) return false;
    use(image_.arena());
    return access == arena_access::reads || image_.put_back(machine_, grid_.arena);
  }
  /// The counters of a stopped device. Those of a lost device are lost with its memory.
  void read_image(std::uint32_t first, std::uint32_t count, std::vector<actor_snapshot>& out) {
    out.clear();
    if (keeper_.is_answered() || lost() || !image_.fetch(machine_, grid_.arena)) return;
    first += shape().first_actor;
    for (std::uint32_t i = first; i < first + count; ++i)
      if (is_used(image_.arena(), i)) out.push_back(read_actor(image_.arena(), i));
  }

  void note_stuck(std::string what) {
    report_.stopped = false;
    report_.stuck.push_back(std::move(what));
  }
  void note_stuck_teams() {
    std::vector<team_snapshot> teams;
    read_teams(teams);
    report_.stopped = false;
    if (auto stuck = stuck_teams(teams); !stuck.empty()) report_.teams = std::move(stuck);
  }

  queue_device_options options_;
  Machine machine_;
  arena_image image_;
  team_owners owners_;
  host_queues<bus> queues_;
  queue_buffers<Machine> buffers_;
  control_block& control_;  // in pinned memory
  keeper_link keeper_;
  grid<bus> grid_;
  event_sink sink_;
  std::mutex life_;    // start, stop, safepoints
  std::mutex asking_;  // queries and the image; taken after life_
  enum class grid_change { none, wanted, ready };
  std::mutex changing_;
  std::condition_variable changed_;
  grid_change change_ = grid_change::none;  // guarded by changing_
  atomic<std::uint32_t> ending_{0}, lost_{0};
  stop_report report_;
  std::future<void> grids_ended_;
  std::thread grid_thread_;
};

}  // namespace rondo
