#include "runtime/observe/log.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <boost/asio/post.hpp>
#include <cstdio>
#include <utility>

#include "runtime/os/clock.hpp"
#include "runtime/text/clean_text.hpp"

namespace rondo {

namespace {

template <class T>
T read_as(std::byte const* bytes) {
  T value;
  __builtin_memcpy(&value, bytes, sizeof value);
  return value;
}

std::string number_text(log_number kind, std::byte const* bytes) {
  switch (kind) {
    case log_number::unsigned_integer:
      break;
    case log_number::signed_integer:
      return fmt::to_string(read_as<std::int64_t>(bytes));
    case log_number::real:
      return fmt::to_string(read_as<double>(bytes));
    case log_number::single_real:
      return fmt::to_string(read_as<float>(bytes));
    case log_number::flag:
      return read_as<std::uint8_t>(bytes) != 0 ? "true" : "false";
  }
  return fmt::to_string(read_as<std::uint64_t>(bytes));
}

}  // namespace

char const* name_of(log_level level) noexcept {
  static constexpr char const* names[] = {"trace", "debug", "info", "warning", "error", "off"};
  auto const n = static_cast<std::size_t>(level);
  return n < std::size(names) ? names[n] : "unknown";
}

std::string to_text(log_line const& line) {
  return clean_text(fmt::format(
      "[{}] {} {}: {}", name_of(line.level), line.behaviour,
      line.actor_name.empty() ? fmt::format("#{}", line.actor.index) : fmt::format("'{}'", line.actor_name),
      line.text));
}

log_line read_log_event(device_event const& event) {
  log_bits about;
  __builtin_memcpy(&about, &event.behaviour, sizeof about);
  // A broken device could have written anything.
  auto const bytes = std::min<std::size_t>(event.body.bytes, max_payload_bytes);
  auto const count = std::min({std::size_t{about.numbers}, std::size_t{max_log_numbers}, bytes / 8});
  std::string_view text(reinterpret_cast<char const*>(event.body.payload) + 8 * count, bytes - 8 * count);

  log_line line;
  std::chrono::nanoseconds const since_1970(static_cast<std::int64_t>(event.detail + unix_offset_ns()));
  line.time = std::chrono::system_clock::time_point(
      std::chrono::duration_cast<std::chrono::system_clock::duration>(since_1970));
  line.level = std::min(about.level, log_level::error);
  line.actor = event.actor;
  line.device = device_of(event.actor);
  for (std::size_t i = 0; i < count; ++i) {
    auto const number =
        number_text(static_cast<log_number>(about.kinds >> 4 * i & 15), event.body.payload + 8 * i);
    auto const place = text.find("{}");
    line.text += text.substr(0, place);
    if (place == text.npos) line.text += ' ';
    line.text += number;
    text.remove_prefix(place == text.npos ? text.size() : place + 2);
  }
  line.text += text;
  for (char& c : line.text)
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) c = ' ';
  return line;
}

void log_hub::take(log_line line) {
  {
    std::lock_guard lock(mutex_);
    if (waiting_.size() == most_waiting) {
      ++dropped_;
      return;
    }
    line.dropped = std::exchange(dropped_, 0);
    waiting_.push_back(std::move(line));
    if (waiting_.size() != 1) return;
  }
  boost::asio::post(executor_, [this] { deliver(); });
}

void log_hub::deliver() {
  std::vector<log_line> lines;
  {
    std::lock_guard lock(mutex_);
    lines.swap(waiting_);
  }
  for (auto const& line : lines) {
    if (subscribers_.deliver(line)) continue;
    if (line.dropped != 0)
      std::fprintf(stderr, "rondo: %llu log lines were dropped\n",
                   static_cast<unsigned long long>(line.dropped));
    std::fprintf(stderr, "rondo: %s\n", to_text(line).c_str());
  }
}

}  // namespace rondo
