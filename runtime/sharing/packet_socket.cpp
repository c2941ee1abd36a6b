#include "runtime/sharing/packet_socket.hpp"

#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <stdexcept>
#include <string>
#include <system_error>

namespace rondo {

namespace {

constexpr int kind = SOCK_SEQPACKET | SOCK_CLOEXEC;

[[noreturn]] void fail_socket(std::filesystem::path const& path, std::string const& what, int error) {
  throw std::runtime_error(path.string() + ": " + what + ": " + std::generic_category().message(error));
}

sockaddr_un address_of(std::filesystem::path const& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  auto const& text = path.native();
  // The system ignores text after a NUL; a leading NUL makes an abstract name that no file permissions protect.
  if (text.find('\0') != text.npos)
    throw std::runtime_error("the path of a socket contains a NUL byte; use the path of a file");
  if (text.empty() || text.size() >= sizeof address.sun_path)
    throw std::runtime_error("'" + text + "': the path of a socket must have 1 to " +
                             std::to_string(sizeof address.sun_path - 1) + " bytes; this one has " +
                             std::to_string(text.size()));
  std::memcpy(address.sun_path, text.data(), text.size());
  return address;
}

owned_fd new_socket(std::filesystem::path const& path, int flags) {
  owned_fd fd(::socket(AF_UNIX, kind | flags, 0));
  if (!fd) fail_socket(path, "a socket cannot be created", errno);
  return fd;
}

/// 0, or the error.
int try_connect(int fd, sockaddr_un const& address) noexcept {
  int result = 0;
  do result = ::connect(fd, reinterpret_cast<sockaddr const*>(&address), sizeof address);
  while (result != 0 && errno == EINTR);
  return result == 0 ? 0 : errno;
}

}  // namespace

packet_door::packet_door(std::filesystem::path path) : path_(std::move(path)) {
  auto const address = address_of(path_);
  auto const require_nobody = [&] {
    struct stat found {};
    if (::lstat(path_.c_str(), &found) != 0) return;
    if (!S_ISSOCK(found.st_mode))
      fail_socket(path_, "this file is not a socket; remove it or choose another path", EEXIST);
    int const answer = try_connect(new_socket(path_, SOCK_NONBLOCK).get(), address);
    if (answer != ECONNREFUSED && answer != ENOENT)  // the answers of a dead process's socket
      fail_socket(path_, "another process listens there; stop it or choose another path", EADDRINUSE);
  };
  require_nobody();
  lock_.emplace(path_);
  require_nobody();  // the lock's last holder is gone or had not created a socket
  ::unlink(path_.c_str());
  fd = new_socket(path_, SOCK_NONBLOCK);
  guard_.emplace(fd.get());
  struct stat made {};
  // Linux gives the socket's mode to the file, so other users can never connect.
  if (::fchmod(fd.get(), 0600) != 0 ||
      ::bind(fd.get(), reinterpret_cast<sockaddr const*>(&address), sizeof address) != 0 ||
      ::lstat(path_.c_str(), &made) != 0 || ::listen(fd.get(), 64) != 0)
    fail_socket(path_, "the socket cannot be created there", errno);
  device_ = made.st_dev, inode_ = made.st_ino;
}

packet_door::~packet_door() {
  if (!made_here_) {
    static_cast<void>(fd.release());  // its number may be another file's by now
    return;
  }
  struct stat found {};
  if (::lstat(path_.c_str(), &found) == 0 && found.st_dev == device_ && found.st_ino == inode_)
    ::unlink(path_.c_str());
}

owned_fd accept_from(int listening) noexcept {
  return owned_fd(::accept4(listening, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
}

owned_fd connect_to(std::filesystem::path const& path, std::chrono::milliseconds timeout) {
  auto const address = address_of(path);
  auto fd = new_socket(path, 0);
  timeout = std::max(timeout, std::chrono::milliseconds(1));  // 0 would mean forever
  timeval const limit{timeout.count() / 1000, timeout.count() % 1000 * 1000};
  // Limits the wait of connect while the queue is full.
  ::setsockopt(fd.get(), SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
  switch (int const error = try_connect(fd.get(), address)) {
    case 0:
      return fd;
    case ENOENT:
      fail_socket(path, "does not exist; start the exporter first", error);
    case ECONNREFUSED:
      fail_socket(path, "no process listens there any more; restart the exporter", error);
    case EACCES:
      fail_socket(path, "belongs to another user; exporter and importer must run as the same user", error);
    default:
      fail_socket(path, "cannot be connected to", error);
  }
}

peer_identity identity_of(int socket) noexcept {
  ucred found{};
  socklen_t size = sizeof found;
  if (::getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &found, &size) != 0) return {0, static_cast<uid_t>(-1)};
  return {found.pid, found.uid};
}

packet_io send_packet(int socket, std::span<std::byte const> content, std::span<int const> fds) noexcept {
  iovec part{const_cast<std::byte*>(content.data()), content.size()};
  alignas(cmsghdr) char control[CMSG_SPACE(packet::most_fds * sizeof(int))] = {};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  if (!fds.empty()) {
    message.msg_control = control;
    message.msg_controllen = CMSG_SPACE(fds.size_bytes());
    auto* const header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(fds.size_bytes());
    std::memcpy(CMSG_DATA(header), fds.data(), fds.size_bytes());
  }
  for (;;) {
    if (::sendmsg(socket, &message, MSG_NOSIGNAL | MSG_DONTWAIT) >= 0) return packet_io::done;
    if (errno == EINTR) continue;
    bool const full = errno == EAGAIN || errno == ENOBUFS || errno == ENOMEM || errno == ETOOMANYREFS;
    return full ? packet_io::later : packet_io::gone;
  }
}

packet_io receive_packet(int socket, packet& to) noexcept {
  to.fds = {};
  to.fd_count = 0;
  iovec part{to.bytes.data(), to.bytes.size()};
  alignas(cmsghdr) char control[CMSG_SPACE(packet::most_fds * sizeof(int))];
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof control;
  ssize_t got = 0;
  // A peer that has ended without reading everything is said once, before the packets that it has sent; its end is said
  // after them.
  do got = ::recvmsg(socket, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
  while (got < 0 && (errno == EINTR || errno == ECONNRESET));
  if (got < 0) return errno == EAGAIN ? packet_io::later : packet_io::gone;
  for (auto* header = CMSG_FIRSTHDR(&message); header; header = CMSG_NXTHDR(&message, header)) {
    if (header->cmsg_level != SOL_SOCKET || header->cmsg_type != SCM_RIGHTS) continue;
    auto const count = (header->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    for (std::size_t i = 0; i < count; ++i) {
      int fd = -1;
      std::memcpy(&fd, CMSG_DATA(header) + i * sizeof fd, sizeof fd);
      owned_fd owned(fd);
      if (to.fd_count < packet::most_fds) to.fds[to.fd_count++] = std::move(owned);
    }
  }
  to.size = static_cast<std::size_t>(got);
  to.cut = (message.msg_flags & (MSG_TRUNC | MSG_CTRUNC)) != 0;
  return got == 0 ? packet_io::gone : packet_io::done;  // no peer sends empty packets
}

bool wait_readable(int socket, std::chrono::milliseconds timeout) noexcept {
  timeout = std::min<std::chrono::milliseconds>(timeout, std::chrono::days(20));  // the limit of poll
  auto const end = std::chrono::steady_clock::now() + timeout;
  for (;;) {
    auto const left =
        std::chrono::ceil<std::chrono::milliseconds>(end - std::chrono::steady_clock::now()).count();
    pollfd wanted{socket, POLLIN, 0};
    int const ready = ::poll(&wanted, 1, left > 0 ? static_cast<int>(left) : 0);
    if (ready > 0) return true;
    if (ready == 0 || errno != EINTR) return false;
  }
}

}  // namespace rondo
