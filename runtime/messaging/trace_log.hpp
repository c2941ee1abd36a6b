// The log of traced messages' hops: which actor handled which message when, from the program's call to the last handler
// that it caused. The choice is made when a message comes from outside: one in `trace_every`, or a message with
// tell_options::trace or ask_options::trace. runtime/observe/chrome_trace.hpp and otlp_trace.hpp write the hops to
// files.
//
// Threads: any. The log keeps the last `trace_hops` hops of a runtime.
#pragma once

#include <deque>
#include <functional>
#include <mutex>
#include <string>
#include <vector>

#include "kernels/mail/trace.hpp"
#include "runtime/base/errc.hpp"

namespace rondo {

/// One message at one actor; with `on_host`, a call of the program, from its start to its outcome.
struct trace_hop {
  std::uint64_t trace = 0;     // shared by everything that one message from outside causes
  std::uint32_t hop = 0;       // this message; attempts at it share the number
  std::uint32_t parent = 0;    // the hop that sent it; 0: none
  bool on_host = false;        // a call of the program
  bool handled = true;         // false: completed with `outcome` before its handler began
  actor_id actor{};            // the actor that received it; of a call: its target
  std::string actor_name{};    // empty: it has none
  std::uint32_t team = 0;      // that ran the handler
  std::uint32_t type = 0;      // of the message
  std::string message{};       // the type's name
  std::uint32_t bytes = 0;     // of the message; 0: unknown
  std::uint8_t priority = 0;   // of the message
  std::uint8_t attempt = 0;    // earlier attempts, which failed
  errc outcome = errc::ok;     // of the handler or the call
  std::uint64_t sent_ns = 0;   // on now_ns()'s clock
  std::uint64_t begun_ns = 0;  // when the handler or the call began
  std::uint64_t ended_ns = 0;  // when it ended
};

class trace_log {
 public:
  /// Fills in the names of a hop when it is read.
  using namer = std::function<void(trace_hop&)>;
  /// `every` 0: only messages whose sender names a trace are traced.
  trace_log(std::uint32_t every, std::uint32_t capacity, namer names = {});

  /// Whether one in `trace_every` messages is traced.
  bool samples() const noexcept { return every_ != 0; }
  /// Whether the next message from outside is one of them.
  bool takes_next() noexcept {
    // Relaxed: only a number.
    return every_ != 0 && count_.fetch_add(1, memory_order::relaxed) % every_ == 0;
  }
  /// A number for tell_options::trace and ask_options::trace. It is unique on this machine, except for a chance of 1 in
  /// 2^64.
  std::uint64_t new_trace() noexcept;
  /// The tag of a message from outside; its parent is the call that sends it.
  trace_tag new_tag(std::uint64_t trace) noexcept;

  /// Adds a hop. The oldest one is discarded if there are too many.
  void note(trace_hop hop);
  /// The hops of one trace, or of all traces for 0, in the order in which they ended.
  std::vector<trace_hop> read(std::uint64_t trace = 0) const;
  /// The number of hops that were discarded to make room.
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
