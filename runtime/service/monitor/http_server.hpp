// A small HTTP/1.1 server for monitoring: GET and HEAD of a few paths, each answered by a function.
//
//   http_server monitor(io, {loopback, 9464}, {{"/metrics", [&] { return http_answer{.body = to_metrics(...)}; }}});
//
// Limits: sizes of header and body, connections at once, and time for each request. A client that exceeds one is
// disconnected, if possible after a response with the reason. There is no TLS and no authentication: listen on a
// loopback or private address.
//
// Nobody can keep others out. At the limit of connections a new one takes the place of the one that has sent its
// request, or taken its response, for longest. Slow functions leave places and threads to quick ones: at most
// `slow_answers` run or wait at once.
//
// Threads: the server and the quick functions run on `io`, in one strand; the slow ones run on `work`, several at once.
// If both are the same thread, quick functions wait for slow ones. `stop`, the destructor and `port` from any thread.
// After `stop`, no function is called once both executors have run dry.
#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "runtime/os/made_here.hpp"

namespace rondo::service {

/// A response.
struct http_answer {
  unsigned status = 200;                                   // of HTTP
  std::string content_type = "text/plain; charset=utf-8";  // of the body
  std::string body{};                                      // the text
};

/// Makes the response for a path. If it throws, the response is 500.
struct http_route {
  std::function<http_answer()> answer;  // called for each request
  bool is_quick = false;                // it never blocks
};
using http_routes = std::map<std::string, http_route, std::less<>>;  // by path

/// The limits of a server.
struct http_options {
  std::uint32_t header_bytes = 8 * 1024;  // of one request
  std::uint32_t body_bytes = 1024;        // likewise; it is read and ignored
  std::uint32_t connections = 32;         // at once
  std::uint32_t slow_answers = 8;         // at once; others get 503
  std::chrono::milliseconds request_time{
      5000};  // to send a request, including the wait before it; and to read a response
};

class http_server {
 public:
  /// Throws boost::system::system_error if it cannot listen there. Port 0 picks a free port.
  http_server(boost::asio::any_io_executor io, boost::asio::any_io_executor work,
              boost::asio::ip::tcp::endpoint const& where, http_routes routes, http_options options = {});
  /// Stops. A forked child's copy does nothing.
  ~http_server();
  http_server(http_server const&) = delete;
  http_server& operator=(http_server const&) = delete;

  /// The port that it listens on.
  std::uint16_t port() const noexcept;
  /// Stops accepting connections and closes the open ones. Idempotent.
  void stop();

 private:
  struct core;
  std::shared_ptr<core> core_;
  made_here made_here_;
};

/// The routes of a service: /metrics, /healthz and /readyz. The last two respond 503 with the text of `why_not_well` or
/// `why_not_ready` while that is not empty. /readyz lists `conditions`, too, which do not change its status.
http_routes monitoring_routes(std::function<std::string()> metrics, std::function<std::string()> why_not_well,
                              std::function<std::string()> why_not_ready,
                              std::function<std::vector<std::string>()> conditions = {});

}  // namespace rondo::service
