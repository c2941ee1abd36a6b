// The files that replace_file leaves in its directory, and those that it removes.
#include <sys/resource.h>
#include <sys/wait.h>

#include <array>
#include <atomic>
#include <csignal>
#include <thread>
#include <vector>

#include "runtime/files/durable_file.hpp"
#include "runtime/files/file_lock.hpp"
#include "runtime/sharing/memfd_resource.hpp"
#include "tests/runtime/checkpoint_fixture.hpp"

using namespace checkpoint_test;

namespace {

void replace(std::filesystem::path const& file, std::string const& text) {
  std::array<std::span<std::byte const>, 1> const parts{std::as_bytes(std::span(text))};
  rondo::replace_file(file, parts);
}

/// The number of a process that has ended.
pid_t dead_process() {
  auto const pid = ::fork();
  if (pid == 0) ::_exit(0);
  if (pid < 0) throw std::runtime_error("no process");
  ::waitpid(pid, nullptr, 0);
  return pid;
}

}  // namespace

TEST_CASE("a file is replaced and nothing else is left", "[durable_file]") {
  scratch s;
  replace(s.file, "old");
  replace(s.file, "new");
  REQUIRE(read_bytes(s.file) == "new");
  REQUIRE(s.files() == 1);
}

TEST_CASE("the files of killed writers are removed by the next write, and nothing else is",
          "[durable_file]") {
  // Regression: they were never removed, and a service that was killed often filled its disk.
  scratch s;
  auto const name = s.file.string();
  auto const dead = std::to_string(dead_process()), parent = std::to_string(::getppid());
  write_bytes(name + ".tmp-" + dead, "half of it");
  std::vector<std::string> const others{
      name + ".tmp-" + parent,       // of a live process
      name + ".tmp-" + dead + "0x",  // not a number
      name + ".tmp-",                //
      name + ".tmp--" + dead,        //
      name + ".old.tmp-" + dead,     // of another file
      name.substr(0, name.size() - 1) + ".tmp-" + dead,
      name + ".tmp-99999999999999999999",
  };
  for (auto const& other : others) write_bytes(other, "other");
  replace(s.file, "whole");
  REQUIRE(read_bytes(s.file) == "whole");
  REQUIRE_FALSE(std::filesystem::exists(name + ".tmp-" + dead));
  for (auto const& other : others) {
    CAPTURE(other);
    REQUIRE(std::filesystem::exists(other));
  }
  REQUIRE(s.files() == 1 + others.size());
}

TEST_CASE("a write to a name without a directory uses the current directory", "[durable_file]") {
  scratch s;
  auto const before = std::filesystem::current_path();
  std::filesystem::current_path(s.directory);
  auto const stale = "plain.tmp-" + std::to_string(dead_process());
  write_bytes(stale, "half of it");
  replace("plain", "whole");
  std::filesystem::current_path(before);
  REQUIRE(read_bytes(s.directory / "plain") == "whole");
  REQUIRE(s.files() == 1);
}

TEST_CASE("what the limit on the size of files refuses is an error that names it, and ends no process",
          "[durable_file][limits]") {
  scratch s;
  auto* const handler = std::signal(SIGXFSZ, SIG_DFL);  // would end this process
  sigset_t before;
  ::pthread_sigmask(SIG_SETMASK, nullptr, &before);
  rlimit unlimited{};
  ::getrlimit(RLIMIT_FSIZE, &unlimited);
  auto const with_limit = [&](rlim_t bytes, auto const& f) {
    rlimit const now{bytes, unlimited.rlim_max};
    ::setrlimit(RLIMIT_FSIZE, &now);
    f();
    ::setrlimit(RLIMIT_FSIZE, &unlimited);
  };
  auto const names_it = [](auto const& f) {
    try {
      f();
    } catch (std::exception const& e) {
      std::string const text = e.what();
      for (auto const* const part : {"File too large", "may have 1000 bytes", "ulimit -f"})
        if (text.find(part) == text.npos) return false;
      return true;
    }
    return false;
  };
  with_limit(1000, [&] {
    replace(s.file, std::string(1000, 'a'));
    CHECK(names_it([&] { replace(s.file, std::string(1001, 'b')); }));
    CHECK(names_it([] { rondo::memfd_resource(1 << 20); }));
    rondo::config c;
    c.device = "cpu", c.teams = 1, c.share_buffers = true;
    CHECK(names_it([&] { start(c); }));
  });
  with_limit(0, [&] { rondo::file_lock const lock(s.file); });  // its number is only for human readers
  CHECK(read_bytes(s.file) == std::string(1000, 'a'));
  sigset_t after, pending;
  ::pthread_sigmask(SIG_SETMASK, nullptr, &after);
  ::sigpending(&pending);
  CHECK(sigismember(&after, SIGXFSZ) == sigismember(&before, SIGXFSZ));
  CHECK(sigismember(&pending, SIGXFSZ) == 0);
  std::signal(SIGXFSZ, handler);
}

TEST_CASE("a lock's file is removed at a clean end, and however often, one at a time holds the lock",
          "[durable_file]") {
  scratch s;
  constexpr int holders = 4, times = 500;
  std::atomic<int> inside{0}, overlaps{0};
  auto const hold = [&] {
    for (int held = 0; held < times;) try {
        rondo::file_lock const lock(s.file);
        overlaps += inside.fetch_add(1) != 0;
        std::this_thread::yield();
        inside.fetch_sub(1);
        ++held;
      } catch (std::runtime_error const&) {  // another one holds it
        std::this_thread::yield();
      }
  };
  std::vector<std::thread> all;
  for (int i = 0; i < holders; ++i) all.emplace_back(hold);
  for (auto& t : all) t.join();
  CHECK(overlaps == 0);
  CHECK(s.files() == 0);
}
