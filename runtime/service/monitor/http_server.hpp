// A small HTTP/1.1 server for monitoring: GET and HEAD of a few paths, each answered by a function.
//
//   http_server monitor(io, {loopback, 9464}, {{"/metrics", [&] { return http_answer{.body = to_metrics(...)}; }}});
//
// Limits: sizes of header and body, connections at once, and time for each request; who passes one is answered with the
// reason where that is still possible, and cut off. It has no TLS and knows nobody: let it listen on a loopback or private
// address.
//
// Threads: the server's own work runs on `io` in one strand, the answers are made on `work`, several at once. `stop`, the
// destructor and `port` from any thread. After `stop` the functions are called no more once both executors have run dry.
#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>

namespace rondo::service {

struct http_answer {
  unsigned status = 200;
  std::string content_type = "text/plain; charset=utf-8";
  std::string body{};
};

/// What is at each path. A function that throws is answered with 500.
using http_routes = std::map<std::string, std::function<http_answer()>, std::less<>>;

struct http_options {
  std::uint32_t header_bytes = 8 * 1024;  // of one request
  std::uint32_t body_bytes = 1024;        // likewise; it is read and not looked at
  std::uint32_t connections = 32;         // at once
  std::chrono::milliseconds request_time{
      5000};  // to send a request, the wait for the next one included; and to take an answer
};

class http_server {
 public:
  /// Throws boost::system::system_error when it cannot listen there. Port 0 chooses one.
  http_server(boost::asio::any_io_executor io, boost::asio::any_io_executor work,
              boost::asio::ip::tcp::endpoint const& where, http_routes routes, http_options options = {});
  ~http_server();
  http_server(http_server const&) = delete;
  http_server& operator=(http_server const&) = delete;

  std::uint16_t port() const noexcept;
  /// Takes no connection any more, and ends those that are. Idempotent.
  void stop();

 private:
  struct core;
  std::shared_ptr<core> core_;
};

/// The routes of a service: /metrics, /healthz (503 with the text that `why_not_well` returns while that is not empty) and /readyz (503 with the text that
/// `why_not_ready` returns while that is not empty).
http_routes monitoring_routes(std::function<std::string()> metrics, std::function<std::string()> why_not_well,
                              std::function<std::string()> why_not_ready);

}  // namespace rondo::service
