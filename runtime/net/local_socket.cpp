#include "runtime/net/local_socket.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

namespace rondo {

#if RONDO_LINUX

owned_fd new_local_socket(int kind, bool blocking) noexcept {
  return owned_fd(::socket(AF_UNIX, kind | SOCK_CLOEXEC | (blocking ? 0 : SOCK_NONBLOCK), 0));
}

owned_fd accept_local(int listening) noexcept {
  return owned_fd(::accept4(listening, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
}

void keep_from_others(int socket) noexcept { ::fchmod(socket, 0600); }
bool keep_from_others(std::string const&) noexcept { return true; }

bool peer_has_gone(int socket) noexcept {
  pollfd look{socket, POLLRDHUP, 0};
  return ::poll(&look, 1, 0) == 1;
}

#else

namespace {

owned_fd prepared(owned_fd fd, bool blocking) noexcept {
  if (!fd) return fd;
  ::fcntl(fd.get(), F_SETFD, FD_CLOEXEC);
  if (!blocking) ::fcntl(fd.get(), F_SETFL, O_NONBLOCK);
#if defined(SO_NOSIGPIPE)
  int const on = 1;
  ::setsockopt(fd.get(), SOL_SOCKET, SO_NOSIGPIPE, &on, sizeof on);
#endif
  return fd;
}

}  // namespace

owned_fd new_local_socket(int kind, bool blocking) noexcept {
  return prepared(owned_fd(::socket(AF_UNIX, kind, 0)), blocking);
}

owned_fd accept_local(int listening) noexcept {
  return prepared(owned_fd(::accept(listening, nullptr, nullptr)), false);
}

void keep_from_others(int) noexcept {}
bool keep_from_others(std::string const& bound_path) noexcept {
  return ::chmod(bound_path.c_str(), 0600) == 0;
}

bool peer_has_gone(int socket) noexcept {
  pollfd look{socket, POLLIN, 0};
  if (::poll(&look, 1, 0) != 1) return false;
  if ((look.revents & (POLLHUP | POLLERR)) != 0) return true;
  char next = 0;
  return ::recv(socket, &next, 1, MSG_PEEK | MSG_DONTWAIT) == 0;
}

#endif

peer_identity identity_of(int socket) noexcept {
  peer_identity const unknown{0, static_cast<uid_t>(-1)};
#if defined(SO_PEERCRED)
  ucred found{};
  socklen_t size = sizeof found;
  if (::getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &found, &size) != 0) return unknown;
  return {found.pid, found.uid};
#else
  peer_identity found;
  gid_t group = 0;
  if (::getpeereid(socket, &found.uid, &group) != 0) return unknown;
#if defined(LOCAL_PEERPID)
  socklen_t size = sizeof found.pid;
  ::getsockopt(socket, SOL_LOCAL, LOCAL_PEERPID, &found.pid, &size);
#endif
  return found;
#endif
}

}  // namespace rondo
