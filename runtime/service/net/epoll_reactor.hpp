// Reports which of many sockets are readable. Each socket is registered once, not for every wait.
//
// Asio's own waits cost a system call per request of a connection, so this is a separate level-triggered epoll. Asio
// watches it as one descriptor, but only while the thread sleeps now and then: an epoll inside another one slows down
// every sender's system call. A busy thread removes it from Asio's epoll, but not after each sleep: the kernel walks
// through all sockets when it is added again.
// Where there is no epoll, nothing is registered, and connections use Asio's waits (transport.cpp).
// Threads: the network thread. Lifetime: outlives what is registered.
#pragma once

#include <array>
#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <vector>

#include "kernels/base/portable.hpp"

#if RONDO_LINUX
#include <sys/epoll.h>
#endif

namespace rondo::service {

#if RONDO_LINUX

class epoll_reactor {
 public:
  /// Called when its socket is readable. The call may register and remove itself and others.
  class listener {
   public:
    virtual ~listener() = default;
    virtual void on_readable() = 0;
  };

  /// Throws std::system_error.
  explicit epoll_reactor(boost::asio::io_context& network);
  ~epoll_reactor();
  epoll_reactor(epoll_reactor const&) = delete;
  epoll_reactor& operator=(epoll_reactor const&) = delete;

  /// Registers a socket: each poll calls `who` while `socket` has something to read, or its peer has gone, until it is
  /// removed.
  void enter(int socket, listener& who);
  /// Required before the socket is closed. It may be registered again.
  void remove(int socket);

  /// Calls the listeners of the readable sockets. False if there are none.
  bool poll();
  /// Sleeps until a socket is readable, which the next poll reports, or until Asio has run something.
  void sleep(boost::asio::io_context& network);

 private:
  static constexpr int busy_polls = 256;  // successful polls since the last sleep: the thread is busy

  void change(int operation, int socket);

  boost::asio::posix::stream_descriptor epoll_;  // open while Asio watches it
  int const handle_;
  bool waits_ = false;              // for Asio to report that something is readable
  int polls_ = 0;                   // successful ones since the last sleep
  std::vector<listener*> entered_;  // by socket
  std::array<epoll_event, 256> events_{};
};

#else

class epoll_reactor {
 public:
  explicit epoll_reactor(boost::asio::io_context&) {}
  bool poll() { return false; }
  void sleep(boost::asio::io_context& network) { network.run_one(); }
};

#endif

}  // namespace rondo::service
