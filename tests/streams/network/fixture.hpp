// What tests of network stages share: addresses, a log, and the two host sides with frames of numbers between them.
#pragma once

#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstring>
#include <mutex>
#include <stdexcept>
#include <vector>

#include "actors/streams/network/frame_receiver.hpp"
#include "actors/streams/network/frame_sender.hpp"
#include "tests/eventually.hpp"
#include "tests/scratch_directory.hpp"

namespace network_test {

using namespace rondo;
namespace streams = rondo::streams;
using streams::delivery;
using namespace std::chrono_literals;

/// A port that nobody uses now.
inline std::uint16_t free_port() {
  int const s = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in at{};
  at.sin_family = AF_INET;
  at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof at;
  bool const found = ::bind(s, reinterpret_cast<sockaddr*>(&at), sizeof at) == 0 &&
                     ::getsockname(s, reinterpret_cast<sockaddr*>(&at), &size) == 0;
  ::close(s);
  if (!found) throw std::runtime_error("there is no free port");
  return ntohs(at.sin_port);
}

/// "unix:..." in the directory, or a TCP port on this machine.
inline std::string address(rondo_test::scratch_directory const& d, bool is_tcp, std::string const& name) {
  return is_tcp ? "tcp:127.0.0.1:" + std::to_string(free_port()) : "unix:" + (d.directory / name).string();
}

/// The lines of a host side.
class lines {
 public:
  streams::network_log log() {
    return [this](std::string const& line) {
      std::lock_guard const lock(mutex_);
      all_.push_back(line);
      if (std::getenv("SHOW")) std::fprintf(stderr, "LOG %s\n", line.c_str());
    };
  }
  std::size_t count(std::string const& part) const {
    std::lock_guard const lock(mutex_);
    std::size_t n = 0;
    for (auto const& l : all_) n += l.find(part) != std::string::npos;
    return n;
  }
  /// Waits for a line: it is said after what it tells of has happened.
  bool comes(std::string const& part) const {
    return rondo_test::eventually([&] { return count(part) != 0; });
  }

 private:
  mutable std::mutex mutex_;
  std::vector<std::string> all_;
};

/// Frames are blocks of equal bytes.
struct block {
  std::uint32_t count = 0;
  std::uint64_t bytes() const noexcept { return count; }
};
inline streams::frame_terms terms(std::uint64_t most_bytes, std::string shape = {}) {
  return {"block", std::move(shape), most_bytes, sizeof(block)};
}

inline streams::sender_options writes(std::string const& at, lines& to, std::uint64_t most_bytes = 1000) {
  return {.listen = endpoint::parse(at, "test"), .terms = terms(most_bytes), .log = to.log()};
}
inline streams::receiver_options reads(std::string const& at, lines& to, std::uint64_t most_bytes = 1000) {
  return {.connect = endpoint::parse(at, "test"),
          .terms = terms(most_bytes),
          .fits =
              [most_bytes](void const* about, std::uint64_t bytes) {
                block b;
                std::memcpy(&b, about, sizeof b);
                return b.count == bytes && bytes <= most_bytes;
              },
          .log = to.log()};
}

/// Sends frame n: its bytes are all n % 251.
inline bool send(streams::frame_sender& to, std::uint64_t n, std::uint32_t bytes = 1000) {
  std::vector<std::byte> const data(bytes, std::byte(n % 251));
  block const about{bytes};
  return to.try_send({}, &about, data);
}
/// Takes a frame, if there is one. Throws if it does not hold what `send` has sent.
inline bool take(streams::frame_receiver& from, std::uint64_t& number) {
  auto const* const f = from.front();
  if (f == nullptr) return false;
  number = f->origin.number;
  for (std::uint64_t i = 0; i < f->bytes; ++i)
    if (f->data[i] != std::byte(number % 251)) throw std::runtime_error("a frame has the wrong contents");
  from.pop();
  return true;
}

/// A client or a server that does what it likes.
class raw_socket {
 public:
  explicit raw_socket(int fd) : fd_(fd) {}
  /// Connects to a Unix socket; `fd` is -1 if that fails.
  static raw_socket to(std::string const& path) {
    raw_socket s(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    auto const at = named(path);
    if (::connect(s.fd_, reinterpret_cast<sockaddr const*>(&at), sizeof at) != 0) s.close();
    return s;
  }
  static raw_socket listening(std::string const& path) {
    raw_socket s(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    auto const at = named(path);
    if (::bind(s.fd_, reinterpret_cast<sockaddr const*>(&at), sizeof at) != 0 || ::listen(s.fd_, 16) != 0)
      throw std::runtime_error("the test cannot listen");
    return s;
  }
  raw_socket(raw_socket&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  ~raw_socket() { close(); }

  raw_socket accept() const { return raw_socket(::accept(fd_, nullptr, nullptr)); }
  bool is_open() const { return fd_ >= 0; }
  template <class T>
  bool send(T const& t, std::size_t bytes = sizeof(T)) const {
    return ::send(fd_, &t, bytes, MSG_NOSIGNAL) == static_cast<ssize_t>(bytes);
  }
  /// Blocks until all is there. False: the other side has closed the connection.
  template <class T>
  bool receive(T& t) const {
    return ::recv(fd_, &t, sizeof t, MSG_WAITALL) == static_cast<ssize_t>(sizeof t);
  }
  /// Sends nothing more.
  void end() const { ::shutdown(fd_, SHUT_WR); }
  void close() {
    if (fd_ >= 0) ::close(fd_);
    fd_ = -1;
  }

 private:
  static sockaddr_un named(std::string const& path) {
    sockaddr_un at{};
    at.sun_family = AF_UNIX;
    std::memcpy(at.sun_path, path.data(), std::min(path.size(), sizeof at.sun_path - 1));
    return at;
  }

  int fd_;
};

inline streams::reader_hello hello(streams::delivery how, std::uint64_t most_bytes = 1000) {
  streams::reader_hello h{};
  std::memcpy(h.magic, streams::wire_magic, sizeof h.magic);
  h.version = streams::wire_version;
  h.how = static_cast<std::uint32_t>(how);
  h.terms = streams::wire_terms::from(terms(most_bytes));
  return h;
}
inline streams::writer_hello welcome(std::uint64_t most_bytes = 1000) {
  streams::writer_hello h{};
  std::memcpy(h.magic, streams::wire_magic, sizeof h.magic);
  h.version = streams::wire_version;
  h.terms = streams::wire_terms::from(terms(most_bytes));
  return h;
}

}  // namespace network_test
