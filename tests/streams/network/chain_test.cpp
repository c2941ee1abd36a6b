// Three processes in a row over the network, of which the one in the middle is killed again and again.
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>

#include <cstdio>
#include <fstream>
#include <iterator>

#include "tests/catch.hpp"
#include "tests/eventually.hpp"
#include "tests/long_runs.hpp"
#include "tests/streams/network/fixture.hpp"

namespace network_test {

using rondo_test::scratch_directory;

namespace {

/// A chain_role, with pipes to its input and from its output. Its log is a file.
class role {
 public:
  explicit role(std::vector<std::string> words, std::string log) : log_(std::move(log)) {
    int in[2], out[2];
    if (::pipe2(in, O_CLOEXEC) != 0 || ::pipe2(out, O_CLOEXEC) != 0) throw std::runtime_error("no pipes");
    posix_spawn_file_actions_t actions;
    ::posix_spawn_file_actions_init(&actions);
    ::posix_spawn_file_actions_adddup2(&actions, in[0], 0);
    ::posix_spawn_file_actions_adddup2(&actions, out[1], 1);
    ::posix_spawn_file_actions_addopen(&actions, 2, log_.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600);
    words.insert(words.begin(), RONDO_CHAIN_ROLE);
    std::vector<char*> arguments;
    for (auto& w : words) arguments.push_back(w.data());
    arguments.push_back(nullptr);
    int const failed = ::posix_spawn(&pid_, RONDO_CHAIN_ROLE, &actions, nullptr, arguments.data(), environ);
    ::posix_spawn_file_actions_destroy(&actions);
    ::close(in[0]);
    ::close(out[1]);
    in_ = in[1];
    out_ = out[0];
    if (failed != 0) throw std::runtime_error("cannot start " RONDO_CHAIN_ROLE);
  }
  ~role() {
    if (pid_ > 0) end(SIGKILL);
    close_input();
    ::close(out_);
  }
  role(role const&) = delete;

  /// The next line that it prints. Throws if none comes.
  std::string line() {
    for (;;) {
      if (auto const at = read_.find('\n'); at != std::string::npos) {
        auto const l = read_.substr(0, at);
        read_.erase(0, at + 1);
        return l;
      }
      pollfd waiting{out_, POLLIN, 0};
      char text[4096];
      auto const count = ::poll(&waiting, 1, 60'000) == 1 ? ::read(out_, text, sizeof text) : -1;
      if (count <= 0) throw std::runtime_error("a process says nothing more; its log: " + log());
      read_.append(text, static_cast<std::size_t>(count));
    }
  }
  /// Lines up to the one that begins with `word`: its numbers.
  std::vector<std::uint64_t> numbers(std::string const& word) {
    for (;;) {
      auto const l = line();
      if (l.rfind(word, 0) != 0) continue;
      std::istringstream in(l.substr(word.size()));
      return {std::istream_iterator<std::uint64_t>(in), {}};
    }
  }
  void ask() const {
    if (::write(in_, "m", 1) != 1)
      throw std::runtime_error("a process does not take questions; its log: " + log());
  }
  void close_input() {
    if (in_ >= 0) ::close(in_);
    in_ = -1;
  }
  /// Its exit status; the signal's number, negative, if it was killed.
  int end(int signal = 0) {
    if (signal != 0) ::kill(pid_, signal);
    int status = 0;
    ::waitpid(pid_, &status, 0);
    pid_ = -1;
    return WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status);
  }

  std::size_t descriptors() const {
    std::filesystem::directory_iterator const all("/proc/" + std::to_string(pid_) + "/fd");
    return static_cast<std::size_t>(std::distance(begin(all), end_of(all)));
  }
  std::size_t resident_bytes() const {
    std::ifstream in("/proc/" + std::to_string(pid_) + "/statm");
    std::size_t all = 0, resident = 0;
    in >> all >> resident;
    return resident * static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  }
  std::string log() const {
    std::ifstream in(log_);
    return {std::istreambuf_iterator<char>(in), {}};
  }

