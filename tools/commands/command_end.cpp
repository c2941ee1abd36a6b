#include "tools/commands/command_end.hpp"

#include <fcntl.h>
#include <poll.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <system_error>

namespace rondo::tools {

namespace {

constexpr int signal_count = 65;
constexpr std::int64_t same_signal_ns = 200'000'000;
constexpr std::size_t longest_line = 256;

// What the handler uses. Lock-free atomics, because it interrupts any thread. Relaxed where nothing else is published.
std::atomic<int> wake_fd{-1};
std::atomic<int> first_signal{0};
std::atomic<std::int64_t> first_at_ns{0};
std::atomic<bool> is_pending[signal_count];
static_assert(std::atomic<std::int64_t>::is_always_lock_free && std::atomic<bool>::is_always_lock_free);

std::int64_t monotonic_ns() noexcept {
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);  // may be called in a handler: signal-safety(7)
  return std::int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

void write_wake() noexcept {
  int const before = errno;
  char const one = 1;
  [[maybe_unused]] auto const written = ::write(wake_fd.load(std::memory_order_relaxed), &one, 1);
  errno = before;
}

void note_signal(int signal) {
  is_pending[signal].store(true, std::memory_order_relaxed);
  write_wake();
}

void note_stop(int signal) {
  int none = 0;
  if (first_signal.compare_exchange_strong(none, signal, std::memory_order_relaxed)) {
    first_at_ns.store(monotonic_ns(), std::memory_order_relaxed);
    return write_wake();
  }
  auto const first = first_at_ns.load(std::memory_order_relaxed);  // 0: another thread is about to write it
  if (signal == SIGHUP || first == 0 || monotonic_ns() - first < same_signal_ns) return;
  ::signal(signal, SIG_DFL);
  ::raise(signal);  // taken when this handler returns
}

/// Stops nothing if the process has just gone to the background: read() then fails instead.
class without_sigttin {
 public:
  without_sigttin() {
    sigset_t blocked;
    sigemptyset(&blocked);
    sigaddset(&blocked, SIGTTIN);
    pthread_sigmask(SIG_BLOCK, &blocked, &before_);
  }
  ~without_sigttin() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  without_sigttin(without_sigttin const&) = delete;
  without_sigttin& operator=(without_sigttin const&) = delete;

