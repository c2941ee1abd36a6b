#include "runtime/messaging/completions.hpp"

#include <algorithm>
#include <random>
#include <utility>

#include "kernels/base/clock.hpp"
#include "kernels/base/park.hpp"
#include "runtime/messaging/deliver.hpp"

namespace rondo {

namespace {

constexpr std::uint64_t no_deadline = deadline_tree::none;

/// Also of an object that has ended.
template <class T>
bool is_same(std::weak_ptr<T> const& a, std::shared_ptr<T> const& b) noexcept {
  return !a.owner_before(b) && !b.owner_before(a);
}

}  // namespace

completions::table::table(std::uint32_t capacity) : slots(capacity) {
  // Random: a restored actor may hold the token of an ask of an earlier process, which must not match any ask.
  std::uint32_t const first_generation = std::random_device{}();
  // Relaxed: no other thread yet.
  for (std::uint32_t i = 0; i < capacity; ++i) {
    slots[i].word.store(make(first_generation, unused), memory_order::relaxed);
    slots[i].next.store(i + 1 < capacity ? i + 2 : 0, memory_order::relaxed);
    slots[i].deadline_ns.store(no_deadline, memory_order::relaxed);
  }
  free.store(capacity != 0 ? 1 : 0, memory_order::relaxed);
  kept.store(0, memory_order::relaxed);
}

completions::completions(std::uint32_t capacity, boost::asio::any_io_executor executor)
    : table_(new table(capacity)),
      executor_(std::move(executor)),
      fallback_(executor_),
      deadlines_(capacity) {
  late_.store(0, memory_order::relaxed);
  closed_.store(0, memory_order::relaxed);
}

// -- free and kept slots

result<std::uint32_t> completions::table::take_free() noexcept {
  for (;;) {
    auto head = free.load(memory_order::acquire);  // the edge `free`
    if (static_cast<std::uint32_t>(head) == 0) return errc::ask_limit;
    auto const index = static_cast<std::uint32_t>(head) - 1;
    auto const next = slots[index].next.load(memory_order::relaxed);  // relaxed: the tag rejects a stale one
    // Relaxed: the replaced head was acquired above, as the tag keeps it from recurring.
    if (free.compare_exchange(head, ((head >> 32) + 1) << 32 | next, memory_order::relaxed,
                              memory_order::relaxed))
      return index;
  }
}

void completions::table::give_back(std::uint32_t index) noexcept {
  auto head = free.load(memory_order::relaxed);
  do slots[index].next.store(static_cast<std::uint32_t>(head), memory_order::relaxed);
  while (!free.compare_exchange(head, ((head >> 32) + 1) << 32 | (index + 1), memory_order::release,
                                memory_order::relaxed));
}

void completions::table::end(std::uint32_t index) noexcept {
  slot& s = slots[index];
  auto const generation = static_cast<std::uint32_t>(s.word.load(memory_order::relaxed) >> 32);
  s.deadline_ns.store(no_deadline, memory_order::relaxed);
  s.word.store(make(generation + 1, unused), memory_order::relaxed);  // relaxed: published by the stack
}

bool completions::table::count_kept() noexcept {
  auto const before = kept.fetch_add(1, memory_order::relaxed);  // relaxed: only a number
  if (before < slots.size() / 16) return true;
  kept.fetch_sub(1, memory_order::relaxed);
  return false;
}

completions::kept_slot::~kept_slot() {
  auto const table = table_.lock();
  if (table == nullptr || index_ == 0) return;
  table->give_back(index_ - 1);
  table->kept.fetch_sub(1, memory_order::relaxed);
}

// -- opening

/// Precondition: the caller has the slot.
actor_id completions::begin(std::uint32_t index, phase p, std::uint64_t deadline_ns) {
  slot& s = table_->slots[index];
  auto const generation =
      static_cast<std::uint32_t>(s.word.load(memory_order::relaxed) >> 32);  // relaxed: ours
  s.deadline_ns.store(deadline_ns == 0 ? no_deadline : deadline_ns, memory_order::relaxed);
  // seq_cst: against close(), which sets closed_ and then scans the slots; one of the two sees the other.
  s.word.store(make(generation, p), memory_order::seq_cst);
  actor_id const id{index | host_ask_bit, generation};
  if (auto const closed = closed_.load(memory_order::seq_cst); closed != 0)
    complete(id, static_cast<errc>(closed - 1), nullptr, completer::initiator);
  if (deadline_ns != 0 && deadlines_.lower(index, deadline_ns) && on_nearer_) on_nearer_(deadline_ns);
  return id;
}

result<actor_id> completions::open(answer_handler& handler, std::uint64_t deadline_ns) {
  // Relaxed: only the reason; it is checked again in `begin`.
  if (auto const closed = closed_.load(memory_order::relaxed); closed != 0)
    return static_cast<errc>(closed - 1);
  auto const index = table_->take_free();
  if (!index) return index.error();
  // Not assigned: in Boost 1.81 that would wrap the handler once more.
  table_->slots[*index].handler.swap(handler);
  return begin(*index, waiting_async, deadline_ns);
}

result<actor_id> completions::open_blocking(std::uint64_t deadline_ns, kept_slot& mine) {
  if (auto const closed = closed_.load(memory_order::relaxed); closed != 0)  // relaxed: as in `open`
    return static_cast<errc>(closed - 1);
  if (mine.index_ != 0 && is_same(mine.table_, table_))
    return begin(std::exchange(mine.index_, 0) - 1, waiting_thread, deadline_ns);
  auto const index = table_->take_free();
  if (!index) return index.error();
  return begin(*index, waiting_thread, deadline_ns);
}

// -- completing

bool completions::complete(actor_id id, errc reason, message const* body, completer caller) {
  auto const index = id.index & ~host_ask_bit;
  if (index >= table_->slots.size()) return false;
  slot& s = table_->slots[index];
  auto bits = s.word.load(memory_order::relaxed);  // relaxed: the exchange decides
  phase was;
  do {
    was = static_cast<phase>(bits & 0xff);
    if (!is_open(bits) || (bits >> 32) != id.generation) {
      if (body != nullptr) late_.fetch_add(1, memory_order::relaxed);  // relaxed: a statistic
      return false;
    }
  } while (!s.word.compare_exchange(bits, make(id.generation, completing), memory_order::acquire,
                                    memory_order::relaxed));  // the edge `claim`, however the id came here
  if (was == waiting_async) {
    answer a{reason, {}};
    if (body != nullptr) a.body = *body;
    auto handler = std::move(s.handler);
    table_->end(index);
    table_->give_back(index);
    if (caller == completer::initiator)
      deliver_later(executor_, std::move(handler), a);
    else
      deliver(fallback_, std::move(handler), a);
    return true;
  }
  s.reason = reason;
  s.bytes = 0;
  if (body != nullptr) {
    s.type = body->header.type;
    s.bytes = body->bytes;
    __builtin_memcpy(s.payload, body->payload, body->bytes);
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
  if ((id.index & host_ask_bit) == 0 || index >= table_->slots.size()) return false;
  auto const word =
      table_->slots[index].word.load(memory_order::relaxed);  // relaxed: it may complete at any time
  return word >> 32 == id.generation && is_open(word);
}

bool completions::withdraw(actor_id id, answer_handler& handler) {
  auto const index = id.index & ~host_ask_bit;
  slot& s = table_->slots[index];
  auto bits = make(id.generation, waiting_async);
  // Relaxed: only the claim; the caller wrote the slot's contents.
  if (!s.word.compare_exchange(bits, make(id.generation, completing), memory_order::relaxed,
                               memory_order::relaxed))
    return false;
  handler.swap(s.handler);
  table_->end(index);
  table_->give_back(index);
  return true;
}

answer completions::wait(actor_id id, std::uint64_t spin_ns, kept_slot& mine) {
  auto const index = id.index & ~host_ask_bit;
  slot& s = table_->slots[index];
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
  answer a{s.reason, {}};
  a.body.header.type = s.type;
  a.body.bytes = s.bytes;
  __builtin_memcpy(a.body.payload, s.payload, s.bytes);
  table_->end(index);
  keep_or_give_back(index, mine);
  return a;
}

void completions::keep_or_give_back(std::uint32_t index, kept_slot& mine) {
  bool const is_ours = is_same(mine.table_, table_);
  // A thread keeps one slot, and that of another table only as long as that table lives.
  bool const has_place = is_ours ? mine.index_ == 0 : mine.table_.expired() && table_->count_kept();
  if (!has_place) return table_->give_back(index);
  if (!is_ours) mine.table_ = table_;
  mine.index_ = index + 1;
}

std::uint64_t completions::expire(std::uint64_t now) {
  auto const nearest = deadlines_.expire(now, [&](std::uint32_t i) {
    slot& s = table_->slots[i];
    auto const word = s.word.load(memory_order::seq_cst);
    if (!is_open(word)) return no_deadline;
    auto const deadline =
        s.deadline_ns.load(memory_order::relaxed);  // relaxed: stale only with a stale generation
    if (deadline > now) return deadline;
    complete({i | host_ask_bit, static_cast<std::uint32_t>(word >> 32)}, errc::timed_out, nullptr);
    return no_deadline;
  });
  return nearest == no_deadline ? 0 : nearest;
}

void completions::close(errc reason) {
  closed_.store(static_cast<std::uint32_t>(reason) + 1, memory_order::seq_cst);
  for (std::uint32_t i = 0; i < table_->slots.size(); ++i) {
    auto const word = table_->slots[i].word.load(memory_order::seq_cst);
    if (is_open(word)) complete({i | host_ask_bit, static_cast<std::uint32_t>(word >> 32)}, reason, nullptr);
  }
}

std::uint32_t completions::waiting() const noexcept {
  return static_cast<std::uint32_t>(std::ranges::count_if(
      table_->slots, [](slot const& s) { return is_open(s.word.load(memory_order::relaxed)); }));
}

}  // namespace rondo
