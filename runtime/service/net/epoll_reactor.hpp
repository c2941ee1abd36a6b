// Reports which of many sockets are readable; each is registered once, not for each wait.
//
// Asio's own waits cost a system call for every request of a connection, so this is a level-triggered epoll of its own. Asio
// watches it as one descriptor, and only while the thread sleeps now and then: an epoll inside another one slows down every sender's
// system call. A busy thread takes it out of Asio's epoll again, but not after each sleep: the kernel walks through all sockets when
// it is put back.
// Threads: the network thread. Lifetime: longer than what is entered.
#pragma once

#include <sys/epoll.h>

#include <array>
#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <vector>

namespace rondo::service {

class epoll_reactor {
 public:
  /// What is told. It may enter and remove itself and others meanwhile.
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

  /// Tells `who` again and again while `socket` has something to read, or its peer has gone, until it is removed.
  void enter(int socket, listener& who);
  /// Before the socket is closed; or for a while.
  void remove(int socket);

  /// Tells what is readable now; false when nothing is.
  bool poll();
  /// Sleeps until something is readable, which is told by the next poll, or until Asio has run something.
  void sleep(boost::asio::io_context& network);

 private:
  static constexpr int busy_polls = 256;  // that found something, since the last sleep: the thread is busy

  void change(int operation, int socket);

  boost::asio::posix::stream_descriptor epoll_;  // open while Asio watches
  int const handle_;
  bool waits_ = false;              // for Asio to say that something is readable
  int polls_ = 0;                   // that found something, since the last sleep
  std::vector<listener*> entered_;  // by socket
  std::array<epoll_event, 256> events_{};
};

}  // namespace rondo::service
