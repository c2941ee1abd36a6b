// A module as the emulated device runs it: the code of its grid on host threads, with that device's faults around the
// handlers.
#pragma once

#include "kernels/grid.hpp"
#include "runtime/device/doorbell.hpp"
#include "runtime/device/emulation.hpp"

namespace rondo {

struct emulated_program {
  void (*run_worker)(grid<emulated_bus> const&, team const&, host_port const&);
  void (*run_io)(grid<emulated_bus> const&, host_port const&, doorbell&);
};

/// How the I/O thread waits: it spins, gives way, and sleeps until the host rings.
struct io_thread_idle {
  doorbell& bell;
  idle_thread thread;

  void worked() noexcept { thread.worked(); }
  template <class WasSubmitted, class IsAsked>
  void wait(WasSubmitted was_submitted, IsAsked is_asked) {
    thread.wait(bell, !was_submitted(), [&] { return was_submitted() || is_asked(); });
  }
};

template <class Module>
emulated_program emulated_program_of() {
  using faulty = faulty_module<Module>;
  return {[](grid<emulated_bus> const& g, team const& t, host_port const& host) {
            rondo::run_worker<faulty>(g, t, host);
          },
          [](grid<emulated_bus> const& g, host_port const& host, doorbell& bell) {
            rondo::run_io<faulty>(g, host, io_thread_idle{bell, {g.idle.spin_ns, g.idle.park}});
          }};
}

}  // namespace rondo
