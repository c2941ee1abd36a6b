#include "tests/service/tls_peer.hpp"

#include <arpa/inet.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <stdexcept>

namespace rondo_test {

namespace {

void require(bool holds, char const* what) {
  if (!holds) throw std::runtime_error(std::string("TLS peer: ") + what);
}

/// All bytes that OpenSSL has written to `bio`.
std::string drain(BIO* bio) {
  std::string all;
  char piece[4096];
  for (int n = 0; (n = BIO_read(bio, piece, sizeof piece)) > 0;)
    all.append(piece, static_cast<std::size_t>(n));
  return all;
}

SSL_CTX* made_for(int version) {
  auto* const context = SSL_CTX_new(TLS_client_method());
  SSL_CTX_set_max_proto_version(context, version);
  return context;
}

}  // namespace

tls_peer::tls_peer(rondo::endpoint const& at, int version)
    : socket_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)),
      context_(made_for(version), &SSL_CTX_free),
      ssl_(SSL_new(context_.get()), &SSL_free),
      in_(BIO_new(BIO_s_mem())),
      out_(BIO_new(BIO_s_mem())) {
  SSL_set_bio(ssl_.get(), in_, out_);
  SSL_set_connect_state(ssl_.get());
  sockaddr_in to{};
  to.sin_family = AF_INET;
  to.sin_port = htons(at.port);
  to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  require(::connect(socket_, reinterpret_cast<sockaddr*>(&to), sizeof to) == 0, "cannot connect");
}

tls_peer::~tls_peer() { ::close(socket_); }

std::string tls_peer::step() {
  SSL_do_handshake(ssl_.get());
  return drain(out_);
}

bool tls_peer::send(std::string_view bytes) {
  while (!bytes.empty()) {
    auto const n = ::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (n < 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(n));
  }
  return true;
}

bool tls_peer::receive() {
  pollfd p{socket_, POLLIN, 0};
  require(::poll(&p, 1, 60'000) == 1, "the service says nothing");
  char bytes[4096];
  auto const n = ::recv(socket_, bytes, sizeof bytes, 0);
  return n > 0 && BIO_write(in_, bytes, static_cast<int>(n)) == n;
}

bool tls_peer::take_what_came() {
  for (;;) {
    char bytes[4096];
    auto const n = ::recv(socket_, bytes, sizeof bytes, MSG_DONTWAIT);
    if (n < 0) return errno == EAGAIN;
    if (n == 0) return false;
    BIO_write(in_, bytes, static_cast<int>(n));
  }
}

void tls_peer::end_sending() { ::shutdown(socket_, SHUT_WR); }

bool tls_peer::shake_hands() {
  for (;;) {
    if (!send(step())) return false;
    if (SSL_is_init_finished(ssl_.get()) == 1) return true;
    if (!receive()) return false;
  }
}

std::string tls_peer::sealed(std::string_view text) {
  require(SSL_write(ssl_.get(), text.data(), static_cast<int>(text.size())) == static_cast<int>(text.size()),
          "nothing can be sealed before the handshake is over");
  return drain(out_);
}

std::string tls_peer::key_updates(std::size_t count) {
  while (count-- != 0) {
    require(SSL_key_update(ssl_.get(), SSL_KEY_UPDATE_NOT_REQUESTED) == 1,
            "no KeyUpdate before the handshake is over");
    SSL_do_handshake(ssl_.get());
  }
  return drain(out_);
}

std::string tls_peer::renegotiation() {
  require(SSL_renegotiate(ssl_.get()) == 1, "the handshake does not begin again");
  return step();
}

void tls_peer::limit_sends() {
  timeval const limit{2, 0};
  ::setsockopt(socket_, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
}

std::string tls_peer::take_text() {
  std::string all;
  char bytes[4096];
  for (int n = 0; (n = SSL_read(ssl_.get(), bytes, sizeof bytes)) > 0;)
    all.append(bytes, static_cast<std::size_t>(n));
  return all;
}

std::string tls_peer::read() {
  char bytes[4096];
  for (;;) {
    auto const n = SSL_read(ssl_.get(), bytes, sizeof bytes);
    if (n > 0) return {bytes, static_cast<std::size_t>(n)};
    if (SSL_get_error(ssl_.get(), n) != SSL_ERROR_WANT_READ || !receive()) return {};
  }
}

void tls_peer::reset() {
  linger const hard{1, 0};
  ::setsockopt(socket_, SOL_SOCKET, SO_LINGER, &hard, sizeof hard);
  ::close(socket_);
  socket_ = -1;
}

}  // namespace rondo_test
