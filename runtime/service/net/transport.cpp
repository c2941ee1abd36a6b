#include "runtime/service/net/transport.hpp"

#include <fmt/format.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <sys/socket.h>

#include <boost/asio/error.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/ssl/error.hpp>

#include "runtime/net/local_socket.hpp"
#include "runtime/service/net/epoll_reactor.hpp"

namespace rondo::service {

namespace {

namespace asio = boost::asio;

error_code last_error() noexcept {
  // Asio's name for EWOULDBLOCK.
  if (errno == EAGAIN || errno == EWOULDBLOCK) return asio::error::would_block;
  return {errno, boost::system::system_category()};
}

ssize_t receive(int socket, void* into, std::size_t bytes) noexcept {
  for (;;) {
    auto const n = ::recv(socket, into, bytes, 0);
    if (n >= 0 || errno != EINTR) return n;
  }
}

/// A peer that has gone gives an error, not SIGPIPE, which would kill the program.
ssize_t send(int socket, void const* from, std::size_t bytes) noexcept {
  for (;;) {
    auto const n = ::send(socket, from, bytes, without_sigpipe);
    if (n >= 0 || errno != EINTR) return n;
  }
}

bool has_gone(stream_socket const& peer) noexcept {
  return peer_has_gone(const_cast<stream_socket&>(peer).native_handle());
}

class plain_transport : public transport {
 public:
  explicit plain_transport(stream_socket socket) : socket_(std::move(socket)) {
    socket_.native_non_blocking(true);
  }

  std::size_t read(std::span<std::byte> into, error_code& ec) override {
    auto const n = receive(socket_.native_handle(), into.data(), into.size());
    if (n > 0) return static_cast<std::size_t>(n);
    ec = n == 0 ? error_code(asio::error::eof) : last_error();
    return 0;
  }
  std::size_t write(std::span<std::byte const> bytes, error_code& ec) override {
    std::size_t sent = 0;
    while (sent < bytes.size()) {
      auto const n = send(socket_.native_handle(), bytes.data() + sent, bytes.size() - sent);
      if (n < 0) {
        ec = last_error();
        break;
      }
      sent += static_cast<std::size_t>(n);
    }
    return sent;
  }
  void async_readable(ready_handler ready) override {
    socket_.async_wait(socket_.wait_read, std::move(ready));
  }
  void async_writable(ready_handler ready) override {
    socket_.async_wait(socket_.wait_write, std::move(ready));
  }
  void close() noexcept override {
    error_code ignored;
    socket_.shutdown(socket_.shutdown_both, ignored);
    socket_.close(ignored);
  }
  bool hung_up() const noexcept override { return has_gone(socket_); }
  bool writes_from_any_thread() const noexcept override { return true; }

 protected:
  stream_socket socket_;
};

#if RONDO_LINUX

/// Stays registered between waits: it unregisters only when it is called while nothing waits.
class watched_transport final : public plain_transport, epoll_reactor::listener {
 public:
  watched_transport(stream_socket socket, epoll_reactor& all)
      : plain_transport(std::move(socket)), all_(all) {
    watch(true);
  }
  void async_readable(ready_handler ready) override {
    waiting_.swap(ready);
    watch(true);
  }
  void close() noexcept override {
    if (socket_.is_open()) watch(false);
    plain_transport::close();
    ready_handler none;
    none.swap(waiting_);  // Boost 1.81: it must not be assigned
  }

 private:
  void on_readable() override {
    ready_handler ready;
    ready.swap(waiting_);
    if (ready) return std::move(ready)(error_code());
    watch(false);  // epoll reports a peer that has gone, whatever it is asked for
  }
  void watch(bool on) {
    if (std::exchange(watched_, on) == on) return;
    on ? all_.enter(socket_.native_handle(), *this) : all_.remove(socket_.native_handle());
  }

  epoll_reactor& all_;
  ready_handler waiting_;
  bool watched_ = false;
};

#endif

/// Counts what TLS takes from a peer without data for its user: handshakes, KeyUpdates, renegotiation, tickets, alerts,
/// empty records. OpenSSL takes as many as have arrived within one call, but its caller has other clients to serve.
///
/// A step is a record or a handshake message. An honest handshake takes about 20, and afterwards hardly any come.
class tls_steps {
 public:
  static constexpr int per_call = 16;
  static constexpr int without_data = 128;  // of a connection, in a row

