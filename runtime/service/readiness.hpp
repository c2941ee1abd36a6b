// Which of many sockets have something to read: each is entered once, not anew for each wait.
//
// Asio's own waits cost a system call for every request of a connection. This is an epoll of its own, level-triggered. Asio
// watches it as one descriptor, but only while the thread sleeps: an epoll inside another one makes each sender's system
// call run through both.
// Threads: the network thread. Lifetime: longer than what is entered.
#pragma once

#include <sys/epoll.h>

#include <array>
#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <vector>

namespace rondo::service {

class readiness {
 public:
  /// What is told. It may enter and remove itself and others meanwhile.
  class listener {
   public:
    virtual ~listener() = default;
    virtual void on_readable() = 0;
  };

  /// Throws std::system_error.
  explicit readiness(boost::asio::io_context& network);
  ~readiness();
  readiness(readiness const&) = delete;
  readiness& operator=(readiness const&) = delete;

  /// Tells `who` again and again while `socket` has something to read, or its peer has gone, until it is removed.
  void enter(int socket, listener& who);
  /// Before the socket is closed; or for a while.
  void remove(int socket);

  /// Tells what is readable now; false when nothing is.
  bool poll();
  /// Sleeps until something is readable, which is told by the next poll, or until Asio has run something.
  void sleep(boost::asio::io_context& network);

 private:
  void change(int operation, int socket);

  boost::asio::posix::stream_descriptor epoll_;  // in Asio's hands while the thread sleeps
  int const handle_;
  std::vector<listener*> entered_;  // by socket
  std::array<epoll_event, 256> events_{};
};

}  // namespace rondo::service
