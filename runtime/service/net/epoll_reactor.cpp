#include "runtime/service/net/epoll_reactor.hpp"

#include <unistd.h>

#include <chrono>
#include <system_error>
#include <utility>

#if RONDO_LINUX

namespace rondo::service {

namespace {

int new_epoll() {
  int const e = ::epoll_create1(EPOLL_CLOEXEC);
  if (e < 0) throw std::system_error(errno, std::system_category(), "epoll");
  return e;
}

}  // namespace

epoll_reactor::epoll_reactor(boost::asio::io_context& network) : epoll_(network), handle_(new_epoll()) {}

epoll_reactor::~epoll_reactor() {
  if (epoll_.is_open()) epoll_.release();
  ::close(handle_);
}

void epoll_reactor::sleep(boost::asio::io_context& network) {
  boost::system::error_code ec;
  if (!epoll_.is_open()) epoll_.assign(handle_, ec);
  if (ec) {  // the system cannot register it now: sleep briefly instead
    network.run_one_for(std::chrono::milliseconds(1));
    return;
  }
  if (!std::exchange(waits_, true))
    epoll_.async_wait(epoll_.wait_read, [this](boost::system::error_code) { waits_ = false; });
  network.run_one();
  polls_ = 0;
}

bool epoll_reactor::poll() {
  int const n = ::epoll_wait(handle_, events_.data(), static_cast<int>(events_.size()), 0);
  for (int i = 0; i < n; ++i) {
    auto const socket = static_cast<std::size_t>(events_[static_cast<std::size_t>(i)].data.fd);
    // An earlier listener may have removed it.
    if (auto* const who = entered_[socket]; who != nullptr) who->on_readable();
  }
  if (n > 0 && epoll_.is_open() && ++polls_ > busy_polls) epoll_.release();
  return n > 0;
}

void epoll_reactor::change(int operation, int socket) {
  epoll_event e{};
  e.events = EPOLLIN;
  e.data.fd = socket;
  if (::epoll_ctl(handle_, operation, socket, &e) != 0)
    throw std::system_error(errno, std::system_category(), "epoll");
}

void epoll_reactor::enter(int socket, listener& who) {
  auto const index = static_cast<std::size_t>(socket);
  if (entered_.size() <= index) entered_.resize(index + 1);
  change(EPOLL_CTL_ADD, socket);
  entered_[index] = &who;
}

void epoll_reactor::remove(int socket) {
  change(EPOLL_CTL_DEL, socket);
  entered_[static_cast<std::size_t>(socket)] = nullptr;
}

}  // namespace rondo::service

#endif
