#include "runtime/sharing/packet_socket.hpp"

#include <fcntl.h>
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

constexpr bool in_streams = packet_kind == SOCK_STREAM;  // each packet behind its size, a number of 4 bytes

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

owned_fd new_socket(std::filesystem::path const& path, bool blocking) {
  auto fd = new_local_socket(packet_kind, blocking);
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
    int const answer = try_connect(new_socket(path_, false).get(), address);
    if (answer != ECONNREFUSED && answer != ENOENT)  // the answers of a dead process's socket
      fail_socket(path_, "another process listens there; stop it or choose another path", EADDRINUSE);
  };
  require_nobody();
  lock_.emplace(path_);
  require_nobody();  // the lock's last holder is gone or had not created a socket
  ::unlink(path_.c_str());
  fd = new_socket(path_, false);
  guard_.emplace(fd.get());
  struct stat made {};
  keep_from_others(fd.get());
  if (::bind(fd.get(), reinterpret_cast<sockaddr const*>(&address), sizeof address) != 0 ||
      !keep_from_others(path_.native()) || ::lstat(path_.c_str(), &made) != 0 || ::listen(fd.get(), 64) != 0)
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

owned_fd accept_from(int listening) noexcept { return accept_local(listening); }

owned_fd connect_to(std::filesystem::path const& path, std::chrono::milliseconds timeout) {
  auto const address = address_of(path);
  auto fd = new_socket(path, true);
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

packet_io send_packet(int socket, std::span<std::byte const> content, std::span<int const> fds) noexcept {
  auto const size = static_cast<std::uint32_t>(content.size());
  iovec parts[] = {{const_cast<std::uint32_t*>(&size), sizeof size},
                   {const_cast<std::byte*>(content.data()), content.size()}};
  alignas(cmsghdr) char control[CMSG_SPACE(packet::most_fds * sizeof(int))] = {};
  msghdr message{};
  message.msg_iov = in_streams ? parts : parts + 1;
  message.msg_iovlen = in_streams ? 2 : 1;
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
    auto const sent = ::sendmsg(socket, &message, without_sigpipe | MSG_DONTWAIT);
    if (sent >= 0) {
      if (!in_streams || static_cast<std::size_t>(sent) == sizeof size + content.size())
        return packet_io::done;
      ::shutdown(socket,
                 SHUT_RDWR);  // no system splits so few bytes; what follows half a packet would make no sense
      return packet_io::gone;
    }
    if (errno == EINTR) continue;
    bool const full = errno == EAGAIN || errno == ENOBUFS || errno == ENOMEM || errno == ETOOMANYREFS;
    return full ? packet_io::later : packet_io::gone;
  }
}

namespace {

/// What a call that receives returns. A peer that has ended without reading everything is said once, before the packets
/// that it has sent; its end is said after them.
template <class Receive>
ssize_t received(Receive receive) noexcept {
  ssize_t got = 0;
  do got = receive();
  while (got < 0 && (errno == EINTR || errno == ECONNRESET));
  return got;
}

void close_at_exec([[maybe_unused]] int fd) noexcept {
#if !defined(MSG_CMSG_CLOEXEC)
  ::fcntl(fd, F_SETFD, FD_CLOEXEC);
#endif
}
#if defined(MSG_CMSG_CLOEXEC)
constexpr int receive_flags = MSG_DONTWAIT | MSG_CMSG_CLOEXEC;
#else
constexpr int receive_flags = MSG_DONTWAIT;
#endif

/// How many bytes the next packet of a stream has, behind its size, if all of them are there.
packet_io next_size(int socket, std::uint32_t& size) noexcept {
  std::byte waiting[sizeof size + packet::most_bytes];
  auto const got = received([&] { return ::recv(socket, waiting, sizeof waiting, MSG_PEEK | MSG_DONTWAIT); });
  if (got <= 0) return got < 0 && errno == EAGAIN ? packet_io::later : packet_io::gone;
  if (static_cast<std::size_t>(got) < sizeof size) return packet_io::later;
  std::memcpy(&size, waiting, sizeof size);
  if (size > packet::most_bytes) return packet_io::done;  // receives what it can
  return static_cast<std::size_t>(got) < sizeof size + size ? packet_io::later : packet_io::done;
}

}  // namespace

packet_io receive_packet(int socket, packet& to) noexcept {
  to.fds = {};
  to.fd_count = 0;
  std::uint32_t size = 0;
  if (in_streams)
    if (auto const next = next_size(socket, size); next != packet_io::done) return next;
  iovec parts[] = {
      {&size, sizeof size},
      {to.bytes.data(), in_streams ? std::min<std::size_t>(size, to.bytes.size()) : to.bytes.size()}};
  alignas(cmsghdr) char control[CMSG_SPACE(packet::most_fds * sizeof(int))];
  msghdr message{};
  message.msg_iov = in_streams ? parts : parts + 1;
  message.msg_iovlen = in_streams ? 2 : 1;
  message.msg_control = control;
  message.msg_controllen = sizeof control;
  auto got = received([&] { return ::recvmsg(socket, &message, receive_flags); });
  if (got < 0) return errno == EAGAIN ? packet_io::later : packet_io::gone;
  for (auto* header = CMSG_FIRSTHDR(&message); header; header = CMSG_NXTHDR(&message, header)) {
    if (header->cmsg_level != SOL_SOCKET || header->cmsg_type != SCM_RIGHTS) continue;
    auto const count = (header->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    for (std::size_t i = 0; i < count; ++i) {
      int fd = -1;
      std::memcpy(&fd, CMSG_DATA(header) + i * sizeof fd, sizeof fd);
      owned_fd owned(fd);
      close_at_exec(fd);
      if (to.fd_count < packet::most_fds) to.fds[to.fd_count++] = std::move(owned);
    }
  }
  if (in_streams) got -= std::min<ssize_t>(got, sizeof size);
  to.size = static_cast<std::size_t>(got);
  to.cut = (message.msg_flags & (MSG_TRUNC | MSG_CTRUNC)) != 0 || size > packet::most_bytes;
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
