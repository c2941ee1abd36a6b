// The files that replace_file leaves in its directory, and those that it removes.
#include <sys/wait.h>

#include <array>

#include "runtime/os/durable_file.hpp"
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
