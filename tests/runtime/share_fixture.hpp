// The helpers of the tests of shared buffers and their victim: a publisher, a reader, and processes that are killed.
#pragma once

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <deque>
#include <filesystem>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "runtime/net/local_socket.hpp"
#include "runtime/sharing/buffer_exporter.hpp"
#include "runtime/sharing/buffer_importer.hpp"
#include "tests/eventually.hpp"
#include "tests/scratch_directory.hpp"

namespace share_test {

using namespace std::chrono_literals;
using rondo::errc;
using rondo_test::eventually;

struct scratch : rondo_test::scratch_directory {
  std::filesystem::path socket = directory / "buffers";
  scratch() : scratch_directory("share") {}
};

inline std::size_t open_descriptors() {
  return static_cast<std::size_t>(std::distance(std::filesystem::directory_iterator("/proc/self/fd"),
                                                std::filesystem::directory_iterator()));
}

/// Leaves at `path` the files that a dead process leaves.
inline void leave_socket(std::filesystem::path const& path) {
  std::filesystem::remove(path);
  auto const fd = rondo::new_local_socket(rondo::packet_kind, true);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  path.native().copy(address.sun_path, sizeof address.sun_path - 1);
  if (::bind(fd.get(), reinterpret_cast<sockaddr const*>(&address), sizeof address) != 0)
    throw std::runtime_error("cannot bind a socket at " + path.string());
}

/// A buffer whose words are all `tag`.
inline rondo::result<rondo::buffer> filled(rondo::buffer_pool& pool, std::uint64_t tag, std::size_t words) {
  auto b = pool.acquire_buffer(words * 8);
  if (b) std::ranges::fill(b->span<std::uint64_t>(), tag);
  return b;
}
inline bool whole(rondo::shared_lease const& lease, std::uint64_t tag) {
  for (auto word : lease.as<std::uint64_t>())
    if (word != tag) return false;
  return true;
}

/// A pool in shared memory and its exporter.
struct exporting {
  explicit exporting(rondo::buffer_exporter_options o = {}) : exporter(memory, with(std::move(o))) {}

  rondo::buffer_exporter_options with(rondo::buffer_exporter_options o) {
    o.path = s.socket;
    o.report = [this](std::string const& line) {
      std::lock_guard const lock(mutex);
      lines.push_back(line);
    };
    return o;
  }
  rondo::shared_buffer_ref export_filled(std::uint64_t tag, std::size_t words = 100) {
    auto b = filled(pool, tag, words);
    return exporter.export_buffer(pool, b->ref()).value();  // the lease keeps it; its owner is destroyed
  }
  std::size_t reports(std::string const& part) {
    std::lock_guard const lock(mutex);
    std::size_t found = 0;
    for (auto const& line : lines) found += line.find(part) != line.npos;
    return found;
  }
  bool all_back() {
    return eventually([&] { return pool.statistics().buffers_in_use == 0; });
  }

  scratch s;
  std::mutex mutex;
  std::vector<std::string> lines;
  rondo::memfd_resource memory{1 << 20};
  rondo::buffer_pool pool{{.cap_bytes = 1 << 19, .upstream = &memory}};
  rondo::buffer_exporter exporter;
};

/// Exports, announces and withdraws without end; a window of the last few buffers always stays exported.
class publisher {
 public:
  publisher(rondo::buffer_pool& pool, rondo::buffer_exporter& exporter) : pool_(pool), exporter_(exporter) {}

  void step() {
    if (out_.size() == 4) withdraw();
    ++tag_;
    auto b = filled(pool_, tag_, 64 + tag_ % 7 * 200);
    auto const shared =
        b ? exporter_.export_buffer(pool_, b->ref()) : rondo::result<rondo::shared_buffer_ref>(b.error());
    if (!shared) return std::this_thread::yield();  // readers hold all of them
    out_.push_back(*shared);
    exporter_.announce(*shared, tag_);
    ++published_;
    std::this_thread::sleep_for(20us);  // so that readers do not fall behind forever
  }
  void finish() {
    while (!out_.empty()) withdraw();
  }
  std::uint64_t published() const { return published_; }

 private:
  void withdraw() {
    if (exporter_.withdraw(out_.front()) != errc::ok)
      throw std::runtime_error("a buffer cannot be withdrawn");
    out_.pop_front();
  }

  rondo::buffer_pool& pool_;
  rondo::buffer_exporter& exporter_;
  std::deque<rondo::shared_buffer_ref> out_;
  std::uint64_t tag_ = 0, published_ = 0;
};

/// Takes announcements, and keeps leases of the last three buffers that it found.
class reader {
 public:
  explicit reader(rondo::buffer_importer& from) : from_(from) {}

  /// The result of the announcement: ok, timed_out or peer_gone. Throws if a lease shows other data.
  errc step(std::chrono::milliseconds timeout) {
    auto news = from_.receive(timeout);
    if (!news) return static_cast<errc>(news.error().value());
    check(news->lease, news->tag);
    held_.push_back({std::move(news->lease), news->tag});
    if (held_.size() > 3) {
      check(held_.front().lease, held_.front().tag);
      held_.pop_front();
    }
    return errc::ok;
  }
  void check_held() const {
    for (auto const& h : held_) check(h.lease, h.tag);
  }
  std::size_t held() const { return held_.size(); }

 private:
  struct kept {
    rondo::shared_lease lease;
    std::uint64_t tag;
  };
  static void check(rondo::shared_lease const& lease, std::uint64_t tag) {
    bool const same = whole(lease, tag);
    if (!lease.valid()) throw std::runtime_error("a lease was cut off");
    if (!same) throw std::runtime_error("a lease shows the data of another buffer");
  }

  rondo::buffer_importer& from_;
  std::deque<kept> held_;
};

#if defined(RONDO_SHARE_VICTIM)

/// A share_victim process; killed in the destructor at the latest.
class victim {
 public:
  victim(std::string role, std::filesystem::path const& socket) {
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0) throw std::runtime_error("no pipe");
    posix_spawn_file_actions_t actions;
    ::posix_spawn_file_actions_init(&actions);
    ::posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
    std::string program = RONDO_SHARE_VICTIM, path = socket.string();
    char* const arguments[] = {program.data(), role.data(), path.data(), nullptr};
    int const failed = ::posix_spawn(&pid_, program.c_str(), &actions, nullptr, arguments, environ);
    ::posix_spawn_file_actions_destroy(&actions);
    ::close(ends[1]);
    said_ = rondo::owned_fd(ends[0]);
    if (failed) throw std::runtime_error("cannot start " + program);
  }
  ~victim() {
    if (!over_) static_cast<void>(killed());
  }
  victim(victim const&) = delete;
  victim& operator=(victim const&) = delete;

  /// Waits until it is working; false if it ended before.
  bool began() {
    char first = 0;
    return ::read(said_.get(), &first, 1) == 1;
  }
  void send(int signal) { ::kill(pid_, signal); }
  /// Kills it; true if this killed it, and it had not ended before.
  bool killed() {
    ::kill(pid_, SIGKILL);
    auto const status = wait();
    return WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;
  }
  /// Waits for its end, and returns its status.
  int wait() {
    int status = 0;
    ::waitpid(pid_, &status, 0);
    over_ = true;
    return status;
  }

 private:
  rondo::owned_fd said_;
  pid_t pid_ = -1;
  bool over_ = false;
};

#endif

}  // namespace share_test
