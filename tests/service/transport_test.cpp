// What one read of a connection takes, when its peer sends nothing but what TLS itself consumes. The bytes pass through
// memory, and what is left of them is counted.
#include "runtime/service/net/transport.hpp"

#include <openssl/ssl.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <boost/asio/error.hpp>
#include <boost/asio/io_context.hpp>
#include <memory>
#include <string>

#include "runtime/service/net/credentials.hpp"
#include "tests/catch.hpp"
#include "tests/certificate.hpp"
#include "tests/scratch_directory.hpp"

using namespace rondo_test;
namespace asio = boost::asio;

namespace {

/// A peer that may do what it likes, connected to a transport of the library.
class meeting {
 public:
  meeting(bool peer_is_server, int version) : peer_is_server_(peer_is_server) {
    auto const certificate = files_.directory / "certificate", key = files_.directory / "key";
    write_certificate(certificate, key, "rondo.test");
    ours_context_ = peer_is_server ? rondo::service::client_tls(certificate)
                                   : rondo::service::server_tls(certificate, key);
    context_.reset(SSL_CTX_new(peer_is_server ? TLS_server_method() : TLS_client_method()));
    SSL_CTX_set_max_proto_version(context_.get(), version);
    SSL_CTX_use_certificate_file(context_.get(), certificate.c_str(), SSL_FILETYPE_PEM);
    SSL_CTX_use_PrivateKey_file(context_.get(), key.c_str(), SSL_FILETYPE_PEM);
    peer.reset(SSL_new(context_.get()));
    SSL_set_bio(peer.get(), BIO_new(BIO_s_mem()), BIO_new(BIO_s_mem()));
    peer_is_server ? SSL_set_accept_state(peer.get()) : SSL_set_connect_state(peer.get());
    REQUIRE(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends_.data()) == 0);
    ours = rondo::service::make_tls_transport({io_, asio::generic::stream_protocol(AF_UNIX, 0), ends_[1]},
                                              *ours_context_, !peer_is_server,
                                              peer_is_server ? "rondo.test" : "");
  }
  ~meeting() {
    ours->close();
    ::close(ends_[0]);
  }
  meeting(meeting const&) = delete;
  meeting& operator=(meeting const&) = delete;

  /// What the peer wants to send.
  std::string said() {
    std::string all;
    char piece[4096];
    for (int n = 0; (n = BIO_read(SSL_get_wbio(peer.get()), piece, sizeof piece)) > 0;)
      all.append(piece, static_cast<std::size_t>(n));
    return all;
  }
  void send(std::string const& bytes) {
    REQUIRE(::send(ends_[0], bytes.data(), bytes.size(), MSG_NOSIGNAL) == static_cast<ssize_t>(bytes.size()));
  }
  rondo::error_code read() {
    rondo::error_code ec;
    std::array<std::byte, 4096> into;
    auto const n = ours->read(into, ec);
    CHECK((n > 0) == !ec);
    return ec;
  }
  void shake_hands() {
    for (int rounds = 0; SSL_is_init_finished(peer.get()) == 0 || rounds < 4; ++rounds) {
      REQUIRE(rounds < 100);
      CHECK(read() == asio::error::would_block);  // begins, if it is the client's side
      char bytes[4096];
      for (ssize_t n = 0; (n = ::recv(ends_[0], bytes, sizeof bytes, 0)) > 0;)
        BIO_write(SSL_get_rbio(peer.get()), bytes, static_cast<int>(n));
      SSL_do_handshake(peer.get());
      if (auto const more = said(); !more.empty()) send(more);
    }
    while (unread() != 0) CHECK(read() == asio::error::would_block);
  }
  /// Bytes that the peer has sent, and the transport has not taken.
  std::size_t unread() const {
    int bytes = 0;
    ::ioctl(ends_[1], FIONREAD, &bytes);
    return static_cast<std::size_t>(bytes);
  }
  bool peer_is_server() const { return peer_is_server_; }

  std::unique_ptr<SSL_CTX, decltype(&SSL_CTX_free)> context_{nullptr, &SSL_CTX_free};
  std::unique_ptr<SSL, decltype(&SSL_free)> peer{nullptr, &SSL_free};
  std::unique_ptr<rondo::service::transport> ours;

 private:
  bool const peer_is_server_;
  scratch_directory const files_{"transport"};
  std::unique_ptr<asio::ssl::context> ours_context_;
  asio::io_context io_{1};
  std::array<int, 2> ends_{-1, -1};
};

constexpr int repeats = 1000;

