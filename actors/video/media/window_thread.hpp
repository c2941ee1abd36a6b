// The thread of all windows of the program: SDL wants its windows and their events on one. It begins with the first
// window, and ends with the last.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <future>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "runtime/os/made_here.hpp"

union SDL_Event;
struct SDL_Window;

namespace rondo::video {

class window_thread {
 public:
  /// The present one, or a new one. Throws std::runtime_error if there is no display.
  static std::shared_ptr<window_thread> shared();
  ~window_thread();
  window_thread(window_thread const&) = delete;
  window_thread& operator=(window_thread const&) = delete;

  /// Whether a fork has left it behind.
  bool is_of_parent() const noexcept { return rondo::is_of_parent(thread_); }

  // -- from any other thread

  /// Runs `work` there later, after what was posted before. It must not throw.
  void post(std::function<void()> work);
  /// Runs `work` there, and waits. Throws what it throws.
  void call(std::function<void()> const& work);

  // -- on the thread

  /// Passes the events of a window on.
  void listen(std::uint32_t window, std::function<void(SDL_Event const&)> listener);
  void forget(std::uint32_t window) noexcept;
  /// Has the process live on when the X server of this window dies: then the display is lost.
  void survive_server(SDL_Window* window);
  /// Whether it is: nothing of SDL may be called.
  bool is_lost() const noexcept { return is_lost_; }

 private:
  window_thread();
  /// `ready` gets the reason why there are no windows; empty: there are.
  void run(std::promise<std::string>& ready);
  void run_posted();
  void wait_for_posted();

  std::map<std::uint32_t, std::function<void(SDL_Event const&)>> listeners_;
  bool stops_ = false;
  std::atomic<bool> is_lost_{false};
  std::uint32_t wakes_ = 0;  // the type of the event that says that something was posted

  std::mutex mutex_;
  std::condition_variable has_posted_;
  std::deque<std::function<void()>> posted_;  // under the mutex
  process_ptr<std::thread> thread_;
};

}  // namespace rondo::video
