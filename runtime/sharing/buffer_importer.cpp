#include "runtime/sharing/buffer_importer.hpp"

#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <boost/asio/any_completion_executor.hpp>
#include <boost/asio/associated_executor.hpp>
#include <boost/asio/dispatch.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <condition_variable>
#include <cstdio>
#include <deque>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <thread>

#include "runtime/os/run_handlers.hpp"
#include "runtime/os/start_thread.hpp"
#include "runtime/sharing/packet_socket.hpp"

namespace rondo {

namespace {

using boost::asio::posix::stream_descriptor;

constexpr std::uint32_t silent_beats = 16;  // own beats without an exporter's beat: two lease_timeouts

/// The reason of a refusal, made printable.
std::string reason_of(share::refusal& r) {
  r.text[sizeof r.text - 1] = 0;
  std::string text = r.text;
  for (char& c : text)
    if (static_cast<unsigned char>(c) < ' ') c = '?';
  return text;
}

std::shared_ptr<import_view> shake_hands(owned_fd socket, buffer_importer_options const& options,
                                         std::uint64_t& beat_ns) {
  if (auto const who = identity_of(socket.get()); who.uid != ::geteuid())
    throw std::runtime_error("that process belongs to user " + std::to_string(who.uid) +
                             ", but this one to user " + std::to_string(::geteuid()));
  share::hello hello;
  hello.how = options.how;
  hello.capacity = options.capacity;
  if (options.open_device) {
    hello.transports |= share::device_memory;
    hello.device_identity = options.open_device.identity;
  }
  if (send_packet(socket.get(), share::bytes_of(hello)) != packet_io::done)
    throw std::runtime_error("the connection was closed before the hello");
  if (!wait_readable(socket.get(), options.timeout))
    throw std::runtime_error("no answer to the hello within " + std::to_string(options.timeout.count()) +
                             " ms; is that process stopped?");
  packet p;
  if (receive_packet(socket.get(), p) != packet_io::done)
    throw std::runtime_error("the connection was closed without an answer to the hello");
  if (share::refusal r; share::read_packet(p.content(), r))
    throw std::runtime_error("the exporter refused: " + reason_of(r));
  share::welcome w;
  if (p.cut || !share::read_packet(p.content(), w))
    throw std::runtime_error("the answer to the hello (" + std::to_string(p.size) +
                             " bytes) is not a welcome of a buffer_exporter of this version");
  beat_ns = w.beat_ns;
  return std::make_shared<import_view>(w, std::move(socket), p.fds, options.open_device);
}

}  // namespace

struct buffer_importer::state {
  state(std::shared_ptr<import_view> v, buffer_importer_options const& options, std::uint64_t beat_ns)
      : view(std::move(v)),
        how(options.how),
        capacity(options.capacity),
        say_arrived(options.arrived),
        socket(io, view->socket()),
        clock(io),
        // Between a millisecond and an hour, whatever the exporter says.
        beat_every(std::clamp<std::uint64_t>(beat_ns, 1'000'000, 3'600'000'000'000)) {
    beat();
    listen();
    thread = start_thread("an importer of buffers", [this] {
      own_threads::scope const own(&threads);
      run_handlers(io, [](char const* text) {
        std::fprintf(stderr, "rondo: a receiver of buffer_importer threw an exception: %s\n", text);
      });
    });
  }

  ~state() {
    boost::asio::post(io, [this] { over(errc::cancelled); });
    alive.reset();
    thread.join();
    ::shutdown(view->socket(), SHUT_RDWR);  // leases may keep the socket
  }

  // -- on the thread

  void beat() {
    view->beat();
    // Counted in own beats, not in time: if this process itself was stopped, the exporter has time to beat again.
    auto const theirs = view->exporter_beat();
    silent = std::exchange(last_beat, theirs) != theirs ? 0 : silent + 1;
    if (silent > silent_beats) return over(errc::peer_gone);
    clock.expires_after(beat_every);
    clock.async_wait([this](error_code const& error) {
      if (!error && !ended) beat();
    });
  }

  void listen() {
    socket.async_wait(stream_descriptor::wait_read, [this](error_code const& error) {
      if (!error && take_in()) listen();
    });
  }

  /// Reads announcements. False: no more will come.
  bool take_in() {
    packet p;
    for (;;) {
      auto const got = receive_packet(view->socket(), p);
      if (got == packet_io::later) return true;
      share::announcement a;
      if (got == packet_io::gone || p.cut || !share::read_packet(p.content(), a) || !put(arrived_from(a)))
        return over(errc::peer_gone), false;  // any other packet violates the protocol
    }
  }

  announced_buffer arrived_from(share::announcement const& a) const {
    announced_buffer b{.ref = a.ref, .tag = a.tag, .note = a.note};
    if (auto lease = view->granted(a.ref))
      b.lease = std::move(*lease);
    else
      b.refused = static_cast<errc>(lease.error().value());
    return b;
  }

  /// A waiting receiver, which keeps its executor running.
  struct waiting {
    receiver r;
    boost::asio::any_completion_executor executor;
  };
  waiting waiting_of(receiver r) {
    auto const executor = boost::asio::get_associated_executor(r, io.get_executor());
    return {std::move(r), boost::asio::prefer(executor, boost::asio::execution::outstanding_work.tracked)};
  }

