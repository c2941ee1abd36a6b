// The monitoring server: its answers, its refusals, and what it survives.
#include "runtime/service/monitor/http_server.hpp"

#include <algorithm>
#include <atomic>
#include <boost/asio/io_context.hpp>
#include <boost/asio/thread_pool.hpp>
#include <latch>

#include "tests/service/basics_fixture.hpp"
#include "tests/service/http_client.hpp"

using namespace service_test;
using Catch::Matchers::Contains;
using Catch::Matchers::StartsWith;
using rondo::service::http_answer;
using rondo::service::http_options;
using rondo::service::http_server;
namespace asio = boost::asio;

namespace {

struct routes_served {
  asio::thread_pool io{1}, pool{2};
  http_server server;

  // Much longer than any test takes, except in tests of this limit.
  explicit routes_served(rondo::service::http_routes routes, http_options options = {.request_time = 60s})
      : server(io.get_executor(), pool.get_executor(), {asio::ip::address_v4::loopback(), 0},
               std::move(routes), options) {}
  ~routes_served() {
    server.stop();
    io.join();
    pool.join();
  }
};

rondo::service::http_routes one_route() {
  return {{"/hello", {[] { return http_answer{.body = "hello\n"}; }}},
          {"/broken", {[]() -> http_answer { throw std::runtime_error("the well is dry"); }}},
          {"/quick", {[] { return http_answer{.body = "quick\n"}; }, true}},
          {"/long", {[] { return http_answer{.body = std::string(16 << 20, 'x')}; }}}};
}

asio::ip::tcp::socket connect(asio::io_context& io, std::uint16_t port) {
  asio::ip::tcp::socket s(io);
  s.connect({asio::ip::address_v4::loopback(), port});
  return s;
}

}  // namespace

TEST_CASE("a path is answered with its length, type and body", "[http]") {
  routes_served const s(one_route());
  auto const answer = get(s.server.port(), "/hello?x=1");
  CHECK_THAT(answer, StartsWith("HTTP/1.1 200 OK\r\n") && Contains("Content-Length: 6\r\n") &&
                         Contains("text/plain; charset=utf-8") &&
                         Catch::Matchers::EndsWith("\r\n\r\nhello\n"));
  auto const head = get(s.server.port(), "/hello", "HEAD");
  CHECK_THAT(head, Contains("Content-Length: 6\r\n") && Catch::Matchers::EndsWith("\r\n\r\n"));
}

