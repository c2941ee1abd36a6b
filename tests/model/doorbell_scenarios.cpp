// Threads that sleep until others have work for them.
#include "runtime/device/queue/doorbell.hpp"

#include "tests/model/scenarios.hpp"

namespace model {

using namespace rondo;

namespace {

/// Work that is taken in the order in which it arrives; only a count, like the fill level of a queue.
struct workplace {
  doorbell bell;
  atomic<std::uint32_t> brought;
};

void bring_each_one(execution& x, workplace& w, std::uint32_t workers, std::uint32_t each) {
  static constexpr char const* names[] = {"ringer 0", "ringer 1"};
  for (std::uint32_t i = 0; i < workers; ++i)
    x.thread(names[i], [&w, each] {
      for (std::uint32_t n = 0; n < each; ++n) {
        w.brought.fetch_add(1, memory_order::release);
        w.bell.ring();
      }
    });
}

/// A thread that sleeps until there is work. A lost ring leaves it asleep with pending work.
void ring_reaches_the_sleeper(execution& x) {
  auto& w = x.shared<workplace>();
  bring_each_one(x, w, 2, 2);
  x.thread("sleeper", [&w] {
    for (std::uint32_t taken = 0; taken < 4;) {
      auto const brought = w.brought.load(memory_order::acquire);
      if (brought != taken)
        taken = brought;
      else
        w.bell.sleep([&] { return w.brought.load(memory_order::relaxed) != taken; }, 1'000'000'000);
    }
  });
  x.run();
}

/// The same with the steps of idle_thread: spin, yield, sleep.
void idle_thread_is_woken(execution& x) {
  auto& w = x.shared<workplace>();
  bring_each_one(x, w, 1, 3);
  x.thread("sleeper", [&w] {
    idle_thread idle{0, true};
    for (std::uint32_t taken = 0; taken < 3;) {
      auto const brought = w.brought.load(memory_order::acquire);
      if (brought != taken) {
        taken = brought;
        idle.worked();
      } else {
        idle.wait(w.bell, true, [&] { return w.brought.load(memory_order::relaxed) != taken; });
      }
    }
  });
  x.run();
}

/// Work that arrives later and without a ring: a thread that waits for it must not sleep.
void no_sleep_without_a_ring(execution& x) {
  auto& w = x.shared<workplace>();
  x.thread("bringer", [&w] {
    for (int i = 0; i < 80; ++i) relax();
    w.brought.store(1, memory_order::release);
  });
  x.thread("waiter", [&w] {
    idle_thread idle{0, true};
    while (w.brought.load(memory_order::acquire) == 0) idle.wait(w.bell, false, [] { return false; });
  });
  x.run();
}

}  // namespace

std::vector<scenario> doorbell_scenarios() {
  return {
      {"doorbell", "two ringers and a sleeper: work that was rung for is never left while the thread sleeps",
       ring_reaches_the_sleeper, bounds{2, 1, 1}, bounds{2, 1}},
      {"doorbell_idle", "an idle thread that spins, gives way and sleeps is woken for each piece of work",
       idle_thread_is_woken, bounds{3, 1, 1}, bounds{2, 1}},
      {"doorbell_no_ring", "who waits for what will not ring does not sleep", no_sleep_without_a_ring,
       bounds{1, 1, 1}, bounds{1, 1}},
  };
}

}  // namespace model
