// The table of asks: answers, deadlines, cancellations and the runtime's stop race to complete each ask.
#include <boost/asio/io_context.hpp>
#include <span>

#include "kernels/base/park.hpp"
#include "runtime/base/deadline_tree.hpp"
#include "runtime/messaging/completions.hpp"
#include "tests/model/scenarios.hpp"

namespace model {

using namespace rondo;

namespace {

template <class Table>
std::span<std::byte> bytes_of(std::shared_ptr<Table>& table) {
  return std::as_writable_bytes(std::span(table->slots));
}

std::span<std::byte> slots_of(completions& table);

/// Accesses a private member through an explicit instantiation, so that its memory can be watched.
template <auto Slots>
struct slots_access {
  friend std::span<std::byte> slots_of(completions& table) { return bytes_of(table.*Slots); }
};
template struct slots_access<&completions::table_>;

message message_of(std::uint32_t value) {
  message m{};
  m.bytes = sizeof value;
  __builtin_memcpy(m.payload, &value, sizeof value);
  return m;
}
std::uint32_t value_of(answer const& a) {
  std::uint32_t value = 0;
  __builtin_memcpy(&value, a.body.payload, sizeof value);
  return value;
}

/// A table whose slots are watched, and the executor of its handlers, which run when `poll` is called.
struct ask_world {
  boost::asio::io_context context;
  completions asks;

  ask_world(execution& x, std::uint32_t capacity) : asks(capacity, context.get_executor()) {
    auto const slots = slots_of(asks);
    x.watch(slots.data(), slots.size());
  }
};

/// The calls of the handler of one ask.
struct outcome {
  int calls = 0;
  answer last{};
  answer_handler handler() {
    return answer_handler{[this](answer a) { ++calls, last = a; }};
  }
};

/// How an id reaches the answering thread: in a message, and thus with release and acquire.
struct token {
  atomic<std::uint64_t> bits;  // 0: not yet