 private:
  sigset_t before_{};
};

}  // namespace

// -- signals

stop_signals::stop_signals(bool reloads) {
  int ends[2];
  if (::pipe(ends) != 0) throw std::system_error(errno, std::generic_category(), "pipe");
  wake_ = owned_fd(ends[0]), wakes_ = owned_fd(ends[1]);
  for (int const end : ends) {
    ::fcntl(end, F_SETFD, FD_CLOEXEC);
    ::fcntl(end, F_SETFL, O_NONBLOCK);
  }
  wake_fd = wakes_.get();
  first_signal = 0;
  first_at_ns = 0;
  replace(SIGINT, note_stop);
  replace(SIGTERM, note_stop);
  if (reloads) {
    add(SIGHUP);  // one that comes before its function is kept
    return;
  }
  struct sigaction now {};
  ::sigaction(SIGHUP, nullptr, &now);
  if (now.sa_handler != SIG_IGN) replace(SIGHUP, note_stop);
}

stop_signals::~stop_signals() {
  for (auto const& r : replaced_) ::sigaction(r.signal, &r.before, nullptr);
  wake_fd = -1;
}

void stop_signals::replace(int signal, void (*handler)(int)) {
  struct sigaction action {};
  action.sa_handler = handler;
  action.sa_flags = SA_RESTART;  // libraries do not expect interrupted calls
  sigemptyset(&action.sa_mask);
  is_pending[signal] = false;
  auto& r = replaced_.emplace_back(replaced{signal, {}});
  ::sigaction(signal, &action, &r.before);
}

int stop_signals::arrived() const noexcept { return first_signal.load(std::memory_order_relaxed); }
void stop_signals::add(int signal) {
  if (std::ranges::count(replaced_, signal, &replaced::signal) == 0) replace(signal, note_signal);
}
bool stop_signals::take(int signal) noexcept {
  return is_pending[signal].exchange(false, std::memory_order_relaxed);
}
void stop_signals::wake() noexcept { write_wake(); }

// -- keys

terminal_lines::terminal_lines() {
  if (::isatty(STDIN_FILENO) == 0) return;
  terminal_ = owned_fd(::open("/dev/tty", O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
}

int terminal_lines::descriptor() const noexcept {
  return terminal_ && ::tcgetpgrp(terminal_.get()) == ::getpgrp() ? terminal_.get() : -1;
}

void terminal_lines::read(std::function<void(std::string_view)> const& use) {
  char bytes[longest_line];
  ssize_t got = 0;
  {
    without_sigttin const stays;
    got = ::read(terminal_.get(), bytes, sizeof bytes);
  }
  if (got < 0 && (errno == EAGAIN || errno == EINTR)) return;
  if (got <= 0) {
    if (got == 0 || descriptor() >= 0) terminal_ = {};  // otherwise the process went to the background
    return;
  }
  text_.append(bytes, static_cast<std::size_t>(got));
  for (auto end = text_.find('\n'); end != std::string::npos; end = text_.find('\n')) {
    use(std::string_view(text_).substr(0, end));
    text_.erase(0, end + 1);
  }
  if (text_.size() > longest_line) text_.clear();
}

// -- the loop

void command_loop::on_signal(int signal, std::function<void()> f) {
  handlers_.push_back({signal, std::move(f)});
  signals_.add(signal);
}

void command_loop::on_line(std::function<void(std::string_view)> f) { on_line_ = std::move(f); }

void command_loop::every(std::chrono::milliseconds pause, std::function<void()> f) {
  timers_.push_back({pause, clock::now() + pause, std::move(f)});
}

void command_loop::post(std::function<void()> f) {
  {
    std::lock_guard const lock(mutex_);
    posted_.push_back(std::move(f));
  }
  signals_.wake();
}

void command_loop::end() noexcept {
  ended_ = true;
  signals_.wake();
}

void command_loop::run() {
  while (!ended_) {
    wait();
    handle_signals();
    call_posted();
    call_due();
  }
}

/// How long nothing is due; -1: there is nothing.
int command_loop::wait_ms() const {
  auto due = clock::time_point::max();
  for (auto const& t : timers_) due = std::min(due, t.due);
  // Nothing tells a process that it is in the foreground again.
  if (on_line_ && keys_.is_open()) due = std::min(due, clock::now() + std::chrono::milliseconds(500));
  if (due == clock::time_point::max()) return -1;
  auto const left = std::chrono::ceil<std::chrono::milliseconds>(due - clock::now()).count();
  return static_cast<int>(std::clamp<std::int64_t>(left, 0, 60'000));
}

void command_loop::wait() {
  pollfd for_what[] = {{signals_.descriptor(), POLLIN, 0}, {on_line_ ? keys_.descriptor() : -1, POLLIN, 0}};
  if (::poll(for_what, 2, wait_ms()) <= 0) return;
  char some[64];
  while (::read(signals_.descriptor(), some, sizeof some) == sizeof some)
    ;
  if (for_what[1].revents != 0 && !ended_) keys_.read(on_line_);
}

void command_loop::handle_signals() {
  for (auto const& h : handlers_)
    if (!ended_ && signals_.take(h.signal)) h.work();
  if (ended_ || has_told_stop_ || signals_.arrived() == 0) return;
  has_told_stop_ = true;
  if (on_stop_) on_stop_(signals_.arrived());
}

void command_loop::call_posted() {
  std::vector<std::function<void()>> now;
  {
    std::lock_guard const lock(mutex_);
    now.swap(posted_);
  }
  for (auto const& f : now)
    if (!ended_) f();
}

void command_loop::call_due() {
  for (auto& t : timers_)
    if (!ended_ && clock::now() >= t.due) {
      t.work();
      t.due = clock::now() + t.pause;
    }
}

}  // namespace rondo::tools
