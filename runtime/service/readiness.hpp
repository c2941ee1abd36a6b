// Which of many sockets have something to read: each is entered once, not anew for each wait.
//
// Asio's own waits cost a system call for every request of a connection. This is an epoll of its own, level-triggered,
// which Asio watches as one descriptor.
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

  /// Tells `who` again and again while `socket` has something to read, until it is paused or removed.
  void enter(int socket, listener& who);
  void pause(int socket);
  void resume(int socket);
  /// Before the socket is closed.
  void remove(int socket);

  /// Tells what is readable now; false when nothing is. Asio's loop does so by itself; called beside it, it saves that loop's
  /// own way of finding out.
  bool poll();

 private:
  void wait();
  void change(int operation, int socket, std::uint32_t events);

  boost::asio::posix::stream_descriptor epoll_;
  std::vector<listener*> entered_;  // by socket
  std::array<epoll_event, 256> events_{};
};

}  // namespace rondo::service
