// The helpers of the checkpoint tests: a temporary directory for each, and short forms of common operations.
#pragma once

#include <unistd.h>

#include <boost/crc.hpp>
#include <chrono>
#include <cstring>
#include <fstream>
#include <thread>

#include "runtime/observe/telemetry.hpp"
#include "tests/catch.hpp"
#include "tests/eventually.hpp"
#include "tests/runtime/checkpoint_module.hpp"
#include "tests/scratch_directory.hpp"

namespace checkpoint_test {

using namespace std::chrono_literals;
using rondo_test::eventually;

struct scratch : rondo_test::scratch_directory {
  std::filesystem::path file = directory / "arena.checkpoint";
  scratch() : scratch_directory("checkpoint") {}

  /// Files in the directory.
  std::size_t files() const {
    return static_cast<std::size_t>(
        std::distance(std::filesystem::directory_iterator(directory), std::filesystem::directory_iterator()));
  }
};

inline std::string read_bytes(std::filesystem::path const& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}
inline void write_bytes(std::filesystem::path const& file, std::string const& bytes) {
  std::ofstream(file, std::ios::binary) << bytes;
}
/// Changes bytes of a file in place: rewriting thousands of files would take minutes.
inline void overwrite_bytes(std::filesystem::path const& file, std::string const& bytes, std::size_t at = 0) {
  std::fstream out(file, std::ios::binary | std::ios::in | std::ios::out);
  out.seekp(static_cast<std::streamoff>(at));
  out << bytes;
}

/// Of a checkpoint's file.
inline constexpr std::size_t head_bytes = 40;

inline void put64(std::string& bytes, std::size_t at, std::uint64_t value) {
  std::memcpy(bytes.data() + at, &value, sizeof value);
}

inline std::uint64_t crc64(std::string const& bytes, std::size_t from, std::size_t count) {
  boost::crc_optimal<64, 0x42f0'e1eb'a9ea'3693, ~0ull, ~0ull, true, true> crc;
  crc.process_bytes(bytes.data() + from, count);
  return crc.checksum();
}

/// Recomputes the head of a checkpoint's file for the changed body.
inline void mend_head(std::string& bytes) {
  put64(bytes, 16, bytes.size() - head_bytes);
  put64(bytes, 24, crc64(bytes, head_bytes, bytes.size() - head_bytes));
  put64(bytes, 32, crc64(bytes, 0, 32));
}

/// The text of the exception, or an empty text if there is none.
template <class Action>
std::string error_of(Action action) {
  try {
    action();
    return {};
  } catch (std::runtime_error const& e) {
    return e.what();
  }
}

/// Tells, and waits until the mailbox has accepted the message.
template <class Behaviour, class Message>
void tell(rondo::actor_ref<Behaviour> const& to, Message const& m, rondo::tell_options options = {}) {
  options.wait_for_room = true;
  if (auto const refused = to.tell(m, options, rondo::block))
    throw std::runtime_error("tell: " + refused.message());
}

/// The same as fast as a device with a shared arena allows: retries until the mailbox has room.
template <class Behaviour, class Message>
void tell_eagerly(rondo::actor_ref<Behaviour> const& to, Message const& m, rondo::tell_options options = {}) {
  for (;;) {
    auto const refused = to.try_tell(m, options);
    if (!refused) return;
    if (refused != rondo::errc::mailbox_full) throw std::runtime_error("tell: " + refused.message());
    std::this_thread::yield();
  }
}

/// The telemetry at a moment when `waiting` messages wait and all are accounted for.
inline rondo::telemetry at_rest(rondo::runtime& rt, std::uint64_t waiting = 0) {
  rondo::telemetry t;
  if (!eventually([&] { return t = rt.snapshot(), t.waiting == waiting && t.conserved(); }))
    throw std::runtime_error("not at rest: " + std::to_string(t.waiting) + " messages wait" +
                             (t.conserved() ? "" : ", and the counters are not conserved"));
  return t;
}

/// Asks again until the mailbox accepts the question: an ask does not wait for room, and earlier tells may fill it.
template <class Behaviour, class Query>
auto ask(rondo::actor_ref<Behaviour> const& to, Query const& query, rondo::ask_options options) {
  for (;;) {
    auto const answer = to.ask(query, options, rondo::block);
    if (answer || answer.error() != rondo::errc::mailbox_full) return answer.value();
    std::this_thread::yield();
  }
}

inline journal_report report_of(rondo::actor_ref<journal> const& j) {
  return ask(j, get_journal{}, {.timeout = 30s});
}

inline std::vector<std::uint32_t> marks_of(rondo::actor_ref<notebook> const& n) {
  auto const list = ask(n, get_marks{}, {.timeout = 30s, .priority = 0});
  return {list.ids, list.ids + list.count};
}

}  // namespace checkpoint_test
