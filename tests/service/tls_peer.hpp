// A TLS client whose bytes pass through memory, so that a test decides how many of them the service gets, and when.
#pragma once

#include <openssl/ssl.h>

#include <memory>
#include <string>
#include <string_view>

#include "runtime/service/service_config.hpp"

namespace rondo_test {

/// Trusts any certificate. Errors of TLS or of the system throw std::runtime_error, unless stated otherwise.
class tls_peer {
 public:
  /// `at` is a TCP address on this machine. `version`: the latest of TLS that it speaks, such as TLS1_2_VERSION; 0:
  /// any.
  explicit tls_peer(rondo::endpoint const& at, int version = 0);
  ~tls_peer();
  tls_peer(tls_peer const&) = delete;
  tls_peer& operator=(tls_peer const&) = delete;

  /// The next bytes that TLS wants to send: first the ClientHello; empty if it waits for the service.
  std::string step();
  /// Sends bytes unchanged; false if the service has hung up.
  bool send(std::string_view bytes);
  /// Waits for at most a minute for bytes of the service, and passes them to TLS; false if it has hung up.
  bool receive();
  /// The rest of the handshake; false if the service hangs up.
  bool shake_hands();
  /// `text` as TLS records, to be sent whole or in part.
  std::string sealed(std::string_view text);
  /// So many KeyUpdates of TLS 1.3, which contain no data.
  std::string key_updates(std::size_t count);
  /// Begins the handshake again, as TLS 1.2 allows.
  std::string renegotiation();
  /// From now on a send fails when the service has taken nothing for two seconds.
  void limit_sends();
  /// The text of what was passed to TLS so far.
  std::string take_text();
  /// Passes the bytes that have arrived to TLS; false if the service has hung up.
  bool take_what_came();
  /// Whether the handshake is complete.
  bool is_open() const noexcept { return SSL_is_init_finished(ssl_.get()) == 1; }
  /// Whether the service has given it a session that it could resume.
  bool can_resume() const noexcept { return SSL_SESSION_is_resumable(SSL_get0_session(ssl_.get())) == 1; }
  /// Closes the sending side, and continues to receive.
  void end_sending();
  /// At least one byte from the service; empty if it has hung up.
  std::string read();
  /// Resets the connection instead of closing it.
  void reset();

 private:
  int socket_;
  std::unique_ptr<SSL_CTX, decltype(&SSL_CTX_free)> context_;
  std::unique_ptr<SSL, decltype(&SSL_free)> ssl_;
  BIO *in_, *out_;  // owned by ssl_
};

}  // namespace rondo_test
