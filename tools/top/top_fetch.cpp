#include "tools/top/top_fetch.hpp"

#include "runtime/os/start_thread.hpp"

namespace rondo::tools {

top_fetch::top_fetch(top_source const& source, std::chrono::milliseconds interval)
    : source_(source), interval_(interval), thread_(start_thread("the reports", [this] { run(); })) {}

top_fetch::~top_fetch() {
  {
    std::lock_guard lock(mutex_);
    stop_ = true;
  }
  changed_.notify_one();
  thread_.join();
}

auto top_fetch::take() -> std::optional<news> {
  std::lock_guard lock(mutex_);
  return std::exchange(came_, std::nullopt);
}

void top_fetch::watch(std::string const& actor) {
  {
    std::lock_guard lock(mutex_);
    if (watched_ == actor) return;
    watched_ = actor;
    hurry_ = !actor.empty();
  }
  changed_.notify_one();
}

void top_fetch::run() {
  std::unique_lock lock(mutex_);
  bool whole = true;  // false: fetch only the mailbox
  auto next = std::chrono::steady_clock::now();
  while (!stop_) {
    auto const actor = watched_;
    lock.unlock();
    news got;
    try {
      if (whole) got.report = source_.next();
      if (!actor.empty() && source_.inspect) got.waiting = source_.inspect(actor);
    } catch (std::exception const& e) {
      got.trouble = e.what();
    }
    lock.lock();
    if (actor != watched_) got.waiting.reset();
    if (!whole && came_ && came_->report) got.report = std::move(came_->report);
    came_ = std::move(got);
    if (whole) next = std::chrono::steady_clock::now() + interval_;
    changed_.wait_until(lock, next, [this] { return stop_ || hurry_; });
    whole = !hurry_;
    hurry_ = false;
  }
}

}  // namespace rondo::tools
