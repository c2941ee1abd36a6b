// In place of macOS's header: glibc's, with what macOS has beside POSIX, and without what Linux has.
#pragma once

#include_next <sys/socket.h>

#undef MSG_CMSG_CLOEXEC
#undef MSG_NOSIGNAL
#undef SO_PEERCRED
#define SOCK_CLOEXEC not_on_macos
#define SOCK_NONBLOCK not_on_macos
#define SOCK_SEQPACKET not_on_macos
#define accept4 not_on_macos
#define SO_NOSIGPIPE 0x1022
#define SOL_LOCAL 0
#define LOCAL_PEERPID 2

extern "C" int getpeereid(int, uid_t*, gid_t*);