  void send(actor_id id) { bits.store(std::uint64_t{id.index} << 32 | id.generation, memory_order::release); }
  actor_id await() {
    std::uint64_t seen = 0;
    while ((seen = bits.load(memory_order::acquire)) == 0) relax();
    return {static_cast<std::uint32_t>(seen >> 32), static_cast<std::uint32_t>(seen)};
  }
};

/// An answer, a deadline, a cancellation and the stop: exactly one of them completes the ask.
void one_completes(execution& x) {
  ask_world w{x, 1};
  outcome seen;
  auto& id_word = x.shared<token>();
  auto& wins = x.shared<atomic<std::uint32_t>>();
  x.thread("asker", [&] {
    auto handler = seen.handler();
    id_word.send(w.asks.open(handler, 50).value());
  });
  x.thread("answer", [&] {
    auto const m = message_of(7);
    if (w.asks.complete(id_word.await(), errc::ok, &m)) wins.fetch_add(1, memory_order::relaxed);
  });
  x.thread("canceller", [&] {
    if (w.asks.complete(id_word.await(), errc::cancelled, nullptr, completer::initiator))
      wins.fetch_add(0x100, memory_order::relaxed);
  });
  x.thread("clock", [&] { w.asks.expire(50); });
  x.run();
  w.context.poll();
  auto const won = wins.load(memory_order::relaxed);
  x.require(seen.calls == 1 && w.asks.waiting() == 0, "the handler is called once");
  auto const due = won == 1 ? errc::ok : won == 0x100 ? errc::cancelled : errc::timed_out;
  x.require((won & (won - 1)) == 0 && seen.last.reason == due, "by who won");
  x.require(due != errc::ok || value_of(seen.last) == 7, "an answer arrives whole");
  x.require(w.asks.late() == (due == errc::ok ? 0u : 1u), "an answer that came too late is counted");
}

/// An answer with a number that nobody gave to it and that is valid by chance: it may complete the ask like any other.
void stray_answer_is_safe(execution& x) {
  ask_world w{x, 1};
  outcome first, seen;
  auto handler = first.handler();
  auto id = w.asks.open(handler, 0).value();
  x.require(w.asks.withdraw(id, handler), "nobody else has it");
  ++id.generation;
  x.thread("asker", [&] {
    auto mine = seen.handler();
    x.require(w.asks.open(mine, 0).value() == id, "the next generation");
  });
  for (auto const* name : {"stray 0", "stray 1"})
    x.thread(name, [&] {
      auto const m = message_of(7);
      w.asks.complete(id, errc::ok, &m);
    });
  x.run();
  w.context.poll();
  x.require(static_cast<unsigned>(seen.calls) + w.asks.late() == 2, "each answer counts or is late");
  x.require(seen.calls == (w.asks.waiting() == 0 ? 1 : 0), "once, or not at all");
}

/// The table closes while an ask is opened that nobody answers.
void no_ask_survives_close(execution& x) {
  ask_world w{x, 2};
  outcome seen[2];
  auto& opened = x.shared<atomic<std::uint32_t>>();
  for (int i = 0; i < 2; ++i)
    x.thread(i == 0 ? "asker 0" : "asker 1", [&, i] {
      auto handler = seen[i].handler();
      auto const id = w.asks.open(handler, 0);
      if (id) opened.fetch_add(1u << i, memory_order::relaxed);
      x.require(id || id.error() == make_error_code(errc::stopped),
                "an ask is refused only because of the end");
      x.require(static_cast<bool>(handler) == !id, "the handler goes with the ask");
    });
  x.thread("closer", [&] { w.asks.close(errc::stopped); });
  x.run();
  w.context.poll();
  for (unsigned i = 0; i < 2; ++i) {
    x.require(seen[i].calls == static_cast<int>(opened.load(memory_order::relaxed) >> i & 1),
              "what was opened ends");
    x.require(seen[i].calls == 0 || seen[i].last.reason == errc::stopped, "and says why");
  }
}

/// One thread with one timer keeps the deadlines, as runtime::sweep_deadlines does: a new nearest deadline is posted to
/// it, and each sweep returns the next one.
void no_deadline_is_missed(execution& x) {
  ask_world w{x, 3};
  outcome seen[3];
  static constexpr std::uint64_t none = ~0ull;
  auto* const posted = reinterpret_cast<atomic<std::uint64_t>*>(x.memory(128, 64));  // by asker
  w.asks.on_nearer_deadline([posted](std::uint64_t d) { posted[d / 10].store(d, memory_order::release); });
  for (unsigned i = 0; i < 2; ++i)
    x.thread(i == 0 ? "asker 0" : "asker 1", [&, i] {
      auto handler = seen[i].handler();
      x.require(static_cast<bool>(w.asks.open(handler, i == 0 ? 30 : 20)), "there is room");
    });
  auto handler = seen[2].handler();
  x.require(static_cast<bool>(w.asks.open(handler, 10)), "there is room");
  x.thread("service", [&] {
    std::uint64_t timer = none, now = 0;
    for (int ended = 0; ended < 3;) {
      for (int i = 1; i <= 3; ++i)
        if (auto const d = posted[i].exchange(0, memory_order::acquire); d != 0 && d < timer) timer = d;
      if (timer == none) {
        relax();
        continue;
      }
      now = timer > now ? timer : now;
      auto const next = w.asks.expire(now);
      timer = next == 0 ? none : next;
      w.context.restart();
      w.context.poll();
      ended = seen[0].calls + seen[1].calls + seen[2].calls;
    }
  });
  x.run();
  for (auto const& s : seen)
    x.require(s.calls == 1 && s.last.reason == errc::timed_out, "each deadline ends its ask");
}

/// A deadline under words of several levels, of which some have an earlier one already when it comes.
void no_level_hides_a_deadline(execution& x) {
  deadline_tree_of<2> tree(4);
  auto* const opened = reinterpret_cast<atomic<std::uint64_t>*>(x.memory(4 * sizeof(std::uint64_t), 64));
  auto const open = [&](std::uint32_t slot, std::uint64_t deadline) {
    opened[slot].store(deadline, memory_order::seq_cst);
    tree.lower(slot, deadline);
  };
  std::uint32_t ended = 0;
  auto const expire = [&] {
    tree.expire(100, [&](std::uint32_t slot) {
      if (opened[slot].load(memory_order::seq_cst) == 0) return tree.none;
      opened[slot].store(0, memory_order::relaxed);
      ++ended;
      return tree.none;
    });
  };
  open(0, 10);
  x.thread("near", [&] { open(1, 20); });
  x.thread("far", [&] { open(3, 15); });
  x.thread("service", expire);
  x.run();
  expire();
  x.require(ended == 3, "each deadline is found");
}

/// Two threads wait in turn in the only slot of a table; late answers to the first one must not reach the second.
void sleepers_get_their_own_answer(execution& x, std::uint64_t spin_ns) {
  ask_world w{x, 1};
  auto* const ids = reinterpret_cast<token*>(x.memory(2 * sizeof(token), 64));
  static constexpr char const *waiters[] = {"waiter 0", "waiter 1"},
                              *answerers[] = {"answerer 0", "answerer 1"};
  for (std::uint32_t i = 0; i < 2; ++i) {
    x.thread(waiters[i], [&w, &x, ids, i, spin_ns] {
      completions::kept_slot mine;
      auto id = w.asks.open_blocking(0, mine);
      for (; !id; id = w.asks.open_blocking(0, mine)) {
        x.require(id.error() == make_error_code(errc::ask_limit), "the slot is in use");
        relax();
      }
      ids[i].send(*id);
      auto const a = w.asks.wait(*id, spin_ns, mine);
      x.require(a.reason == errc::ok && value_of(a) == 10 + i, "each waiter gets its own answer");
    });
    x.thread(answerers[i], [&w, &x, ids, i] {
      auto const id = ids[i].await();
      auto const m = message_of(10 + i), late = message_of(99);
      x.require(w.asks.complete(id, errc::ok, &m), "the first answer counts");
      x.require(!w.asks.complete(id, errc::ok, &late), "the second one does not");
    });
  }
  x.run();
  x.require(w.asks.waiting() == 0 && w.asks.late() == 2, "two answers came late");
}
void sleepers(execution& x) { sleepers_get_their_own_answer(x, 0); }
void spinners(execution& x) { sleepers_get_their_own_answer(x, 5'000); }

/// A thread waits twice in the slot that it keeps, and answers come twice or too late.
void kept_slot_is_used_again(execution& x) {
  ask_world w{x, 16};
  auto* const ids = reinterpret_cast<token*>(x.memory(2 * sizeof(token), 64));
  x.thread("waiter", [&w, &x, ids] {
    completions::kept_slot mine;
    actor_id before{};
    for (std::uint32_t i = 0; i < 2; ++i) {
      auto const id = w.asks.open_blocking(i == 0 ? 0 : 50, mine).value();
      x.require(i == 0 || (id.index == before.index && id.generation == before.generation + 1),
                "it keeps its slot");
      before = id;
      ids[i].send(id);
      auto const a = w.asks.wait(id, 0, mine);
      x.require(a.reason == errc::timed_out ? i == 1 : value_of(a) == 10 + i, "each ask gets its own answer");
    }
  });
  x.thread("answerer", [&w, ids] {
    for (std::uint32_t i = 0; i < 2; ++i) {
      auto const id = ids[i].await();
      auto const m = message_of(10 + i), late = message_of(99);
      w.asks.complete(id, errc::ok, &m);
      w.asks.complete(id, errc::ok, &late);
    }
  });
  x.thread("clock", [&w] { w.asks.expire(50); });
  x.run();
  x.require(w.asks.waiting() == 0, "nothing is open");
}

/// An ask is withdrawn while its answer may arrive.
void withdrawn_or_answered(execution& x) {
  ask_world w{x, 1};
  outcome seen;
  auto& id_word = x.shared<token>();
  auto& withdrawn = x.shared<atomic<std::uint32_t>>();
  x.thread("asker", [&] {
    auto handler = seen.handler();
    auto const id = w.asks.open(handler, 0).value();
    id_word.send(id);
    bool const back = w.asks.withdraw(id, handler);
    x.require(static_cast<bool>(handler) == back, "the handler comes back if it will not be called");
    withdrawn.store(back, memory_order::relaxed);
  });
  x.thread("answer", [&] {
    auto const m = message_of(7);
    w.asks.complete(id_word.await(), errc::ok, &m);
  });
  x.run();
  w.context.poll();
  x.require(seen.calls == (withdrawn.load(memory_order::relaxed) != 0 ? 0 : 1), "withdrawn or answered");
  x.require(w.asks.waiting() == 0, "the slot is free");
}

/// Threads open and end asks in two slots, so that the top of the stack of free slots recurs.
void each_slot_has_one_ask(execution& x) {
  ask_world w{x, 2};
  auto& in_use = x.shared<atomic<std::uint32_t>>();  // one bit for each slot
  for (auto const* name : {"thread 0", "thread 1", "thread 2"})
    x.thread(name, [&w, &x, &in_use] {
      completions::kept_slot mine;  // so few slots are not kept
      for (std::uint32_t turn = 0; turn < 2; ++turn) {
        auto const id = w.asks.open_blocking(0, mine);
        if (!id) continue;
        auto const bit = 1u << (id->index & ~host_ask_bit);
        x.require((in_use.fetch_or(bit, memory_order::relaxed) & bit) == 0, "a slot has one ask at a time");
        auto const m = message_of(turn);
        x.require(w.asks.complete(*id, errc::ok, &m), "nobody else ends it");
        in_use.fetch_and(~bit, memory_order::relaxed);
        x.require(value_of(w.asks.wait(*id, 0, mine)) == turn, "its own answer");
      }
    });
  x.run();
  completions::kept_slot none;
  auto const opens = [&] { return w.asks.open_blocking(0, none).has_value(); };
  x.require(opens() && opens(), "no slot is lost");
  x.require(!opens(), "no slot is there twice");
}

}  // namespace

std::vector<scenario> ask_scenarios() {
  return {
      {"ask", "of an answer, a deadline and a cancellation one completes the ask", one_completes,
       bounds{2, 1}, bounds{1, 1, 1}},
      {"ask_stray", "an answer whose id fits by chance completes an ask once, and reads no half-opened one",
       stray_answer_is_safe, bounds{2, 1, 1}},
      {"ask_close", "an ask that is opened while the table closes is refused or ends", no_ask_survives_close,
       bounds{2, 1, 1}, bounds{2, 1}},
      {"deadline_levels", "no deadline is hidden by another one", no_level_hides_a_deadline, bounds{2, 1},
       bounds{2, 1}},
      {"ask_deadline", "every deadline is kept, whenever its ask was opened", no_deadline_is_missed,
       bounds{2, 1}},
      {"ask_wait", "threads that sleep for their answers are woken, and get their own", sleepers,
       bounds{2, 1}, bounds{1, 1}},
      {"ask_spin", "threads that spin for their answers get their own", spinners, bounds{2, 1}, bounds{1, 1}},
      {"ask_kept", "a slot that a thread keeps has one ask after the other", kept_slot_is_used_again,
       bounds{2, 1}, bounds{1, 1}},
      {"ask_withdraw", "an ask is withdrawn or answered", withdrawn_or_answered, bounds{2, 1, 1},
       bounds{2, 1}},
      {"ask_slots", "a slot has one ask at a time, and none is lost", each_slot_has_one_ask, bounds{2, 1},
       bounds{1, 1}},
  };
}

}  // namespace model
