#include "actors/video/media/window_thread.hpp"

#include <SDL.h>
#include <SDL_syswm.h>
#include <dlfcn.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <string_view>

#include "runtime/os/start_thread.hpp"
#include "runtime/text/to_stderr.hpp"

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

namespace {

/// Why there can be no windows; empty: there can.
std::string start_sdl() {
  if (SDL_Init(SDL_INIT_VIDEO) != 0)
    return fmt::format("cannot open a window: {}; is there a display? (DISPLAY or WAYLAND_DISPLAY)",
                       SDL_GetError());
  // Where there is no screen, SDL takes drivers that show nothing; only who asks for one by name gets it.
  constexpr std::string_view with_screen[] = {"x11", "wayland", "KMSDRM", "cocoa", "windows"};
  auto const* const driver = SDL_GetCurrentVideoDriver();
  bool const shows = SDL_getenv("SDL_VIDEODRIVER") != nullptr ||
                     (driver != nullptr && std::ranges::find(with_screen, driver) != std::end(with_screen));
  if (shows) return {};
  SDL_Quit();
  return "cannot open a window: there is no display (DISPLAY or WAYLAND_DISPLAY)";
}

}  // namespace

void window_thread::run(std::promise<std::string>& ready) {
  static std::mutex sdl;  // the thread before may not have ended
  std::lock_guard const alone(sdl);
  SDL_SetHint(SDL_HINT_NO_SIGNAL_HANDLERS, "1");  // Ctrl-C is the program's
  auto why = start_sdl();
  // A server that all its clients have left begins anew, and takes nobody meanwhile.
  for (int again = 0; again < 20 && !why.empty() &&
                      (SDL_getenv("DISPLAY") != nullptr || SDL_getenv("WAYLAND_DISPLAY") != nullptr);
       ++again) {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    why = start_sdl();
  }
  wakes_ = SDL_RegisterEvents(1);
  stops_ = !why.empty();
  ready.set_value(why);
  while (!stops_) {
    if (is_lost()) {
      wait_for_posted();
      run_posted();
      continue;
    }
    SDL_Event event;
    if (SDL_WaitEventTimeout(&event, 200) == 0)
      continue;  // not for ever: SDL does not notice a server that dies
    if (event.type == wakes_)
      run_posted();
    else if (event.type == SDL_WINDOWEVENT || event.type == SDL_KEYDOWN)
      // Both have the window at the same place.
      if (auto const l = listeners_.find(event.window.windowID); l != listeners_.end()) l->second(event);
  }
  if (is_lost()) return;  // SDL would talk to the server
  SDL_Quit();
  SDL_TLSCleanup();  // what SDL keeps for a thread
}

void window_thread::survive_server(SDL_Window* window) {
  SDL_SysWMinfo about;
  SDL_VERSION(&about.version);
  if (SDL_GetWindowWMInfo(window, &about) != SDL_TRUE || about.subsystem != SDL_SYSWM_X11) return;
  // Xlib ends the process when its server dies, unless it is told what else to do (since 1.7): first the handler of all
  // connections, which may only say so, and then that of this one. It also ends the process when a server refuses a
  // request, as one does that is about to die. SDL loads Xlib by itself.
  using says = int (*)(Display*);
  using refused = int (*)(Display*, XErrorEvent*);
  using ends = void (*)(Display*, void*);
  void* const xlib = ::dlopen("libX11.so.6", RTLD_NOW | RTLD_NOLOAD);
  if (xlib == nullptr) return;
  auto const set_says = reinterpret_cast<says (*)(says)>(::dlsym(xlib, "XSetIOErrorHandler"));
  auto const set_ends =
      reinterpret_cast<void (*)(Display*, ends, void*)>(::dlsym(xlib, "XSetIOErrorExitHandler"));
  auto const set_refused = reinterpret_cast<refused (*)(refused)>(::dlsym(xlib, "XSetErrorHandler"));
  if (set_says == nullptr || set_ends == nullptr || set_refused == nullptr) return;
  set_refused([](Display*, XErrorEvent* e) {
    static std::atomic<bool> is_said = false;
    if (!is_said.exchange(true, std::memory_order_relaxed))  // relaxed: only a report
      to_stderr(fmt::format(
          "rondo: the display refused request {}.{} (X error {}); further refusals are not told\n",
          e->request_code, e->minor_code, e->error_code));
    return 0;
  });
  set_says([](Display*) { return 0; });
  set_ends(
      about.info.x11.display,
      [](Display*, void* of) {
        static_cast<window_thread*>(of)->is_lost_ = true;
        // Xlib has left its locks closed, on which the end of OpenGL's drivers would wait for ever.
        ::on_exit(
            [](int status, void*) {
              std::fflush(nullptr);
              ::_exit(status);
            },
            nullptr);
      },
      this);
}

void window_thread::wait_for_posted() {
  std::unique_lock lock(mutex_);
  has_posted_.wait(lock, [this] { return !posted_.empty(); });
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
  has_posted_.notify_one();
  if (is_lost()) return;
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
