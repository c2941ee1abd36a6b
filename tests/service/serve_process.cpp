#include "tests/service/serve_process.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <fstream>
#include <stdexcept>

namespace rondo_test {

serve_process::serve_process(std::filesystem::path const& config, std::vector<std::string> more) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) throw std::runtime_error("no pipe for the log of rondo serve");
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_adddup2(&actions, ends[1], STDERR_FILENO);
  std::vector<std::string> words{RONDO_COMMAND, "serve", "--config", config.string()};
  words.insert(words.end(), more.begin(), more.end());
  std::vector<char*> arguments;
  for (auto& w : words) arguments.push_back(w.data());
  arguments.push_back(nullptr);
  int const failed = ::posix_spawn(&pid_, RONDO_COMMAND, &actions, nullptr, arguments.data(), environ);
  ::posix_spawn_file_actions_destroy(&actions);
  ::close(ends[1]);
  said_ = ends[0];
  if (failed != 0) throw std::runtime_error("cannot start " RONDO_COMMAND);
}

serve_process::~serve_process() {
  if (pid_ > 0) end(SIGKILL);
  ::close(said_);
}

bool serve_process::read(int timeout_ms) {
  pollfd waiting{said_, POLLIN, 0};
  char text[4096];
  bool const came = ::poll(&waiting, 1, timeout_ms) == 1;
  auto const count = came ? ::read(said_, text, sizeof text) : 0;
  if (count > 0) log_.append(text, static_cast<std::size_t>(count));
  if (came && count == 0) silent_ = true;
  return count > 0;
}

bool serve_process::wait_ready() {
  auto const until = std::chrono::steady_clock::now() + std::chrono::seconds(30);
  while (log_.find("; ready\n") == std::string::npos)
    if (!read(1000) && std::chrono::steady_clock::now() > until)
      return false;
    else if (silent_ || log_.find("rondo: ") != std::string::npos)
      return false;
  return true;
}

std::size_t serve_process::resident_bytes() const {
  std::ifstream in("/proc/" + std::to_string(pid_) + "/statm");
  std::size_t all = 0, resident = 0;
  in >> all >> resident;
  return resident * static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
}

void serve_process::stuff_log() const {
  int const log =
      ::open(("/proc/self/fd/" + std::to_string(said_)).c_str(), O_WRONLY | O_NONBLOCK | O_CLOEXEC);
  if (log < 0) throw std::runtime_error("the log of rondo serve cannot be opened for writing");
  for (std::string const page(4096, '.'); ::write(log, page.data(), page.size()) > 0;) continue;
  ::close(log);
}

int serve_process::end(int signal) {
  ::kill(pid_, signal);
  return wait();
}

bool serve_process::stop() {
  ::kill(pid_, SIGSTOP);
  int status = 0;
  ::waitpid(pid_, &status, WUNTRACED);
  if (WIFSTOPPED(status)) return true;
  pid_ = -1;
  return false;
}

int serve_process::wait() {
  while (read(60'000)) {
  }
  if (!silent_) ::kill(pid_, SIGKILL);  // it hangs; its status says so
  int status = 0;
  ::waitpid(pid_, &status, 0);
  pid_ = -1;
  return status;
}

std::filesystem::path write_config(std::filesystem::path const& folder, std::string const& name,
                                   std::string const& nats, std::string const& more) {
  auto const file = folder / (name + ".json");
  std::ofstream(file) << "{\"name\": \"demo\", \"listen\": [\"" << socket_of(folder, name).text() << "\"],\n"
                      << (nats.empty() ? "" : "\"nats\": \"" + nats + "\",\n")
                      << "\"runtime\": {\"device\": \"cpu\", \"teams\": 2},\n"
                      << more << "}\n";
  return file;
}

rondo::endpoint socket_of(std::filesystem::path const& folder, std::string const& name) {
  return {true, (folder / (name + ".sock")).string(), 0};
}

}  // namespace rondo_test
