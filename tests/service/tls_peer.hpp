// A TLS client whose bytes pass through memory, so that a test decides how many of them the service gets, and when.
#pragma once

#include <openssl/ssl.h>

#include <memory>
#include <string>
#include <string_view>

#include "runtime/service/service_config.hpp"

namespace rondo_test {

/// Believes any certificate. Errors of TLS or of the system throw std::runtime_error, unless said otherwise.
class tls_peer {
 public:
  /// `at` is a TCP address on this machine.
  explicit tls_peer(rondo::service::endpoint const& at);
  ~tls_peer();
  tls_peer(tls_peer const&) = delete;
  tls_peer& operator=(tls_peer const&) = delete;

  /// What TLS has to say next: at first the ClientHello; empty when it waits for the service.
  std::string step();
  /// Puts bytes on the wire as they are; false when the service has hung up.
  bool send(std::string_view bytes);
  /// Hands TLS what the service has sent, after waiting for it for at most a minute; false when it has hung up.
  bool receive();
  /// The rest of the handshake; false when the service hangs up.
  bool shake_hands();
  /// `text` as TLS records, to be sent whole or in part.
  std::string sealed(std::string_view text);
  /// Hands TLS what has come by now; false when the service has hung up.
  bool take_what_came();
  /// Whether the handshake is over.
  bool is_open() const noexcept { return SSL_is_init_finished(ssl_.get()) == 1; }
  /// Whether the service has given it a session that it could resume.
  bool can_resume() const noexcept { return SSL_SESSION_is_resumable(SSL_get0_session(ssl_.get())) == 1; }
  /// Says that nothing more will come, and goes on listening.
  void end_sending();
  /// At least one byte of what the service has sent; empty when it has hung up.
  std::string read();
  /// Ends the connection with a reset in place of a farewell.
  void reset();

 private:
  int socket_;
  std::unique_ptr<SSL_CTX, decltype(&SSL_CTX_free)> context_;
  std::unique_ptr<SSL, decltype(&SSL_free)> ssl_;
  BIO *in_, *out_;  // owned by ssl_
};

}  // namespace rondo_test
