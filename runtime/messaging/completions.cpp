#include "runtime/messaging/completions.hpp"

#include <random>

#include "kernels/base/clock.hpp"
#include "kernels/base/park.hpp"
#include "runtime/messaging/deliver.hpp"

namespace rondo {

namespace {
constexpr std::uint64_t no_deadline = ~0ull;
}

completions::completions(std::uint32_t capacity, boost::asio::any_io_executor executor)
    : slots_(capacity), executor_(std::move(executor)), fallback_(executor_) {
  // Random: a restored actor may hold the token of an ask of an earlier process, which must not match any ask.
  std::uint32_t const first_generation = std::random_device{}();
  // Relaxed: no other thread yet.
  for (std::uint32_t i = 0; i < capacity; ++i) {
    slots_[i].word.store(make(first_generation, unused), memory_order::relaxed);
    slots_[i].next.store(i + 1 < capacity ? i + 2 : 0, memory_order::relaxed);
    slots_[i].deadline_ns.store(no_deadline, memory_order::relaxed);
  }
  free_.store(capacity != 0 ? 1 : 0, memory_order::relaxed);
  nearest_deadline_.store(no_deadline, memory_order::relaxed);
  late_.store(0, memory_order::relaxed);
  open_count_.store(0, memory_order::relaxed);
  closed_.store(0, memory_order::relaxed);
}

result<actor_id> completions::claim(phase p, answer_handler* handler, std::uint64_t deadline_ns) {
  // Relaxed: only the reason; it is checked again below.
  if (auto const closed = closed_.load(memory_order::relaxed); closed != 0)
    return static_cast<errc>(closed - 1);
  std::uint32_t index = 0;
  for (;;) {
    auto head = free_.load(memory_order::acquire);  // the edge `free`
    if (static_cast<std::uint32_t>(head) == 0) return errc::ask_limit;
    index = static_cast<std::uint32_t>(head) - 1;
    auto const next = slots_[index].next.load(memory_order::relaxed);  // relaxed: the tag rejects a stale one
    // Relaxed: the replaced head was acquired above, as the tag keeps it from recurring.
    if (free_.compare_exchange(head, ((head >> 32) + 1) << 32 | next, memory_order::relaxed,
                               memory_order::relaxed))
      break;
  }
  slot& s = slots_[index];
  if (handler != nullptr)
    s.handler.swap(*handler);  // not assigned: in Boost 1.81 that would wrap the handler once more
  auto const generation =
      static_cast<std::uint32_t>(s.word.load(memory_order::relaxed) >> 32);  // relaxed: ours
  s.deadline_ns.store(deadline_ns == 0 ? no_deadline : deadline_ns, memory_order::relaxed);
  open_count_.fetch_add(1, memory_order::relaxed);  // relaxed: a statistic
  // seq_cst: against close(), which sets closed_ and then scans the slots; one of the two sees the other.
  s.word.store(make(generation, p), memory_order::seq_cst);
  actor_id const id{index | host_ask_bit, generation};
  if (auto const closed = closed_.load(memory_order::seq_cst); closed != 0)
    complete(id, static_cast<errc>(closed - 1), nullptr, completer::initiator);
  if (deadline_ns != 0) {
    // seq_cst: against expire(), which resets the nearest deadline and then scans the slots; one of the
    // two sees the other.
    auto nearest = nearest_deadline_.load(memory_order::seq_cst);
    while (deadline_ns < nearest) {
      // Relaxed: only a number; on_nearer_ passes it to the thread that will call expire().
      if (nearest_deadline_.compare_exchange(nearest, deadline_ns, memory_order::relaxed,
                                             memory_order::relaxed)) {
        if (on_nearer_) on_nearer_(deadline_ns);
        break;
      }
    }
  }
  return id;
}

result<actor_id> completions::open(answer_handler& handler, std::uint64_t deadline_ns) {
  return claim(waiting_async, &handler, deadline_ns);
}

result<actor_id> completions::open_blocking(std::uint64_t deadline_ns) {
  return claim(waiting_thread, nullptr, deadline_ns);
}

void completions::release(std::uint32_t index) noexcept {
  slot& s = slots_[index];
  auto const generation = static_cast<std::uint32_t>(s.word.load(memory_order::relaxed) >> 32);
  s.deadline_ns.store(no_deadline, memory_order::relaxed);
  s.word.store(make(generation + 1, unused), memory_order::relaxed);  // relaxed: published by the stack
  open_count_.fetch_sub(1, memory_order::relaxed);
  auto head = free_.load(memory_order::relaxed);
  do s.next.store(static_cast<std::uint32_t>(head), memory_order::relaxed);
  while (!free_.compare_exchange(head, ((head >> 32) + 1) << 32 | (index + 1), memory_order::release,
                                 memory_order::relaxed));
}

bool completions::complete(actor_id id, errc reason, message const* body, completer caller) {
  auto const index = id.index & ~host_ask_bit;
  if (index >= slots_.size()) return false;
  slot& s = slots_[index];
  auto bits = s.word.load(memory_order::relaxed);  // relaxed: the exchange decides
  phase was;
  do {
    was = static_cast<phase>(bits & 0xff);
    bool const waits = was == waiting_async || was == waiting_thread || was == sleeping_thread;
    if (!waits || (bits >> 32) != id.generation) {
      if (body != nullptr) late_.fetch_add(1, memory_order::relaxed);  // relaxed: a statistic
      return false;
    }
  } while (!s.word.compare_exchange(bits, make(id.generation, completing), memory_order::acquire,
                                    memory_order::relaxed));  // the edge `claim`, however the id came here
  if (was == waiting_async) {
    answer a{reason, {}};
    if (body != nullptr) a.body = *body;
    auto handler = std::move(s.handler);
    release(index);
    if (caller == completer::initiator)
      deliver_later(executor_, std::move(handler), a);
    else
      deliver(fallback_, std::move(handler), a);
    return true;
  }
  s.result.reason = reason;
  if (body != nullptr) {
    s.result.body.header = body->header;
    s.result.body.bytes = body->bytes;
    __builtin_memcpy(s.result.body.payload, body->payload, body->bytes);
  }
  s.word.store(make(id.generation, done), memory_order::release);  // the edge `done`
  // From now on the waiting thread may free the slot; a sleeper stays until it is woken or checks by
  // itself.
  if (was == sleeping_thread) {
    s.wakeup.fetch_add(1, memory_order::release);
    wake_word(s.wakeup, 1);
  }
  return true;
}

bool completions::is_waiting(actor_id id) const noexcept {
  auto const index = id.index & ~host_ask_bit;
  if ((id.index & host_ask_bit) == 0 || index >= slots_.size()) return false;
  auto const word = slots_[index].word.load(memory_order::relaxed);  // relaxed: it may complete at any time
  auto const p = static_cast<phase>(word & 0xff);
  return word >> 32 == id.generation && (p == waiting_async || p == waiting_thread || p == sleeping_thread);
}

bool completions::withdraw(actor_id id, answer_handler& handler) {
  slot& s = slots_[id.index & ~host_ask_bit];
  auto bits = make(id.generation, waiting_async);
  // Relaxed: only the claim; the caller wrote the slot's contents.
  if (!s.word.compare_exchange(bits, make(id.generation, completing), memory_order::relaxed,
                               memory_order::relaxed))
    return false;
  handler.swap(s.handler);
  release(id.index & ~host_ask_bit);
  return true;
}

answer completions::wait(actor_id id, std::uint64_t spin_ns) {
  auto const index = id.index & ~host_ask_bit;
  slot& s = slots_[index];
  auto const is_done = [&] {
    return static_cast<phase>(s.word.load(memory_order::acquire) & 0xff) == done;  // the edge `done`
  };
  bool finished = is_done();
  std::uint64_t const until = spin_ns == 0 ? 0 : now_ns() + spin_ns;
  for (std::uint32_t looks = 1; !finished && spin_ns != 0; ++looks) {
    relax();
    finished = is_done();
    if ((looks & 255) == 0) {
      if (now_ns() > until) break;
      yield_thread();
    }
  }
  if (!finished) {
    auto bits = make(id.generation, waiting_thread);
    // Relaxed: a later winner wakes this thread. An earlier one does not, but is almost done.
    bool const rings = s.word.compare_exchange(bits, make(id.generation, sleeping_thread),
                                               memory_order::relaxed, memory_order::relaxed);
    while (!is_done()) {
      // Loaded each time: the winner of the slot's previous ask may ring late. Acquire: a ring comes after `done`.
      auto const bell = s.wakeup.load(memory_order::acquire);
      if (is_done()) break;
      rings ? wait_word(s.wakeup, bell, 1'000'000'000) : yield_thread();
    }
  }
  answer const a = s.result;
  release(index);
  return a;
}

std::uint64_t completions::expire(std::uint64_t now) {
  nearest_deadline_.store(no_deadline,
                          memory_order::seq_cst);  // before the scan: a later ask lowers it again
  std::uint64_t nearest = no_deadline;
  for (std::uint32_t i = 0; i < slots_.size(); ++i) {
    slot& s = slots_[i];
    auto const word = s.word.load(memory_order::seq_cst);
    auto const p = static_cast<phase>(word & 0xff);
    if (p != waiting_async && p != waiting_thread && p != sleeping_thread) continue;
    auto const deadline =
        s.deadline_ns.load(memory_order::relaxed);  // relaxed: stale only with a stale generation
    if (deadline <= now)
      complete({i | host_ask_bit, static_cast<std::uint32_t>(word >> 32)}, errc::timed_out, nullptr);
    else if (deadline < nearest)
      nearest = deadline;
  }
  auto seen = nearest_deadline_.load(memory_order::relaxed);
  while (nearest < seen &&
         !nearest_deadline_.compare_exchange(seen, nearest, memory_order::relaxed, memory_order::relaxed)) {
  }
  return nearest == no_deadline ? 0 : nearest;
}

void completions::close(errc reason) {
  closed_.store(static_cast<std::uint32_t>(reason) + 1, memory_order::seq_cst);
  for (std::uint32_t i = 0; i < slots_.size(); ++i) {
    auto const word = slots_[i].word.load(memory_order::seq_cst);
    auto const p = static_cast<phase>(word & 0xff);
    if (p == waiting_async || p == waiting_thread || p == sleeping_thread)
      complete({i | host_ask_bit, static_cast<std::uint32_t>(word >> 32)}, reason, nullptr);
  }
}

std::uint32_t completions::waiting() const noexcept { return open_count_.load(memory_order::relaxed); }

}  // namespace rondo