 private:
  static std::filesystem::directory_iterator end_of(std::filesystem::directory_iterator const&) { return {}; }

  std::string log_, read_;
  pid_t pid_ = -1;
  int in_ = -1, out_ = -1;
};

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool is_sanitized = true;
#else
constexpr bool is_sanitized = false;
#endif

std::size_t count_in(std::string const& text, std::string const& part) {
  std::size_t n = 0;
  for (auto at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++n;
  return n;
}

}  // namespace

TEST_CASE(
    "three processes in a row: the middle one is killed again and again, and every frame is accounted for",
    "[network]") {
  auto const kills = static_cast<std::uint64_t>(rondo_test::times(6, 50));
  scratch_directory const d("network-chain");
  bool const is_tcp = GENERATE(false, true);
  INFO((is_tcp ? "TCP" : "Unix sockets"));
  auto const first = address(d, is_tcp, "first"), second = address(d, is_tcp, "second");
  auto const log = [&](char const* name) { return (d.directory / name).string(); };
  role sink({"sink", second}, log("sink.log"));
  auto filter = std::make_unique<role>(std::vector<std::string>{"filter", first, second}, log("filter.log"));
  role source({"source", first}, log("source.log"));

  auto const made = [&] {
    source.ask();
    return source.numbers("made").at(0);
  };
  // Frames that are made from now on arrive.
  auto const wait_for_flow = [&] {
    auto const now = made();
    while (sink.numbers("frame").at(0) <= now + 5) continue;
  };
  std::size_t sink_fds = 0, source_fds = 0, sink_bytes = 0, source_bytes = 0;
  for (std::uint64_t kill = 0; kill < kills; ++kill) {
    wait_for_flow();
    if (kill == kills / 5) {  // by then everything has been used
      sink_fds = sink.descriptors(), source_fds = source.descriptors();
      sink_bytes = sink.resident_bytes(), source_bytes = source.resident_bytes();
    }
    CHECK(filter->end(SIGKILL) == -SIGKILL);
    auto const without = made();
    while (made() < without + 10) continue;  // nobody can get these
    filter = std::make_unique<role>(std::vector<std::string>{"filter", first, second}, log("filter.log"));
  }
  wait_for_flow();
  CHECK(sink.descriptors() == sink_fds);
  CHECK(source.descriptors() == source_fds);
  if (!is_sanitized) {  // sanitizers keep what was freed
    CHECK(sink.resident_bytes() < sink_bytes + (8u << 20));
    CHECK(source.resident_bytes() < source_bytes + (8u << 20));
  }

  source.close_input();
  auto const of_source = source.numbers("done"), of_sink = sink.numbers("done");
  static_cast<void>(filter->numbers("done"));
  CHECK(source.end() == 0);
  CHECK(filter->end() == 0);
  CHECK(sink.end() == 0);
  REQUIRE(of_source.size() == 3);
  REQUIRE(of_sink.size() == 6);
  auto const made_in_all = of_source[0], received = of_sink[0], before = of_sink[1], missing = of_sink[2];
  INFO("made " << made_in_all << ", received " << received << ", missing " << missing << ", before the first "
               << before << "; the source's sink says that it lost " << of_source[2]);
  CHECK(of_source[1] == made_in_all);
  CHECK(before + received + missing == made_in_all);  // each frame, up to the last one
  CHECK(of_sink[3] == 0);                             // none is wrong, twice, or out of order
  CHECK(of_sink[4] == received);
  CHECK(of_sink[5] == missing);  // what the stage has counted, from the numbers that frames carry
  CHECK(missing >= 10 * kills);
  CHECK(of_source[2] >= 10 * kills);
  // And shown.
  CHECK(count_in(sink.log(), "reconnected after") == kills);
  CHECK(count_in(source.log(), "has left: ") >= 1);  // of many lines a second most are left out
}

}  // namespace network_test
