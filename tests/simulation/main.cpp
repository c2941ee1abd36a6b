// rondo_simulate: runs whole runtimes under simulation; see docs/simulation.md and --help.
#include <fmt/format.h>
#include <sched.h>
#include <sys/personality.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>

#include "tests/simulation/driver.hpp"
#include "tests/simulation/ledger.hpp"
#include "tests/simulation/program.hpp"

using namespace simulation;

namespace {

/// Addresses decide nothing; where the system allows it, they are nevertheless the same in each run.
void fix_addresses(char** argv) {
  if (std::getenv("RONDO_SIMULATION_FIXED") != nullptr) return;
  ::setenv("RONDO_SIMULATION_FIXED", "1", 1);
  int const now = ::personality(0xffff'ffff);
  if (now != -1 && ::personality(static_cast<unsigned long>(now) | ADDR_NO_RANDOMIZE) != -1)
    ::execv("/proc/self/exe", argv);
}

/// One thread runs at a time, and the switch between threads is fastest on one core. Seeds that follow each other,
/// which run side by side, take different ones.
void stay_on_one_core(std::uint64_t seed) {
  cpu_set_t all;
  if (::sched_getaffinity(0, sizeof all, &all) != 0) return;
  auto left = seed % static_cast<std::uint64_t>(CPU_COUNT(&all));
  for (unsigned core = 0; core < CPU_SETSIZE; ++core) {
    if (!CPU_ISSET(core, &all) || left-- != 0) continue;
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(core, &one);
    ::sched_setaffinity(0, sizeof one, &one);
    return;
  }
}

}  // namespace

namespace simulation {

void run_one(command const& c) {
  stay_on_one_core(c.seed);
  auto p = draw_plan(c.seed);
  apply(c, p);
  if (c.shows_plan) fmt::print("{}", to_text(p));
  auto& w = world::get();
  w.traces_switches = c.shows_switches;
  auto const show_trace = [&] {
    if (c.shows_trace || c.shows_switches)
      for (auto const& line : w.notes()) fmt::print("{}\n", line);
  };
  w.on_failure = [&] {
    show_trace();
    fmt::print("switches {}\n", w.switches());
  };
  ::alarm(300);  // for a simulation that itself hangs
  w.begin(p.order, c.bug);
  run_program(p);
  show_trace();
  ledger::get().counts["clock jumps"] += w.jumps();
  ledger::get().counts["stalled threads"] += w.stalls();
  for (auto const& f : faults_of(p)) ++ledger::get().counts["seeds with " + f];
  for (auto const& [what, n] : ledger::get().counts) fmt::print("count {} {}\n", n, what);
  fmt::print("seed {} ok: {} steps, {} switches, {} us, {} messages, trace {:016x}\n", c.seed, w.steps(),
             w.switches(), (w.now_ns() - 1'000'000'000) / 1000, ledger::get().letters.size(), w.hash());
  std::fflush(stdout);
  ::_exit(0);  // remaining threads must not see the program's destruction
}

}  // namespace simulation

int main(int argc, char** argv) {
  command c;
  if (!parse(argc, argv, c)) return 2;
  fix_addresses(argv);
  if (c.many) return run_many(c);
  run_one(c);
}