/// Sends the flood, and requires that reads take it in small parts, and soon no more.
void require_bounds(meeting& m, std::string const& flood) {
  m.send(flood);
  std::size_t most = 0;
  rondo::error_code ec;
  for (int reads = 0; !ec || ec == asio::error::would_block; ++reads) {
    REQUIRE(m.unread() != 0);
    REQUIRE(reads < 200);
    auto const before = m.unread();
    ec = m.read();
    most = std::max(most, before - m.unread());
  }
  CHECK(ec == boost::system::errc::protocol_error);
  CHECK(most <= flood.size() / 50);
  CHECK(m.unread() > flood.size() / 2);
  CHECK(m.ours->refusal().find("without any data") != std::string::npos);
}

}  // namespace

TEST_CASE(
    "a read takes a bounded part of what a peer sends without data, and too much of it ends the connection",
    "[service][tls][hostile]") {
  SECTION("KeyUpdates") {
    meeting m(GENERATE(false, true), TLS1_3_VERSION);
    m.shake_hands();
    std::string flood;
    for (int i = 0; i < repeats; ++i) {
      REQUIRE(SSL_key_update(m.peer.get(), SSL_KEY_UPDATE_NOT_REQUESTED) == 1);
      SSL_do_handshake(m.peer.get());
      flood += m.said();
    }
    require_bounds(m, flood);
  }
  SECTION("requests to begin the handshake again") {
    meeting m(true, TLS1_2_VERSION);
    m.shake_hands();
    std::string flood;
    for (int i = 0; i < repeats; ++i) {
      REQUIRE(SSL_renegotiate(m.peer.get()) == 1);
      SSL_do_handshake(m.peer.get());
      flood += m.said();
    }
    require_bounds(m, flood);
  }
  SECTION("session tickets") {
    meeting m(true, TLS1_3_VERSION);
    m.shake_hands();
    std::string flood;
    for (int i = 0; i < repeats / 4; ++i) {
      REQUIRE(SSL_new_session_ticket(m.peer.get()) == 1);
      SSL_do_handshake(m.peer.get());
      flood += m.said();
    }
    require_bounds(m, flood);
  }
  SECTION("a handshake in records of one byte") {
    meeting m(false, TLS1_3_VERSION);
    // A certificate's worth of protocols makes the first message long.
    std::string protocols;
    for (int i = 0; i < 2 * repeats; i += 200) protocols += '\xc7' + std::string(199, 'x');
    SSL_set_alpn_protos(m.peer.get(), reinterpret_cast<unsigned char const*>(protocols.data()),
                        static_cast<unsigned>(protocols.size()));
    SSL_do_handshake(m.peer.get());
    std::string flood;
    for (char const c : m.said().substr(5)) flood += std::string("\x16\x03\x01\x00\x01", 5) + c;
    require_bounds(m, flood);
  }
}

TEST_CASE("data between KeyUpdates arrives, however many there are in all", "[service][tls]") {
  meeting m(GENERATE(false, true), TLS1_3_VERSION);
  m.shake_hands();
  for (int i = 0; i < repeats; ++i) {
    SSL_key_update(m.peer.get(), SSL_KEY_UPDATE_NOT_REQUESTED);
    REQUIRE(SSL_write(m.peer.get(), "x", 1) == 1);
    m.send(m.said());
    int reads = 0;
    while (m.read() == asio::error::would_block) REQUIRE(++reads < 4);
    REQUIRE(m.unread() == 0);
  }
}

TEST_CASE("every cipher that a service or a client offers has forward secrecy and is authenticated",
          "[service][tls]") {
  scratch_directory const files("ciphers");
  auto const certificate = files.directory / "certificate", key = files.directory / "key";
  write_certificate(certificate, key, "rondo.test");
  auto const service = rondo::service::server_tls(certificate, key),
             client = rondo::service::client_tls(certificate);
  for (auto* const context : {service->native_handle(), client->native_handle()}) {
    auto* const ciphers = SSL_CTX_get_ciphers(context);
    REQUIRE(sk_SSL_CIPHER_num(ciphers) > 3);
    for (int i = 0; i < sk_SSL_CIPHER_num(ciphers); ++i) {
      auto const* const c = sk_SSL_CIPHER_value(ciphers, i);
      CAPTURE(SSL_CIPHER_get_name(c));
      auto const exchange = SSL_CIPHER_get_kx_nid(c);
      CHECK((exchange == NID_kx_ecdhe || exchange == NID_kx_any));  // any: TLS 1.3
      CHECK(SSL_CIPHER_is_aead(c) == 1);
    }
  }
}
