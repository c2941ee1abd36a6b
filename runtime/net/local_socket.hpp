// What differs between systems about sockets of the file system (AF_UNIX).
//
// Threads: any.
#pragma once

#include <sys/socket.h>
#include <sys/types.h>

#include <string>

#include "kernels/base/portable.hpp"
#include "runtime/os/owned_fd.hpp"

namespace rondo {

// -- for the runtime

/// The flags of a send that gives an error if the peer has gone, where others would raise SIGPIPE. Where the system
/// does not have it, own sockets and Asio's are set up so.
#if defined(MSG_NOSIGNAL)
inline constexpr int without_sigpipe = MSG_NOSIGNAL;
#else
inline constexpr int without_sigpipe = 0;
#endif

/// The kind of socket over which packets go: macOS has none that keeps packets separate.
#if RONDO_LINUX
inline constexpr int packet_kind = SOCK_SEQPACKET;
#else
inline constexpr int packet_kind = SOCK_STREAM;
#endif

/// Who is at the other end of a local socket.
struct peer_identity {
  pid_t pid = 0;  ///< 0: not known
  uid_t uid = 0;  ///< -1: not known
};

/// A socket that is closed at exec. Empty if there is none: then errno says why.
owned_fd new_local_socket(int kind, bool blocking) noexcept;
/// Accepts a connection, which does not block, and is closed at exec. Empty if there is none.
owned_fd accept_local(int listening) noexcept;

/// Before a socket is bound to a path, so that other users can never connect: Linux gives the socket's mode to the
/// file.
void keep_from_others(int socket) noexcept;
/// The same on other systems, between bind and listen: nobody can connect yet. False if that failed.
bool keep_from_others(std::string const& bound_path) noexcept;

/// The peer's identity from the kernel, which the peer cannot forge. The user -1 if it is not known.
peer_identity identity_of(int socket) noexcept;

/// Whether the peer has closed its side, or died. Where a system cannot tell while there is something to read, false.
bool peer_has_gone(int socket) noexcept;

}  // namespace rondo
