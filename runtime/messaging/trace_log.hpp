// The hops of traced messages: which actor had which message when, from the program's call to the last handler that came
// of it. What is traced is chosen where a message comes from outside: one of `trace_every`, or one that tell_options::trace or
// ask_options::trace names. runtime/observe/chrome_trace.hpp draws them.
//
// Threads: any. Keeps the last `trace_hops` hops of a runtime.
#pragma once

#include <deque>
#include <functional>
#include <mutex>
#include <string>
#include <vector>

#include "kernels/mail/trace.hpp"
#include "runtime/base/errc.hpp"

namespace rondo {

/// One message at one actor; or, with `on_host`, a call of the program, from its start to its outcome.
struct trace_hop {
  std::uint64_t trace = 0;
  std::uint32_t hop = 0, parent = 0;  // parent 0: it has none
  bool on_host = false;
  bool handled = true;  // false: it ended for `outcome` before its handler began
  actor_id actor{};     // that had it; of a call: that it was for
  std::string actor_name{};
  std::uint32_t team = 0;
  std::uint32_t type = 0;
  std::string message{};
  std::uint8_t priority = 0;
  std::uint8_t attempt = 0;  // handlers that failed on it before
  errc outcome = errc::ok;   // what the handler failed for; how the call ended
  std::uint64_t sent_ns = 0, begun_ns = 0,
                ended_ns = 0;  // the handler's, or the call's; all on now_ns()'s clock
};

class trace_log {
 public:
  /// Gives a hop that is read the names that it lacks.
  using namer = std::function<void(trace_hop&)>;
  /// `every` 0: only messages whose sender names a trace are traced.
  trace_log(std::uint32_t every, std::uint32_t capacity, namer names = {});

  /// Whether some messages are chosen by their number.
  bool samples() const noexcept { return every_ != 0; }
  /// Whether the next message from outside is one of those.
  bool takes_next() noexcept {
    // Relaxed: a number alone.
    return every_ != 0 && count_.fetch_add(1, memory_order::relaxed) % every_ == 0;
  }
  /// A number for tell_options::trace and ask_options::trace, which no other trace of this machine has, but by an accident of
  /// 1 in 2^64.
  std::uint64_t new_trace() noexcept;
  /// The tag of a message from outside; its parent is the call that sends it.
  trace_tag new_tag(std::uint64_t trace) noexcept;

  void note(trace_hop hop);
  /// Those of one trace, or of all for 0, in the order in which they ended.
  std::vector<trace_hop> read(std::uint64_t trace = 0) const;
  /// Hops that were kept no longer.
  std::uint64_t forgotten() const;

 private:
  std::uint32_t const every_, capacity_;
  std::uint64_t const first_trace_;
  namer const names_;
  atomic<std::uint32_t> count_{0};
  atomic<std::uint32_t> calls_{0};
  atomic<std::uint64_t> traces_{0};
  mutable std::mutex mutex_;
  std::deque<trace_hop> hops_;   // guarded by mutex_
  std::uint64_t forgotten_ = 0;  // guarded by mutex_
};

}  // namespace rondo
