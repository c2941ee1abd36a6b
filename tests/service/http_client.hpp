// A blocking HTTP client for tests.
#pragma once

#include <boost/asio/connect.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/write.hpp>
#include <string>

namespace service_test {

/// Sends `bytes` unchanged and returns everything received until the server hangs up.
inline std::string talk(std::uint16_t port, std::string const& bytes) {
  namespace asio = boost::asio;
  asio::io_context io;
  asio::ip::tcp::socket socket(io);
  socket.connect({asio::ip::address_v4::loopback(), port});
  boost::system::error_code ec;
  asio::write(socket, asio::buffer(bytes), ec);
  std::string answer;
  asio::read(socket, asio::dynamic_buffer(answer), ec);
  return answer;
}

/// The complete response, head and body.
inline std::string get(std::uint16_t port, std::string const& target, std::string const& method = "GET") {
  return talk(port, method + " " + target + " HTTP/1.1\r\nHost: test\r\nConnection: close\r\n\r\n");
}

}  // namespace service_test
