#include "runtime/player/list_watch.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <optional>
#include <utility>

#include "runtime/os/start_thread.hpp"

namespace rondo {

struct list_watch::state {
  using clock = std::chrono::steady_clock;
  struct outcome {
    error_code why;
    std::string text;
  };
  struct given {
    std::uint64_t number;
    kernel_player::ended done;
    std::optional<outcome> how{};  // it has ended
  };

  void run();
  void lose_all();
  void report(std::unique_lock<std::mutex>& lock);
  auto first_unended() {
    return std::ranges::find_if(lists, [](given const& l) { return !l.how; });
  }

  std::string machine;
  std::chrono::nanoseconds limit;
  std::mutex mutex;                   // guards what follows, but for the atomics
  std::condition_variable changed;    // for the thread: there is a list, or it is to stop
  std::condition_variable is_silent;  // for `wait`
  std::deque<given> lists;            // which have not been reported, in their order
  clock::time_point since;            // when the first that has not ended became the first
  std::uint64_t begun = 0;
  std::uint64_t overdue = 0;  // which were lost, and which the driver still has
  bool is_reporting = false;  // some thread does
  bool sleeps = false;        // the thread, until there is a list
  bool stops = false;
  std::atomic<bool> is_lost{false};  // relaxed throughout, here and below: they guard no other data
  std::atomic<std::uint64_t> played{0};
};

// A GPU that is in use all the time wakes this thread once per limit, not once per list.
void list_watch::state::run() {
  std::unique_lock lock(mutex);
  for (std::uint64_t seen = 0; !stops;) {
    if (lists.empty() && seen == begun) {
      sleeps = true;
      changed.wait(lock, [this] { return stops || !lists.empty(); });
      sleeps = false;
    }
    seen = begun;
    auto const now = clock::now(), until = (first_unended() == lists.end() ? now : since) + limit;
    if (now < until) {
      changed.wait_until(lock, until, [this] { return stops; });
    } else {
      lose_all();
      report(lock);
    }
  }
}

void list_watch::state::lose_all() {
  is_lost.store(true, std::memory_order_relaxed);
  auto text = fmt::format("{}: a list of kernels did not end within {:g} s", machine,
                          std::chrono::duration<double>(limit).count());
  bool is_first = true;
  for (auto& l : lists) {
    if (l.how) continue;
    l.how = {errc::device_lost, text};
    if (std::exchange(is_first, false)) text += ", and this one waited for it";
    ++overdue;
  }
}

/// The lists that have ended, but for those behind one that has not: a driver may call back in any order, and on
/// several threads at once.
void list_watch::state::report(std::unique_lock<std::mutex>& lock) {
  if (is_reporting) return;  // that thread takes these, too
  is_reporting = true;
  while (!lists.empty() && lists.front().how) {
    {
      auto const l = std::move(lists.front());
      lists.pop_front();
      lock.unlock();
      l.done(l.how->why, l.how->text);
    }
    lock.lock();
  }
  is_reporting = false;
  is_silent.notify_all();
}

list_watch::list_watch(std::string machine, std::chrono::nanoseconds limit)
    : state_(std::make_shared<state>()) {
  state_->machine = std::move(machine);
  state_->limit = limit;
  thread_ = start_thread("the time limit of kernels", [s = state_] { s->run(); });
}

list_watch::~list_watch() {
  {
    std::lock_guard const lock(state_->mutex);
    state_->stops = true;
  }
  state_->changed.notify_one();
  thread_.join();
}

std::unique_ptr<list_watch::list> list_watch::begin(kernel_player::ended done, std::string failure) {
  auto begun = std::make_unique<list>();
  auto& s = *state_;
  begun->of_ = state_;
  begun->failure_ = std::move(failure);
  if (!begun->failure_.empty()) s.is_lost.store(true, std::memory_order_relaxed);
  std::lock_guard const lock(s.mutex);
  begun->number_ = ++s.begun;
  if (s.first_unended() == s.lists.end()) s.since = state::clock::now();
  s.lists.push_back({begun->number_, std::move(done)});
  if (s.sleeps) s.changed.notify_one();
  return begun;
}

void list_watch::end(std::unique_ptr<list> which, error_code why, std::string const& text) {
  auto& s = *which->of_;
  std::unique_lock lock(s.mutex);
  auto const at = std::ranges::find(s.lists, which->number_, &state::given::number);
  if (at == s.lists.end() || at->how) {  // it is lost
    --s.overdue;
    return;
  }
  bool const has_failed = !which->failure_.empty();
  if (has_failed) why = errc::device_lost;
  if (why == errc::device_lost) s.is_lost.store(true, std::memory_order_relaxed);
  if (!why) s.played.fetch_add(1, std::memory_order_relaxed);
  auto const& words = has_failed ? which->failure_ : text;
  if (at == s.first_unended()) s.since = state::clock::now();
  at->how = {why, words.empty() ? words : fmt::format("{}: {}", s.machine, words)};
  s.report(lock);
}

bool list_watch::wait() {
  auto& s = *state_;
  std::unique_lock lock(s.mutex);
  s.is_silent.wait(lock, [&s] { return s.lists.empty() && !s.is_reporting; });
  return s.overdue == 0;
}

bool list_watch::is_stuck() const noexcept {
  std::lock_guard const lock(state_->mutex);
  return state_->overdue != 0;
}
bool list_watch::is_lost() const noexcept { return state_->is_lost.load(std::memory_order_relaxed); }
std::uint64_t list_watch::played() const noexcept { return state_->played.load(std::memory_order_relaxed); }

}  // namespace rondo
