// The setting `nats`: which servers it names, TLS, and passwords that no message shows.
#include "runtime/nats/nats_servers.hpp"

#include <openssl/ssl.h>

#include <atomic>
#include <boost/asio/buffer.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/write.hpp>
#include <cstdlib>
#include <latch>
#include <thread>

#include "tests/certificate.hpp"
#include "tests/nats/nats_fixture.hpp"

using namespace rondo::service;
using namespace rondo_test;
namespace asio = boost::asio;

namespace {

std::string why_refused(std::string const& text) {
  try {
    return "accepted: " + parse_nats_servers(text).shown;
  } catch (rondo::config_error const& e) {
    return e.what();
  }
}

/// A server without TLS, for one client at a time. It keeps what the first one sends, and ends the connections of the
/// first few with an error.
class plain_server {
 public:
  explicit plain_server(int errors = 0) : errors_(errors), thread_([this] { serve(); }) {}
  ~plain_server() {
    stopping_ = true;
    boost::system::error_code ignored;
    asio::ip::tcp::socket last(io_);
    last.connect(acceptor_.local_endpoint(), ignored);  // wakes it
    if (thread_.joinable()) thread_.join();
  }
  std::string host() const { return "127.0.0.1:" + std::to_string(acceptor_.local_endpoint().port()); }
  /// Connections until now that were greeted.
  int connections() const { return connections_; }
  /// What the first client has sent until it hung up.
  std::string heard() {
    first_ended_.wait();
    return heard_;
  }

 private:
  void serve() {
    while (!stopping_) {
      auto socket = acceptor_.accept();
      if (stopping_) return;
      talk(socket, ++connections_ <= errors_);
    }
  }
  void talk(asio::ip::tcp::socket& socket, bool with_error) {
    std::string const greeting =
        R"(INFO {"server_id":"x","version":"2.9.0","proto":1,"max_payload":1048576,"auth_required":true})"
        "\r\n";
    std::string const answer = with_error ? "PONG\r\n-ERR 'maximum connections exceeded'\r\n" : "PONG\r\n";
    boost::system::error_code ec;
    asio::write(socket, asio::buffer(greeting), ec);
    std::string said;
    for (char c = 0; asio::read(socket, asio::buffer(&c, 1), ec) == 1 && !ec;) {
      said += c;
      if (said.ends_with("PING\r\n")) asio::write(socket, asio::buffer(answer), ec);
    }
    if (connections_ != 1) return;
    heard_ = said;
    first_ended_.count_down();
  }

  asio::io_context io_;
  asio::ip::tcp::acceptor acceptor_{io_, {asio::ip::address_v4::loopback(), 0}};
  int const errors_;
  std::atomic<bool> stopping_ = false;
  std::atomic<int> connections_ = 0;
  std::string heard_;
  std::latch first_ended_{1};
  std::thread thread_;
};

}  // namespace

TEST_CASE("a list of NATS servers is read, and each password in it is hidden", "[nats][serverless]") {
  auto const one = parse_nats_servers("nats://127.0.0.1:4222");
  CHECK(one.urls == std::vector<std::string>{"nats://127.0.0.1:4222"});
  CHECK_FALSE(one.tls);
  auto const two = parse_nats_servers("tls://u:p@ss:w/rd@one:1, tls://TOKEN@[::1]:4223,tls://three/");
  CHECK(two.urls ==
        std::vector<std::string>{"tls://u:p@ss:w/rd@one:1", "tls://TOKEN@[::1]:4223", "tls://three:4222"});
  CHECK(two.tls);
  CHECK(two.shown == "tls://***@one:1,tls://***@[::1]:4223,tls://three:4222");
  CHECK(parse_nats_servers("u:s@h").urls == std::vector<std::string>{"nats://u:s@h:4222"});
}

TEST_CASE("a NATS server with another scheme, or without a host or a port, is refused without its password",
          "[nats][serverless]") {
  for (auto const* const wrong :
       {"", ",", "nats://", "http://u:SECRET@h:1", "TLS://u:SECRET@h:1", "ws://u:SECRET@h:1",
        "nats://u:SECRET@:1", "nats://u:SECRET@h:port", "nats://u:SECRET@h:0", "nats://u:SECRET@h:65536",
        "u:SECRET@h:", "SECRET@h:x", "nats://u:SEC,RET@h:1", "nats://u:SECRET@h:1,",
        "nats://u:SECRET@h/path:1", "tls://u:SECRET@h:1,nats://h:2", "tls://u:SECRET@h:1,h:2", "nats://a:b:c",
        "nats://u:SECRET@a b:1"}) {
    auto const why = why_refused(wrong);
    INFO(wrong << " -> " << why);
    CHECK(why.find("nats: '") == 0);
    CHECK(why.find("give it as nats://HOST:PORT or tls://HOST:PORT") != std::string::npos);
    CHECK(why.find("SEC") == std::string::npos);
    CHECK(why.find("RET") == std::string::npos);
  }
}

TEST_CASE("tls:// sends nothing to a server without TLS, whatever is in the url", "[nats][serverless]") {
  plain_server plain;
  auto const text = refusal([&] { nats_link link({.url = "tls://user:SECRET@" + plain.host()}); });
  INFO(text);
  CHECK(text.find("connecting to NATS at 'tls://***@" + plain.host() + "'") == 0);
  CHECK(text.find("SECRET") == std::string::npos);
  CHECK(plain.heard() == "");
  // The same server hears a login of nats://, so it would have heard this one.
  plain_server also;
  { nats_link const link({.url = "nats://user:SECRET@" + also.host()}); }
  CHECK(also.heard().find("SECRET") != std::string::npos);
}

TEST_CASE("tls:// accepts a server only with a certificate that is trusted and names its host", "[nats]") {
  scratch_directory const folder("nats-certificates");
  auto const file = [&](char const* name) { return (folder.directory / name).string(); };
  write_certificate(file("cert.pem"), file("key.pem"), "localhost");
  nats_server const server("tls", {"--tls", "--tlscert", file("cert.pem"), "--tlskey", file("key.pem"),
                                   "--user", "u", "--pass", "SECRET"});
  auto const port = server.url().substr(server.url().rfind(':'));
  auto const connected = [&](std::string const& host) {
    return refusal([&] {
      nats_link link({.url = "tls://u:SECRET@" + host + port});
      link.flush(patience);
    });
  };
  CHECK(connected("localhost").find("certificate") !=
        std::string::npos);  // nobody that is trusted has signed it
  ::setenv(X509_get_default_cert_file_env(), file("cert.pem").c_str(), 1);
  CHECK(connected("localhost") == "accepted");
  auto const wrong = connected("127.0.0.1");
  INFO(wrong);
  CHECK(wrong.find("mismatch") != std::string::npos);
  CHECK(wrong.find("SECRET") == std::string::npos);
  ::unsetenv(X509_get_default_cert_file_env());
}

TEST_CASE("a link uses another server of its list when one is not there", "[nats]") {
  nats_server const server("list");
  nats_link link({.url = url_of_nobody() + "," + server.url()});
  CHECK_NOTHROW(link.flush(patience));
}

TEST_CASE("a link comes back after each error with which a server ends its connection",
          "[nats][serverless]") {
  plain_server server(3);
  nats_link link({.url = "nats://" + server.host(), .reconnect_wait = 10ms, .patient = true});
  REQUIRE(eventually([&] { return server.connections() == 4 && link.connected(); }));
  CHECK_NOTHROW(link.flush(patience));
}
