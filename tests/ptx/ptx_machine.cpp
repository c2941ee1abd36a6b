#include "tests/ptx/ptx_machine.hpp"

#include <cstdio>
#include <cstring>

namespace rondo {

ptx::module const& read_shared_module(std::string const& path) {
  // Never destroyed: the threads of an abandoned device may still execute when the process exits.
  static auto& mutex = *new std::mutex;
  static auto& all = *new std::map<std::string, std::unique_ptr<ptx::module>>;
  std::lock_guard lock(mutex);
  auto& m = all[path];
  if (m == nullptr) m = ptx::read_module_file(path);
  return *m;
}

namespace {

/// Reads the PTX of a program. Its kernel `meet_host` says for which module it was compiled.
ptx::module const& read_program(ptx_program const& p) {
  auto const& code = read_shared_module(p.path);
  cuda_meeting meeting{};
  meeting.asked.store(~0u, memory_order::relaxed);  // relaxed: this thread runs the kernel; it ends at once
  auto* const to = &meeting;
  auto const begin = reinterpret_cast<std::uint64_t>(to);
  ptx::grid g(code, code.find_entry("meet_host"), 1, 1, ptx::params_of(to),
              {{begin, begin + sizeof meeting, ptx::memory_kind::host, "meeting"}});
  g.run();
  if (meeting.key != p.key)
    throw std::runtime_error(
        p.path + ": the PTX of another module, or the compilers spell the names of its types differently");
  return code;
}

}  // namespace

ptx_machine::ptx_machine(std::vector<ptx_program> programs, ptx_fit const& fit,
                         ptx_device_options const& options)
    : programs_(std::move(programs)), fit_(fit), options_(options.grid), ranges_(options.reachable) {
  if (fit.lanes % warp_size != 0)
    throw config_error("lanes: a team of the device ptx is one warp or several");
  code_ = &read_program(programs_.at(0));
  if (options_.clock == nullptr) options_.clock = &time_;
}

std::byte* ptx_machine::memory(std::size_t bytes, ptx::memory_kind kind) {
  auto* const at = memory_.emplace_back(std::max<std::size_t>(bytes, 1)).data();
  auto const begin = reinterpret_cast<std::uint64_t>(at);
  ranges_.push_back({begin, begin + bytes, kind, kind == ptx::memory_kind::host ? "pinned" : "device"});
  return at;
}

queue_pair_ref<prompt_bus> ptx_machine::queues(std::uint32_t submissions, std::uint32_t completions) {
  return {
      ring_of<submission>(submissions, &writers_.emplace_back()),
      ring_of<device_event>(completions, reinterpret_cast<bus_writers*>(device_memory(sizeof(bus_writers))))};
}

// -- launches

void ptx_machine::launch(rondo::grid<bus> const& g) {
  std::lock_guard lock(mutex_);
  if (!fault_.empty()) throw std::runtime_error(fault_);
  g.state->reset();
  arena_ref{g.arena}.header().stop.store(
      0, memory_order::relaxed);  // relaxed: starting the threads publishes it
  grid_ = std::make_shared<ptx::grid>(*code_, code_->find_entry("run_grid"), fit_.blocks(),
                                      fit_.block_threads(), ptx::params_of(g, fit_.lanes), ranges_, options_);
  grid_->start();
}

grid_end ptx_machine::wait() {
  auto const g = [this] {
    std::lock_guard lock(mutex_);
    return grid_;
  }();
  try {
    g->wait();
    return grid_end::over;
  } catch (ptx::error const& e) {
    std::lock_guard lock(mutex_);
    fault_ = e.what();
    std::fprintf(stderr, "device ptx: %s\n", e.what());  // a test may wait for something else
    return grid_end::faulted;
  }
}

void ptx_machine::abandon() {
  std::lock_guard lock(mutex_);
  if (grid_ != nullptr) grid_->stop();
}

// -- memory

bool ptx_machine::copy_out(std::byte* to, std::byte const* from, std::size_t bytes) {
  if (is_lost()) return false;
  std::memcpy(to, from, bytes);
  return true;
}
bool ptx_machine::copy_in(std::byte* to, std::byte const* from, std::size_t bytes) {
  return copy_out(to, from, bytes);
}
bool ptx_machine::copy(std::span<copy_job const> jobs) {
  return std::all_of(jobs.begin(), jobs.end(),
                     [this](auto const& j) { return copy_out(j.to, j.from, j.bytes); });
}

// -- another module

ptx_program ptx_machine::code_of(program const& next) const {
  for (auto const& p : programs_)
    if (p.key == next.key) return p;
  throw std::runtime_error("device 'ptx': there is no PTX of this module");
}

void ptx_machine::set_code(ptx_program const& code) {
  try {
    code_ = &read_program(code);
  } catch (std::exception const& e) {  // the next launch reports it
    std::lock_guard lock(mutex_);
    fault_ = e.what();
  }
}

std::string ptx_machine::description(std::uint32_t teams, std::uint32_t pinned) const {
  return std::to_string(teams) + " teams of " + std::to_string(fit_.lanes) + " lanes and " +
         std::to_string(pinned) + " for pinned actors, in PTX";
}

std::string ptx_machine::fault() const {
  std::lock_guard lock(mutex_);
  return fault_;
}

chosen_device make_ptx_device(std::vector<ptx_program> programs, config const& c,
                              ptx_device_options const& options, std::uint32_t place) {
  auto const queue_options = queue_options_for(c);
  ptx_fit fit;
  if (c.lanes != 0) fit.lanes = c.lanes;
  fit.teams = queue_options.teams;
  fit.pinned_teams = queue_options.pinned_teams;
  return {std::make_unique<ptx_device>(shape_for(c, fit.teams, fit.pinned_teams, place), queue_options,
                                       std::move(programs), fit, options),
          "requested by a test"};
}

}  // namespace rondo
