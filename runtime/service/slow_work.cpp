#include "runtime/service/slow_work.hpp"

#include <algorithm>
#include <boost/asio/post.hpp>
#include <utility>

#include "runtime/os/prepare_thread.hpp"
#include "runtime/os/start_thread.hpp"

namespace rondo::service {

slow_work::slow_work()
    : reads_(start_thread("reads of a service", [this] {
        prepare_thread("rondo-reads", -1);
        run();
      })) {}

slow_work::~slow_work() { end(); }

void slow_work::end() {
  stop_reading();
  control_.join();
  {
    std::lock_guard lock(mutex_);
    ends_ = true;
    changed_.notify_all();
  }
  if (reads_.joinable()) reads_.join();
}

void slow_work::read(quota_peer const& of, std::unique_ptr<reader> r) {
  {
    std::lock_guard lock(mutex_);
    if (!refuses_) {
      auto& all = of->who() == standing::client ? clients_ : operators_;
      auto mine = std::ranges::find(all, of, &queue::of);
      if (mine == all.end()) mine = all.insert(all.end(), queue{of, {}});
      mine->reads.push_back(std::move(r));
      changed_.notify_one();
      return;
    }
  }
  r->refuse();
}

void slow_work::control(std::function<void()> work) {
  hold(1);
  boost::asio::post(control_, [this, work = std::move(work)] {
    work();
    hold(-1);
  });
}

void slow_work::hold(int more) {
  std::lock_guard lock(mutex_);
  held_ += more;
  if (held_ == 0) changed_.notify_one();
}

/// Call it under the mutex. Null if none waits.
std::unique_ptr<slow_work::reader> slow_work::next() {
  for (auto* const all : {&operators_, &clients_}) {
    if (all->empty()) continue;
    auto& first = all->front();
    auto r = std::move(first.reads.front());
    first.reads.pop_front();
    if (first.reads.empty())
      all->pop_front();
    else
      all->splice(all->end(), *all, all->begin());
    return r;
  }
  return nullptr;
}

void slow_work::run() {
  std::unique_lock lock(mutex_);
  for (;;) {
    std::unique_ptr<reader> r;
    changed_.wait(lock, [&] { return ends_ || (held_ == 0 && (r = next()) != nullptr); });
    if (ends_) return;
    lock.unlock();
    if (!r->has_gone()) r->run();
    r.reset();
    lock.lock();
  }
}

void slow_work::stop_reading() {
  queues all;
  {
    std::lock_guard lock(mutex_);
    refuses_ = true;
    all.splice(all.end(), operators_);
    all.splice(all.end(), clients_);
  }
  for (auto const& q : all)
    for (auto const& r : q.reads) r->refuse();
}

std::size_t slow_work::waiting() const {
  std::lock_guard lock(mutex_);
  std::size_t n = 0;
  for (auto const* const all : {&operators_, &clients_})
    for (auto const& q : *all) n += q.reads.size();
  return n;
}

}  // namespace rondo::service
