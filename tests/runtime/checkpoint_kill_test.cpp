// A process is killed while it writes checkpoints: the last complete one can always be restored.
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>

#include <random>

#include "runtime/checkpoint.hpp"
#include "tests/limit_files.hpp"
#include "tests/long_runs.hpp"
#include "tests/runtime/checkpoint_fixture.hpp"
#include "tests/seed.hpp"

using namespace checkpoint_test;

namespace {

/// A checkpoint_victim that has begun its loop; killed in the destructor at the latest.
class victim {
 public:
  explicit victim(std::filesystem::path const& file) {
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0) throw std::runtime_error("no pipe");
    posix_spawn_file_actions_t actions;
    ::posix_spawn_file_actions_init(&actions);
    ::posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
    std::string program = RONDO_CHECKPOINT_VICTIM, argument = file.string();
    char* const arguments[] = {program.data(), argument.data(), nullptr};
    int const failed = ::posix_spawn(&pid_, program.c_str(), &actions, nullptr, arguments, environ);
    ::posix_spawn_file_actions_destroy(&actions);
    ::close(ends[1]);
    char first = 0;
    if (!failed) began_ = ::read(ends[0], &first, 1) == 1;
    ::close(ends[0]);
    if (failed) throw std::runtime_error("cannot start " + program);
  }
  ~victim() {
    if (over_) return;
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
  victim(victim const&) = delete;
  victim& operator=(victim const&) = delete;

  bool began() const { return began_; }
  pid_t pid() const { return pid_; }
  void kill() const { ::kill(pid_, SIGKILL); }
  /// Waits for its end. Returns the signal that killed it; 0: it has ended otherwise, or not yet.
  int wait() {
    int status = 0;
    over_ = eventually([&] { return ::waitpid(pid_, &status, WNOHANG) == pid_; });
    return over_ && WIFSIGNALED(status) ? WTERMSIG(status) : 0;
  }

 private:
  pid_t pid_ = -1;
  bool began_ = false, over_ = false;
};

/// Restores the file, lets the mail be handled, and checks that nothing is lost or duplicated. Returns the number of
/// items that the two journals took.
std::uint64_t check(std::filesystem::path const& file) {
  auto rt = start();
  rondo::restore(*rt, file);
  auto const now = at_rest(*rt);
  std::uint64_t taken = 0;
  for (auto const* name : {"a", "b"}) {
    auto const r = report_of(rt->find<journal>(name).value());
    REQUIRE(r.out_of_turn == 0);
    REQUIRE(r.taken == r.next[0] + r.next[1]);
    taken += r.taken;
  }
  REQUIRE(now.live.dead == 0);
  REQUIRE(now.live.rejected == 0);
  return taken;
}

}  // namespace

TEST_CASE("the last complete checkpoint is restored whenever its writer is killed", "[checkpoint][G1][G9]") {
  scratch s;
  std::mt19937_64 random(rondo_test::seed_of("checkpoint_kill"));
  int const kills = rondo_test::times(6, 100);
  std::uint64_t taken = 0;
  int at_a_byte = 0, by_chance = 0;  // kills in the middle of writing
  for (int round = 0; round < kills; ++round) {
    CAPTURE(round);
    victim v(s.file);
    REQUIRE(v.began());
    if (round == 0) REQUIRE(eventually([&] { return std::filesystem::exists(s.file); }));
    // Once in six rounds a newer checkpoint is there, however slow the machine is.
    if (round % 6 == 4) REQUIRE(eventually([&] { return check(s.file) > taken; }));
    std::this_thread::sleep_for(std::chrono::microseconds(random() % 8000));
    // The unfinished file of a dead writer keeps its own name until the next write, and harms nobody.
    auto const unfinished = s.file.string() + ".tmp-" + std::to_string(v.pid());
    if (round % 2 == 0) {  // at any moment
      v.kill();
      REQUIRE(v.wait() == SIGKILL);
      by_chance += std::filesystem::exists(unfinished);
    } else {  // when it writes this byte, in the first half of the file
      auto const half = std::filesystem::file_size(s.file) / 2;
      REQUIRE(half > 0);
      rondo_test::limit_files(v.pid(), random() % half);
      REQUIRE(v.wait() == SIGKILL);
      REQUIRE(std::filesystem::exists(unfinished));
      ++at_a_byte;
    }
    REQUIRE(s.files() <= 2);
    auto const now = check(s.file);
    REQUIRE(now >= taken);
    taken = now;
  }
  std::printf(
      "checkpoint_kill: %d kills, %d of them in the middle of writing: %d at a byte, %d by chance; %llu "
      "messages\n",
      kills, at_a_byte + by_chance, at_a_byte, by_chance, static_cast<unsigned long long>(taken));
  REQUIRE(taken > 0);
}
