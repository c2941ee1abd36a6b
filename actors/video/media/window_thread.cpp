#include "actors/video/media/window_thread.hpp"

#include <SDL.h>
#include <fmt/format.h>

#include <stdexcept>

#include "runtime/os/start_thread.hpp"

namespace rondo::video {

std::shared_ptr<window_thread> window_thread::shared() {
  static std::mutex mutex;
  static std::weak_ptr<window_thread> present;
  std::lock_guard const lock(mutex);
  auto thread = present.lock();
  if (thread && thread->is_of_parent())
    throw std::runtime_error(
        "cannot open a window: this process was forked from one that has opened windows; call exec");
  if (!thread) present = thread = std::shared_ptr<window_thread>(new window_thread);
  return thread;
}

window_thread::window_thread() {
  // Shared, here and below: the one who waits may go on before the other has returned from set_value.
  auto const ready = std::make_shared<std::promise<std::string>>();
  thread_ = make_process_ptr<std::thread>(start_thread("windows", [this, ready] { run(*ready); }));
  auto const why = ready->get_future().get();
  if (why.empty()) return;
  thread_->join();
  throw std::runtime_error(why);
}
window_thread::~window_thread() {
  if (is_of_parent()) return;
  post([this] { stops_ = true; });
  thread_->join();
}

void window_thread::run(std::promise<std::string>& ready) {
  static std::mutex sdl;  // the thread before may not have ended
  std::lock_guard const alone(sdl);
  SDL_SetHint(SDL_HINT_NO_SIGNAL_HANDLERS, "1");  // Ctrl-C is the program's
  std::string why;
  if (SDL_Init(SDL_INIT_VIDEO) != 0)
    why = fmt::format("cannot open a window: {}; is there a display? (DISPLAY or WAYLAND_DISPLAY)",
                      SDL_GetError());
  wakes_ = SDL_RegisterEvents(1);
  stops_ = !why.empty();
  ready.set_value(why);
  while (!stops_) {
    SDL_Event event;
    if (SDL_WaitEvent(&event) == 0) continue;
    if (event.type == wakes_)
      run_posted();
    else if (event.type == SDL_WINDOWEVENT || event.type == SDL_KEYDOWN)
      // Both have the window at the same place.
      if (auto const l = listeners_.find(event.window.windowID); l != listeners_.end()) l->second(event);
  }
  SDL_Quit();
  SDL_TLSCleanup();  // what SDL keeps for a thread
}

void window_thread::run_posted() {
  for (;;) {
    std::function<void()> work;
    {
      std::lock_guard const lock(mutex_);
      if (posted_.empty()) return;
      work = std::move(posted_.front());
      posted_.pop_front();
    }
    work();
  }
}

void window_thread::post(std::function<void()> work) {
  {
    std::lock_guard const lock(mutex_);
    posted_.push_back(std::move(work));
  }
  SDL_Event event{};
  event.type = wakes_;
  SDL_PushEvent(&event);
}

void window_thread::call(std::function<void()> const& work) {
  auto const done = std::make_shared<std::promise<void>>();
  post([&work, done] {
    try {
      work();
      done->set_value();
    } catch (...) {
      done->set_exception(std::current_exception());
    }
  });
  done->get_future().get();
}

void window_thread::listen(std::uint32_t window, std::function<void(SDL_Event const&)> listener) {
  listeners_[window] = std::move(listener);
}
void window_thread::forget(std::uint32_t window) noexcept { listeners_.erase(window); }

}  // namespace rondo::video
