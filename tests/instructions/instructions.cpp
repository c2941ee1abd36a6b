// The instructions of the CPU path: runs each case alone, on one thread and without a runtime, so that valgrind sees
// the same each time. compare.py counts them with callgrind, and compares with `budget`; stalls.py looks at the
// accesses to memory.
#include <sys/mman.h>
#include <valgrind/callgrind.h>

#include <cstdio>
#include <cstdlib>

#include "kernels/actor/launch.hpp"
#include "kernels/actor/ring_kernel.hpp"

using namespace rondo;

namespace instructions {

struct ball {
  std::uint64_t throws;
};
struct question {};
struct answer {
  std::uint64_t throws;
};

std::uint32_t times = 1000;  // messages of each case
constexpr std::uint32_t at_once = 50;

/// Passes each ball on, until it was thrown often enough: then the team stops.
struct player {
  using messages = rondo::messages<ball, address<player>>;
  address<player> next{};
  void on(context&, address<player> const& m) { next = m; }
  void on(context& ctx, ball const& m) {
    ctx.tell(next, ball{m.throws + 1});
    if (m.throws % times == times - 1) ctx.sched().arena().header().stop.store(1, memory_order::relaxed);
  }
};
/// Counts balls, one at a time, and answers questions.
struct catcher {
  using messages = rondo::messages<ball, ask<question, answer>>;
  std::uint64_t throws = 0;
  void on(context&, ball const& m) { throws += m.throws; }
  answer on(context&, question const&) { return {throws}; }
};
/// Counts balls in batches.
struct basket {
  using messages = rondo::messages<ball>;
  std::uint64_t throws = 0;
  void on(context&, batch<ball> const& balls) {
    for (auto const& m : balls) throws += m.throws;
  }
};
using team_module = module_of<player, catcher, basket>;

/// One team, and actors in cells 0, 1 and so on.
class world {
 public:
  explicit world(std::uint32_t actors, std::uint32_t quota = 64)
      : arena_(make_arena(
            {.actors = actors + 1, .rings = actors + 2, .ring_slots = 128, .teams = 1, .quota = quota})) {
    spec_.capacity = 128;
    spec_.active = true;
  }
  world(world const&) = delete;
  ~world() { ::munmap(arena_.base(), arena_.header().bytes); }

  template <class B>
  actor_id launch() {
    spec_.id = {launched_++, 1};
    spec_.state_offset = heap_;
    spec_.behaviour = team_module::index_of<B>();
    heap_ += 128;
    launch_actor<team_module>(host_, spec_);
    return spec_.id;
  }
  template <class M>
  void tell(actor_id to, M const& m, std::uint8_t priority = default_priority) {
    check(host_.post(to, header_of<M>(priority), &m, sizeof m));
  }
  void ask(actor_id to) {
    auto h = header_of<question>(default_priority);
    h.flags = flag_wants_reply;
    h.reply_to = {host_ask_bit, 1};
    question const m{};
    check(host_.post(to, h, &m, sizeof m));
  }
  void tell_batch(actor_id to) {
    ball const balls[at_once] = {};
    check(host_.post_batch(to, header_of<ball>(default_priority), reinterpret_cast<std::byte const*>(balls),
                           sizeof(ball), sizeof(ball), at_once));
  }
  /// The team handles that many messages.
  void run(std::uint32_t messages) { check_handled(team_.run({.messages = messages}), messages); }
  /// It runs until a ball was thrown `times` times.
  void run_until_stopped() {
    arena_.header().stop.store(0, memory_order::relaxed);
    check_handled(team_.run({}), times);
  }
  /// It handles all messages, of which there are that many, and does not wait for more.
  void drain(std::uint32_t messages) { check_handled(team_.drain(~0ull / 2), messages); }
  std::uint64_t answers() const { return answers_; }
  [[noreturn]] static void fail(char const* what) {
    std::fprintf(stderr, "rondo_instructions: %s\n", what);
    std::exit(1);
  }

 private:
  template <class M>
  static message_header header_of(std::uint8_t priority) {
    message_header h;
    h.type = type_id<M>;
    h.priority = priority;
    return h;
  }
  static void check_handled(std::uint64_t messages, std::uint32_t expected) {
    if (messages != expected) fail("the team handled another number of messages");
  }
  static void check(errc outcome) {
    if (outcome != errc::ok) fail("a message was refused");
  }

  static arena_ref make_arena(arena_shape const& shape) {
    auto* const memory = ::mmap(nullptr, arena_ref::bytes_for(shape), PROT_READ | PROT_WRITE,
                                MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) fail("there is no memory");
    return arena_ref::format(static_cast<std::byte*>(memory), shape);
  }

  arena_ref const arena_;
  std::uint64_t heap_ = arena_.header().heap_at, answers_ = 0;
  std::uint32_t launched_ = 0;
  launch_spec spec_{};
  scheduler host_{arena_};
  ring_kernel<team_module> team_{
      arena_,
      team{0},
      {this, [](void* self, device_event const&) { ++static_cast<world*>(self)->answers_; }, {}},
      {}};
};

/// Counts what `repeat` costs once everything it touches has been touched.
template <class Repeat>
void count(char const* name, Repeat const& repeat) {
  repeat();
  CALLGRIND_ZERO_STATS;
  repeat();
  CALLGRIND_DUMP_STATS_AT(name);
}

/// A message goes round among `players`.
void pass(char const* name, std::uint32_t players) {
  world w{players};
  auto const first = w.launch<player>();
  for (auto before = first; --players != 0;) {
    auto const next = w.launch<player>();
    w.tell(before, address<player>{next});
    w.run(1);
    before = next;
    if (players == 1) w.tell(next, address<player>{first}), w.run(1);
  }
  w.tell(first, ball{});
  count(name, [&] { w.run_until_stopped(); });
}

/// `send(world, actor)` sends at_once messages from outside; then the team handles them.
template <class Receiver, class Send>
void receive(char const* name, Send const& send) {
  world w{1};
  auto const receiver = w.launch<Receiver>();
  count(name, [&] {
    for (std::uint32_t i = 0; i < times / at_once; ++i) send(w, receiver), w.drain(at_once);
  });
}

/// An urgent message behind others.
void urgent() {
  world w{1, 1};
  auto const receiver = w.launch<catcher>();
  for (std::uint32_t i = 0; i < at_once; ++i) w.tell(receiver, ball{});
  count("urgent", [&] {
    for (std::uint32_t i = 0; i < times; ++i) w.tell(receiver, ball{}, 255), w.run(1);
  });
}

void launch() {
  world w{2 * times};
  count("launch", [&] {
    for (std::uint32_t i = 0; i < times; ++i) w.launch<catcher>();
  });
}

}  // namespace instructions
using namespace instructions;

int main(int argc, char** argv) {
  if (RUNNING_ON_VALGRIND == 0) world::fail("run me under valgrind: compare.py and stalls.py do");
  if (argc > 1) times = static_cast<std::uint32_t>(std::atoi(argv[1]));
  pass("pass", 2);
  pass("ring", 100);
  receive<catcher>("tell", [](world& w, actor_id to) {
    for (std::uint32_t i = 0; i < at_once; ++i) w.tell(to, ball{});
  });
  receive<catcher>("ask", [](world& w, actor_id to) {
    auto const before = w.answers();
    for (std::uint32_t i = 0; i < at_once; ++i) w.ask(to);
    if (before % at_once != 0) world::fail("an ask was not answered");
  });
  receive<basket>("batch", [](world& w, actor_id to) { w.tell_batch(to); });
  urgent();
  launch();
}
