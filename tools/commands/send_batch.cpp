#include "tools/commands/send_batch.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <condition_variable>
#include <cstring>
#include <deque>
#include <iostream>
#include <mutex>
#include <optional>

#include "runtime/text/json_reader.hpp"
#include "runtime/text/to_stderr.hpp"

namespace rondo::service {

namespace {

class batch {
 public:
  explicit batch(batch_arguments const& a) : a_(a), with_(a.where) {}

  void run(std::istream& in) {
    std::string line;
    std::optional<command_error> wrong;
    for (std::uint64_t number = 1; !wrong && read_line(in, line); ++number) {
      if (line.find_first_not_of(" \t\r") == std::string::npos) continue;
      auto const refuse = [&](exit_code code, std::string const& why) {
        wrong.emplace(code,
                      fmt::format("{}: {}; this line and those after it were not sent", place(number), why));
      };
      try {
        if (line.size() > most_line_bytes)
          refuse(exit_bad_data, fmt::format("has more than {} bytes", most_line_bytes));
        else if (auto const why = why_no_service(); !why.empty())
          refuse(exit_unavailable, why);
        else
          send(line);
      } catch (command_error const& e) {
        refuse(e.code == exit_unavailable ? e.code : exit_bad_data, e.what());
      } catch (std::exception const& e) {
        refuse(exit_bad_data, e.what());
      }
      if (!wrong) wait_for(a_.open);
      show_progress(false);
    }
    if (!wrong && (in.bad() || (&in == &std::cin && std::ferror(stdin) != 0)))
      wrong.emplace(exit_no_input, fmt::format("{}: cannot be read: {}", file_name(), std::strerror(errno)));
    wait_for(1);
    show_progress(true);
    if (wrong) throw *wrong;
    if (auto const why = why_no_service(); !why.empty()) throw command_error(exit_unavailable, why);
    if (refused_ != 0)
      throw command_error(exit_failed, fmt::format("{} of {} messages were refused", refused_, printed_));
  }

 private:
  /// A longer line is no message.
  static constexpr std::size_t most_line_bytes = json_limits{}.bytes;

  std::string file_name() const { return a_.file == "-" ? "standard input" : a_.file; }
  std::string place(std::uint64_t line) const { return fmt::format("{}:{}", file_name(), line); }

  /// Reads one byte more than a line may have at most: an input without line ends must not fill the memory.
  static bool read_line(std::istream& in, std::string& line) {
    line.clear();
    for (char c = 0; line.size() <= most_line_bytes && in.get(c);) {
      if (c == '\n') return true;
      line += c;
    }
    return !line.empty();
  }

  /// Why it makes no sense to send more; empty: it does. Otherwise each message would wait for the whole time limit.
  std::string why_no_service() {
    {
      std::lock_guard lock(mutex_);
      if (!is_gone_ && silent_ < a_.open) return {};
      if (!is_gone_)
        return fmt::format("{} messages in a row had no answer within {} s (--timeout)", silent_,
                           a_.where.timeout_s);
    }
    return fmt::format("no service answers any more at {}", with_.whereabouts(with_.link().last_words()));
  }

  void send(std::string const& text) {
    auto const value = parse_json_node(text);
    json_reader from(value, "the request");
    std::string actor, message, payload;
    std::uint32_t priority = default_priority, deadline_us = 0;
    from.text("actor", actor);
    from.text("message", message);
    from.object("payload", [&](json_node const& o, std::string const&) { payload = json_text(o); });
    from.number("priority", 0, 255, priority);
    from.number("deadline_us", 0, 4'000'000'000, deadline_us);
    from.done();
    if (actor.empty()) from.refuse("actor", "is missing");
    if (message.empty()) from.refuse("message", "is missing");
    auto const& m = with_.message_of(actor, message);
    if (a_.wants_reply && !m.has_reply) from.refuse("message", m.name + " has no reply; use rondo tell");
    auto const bytes = with_.payload(m, payload);
    auto const limit = std::chrono::nanoseconds(a_.where.timeout());
    std::lock_guard lock(mutex_);
    auto const slot = begun_++;
    lines_.emplace_back();
    with_.link().send({{}, actor}, m.id, bytes,
                      {.priority = static_cast<std::uint8_t>(priority),
                       .deadline = deadline_us != 0 ? time_limit(std::chrono::microseconds(deadline_us))
                                   : a_.wants_reply ? time_limit(limit)
                                                    : time_limit(no_timeout),
                       .wants_reply = a_.wants_reply,
                       .wait_for_room = !a_.wants_reply,
                       .patience = limit},
                      answer_handler([this, slot](answer const& a) { come(slot, a); }));
  }

  void come(std::uint64_t slot, answer const& a) {
    std::lock_guard lock(mutex_);
    auto& l = lines_[slot - printed_];
    l.reason = a.reason;
    is_gone_ = is_gone_ || a.reason == errc::peer_gone;
    silent_ = a.reason == errc::timed_out ? silent_ + 1 : 0;
    l.type = a.body.header.type;
    l.payload.assign(a.body.payload, a.body.payload + (a.reason == errc::ok ? a.body.bytes : 0));
    l.done = true;
    changed_.notify_one();
  }

  /// Waits until fewer than `open` messages are in flight. Prints the answers that have arrived, in order.
  void wait_for(std::uint64_t open) {
    std::unique_lock lock(mutex_);
    for (;;) {
      while (!lines_.empty() && lines_.front().done) {
        print(lines_.front());
        lines_.pop_front();
        ++printed_;
      }
      if (lines_.size() < open) return;
      changed_.wait(lock);
    }
  }

  struct answered {
    bool done = false;
    errc reason = errc::ok;
    std::uint32_t type = 0;
    std::vector<std::byte> payload;
  };

  void print(answered const& l) {
    if (l.reason != errc::ok) {
      ++refused_;
      fmt::print("{{\"error\": \"{}\"}}\n", name_of(l.reason));
    } else {
      fmt::print("{}\n", l.type == 0 ? "null" : with_.text_of(l.type, l.payload));
    }
  }

  void show_progress(bool last) {
    auto const now = std::chrono::steady_clock::now();
    if (::isatty(STDERR_FILENO) == 0 || (!last && now - shown_ < std::chrono::milliseconds(200))) return;
    shown_ = now;
    to_stderr(fmt::format("\r{} answered, {} refused{}", printed_, refused_, last ? "\n" : ""));
  }

  batch_arguments const& a_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<answered> lines_;  // from the first one not printed
  std::uint64_t begun_ = 0, printed_ = 0, refused_ = 0;
  bool is_gone_ = false;      // no connection came within its time limit
  std::uint64_t silent_ = 0;  // messages since the last answer
  std::chrono::steady_clock::time_point shown_{};
  service_session with_;  // last: it completes open messages when it ends
};

}  // namespace

void send_batch(batch_arguments const& a) {
  if (a.file == "-") return batch(a).run(std::cin);
  auto in = open_input(a.file);
  batch(a).run(in);
}

}  // namespace rondo::service
