// Compilation of a module for the `emulated` device: its grid on host threads, with that device's faults around the
// handlers. Write this in one source file of a program that runs the module:
//
//   RONDO_EMULATED_MODULE(counters)
#pragma once

#include "runtime/device/emulated/emulated_program.hpp"

namespace rondo {

// -- for the runtime

/// The backoff of the I/O thread: it spins, yields, and sleeps until the host rings. It wakes pinned teams for the
/// host.
struct io_thread_idle {
  grid<emulated_bus> const& of;
  doorbell& bell;
  idle_thread thread;

  bool looks_around() const noexcept { return wake_pinned_teams(of), true; }
  void worked() noexcept { thread.worked(); }
  template <class WasSubmitted, class IsAsked>
  void wait(WasSubmitted was_submitted, IsAsked is_asked) {
    thread.wait(bell, !was_submitted(),
                [&] { return was_submitted() || is_asked() || wake_pinned_teams(of); });
  }
};

template <class Module>
emulated_program emulated_program_of() {
  using faulty = faulty_module<Module>;
  return {Module::key,
          [](grid<emulated_bus> const& g, team const& t, host_port const& host) {
            io_window window;
            rondo::run_worker<faulty>(g, t, host, window);
          },
          [](grid<emulated_bus> const& g, host_port const& host, doorbell& bell) {
            io_window window;
            rondo::run_io<faulty>(g, host, team{0}, window,
                                  io_thread_idle{g, bell, {g.idle.spin_ns, g.idle.park}});
          }};
}

template <class Module>
bool register_emulated() {
  emulated_programs().push_back(emulated_program_of<Module>());
  return true;
}

}  // namespace rondo

// -- for the runtime
#define RONDO_EMULATED_JOIN2(a, b) a##b
#define RONDO_EMULATED_JOIN(a, b) RONDO_EMULATED_JOIN2(a, b)

// -- for programs

/// Compiles the module for the device `emulated`.
#define RONDO_EMULATED_MODULE(module)                                                                  \
  namespace {                                                                                          \
  [[maybe_unused]] bool const RONDO_EMULATED_JOIN(rondo_emulated_module_,                              \
                                                  __COUNTER__) = ::rondo::register_emulated<module>(); \
  }
