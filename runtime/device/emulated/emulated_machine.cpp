#include "runtime/device/emulated/emulated_machine.hpp"
#include "runtime/os/prepare_thread.hpp"
#include "runtime/os/start_thread.hpp"

#include <algorithm>
#include <cstring>

#include "kernels/grid/grid_keeper.hpp"

namespace rondo {

emulated_machine::emulated_machine(emulated_program const& program, std::uint32_t lanes,
                                   emulation_options const& options)
    : program_(program), lanes_(lanes), options_(options), faults_(options.faults) {
  port_.faults = &faults_;
  port_.machine = this;
}

emulated_machine::~emulated_machine() { end_threads(); }

queue_pair_ref<emulated_bus> emulated_machine::queues(std::uint32_t submissions, std::uint32_t completions) {
  up_ = std::make_unique<emulated_ring<device_event>>(completions, options_, 2);
  return {direct_ring(submissions), up_->ref()};
}

bus_ring_ref<submission, emulated_bus> emulated_machine::direct_ring(std::uint32_t submissions) {
  auto const stream = down_.empty() ? 1 : down_.size() + 2;
  auto& ring =
      *down_.emplace_back(std::make_unique<emulated_ring<submission>>(submissions, options_, stream));
  if (options_.faults.lose_after_messages != 0) {
    ring.wire().breaks_at = options_.faults.lose_after_messages;
    ring.wire().on_break = [this] { lose(); };
  }
  return ring.ref();
}

std::string emulated_machine::description(std::uint32_t teams, std::uint32_t) const {
  return std::to_string(teams) + " teams of " + std::to_string(lanes_) + (lanes_ == 1 ? " lane" : " lanes");
}

// -- launches

void emulated_machine::launch(grid<bus> const& g) {
  if (is_lost()) throw std::runtime_error(fault());
  if (threads_.empty()) start_threads(g);
  std::lock_guard lock(mutex_);
  grid_ = g;
  g.state->reset();
  arena_ref{g.arena}.header().stop.store(0, memory_order::relaxed);  // relaxed: the mutex publishes it
  workers_running_ = g.teams() * lanes_;
  others_running_ = 2;
  ++launches_;
  changed_.notify_all();
}

void emulated_machine::set_code(emulated_program const& code) {
  std::lock_guard lock(mutex_);
  program_ = code;
}

void emulated_machine::start_threads(grid<bus> const& g) try {
  closing_ = false;  // no thread looks at it yet
  shared_ = std::vector<team_shared>(g.teams());
  for (std::uint32_t t = 0; t < g.teams(); ++t)
    for (std::uint32_t lane = 0; lane < lanes_; ++lane)
      threads_.push_back(start_thread("a lane", [this, t, lane] { serve(part::worker, t, lane); }));
  threads_.push_back(start_thread("a device's I/O", [this] { serve(part::io, 0, 0); }));
  threads_.push_back(start_thread("a device's keeper", [this] { serve(part::keeper, 0, 0); }));
} catch (...) {
  end_threads();  // now: the caller is about to destroy what they use
  throw;
}

void emulated_machine::end_threads() {
  {
    std::lock_guard lock(mutex_);
    closing_ = true;
  }
  changed_.notify_all();
  for (auto& thread : threads_) thread.join();
  threads_.clear();
}

void emulated_machine::serve(part what, std::uint32_t index, std::uint32_t lane) {
  prepare_thread(what == part::io       ? "rondo-io"
                 : what == part::keeper ? "rondo-keeper"
                                        : "rondo-" + std::to_string(index) + "." + std::to_string(lane),
                 -1);
  own_threads::scope const own(host_->owner());
  for (std::uint64_t next = 1;; ++next) {
    {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [&] { return closing_ || launches_ >= next; });
      if (launches_ < next) return;
    }
    run(what, index, lane);
    std::lock_guard lock(mutex_);
    if (--(what == part::worker ? workers_running_ : others_running_) == 0) changed_.notify_all();
  }
}