TEST_CASE("several requests use one connection", "[http]") {
  routes_served const s(one_route());
  auto const answer = talk(s.server.port(),
                           "GET /hello HTTP/1.1\r\nHost: x\r\n\r\nGET /nothing HTTP/1.1\r\nHost: x\r\n\r\n"
                           "GET /hello HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
  CHECK_THAT(answer, Contains("404 Not Found"));
  CHECK_THAT(answer.substr(answer.find("404")), Contains("200 OK"));
}

TEST_CASE("invalid requests are refused with the reason", "[http]") {
  routes_served const s(one_route(), {.header_bytes = 1024, .body_bytes = 100, .request_time = 60s});
  auto const port = s.server.port();
  CHECK_THAT(get(port, "/nothing"), StartsWith("HTTP/1.1 404") && Contains("/hello"));
  CHECK_THAT(get(port, "/hello", "DELETE"), StartsWith("HTTP/1.1 405") && Contains("Allow: GET, HEAD"));
  CHECK_THAT(get(port, "/broken"), StartsWith("HTTP/1.1 500") && Contains("the well is dry"));
  CHECK_THAT(talk(port, "what is this\r\n\r\n"), StartsWith("HTTP/1.1 400"));
  CHECK_THAT(talk(port, "GET /hello HTTP/1.1\r\nX: " + std::string(5000, 'x') + "\r\n\r\n"),
             StartsWith("HTTP/1.1 431") && Contains("1024 bytes"));
  CHECK_THAT(talk(port, "GET /hello HTTP/1.1\r\nHost: x\r\nContent-Length: 5000\r\n\r\n"),
             StartsWith("HTTP/1.1 413"));
  CHECK_THAT(get(port, "/hello"), StartsWith("HTTP/1.1 200"));
}

TEST_CASE("a client that sends a request too slowly is disconnected", "[http]") {
  routes_served const s(one_route(), {.request_time = 50ms});
  asio::io_context io;
  auto socket = connect(io, s.server.port());
  asio::write(socket, asio::buffer(std::string("GET /hel")));
  std::string answer;
  boost::system::error_code ec;
  asio::read(socket, asio::dynamic_buffer(answer), ec);  // ends when the server hangs up
  CHECK(ec);
  CHECK(answer.empty());
}

TEST_CASE("connections that send or take nothing keep nobody out", "[http][hostile]") {
  routes_served const s(one_route(), {.connections = 4, .request_time = 1h});
  auto const begins = GENERATE(as<std::string>(), "", "GET /hel", "GET /long HTTP/1.1\r\nHost: x\r\n\r\n",
                               "GET /hello HTTP/1.1\r\nHost: x\r\n\r\n");
  CAPTURE(begins);
  asio::io_context io;
  std::vector<asio::ip::tcp::socket> all;
  for (int i = 0; i < 50; ++i) {
    all.push_back(connect(io, s.server.port()));
    asio::write(all.back(), asio::buffer(begins));
    if (i % 10 == 9) CHECK_THAT(get(s.server.port(), "/quick"), StartsWith("HTTP/1.1 200"));
  }
  // All but four have made room for others.
  std::vector<char> some(65'536);
  auto const is_closed = [&](asio::ip::tcp::socket& socket) {
    boost::system::error_code ec;
    socket.non_blocking(true);
    while (!ec) socket.read_some(asio::buffer(some), ec);
    return ec != asio::error::would_block;
  };
  CHECK(eventually([&] { return std::ranges::count_if(all, is_closed) >= 46; }));
}

TEST_CASE("slow answers leave places and threads to quick ones", "[http][hostile]") {
  std::latch goes_on(1);
  std::atomic<int> begun{0};
  auto routes = one_route();
  routes["/slow"] = {[&] {
    ++begun;
    goes_on.wait();
    return http_answer{.body = "at last\n"};
  }};
  auto s = std::make_unique<routes_served>(
      std::move(routes), http_options{.connections = 8, .slow_answers = 3, .request_time = 1h});
  asio::io_context io;
  std::vector<asio::ip::tcp::socket> all;
  for (int i = 0; i < 50; ++i) {
    all.push_back(connect(io, s->server.port()));
    asio::write(all.back(), asio::buffer(std::string("GET /slow HTTP/1.1\r\nHost: x\r\n\r\n")));
    if (i % 10 == 9) CHECK_THAT(get(s->server.port(), "/quick"), StartsWith("HTTP/1.1 200"));
  }
  CHECK_THAT(get(s->server.port(), "/slow"),
             StartsWith("HTTP/1.1 503") && Contains("already answering 3 such"));
  CHECK(begun <= 3);
  goes_on.count_down();
  char first = 0;
  asio::read(all.front(), asio::buffer(&first, 1));  // those that were begun are answered
  CHECK(eventually([&] { return get(s->server.port(), "/slow").rfind("HTTP/1.1 200", 0) == 0; }));
}

TEST_CASE("stopping closes the open connections", "[http]") {
  asio::io_context io;
  auto s = std::make_unique<routes_served>(one_route(), http_options{.request_time = 60s});
  auto socket = connect(io, s->server.port());
  auto const port = s->server.port();
  asio::write(socket, asio::buffer(std::string("GET /hello HTTP/1.1\r\nHost: x\r\n\r\n")));
  char first = 0;
  asio::read(socket, asio::buffer(&first, 1));  // it is being served
  s.reset();
  std::string rest;
  boost::system::error_code ec;
  asio::read(socket, asio::dynamic_buffer(rest), ec);
  CHECK(ec);
  CHECK_THROWS(connect(io, port));
}

TEST_CASE("what is wrong while new work is accepted is a line of /readyz, which stays 200", "[http]") {
  std::string why_not;
  std::vector<std::string> conditions;
  routes_served const s(
      rondo::service::monitoring_routes([] { return std::string(); }, [] { return std::string(); },
                                        [&] { return why_not; }, [&] { return conditions; }));
  auto const port = s.server.port();
  CHECK_THAT(get(port, "/readyz"),
             StartsWith("HTTP/1.1 200") && Catch::Matchers::EndsWith("\r\n\r\nready\n"));
  conditions = {"NATS is away", "the disk is full"};
  CHECK_THAT(get(port, "/readyz"),
             StartsWith("HTTP/1.1 200") &&
                 Catch::Matchers::EndsWith("\r\n\r\nready\nNATS is away\nthe disk is full\n"));
  why_not = "stopping";
  CHECK_THAT(get(port, "/readyz"),
             StartsWith("HTTP/1.1 503") &&
                 Catch::Matchers::EndsWith("\r\n\r\nstopping\nNATS is away\nthe disk is full\n"));
}

TEST_CASE("health and readiness are different", "[http]") {
  std::atomic<bool> well{true}, ready{false};
  routes_served const s(rondo::service::monitoring_routes(
      [] { return std::string("rondo_conserved 1\n"); },
      [&] { return well ? std::string() : std::string("the network thread has been stuck"); },
      [&] { return ready ? std::string() : std::string("the checkpoint is being restored"); }));
  auto const port = s.server.port();
  CHECK_THAT(get(port, "/healthz"), StartsWith("HTTP/1.1 200"));
  CHECK_THAT(get(port, "/readyz"),
             StartsWith("HTTP/1.1 503") && Contains("the checkpoint is being restored"));
  ready = true;
  CHECK_THAT(get(port, "/readyz"), StartsWith("HTTP/1.1 200"));
  well = false;
  CHECK_THAT(get(port, "/healthz"),
             StartsWith("HTTP/1.1 503") && Contains("the network thread has been stuck"));
  CHECK_THAT(get(port, "/metrics"), Contains("text/plain; version=0.0.4") && Contains("rondo_conserved 1"));
}
