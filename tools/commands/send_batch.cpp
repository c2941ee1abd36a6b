#include "tools/commands/send_batch.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <condition_variable>
#include <deque>
#include <iostream>
#include <mutex>

#include "runtime/text/json_reader.hpp"
#include "runtime/text/to_stderr.hpp"

namespace rondo::service {

namespace {

class batch {
 public:
  explicit batch(batch_arguments const& a) : a_(a), with_(a.where) {}

  void run(std::istream& in) {
    std::string line, wrong;
    for (std::uint64_t number = 1; std::getline(in, line); ++number) {
      if (line.find_first_not_of(" \t\r") == std::string::npos) continue;
      try {
        send(line);
      } catch (std::exception const& e) {
        wrong = fmt::format("{}: {}; this line and those after it were not sent", place(number), e.what());
        break;
      }
      wait_for(a_.open);
      show_progress(false);
    }
    wait_for(1);
    show_progress(true);
    if (!wrong.empty()) throw command_error(exit_bad_data, wrong);
    if (refused_ != 0)
      throw command_error(exit_failed, fmt::format("{} of {} messages were refused", refused_, printed_));
  }

 private:
  std::string place(std::uint64_t line) const {
    return fmt::format("{}:{}", a_.file == "-" ? "standard input" : a_.file, line);
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
    std::lock_guard lock(mutex_);
    auto const slot = begun_++;
    lines_.emplace_back();
    with_.link().send({{}, actor}, m.id, bytes,
                      {.priority = static_cast<std::uint8_t>(priority),
                       .deadline = deadline_us == 0 ? no_timeout : std::chrono::microseconds(deadline_us),
                       .wants_reply = a_.wants_reply,
                       .wait_for_room = !a_.wants_reply},
                      answer_handler([this, slot](answer const& a) { come(slot, a); }));
  }

  void come(std::uint64_t slot, answer const& a) {
    std::lock_guard lock(mutex_);
    auto& l = lines_[slot - printed_];
    l.reason = a.reason;
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
  service_session with_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<answered> lines_;  // from the first one not printed
  std::uint64_t begun_ = 0, printed_ = 0, refused_ = 0;
  std::chrono::steady_clock::time_point shown_{};
};

}  // namespace

void send_batch(batch_arguments const& a) {
  if (a.file == "-") return batch(a).run(std::cin);
  auto in = open_input(a.file);
  batch(a).run(in);
}

}  // namespace rondo::service
