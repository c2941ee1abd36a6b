#include "tests/nats/nats_server.hpp"

#include <arpa/inet.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <stdexcept>

namespace rondo_test {

nats_server::nats_server(std::string const& name, std::vector<std::string> const& more)
    : directory_("nats-" + name) {
  start(more);
}

nats_server::~nats_server() { kill(); }

std::string nats_server::url() const { return "nats://127.0.0.1:" + std::to_string(port_); }

void nats_server::start(std::vector<std::string> const& more) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) throw std::runtime_error("no pipe for the log of nats-server");
  auto const port = std::to_string(port_);  // -1: the server chooses a free one
  auto const store = directory_.directory.string();
  std::vector<std::string> words{"nats-server", "-a", "127.0.0.1", "-p", port, "-js", "-sd", store};
  words.insert(words.end(), more.begin(), more.end());
  std::vector<char*> arguments;
  for (auto& w : words) arguments.push_back(w.data());
  arguments.push_back(nullptr);
  auto const parent = ::getpid();
  pid_ = ::fork();
  if (pid_ == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (::getppid() != parent) ::_exit(1);  // the parent ended before prctl
    ::dup2(ends[1], STDERR_FILENO);
    ::dup2(ends[1], STDOUT_FILENO);
    ::execv(RONDO_NATS_SERVER, arguments.data());
    ::_exit(127);
  }
  ::close(ends[1]);
  log_ = ends[0];
  if (pid_ < 0) throw std::runtime_error("nats-server could not be started");
  try {
    read_until_ready();
  } catch (...) {
    kill();
    throw;
  }
}

void nats_server::read_until_ready() {
  auto const until = std::chrono::steady_clock::now() + std::chrono::seconds(30);
  std::string said;
  while (said.find("Server is ready") == std::string::npos) {
    auto const left =
        std::chrono::duration_cast<std::chrono::milliseconds>(until - std::chrono::steady_clock::now());
    pollfd waiting{log_, POLLIN, 0};
    char text[4096];
    bool const came = left.count() > 0 && ::poll(&waiting, 1, static_cast<int>(left.count())) == 1;
    auto const count = came ? ::read(log_, text, sizeof text) : 0;
    if (count <= 0) throw std::runtime_error("nats-server did not get ready; it said:\n" + said);
    said.append(text, static_cast<std::size_t>(count));
  }
  std::string const mark = "Listening for client connections on 127.0.0.1:";
  auto const at = said.find(mark);
  if (at == std::string::npos)
    throw std::runtime_error("nats-server did not name its port; it said:\n" + said);
  port_ = std::stoi(said.substr(at + mark.size()));
}

void nats_server::kill() {
  if (pid_ > 0) {
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
  if (log_ >= 0) ::close(log_);
  pid_ = log_ = -1;
}

std::uint16_t free_port() {
  int const socket = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  bool const named = ::bind(socket, reinterpret_cast<sockaddr*>(&address), size) == 0 &&
                     ::getsockname(socket, reinterpret_cast<sockaddr*>(&address), &size) == 0;
  ::close(socket);
  if (!named) throw std::runtime_error("no free port");
  return ntohs(address.sin_port);
}

std::string url_of_nobody() { return "nats://127.0.0.1:" + std::to_string(free_port()); }

}  // namespace rondo_test