  void begin_call() noexcept { in_call_ = 0; }
  void take() noexcept { ++in_call_, ++in_a_row_; }
  void data_came() noexcept { in_a_row_ = 0; }
  bool may_go_on() const noexcept { return in_call_ < per_call && !are_too_many(); }
  bool are_too_many() const noexcept { return in_a_row_ > without_data; }

 private:
  int in_call_ = 0, in_a_row_ = 0;
};

/// What OpenSSL sends to and receives from.
struct tls_socket {
  stream_socket socket;
  tls_steps steps{};
};

/// Lets OpenSSL use a socket. Its own socket BIO writes without MSG_NOSIGNAL, and would give it any number of records.
BIO_METHOD* socket_method() {
  static auto const of = [](BIO* bio) -> tls_socket& { return *static_cast<tls_socket*>(BIO_get_data(bio)); };
  static auto const write = [](BIO* bio, char const* from, int bytes) {
    BIO_clear_retry_flags(bio);
    auto const n = send(of(bio).socket.native_handle(), from, static_cast<std::size_t>(bytes));
    if (n < 0 && BIO_sock_should_retry(static_cast<int>(n)) != 0) BIO_set_retry_write(bio);
    return static_cast<int>(n);
  };
  static auto const read = [](BIO* bio, char* into, int bytes) {
    BIO_clear_retry_flags(bio);
    if (!of(bio).steps.may_go_on()) return BIO_set_retry_read(bio), -1;
    auto const n = receive(of(bio).socket.native_handle(), into, static_cast<std::size_t>(bytes));
    if (n < 0 && BIO_sock_should_retry(static_cast<int>(n)) != 0) BIO_set_retry_read(bio);
    return static_cast<int>(n);
  };
  static BIO_METHOD* const method = [] {
    auto* const m = BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "socket");
    if (m == nullptr) throw std::runtime_error("TLS: out of memory");
    BIO_meth_set_write(m, +write);
    BIO_meth_set_read(m, +read);
    BIO_meth_set_ctrl(m, [](BIO*, int what, long, void*) -> long { return what == BIO_CTRL_FLUSH ? 1 : 0; });
    return m;
  }();
  return method;
}

/// OpenSSL on a non-blocking socket: each direction may have to wait for the other one.
class tls_transport final : public transport {
 public:
  tls_transport(stream_socket socket, asio::ssl::context& context, bool is_server,
                std::string const& server_name)
      : wire_{std::move(socket)}, ssl_(SSL_new(context.native_handle()), &SSL_free) {
    wire_.socket.native_non_blocking(true);
    auto* const bio = ssl_ ? BIO_new(socket_method()) : nullptr;
    if (bio == nullptr) throw std::runtime_error("TLS: could not set up a connection: out of memory");
    BIO_set_data(bio, &wire_);
    BIO_set_init(bio, 1);
    SSL_set_bio(ssl_.get(), bio, bio);
    SSL_set_mode(ssl_.get(), SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
    // A read returns after each message without data, instead of looking for the next one; many fit into one record.
    SSL_clear_mode(ssl_.get(), SSL_MODE_AUTO_RETRY);
    SSL_set_read_ahead(ssl_.get(), 0);  // what is not taken stays in the socket, where a wait sees it
    SSL_set_msg_callback(ssl_.get(), [](int sent, int, int what, void const*, std::size_t, SSL*, void* to) {
      if (sent == 0 && (what == SSL3_RT_HEADER || what == SSL3_RT_HANDSHAKE))
        static_cast<tls_socket*>(to)->steps.take();
    });
    SSL_set_msg_callback_arg(ssl_.get(), &wire_);
    is_server ? SSL_set_accept_state(ssl_.get()) : SSL_set_connect_state(ssl_.get());
    peer_name_ = server_name;
    if (!server_name.empty()) {
      SSL_set_tlsext_host_name(ssl_.get(), server_name.c_str());
      SSL_set1_host(ssl_.get(), server_name.c_str());
    }
  }

  std::size_t read(std::span<std::byte> into, error_code& ec) override {
    std::size_t n = 0;
    ERR_clear_error();
    wire_.steps.begin_call();
    auto const status = SSL_read_ex(ssl_.get(), into.data(), into.size(), &n);
    may_have_more_ = status == 1;
    if (status == 1) return wire_.steps.data_came(), n;
    read_waits_for_write_ = failed(status, ec) == SSL_ERROR_WANT_WRITE;
    if (wire_.steps.are_too_many()) ec = make_error_code(boost::system::errc::protocol_error);
    return 0;
  }
  std::size_t write(std::span<std::byte const> bytes, error_code& ec) override {
    std::size_t sent = 0;
    while (sent < bytes.size()) {
      std::size_t n = 0;
      ERR_clear_error();
      wire_.steps.begin_call();  // it may continue a handshake
      auto const status = SSL_write_ex(ssl_.get(), bytes.data() + sent, bytes.size() - sent, &n);
      if (status != 1) {
        write_waits_for_read_ = failed(status, ec) == SSL_ERROR_WANT_READ;
        break;
      }
      sent += n;
    }
    return sent;
  }
  void async_readable(ready_handler ready) override {
    // SSL_has_pending alone is not enough: it is also true for half a record, which no read can take.
    if (may_have_more_ && SSL_has_pending(ssl_.get()) == 1)
      return asio::post(wire_.socket.get_executor(),
                        [ready = std::move(ready)]() mutable { std::move(ready)(error_code()); });
    wire_.socket.async_wait(read_waits_for_write_ ? wire_.socket.wait_write : wire_.socket.wait_read,
                            std::move(ready));
  }
  void async_writable(ready_handler ready) override {
    wire_.socket.async_wait(write_waits_for_read_ ? wire_.socket.wait_read : wire_.socket.wait_write,
                            std::move(ready));
  }
  void close() noexcept override {
    SSL_shutdown(ssl_.get());  // notifies the peer, if there is room; does not wait for its answer
    error_code ignored;
    wire_.socket.shutdown(wire_.socket.shutdown_both, ignored);
    wire_.socket.close(ignored);
  }
  bool hung_up() const noexcept override { return has_gone(wire_.socket); }
  bool writes_from_any_thread() const noexcept override { return false; }
  std::string refusal() const override {
    if (wire_.steps.are_too_many())
      return fmt::format("it sent more than {} records and handshake messages of TLS without any data",
                         tls_steps::without_data);
    auto const verdict = SSL_get_verify_result(ssl_.get());
    if (verdict == X509_V_ERR_HOSTNAME_MISMATCH || verdict == X509_V_ERR_IP_ADDRESS_MISMATCH)
      return fmt::format("its certificate is not valid for the name '{}'", peer_name_);
    if (verdict != X509_V_OK)
      return fmt::format("its certificate is not trusted: {}", X509_verify_cert_error_string(verdict));
    return speaks_no_tls_ ? "it does not speak TLS" : "";
  }

 private:
  int failed(int status, error_code& ec) noexcept {
    auto const why = SSL_get_error(ssl_.get(), status);
    if (why == SSL_ERROR_WANT_READ || why == SSL_ERROR_WANT_WRITE)
      ec = asio::error::would_block;
    else if (why == SSL_ERROR_ZERO_RETURN)
      ec = asio::error::eof;
    else if (auto const code = ERR_get_error(); code != 0) {
      ec = {static_cast<int>(code), asio::error::get_ssl_category()};
      speaks_no_tls_ = ERR_GET_REASON(code) == SSL_R_WRONG_VERSION_NUMBER;
    } else
      ec = asio::ssl::error::stream_truncated;
    return why;
  }

  tls_socket wire_;
  std::unique_ptr<SSL, decltype(&SSL_free)> ssl_;
  std::string peer_name_;
  bool speaks_no_tls_ = false;
  bool may_have_more_ = false;  // the last read returned bytes
  bool read_waits_for_write_ = false, write_waits_for_read_ = false;
};

}  // namespace

std::unique_ptr<transport> make_plain_transport(stream_socket socket) {
  return std::make_unique<plain_transport>(std::move(socket));
}

std::unique_ptr<transport> make_plain_transport(stream_socket socket, epoll_reactor& all) {
#if RONDO_LINUX
  return std::make_unique<watched_transport>(std::move(socket), all);
#else
  static_cast<void>(all);
  return make_plain_transport(std::move(socket));
#endif
}

std::unique_ptr<transport> make_tls_transport(stream_socket socket, asio::ssl::context& context,
                                              bool is_server, std::string const& server_name) {
  return std::make_unique<tls_transport>(std::move(socket), context, is_server, server_name);
}

}  // namespace rondo::service