  /// False: the exporter may not send so many, or not this one.
  bool put(announced_buffer a) {
    if (a.refused == errc::stale_buffer) return false;
    std::optional<announced_buffer> older;  // its lease ends without the mutex
    std::unique_lock lock(mutex);
    if (!receivers.empty()) {
      auto w = std::move(receivers.front());
      receivers.pop_front();
      lock.unlock();
      complete(std::move(w), errc::ok, std::move(a));
      return true;
    }
    if (how == delivery::latest && !inbox.empty()) {
      older = std::move(inbox.front());
      inbox.pop_front();
      ++replaced;
    }
    if (inbox.size() == capacity) return false;
    inbox.push_back(std::move(a));
    arrived.notify_one();
    lock.unlock();
    if (say_arrived) say_arrived();
    return true;
  }

  void over(errc why) {
    std::deque<waiting> left;
    std::deque<announced_buffer> invalid;
    {
      auto const lock = std::lock_guard(mutex);
      view->set_peer_gone();  // with `ended`: whoever sees one of them finds the other
      if (ended && why == errc::peer_gone) return;
      ended = true;
      if (why == errc::cancelled || !view->counted()) invalid.swap(inbox);
      left.swap(receivers);
      arrived.notify_all();
    }
    clock.cancel();
    if (socket.is_open()) static_cast<void>(socket.release());  // the view owns it
    for (auto& w : left) complete(std::move(w), why, {});
    if (say_arrived && why != errc::cancelled) say_arrived();
  }

  /// Calls the receiver on its executor, never inside the initiating function.
  void complete(waiting w, errc outcome, announced_buffer a) {
    boost::asio::post(io, [w = std::move(w), outcome, a = std::move(a)]() mutable {
      auto const executor = w.executor;
      boost::asio::dispatch(executor, [r = std::move(w.r), outcome, a = std::move(a)]() mutable {
        std::move(r)(make_error_code(outcome), std::move(a));
      });
    });
  }

  // -- from any thread

  /// Takes the oldest announcement. Precondition: the caller holds mutex.
  announced_buffer pop() {
    auto a = std::move(inbox.front());
    inbox.pop_front();
    return a;
  }

  std::shared_ptr<import_view> view;
  delivery const how;
  std::size_t const capacity;
  std::function<void()> const say_arrived;
  boost::asio::io_context io{1};
  boost::asio::executor_work_guard<boost::asio::io_context::executor_type> alive{io.get_executor()};
  stream_descriptor socket;
  boost::asio::steady_timer clock;
  std::chrono::nanoseconds beat_every;
  std::uint32_t last_beat = 0, silent = 0;

  // Guards the members below. Only the thread changes `ended`, so it reads that without the mutex.
  mutable std::mutex mutex;
  std::condition_variable arrived;
  std::deque<announced_buffer> inbox;
  std::deque<waiting> receivers;  // empty while the inbox is not
  std::uint64_t replaced = 0;
  bool ended = false;
  own_threads const threads{};
  std::thread thread;
};

buffer_importer::buffer_importer(std::filesystem::path const& path, buffer_importer_options const& options) {
  if (options.capacity == 0 || options.capacity > share::most_granted)
    throw std::invalid_argument("buffer_importer: capacity is " + std::to_string(options.capacity) +
                                "; use 1 to " + std::to_string(share::most_granted));
  if (options.timeout < std::chrono::milliseconds(1))
    throw std::invalid_argument("buffer_importer: timeout is " + std::to_string(options.timeout.count()) +
                                " ms; use at least 1");
  auto socket = connect_to(path, options.timeout);
  std::uint64_t beat_ns = 0;
  try {
    view_ = shake_hands(std::move(socket), options, beat_ns);
  } catch (std::exception const& e) {
    throw std::runtime_error("importing buffers from " + path.string() + ": " + e.what());
  }
  state_ = make_process_ptr<state>(view_, options, beat_ns);
}

buffer_importer::~buffer_importer() = default;

result<announced_buffer> buffer_importer::receive(std::chrono::nanoseconds timeout) {
  auto& s = *state_;
  if (s.threads.would_deadlock()) return make_error_code(errc::would_deadlock);
  timeout = std::min<std::chrono::nanoseconds>(timeout, std::chrono::years(1));  // within the clock's range
  std::unique_lock lock(s.mutex);
  if (!s.arrived.wait_for(lock, timeout, [&] { return s.ended || !s.inbox.empty(); }))
    return make_error_code(errc::timed_out);
  if (s.inbox.empty()) return make_error_code(errc::peer_gone);
  return s.pop();
}

std::uint64_t buffer_importer::replaced() const noexcept {
  auto const lock = std::lock_guard(state_->mutex);
  return state_->replaced;
}

own_threads const* buffer_importer::threads() const noexcept { return &state_->threads; }

void buffer_importer::enlist(receiver r) {
  auto& s = *state_;
  std::unique_lock lock(s.mutex);
  if (!s.ended && s.inbox.empty()) return s.receivers.push_back(s.waiting_of(std::move(r)));
  auto const outcome = s.inbox.empty() ? errc::peer_gone : errc::ok;
  auto a = s.inbox.empty() ? announced_buffer{} : s.pop();
  lock.unlock();
  s.complete(s.waiting_of(std::move(r)), outcome, std::move(a));
}

}  // namespace rondo
