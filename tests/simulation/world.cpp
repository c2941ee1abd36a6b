#include "tests/simulation/world.hpp"

#include <dlfcn.h>
#include <fmt/format.h>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>

#include "tests/simulation/real.hpp"

namespace simulation {

struct world::thread {
  enum class state : std::uint8_t { ready, waits, ended };
  std::string name;
  pthread_t handle{};
  void* (*body)(void*) = nullptr;
  void* argument = nullptr;
  state now = state::ready;
  bool joined = false, woken = false, ends_early = false;
  void const* waits_on = nullptr;
  std::uint64_t deadline_ns = never;
  char const* what = "begins";  // at its last point
  std::source_location at{};
  std::int64_t priority = 0;
  std::uint32_t spins = 0, points_since_spin = 0;
  std::atomic<std::uint32_t> turn{0};  // 1: it may run
};

world::world() = default;
world::~world() = default;

world::thread& world::self() const noexcept { return *threads_[running_]; }

world& world::get() noexcept {
  static world& only = *new world;  // never destroyed: detached threads may still be in it
  return only;
}

void world::begin(schedule const& s, planted_bug const& bug) {
  schedule_ = s;
  bug_ = bug;
  random_ = random_numbers(s.seed);
  for (std::uint32_t i = 0; i < s.changes; ++i) change_points_.push_back(1 + random_.below(s.change_range));
  std::ranges::sort(change_points_, std::greater{});
  auto& main = *threads_.emplace_back(std::make_unique<thread>());
  main.name = "main";
  main.handle = pthread_self();
  main.priority = random_.below(1'000'000);
  active_ = true;
}

std::uint64_t world::device_now_ns() const noexcept {
  auto const extra = static_cast<std::int64_t>(now_ns_ / 1000) * schedule_.skew_ppm / 1000;
  return now_ns_ + static_cast<std::uint64_t>(extra);
}

void world::end_disturbances() noexcept {
  schedule_.jump_every = schedule_.stall_every = schedule_.spurious = 0;
}

// -- time

void world::note_deadline(std::uint64_t at_ns) noexcept {
  next_deadline_ns_ = std::min(next_deadline_ns_, at_ns);
}

void world::advance(std::uint64_t ns) {
  now_ns_ += ns;
  if (now_ns_ >= next_deadline_ns_) fire();
  // Subtracts jumps and stalls: hundreds of jumps may exceed any limit, and stalls of several threads may exceed the
  // elapsed time.
  if (now_ns_ - std::min(now_ns_, jumped_ns_) > time_limit_ns_)
    fail("the program has not come to an end within its limit of virtual time (G10)");
}

/// Wakes threads and timers whose deadline has passed.
void world::fire() {
  next_deadline_ns_ = never;
  for (auto const& t : threads_) {
    if (t->now != thread::state::waits || t->deadline_ns == never) continue;
    if (t->deadline_ns <= now_ns_)
      t->now = thread::state::ready, t->woken = t->ends_early, next_choice_ = steps_;
    else
      note_deadline(t->deadline_ns);
  }
  for (auto& t : timers_) {
    if (t.at_ns <= now_ns_) {
      t.at_ns = never;
      make_readable(t.fd);
      wake(&epoll_waiters, ~0u);
    } else {
      note_deadline(t.at_ns);
    }
  }
}

void world::set_timer(int fd, std::uint64_t at_ns) {
  forget_timer(fd);
  timers_.push_back({fd, at_ns});
  note_deadline(at_ns);
  if (at_ns <= now_ns_) fire();
}

void world::forget_timer(int fd) {
  std::erase_if(timers_, [fd](timer const& t) { return t.fd == fd; });
}

// -- points

void world::disturb() {
  if (schedule_.jump_every != 0 && random_.chance(1, schedule_.jump_every)) {
    auto const ns = 1 + random_.next() % schedule_.jump_ns;
    ++jumps_;
    jumped_ns_ += ns;
    note(fmt::format("the clock jumps by {} us", ns / 1000));
    advance(ns);
  }
  if (schedule_.stall_every != 0 && random_.chance(1, schedule_.stall_every)) {
    auto const ns = 1 + random_.next() % schedule_.stall_ns;
    ++stalls_;
    jumped_ns_ += ns;
    note(fmt::format("stands still for {} us", ns / 1000));
    wait(&self(), now_ns_ + ns, false, "stands still");
  }
}

void world::point(char const* what, where const& at) {
  thread& t = self();
  t.what = what;
  t.at = at;
  ++t.points_since_spin;
  if (++steps_ > step_limit) fail("the program has not come to an end within its limit of steps (G10)");
  advance(schedule_.step_ns);
  if (schedule_.jump_every != 0 || schedule_.stall_every != 0) disturb();
  if (schedule_.how == schedule::policy::priorities) {
    if (!change_points_.empty() && steps_ >= change_points_.back()) {
      change_points_.pop_back();
      t.priority = --lowest_;
      next_choice_ = steps_;
    }
    if (t.points_since_spin > 5000) t.points_since_spin = 0, t.priority = --lowest_, next_choice_ = steps_;
  }
  if (steps_ >= next_choice_) pass_on(false);
}

bool world::all_spin() const noexcept {
  return std::ranges::all_of(threads_, [](auto const& t) {
    return t->now != thread::state::ready || (t->spins >= 64 && t->points_since_spin < 200);
  });
}

void world::spin(bool gives_way, char const* what, where const& at) {
  thread& t = self();
  if (t.points_since_spin > 200) t.spins = 0;
  t.points_since_spin = 0;
  ++t.spins;
  if (t.spins >= 64 && all_spin()) {
    // Only time can end this: it passes ever faster, up to the next deadline. Each loop runs in between.
    if (++leaps_ % 256 == 0) leap_ns_ = std::min<std::uint64_t>(leap_ns_ * 2, 1'000'000);
    auto const left = next_deadline_ns_ > now_ns_ ? next_deadline_ns_ - now_ns_ : 0;
    advance(std::min(leap_ns_, left));
  }
  if (schedule_.how == schedule::policy::priorities) {
    t.priority = --lowest_;
    next_choice_ = steps_;
  } else if (gives_way || random_.chance(1, 4)) {
    point(what, at);
    return pass_on(true);
  }
  point(what, at);
  t.points_since_spin = 0;
}

bool world::wait(void const* on, std::uint64_t deadline_ns, bool may_fail, char const* what,
                 where const& at) {
  thread& t = self();
  t.what = what;
  t.at = at;
  t.spins = 0;
  t.ends_early = may_fail && schedule_.spurious != 0 && random_.chance(1, schedule_.spurious);
  if (t.ends_early) deadline_ns = std::min(deadline_ns, now_ns_ + random_.below(2000));
  t.waits_on = on;
  t.deadline_ns = deadline_ns;
  t.woken = false;
  t.now = thread::state::waits;
  note_deadline(deadline_ns);
  ++steps_;
  advance(schedule_.step_ns);
  if (t.now == thread::state::waits) pass_on(false);
  t.waits_on = nullptr;
  return t.woken;
}

std::uint32_t world::wake(void const* on, std::uint32_t count) noexcept {
  news();
  choices_.clear();
  for (std::size_t i = 0; i < threads_.size(); ++i)
    if (threads_[i]->now == thread::state::waits && threads_[i]->waits_on == on) choices_.push_back(i);
  std::uint32_t woken = 0;
  for (; woken < count && !choices_.empty(); ++woken) {
    auto const at = random_.below(choices_.size());
    thread& t = *threads_[choices_[at]];
    choices_.erase(choices_.begin() + at);
    t.now = thread::state::ready;
    t.woken = true;
    t.deadline_ns = never;
    if (schedule_.how == schedule::policy::priorities) next_choice_ = steps_;
  }
  return woken;
}

// -- turns

/// Chooses the next thread; lets time pass until one is ready.
std::size_t world::choose(bool not_self) {
  for (;;) {
    choices_.clear();
    for (std::size_t i = 0; i < threads_.size(); ++i)
      if (threads_[i]->now == thread::state::ready) choices_.push_back(i);
    if (!choices_.empty()) break;
    if (next_deadline_ns_ == never) fail("all threads wait, and nothing can wake them (G10)");
    advance(next_deadline_ns_ - std::min(next_deadline_ns_, now_ns_));
  }
  if (schedule_.how == schedule::policy::priorities)
    return *std::ranges::max_element(choices_, {}, [&](std::size_t i) { return threads_[i]->priority; });
  if (not_self && choices_.size() > 1) std::erase(choices_, running_);
  return choices_[random_.below(choices_.size())];
}

void world::pass_on(bool not_self) {
  if (schedule_.how == schedule::policy::priorities)
    next_choice_ = change_points_.empty() ? never : change_points_.back();
  else
    next_choice_ = steps_ + 1 + random_.below(2 * schedule_.every);
  hand_over(choose(not_self));
}

void world::hand_over(std::size_t to) {
  if (to == running_) return;
  thread& from = self();
  ++switches_;
  add_to_hash(to ^ steps_ << 8 ^ now_ns_ << 20);
  if (traces_switches)
    notes_.push_back(fmt::format("{}  ... at {} ({}:{}); {} goes on", stamp(), from.what, from.at.file_name(),
                                 from.at.line(), threads_[to]->name));
  running_ = to;
  thread& next = *threads_[to];
  next.turn.store(1);
  real_syscall(SYS_futex, &next.turn, FUTEX_WAKE_PRIVATE, 1, nullptr);
  if (from.now != thread::state::ended) wait_for_turn(from);
}

void world::wait_for_turn(thread& t) {
  while (t.turn.exchange(0) == 0) real_syscall(SYS_futex, &t.turn, FUTEX_WAIT_PRIVATE, 0, nullptr);
}

// -- threads

int world::create(pthread_t* handle, pthread_attr_t const* attributes, void* (*body)(void*), void* argument) {
  auto& t = *threads_.emplace_back(std::make_unique<thread>());
  t.name = fmt::format("thread {}", threads_.size() - 1);
  t.body = body;
  t.argument = argument;
  t.priority = random_.below(1'000'000);
  int const failed = real_pthread_create(&t.handle, attributes, run_thread, &t);
  if (failed != 0) fail("the system has no thread left");
  *handle = t.handle;
  news();
  if (schedule_.how == schedule::policy::priorities) next_choice_ = steps_;
  point("pthread_create");
  return 0;
}

void* world::run_thread(void* argument) {
  thread& t = *static_cast<thread*>(argument);
  wait_for_turn(t);
  // Only in its turn: a second thread that waits for this initialization would do so in the name of the running one.
  // A thread leaves after the destructors of its thread_local objects, which the system calls before those of keys.
  static pthread_key_t const at_its_end = [] {
    pthread_key_t key{};
    if (pthread_key_create(&key, [](void*) { get().leave(); }) != 0) get().fail("the system has no key left");
    return key;
  }();
  if (pthread_setspecific(at_its_end, &t) != 0) get().fail("the system has no memory left");
  return t.body(t.argument);
}

void world::leave() {
  thread& t = self();
  t.what = "has ended";
  t.now = thread::state::ended;
  wake(&t, ~0u);
  pass_on(false);
}

int world::join(pthread_t handle, void** result) {
  auto const t = std::ranges::find_if(
      threads_, [&](auto const& x) { return !x->joined && pthread_equal(x->handle, handle) != 0; });
  if (t == threads_.end()) fail("a thread was joined that nobody has started");
  thread& joined = **t;
  point("pthread_join");
  while (joined.now != thread::state::ended) wait(&joined, never, false, "pthread_join");
  joined.joined = true;
  return real_pthread_join(handle, result);
}

void world::name_this(char const* name) { self().name = name; }

// -- notes and failures

std::string world::stamp() const {
  return fmt::format("{:12.3f} us  {:<14}", static_cast<double>(now_ns_ - 1'000'000'000) / 1000, self().name);
}

void world::note(std::string text) {
  for (char const c : text) add_to_hash(static_cast<unsigned char>(c));
  notes_.push_back(stamp() + text);
}

std::string world::where_all_stand() const {
  std::string text;
  for (auto const& t : threads_) {
    if (t->now == thread::state::ended) continue;
    text += fmt::format("  {:<14} {} at {} ({}:{})", t->name,
                        t->now == thread::state::waits ? "waits" : "can run", t->what, t->at.file_name(),
                        t->at.line());
    if (t->now == thread::state::waits && t->deadline_ns != never)
      text += fmt::format(", until {:.3f} us", static_cast<double>(t->deadline_ns - 1'000'000'000) / 1000);
    text += '\n';
  }
  return text;
}

void world::fail(std::string const& why) {
  active_ = false;
  fmt::print("FAILED: {}\nat {}after {} steps; the threads:\n{}", why, stamp() + " ", steps_,
             where_all_stand());
  if (on_failure) on_failure();
  std::fflush(stdout);
  ::_exit(1);
}

}  // namespace simulation