void emulated_machine::run(part what, std::uint32_t index, std::uint32_t lane) {
  host_port const host{
      &port_, [](void* p, device_event const& r) { static_cast<port*>(p)->machine->emit(r); }, grid_.buffers};
  if (what == part::worker)
    program_.run_worker(grid_, team{index, lane, lanes_, shared_[index]}, host);
  else if (what == part::io)
    program_.run_io(grid_, host, host_->io_bell());
  else
    keep();
}

void emulated_machine::keep() {
  grid_keeper<bus> keeper{grid_, team{0}};
  auto const wake_io = [this] { host_->io_bell().ring(); };
  keeper.run(wake_io, [this] { return is_lost(); });
  if (!is_lost()) return;
  keeper.report_teams();
  auto& header = arena_ref{grid_.arena}.header();
  tell_to(grid_.state->io_stop, ~0u);
  wake_io();
  tell_to(header.stop, ~0u);
  for (std::uint32_t t = 0; t < grid_.teams(); ++t) scheduler{arena_ref{grid_.arena}}.ring_doorbell(t);
}

/// Drops the events of a machine that has faulted.
void emulated_machine::emit(device_event const& event) {
  auto const waits = [this] { return yield_thread(), !is_lost(); };
  if (!is_lost()) static_cast<void>(grid_.queues.up.push(event, memory_order::release, waits));
  if (grid_.idle.park) host_->poller().bell().ring();
}

grid_end emulated_machine::wait() {
  std::unique_lock lock(mutex_);
  // After a fault, handlers may still run, but the reader of submissions must have ended.
  changed_.wait(lock, [&] { return others_running_ == 0 && (workers_running_ == 0 || is_lost()); });
  // Pinned teams read submissions, too: one that has fetched a message must not handle it when it was refused. They
  // leave at once, but for a handler that hangs. Many short waits: one long one may be over before they have run, if
  // the clock jumps or the process stands still.
  for (int looks = 0; is_lost() && workers_running_ != 0 && looks < 100; ++looks)
    changed_.wait_for(lock, std::chrono::milliseconds(1), [&] { return workers_running_ == 0; });
  return is_lost() ? grid_end::faulted : grid_end::over;
}

bool emulated_machine::end(std::chrono::nanoseconds limit) {
  std::unique_lock lock(mutex_);
  return changed_.wait_for(lock, limit, [&] { return workers_running_ + others_running_ == 0; });
}

// -- memory

bool emulated_machine::copy_out(std::byte* to, std::byte const* from, std::size_t bytes) {
  if (is_lost()) return false;
  std::memcpy(to, from, bytes);
  return true;
}
bool emulated_machine::copy_in(std::byte* to, std::byte const* from, std::size_t bytes) {
  if (is_lost()) return false;
  std::memcpy(to, from, bytes);
  return true;
}

/// Delays each batch of copies once: a GPU's copy engine is slower than the host's stores.
bool emulated_machine::copy(std::span<copy_job const> jobs) {
  if (options_.visibility_delay_ns != 0) {
    auto const n = copies_.fetch_add(1, memory_order::relaxed);  // relaxed: only a unique number
    std::this_thread::sleep_for(
        std::chrono::nanoseconds((options_.seed + n * 0x9e37'79b9) % (options_.visibility_delay_ns + 1)));
  }
  auto const crossed = cross_bus(jobs);
  for (auto const& job : jobs)
    if (!(job.to_device ? copy_in(job.to, job.from, job.bytes) : copy_out(job.to, job.from, job.bytes)))
      return false;
  if (has_model_) modelled_bus::wait_until(crossed);
  return true;
}

/// When the modelled bus has carried all of them.
modelled_bus::clock::time_point emulated_machine::cross_bus(std::span<copy_job const> jobs) {
  modelled_bus::clock::time_point last{};
  if (!has_model_) return last;
  for (bool const up : {true, false}) {
    std::uint64_t bytes = 0;
    for (auto const& job : jobs)
      if (job.to_device == up) bytes += job.bytes;
    if (bytes != 0) last = std::max(last, (up ? up_bus_ : down_bus_).crossed(bus_model_, bytes));
  }
  return last;
}

void emulated_machine::lose() noexcept {
  losing_.store(1, memory_order::release);
  std::lock_guard lock(mutex_);
  if (launches_ != 0) grid_.state->ring_keeper();
}

}  // namespace rondo
