// Fuzzes the server side of a TLS connection: the client's bytes arrive whole, in part, changed, mixed with others, or
// not at all.
//
// An input is a sequence of steps of two bytes: an action and its amount.
#include <openssl/ssl.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <boost/asio/error.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ssl/context.hpp>
#include <cerrno>
#include <memory>
#include <span>
#include <string>

#include "runtime/service/net/credentials.hpp"
#include "runtime/service/net/transport.hpp"
#include "tests/certificate.hpp"
#include "tests/fuzz/fuzz_target.hpp"
#include "tests/scratch_directory.hpp"

namespace {

namespace asio = boost::asio;
using rondo_fuzz::require;

asio::ssl::context& server_context() {
  static auto* const context = [] {
    rondo_test::scratch_directory const files("fuzz_tls");
    auto const certificate = files.directory / "certificate", key = files.directory / "key";
    rondo_test::write_certificate(certificate, key, "rondo.test");
    return rondo::service::server_tls(certificate, key).release();
  }();
  return *context;
}

/// A client that speaks valid TLS; the input decides which of its bytes reach the service.
class sound_client {
 public:
  sound_client() {
    SSL_set_bio(ssl_.get(), BIO_new(BIO_s_mem()), BIO_new(BIO_s_mem()));
    SSL_set_connect_state(ssl_.get());
  }
  /// Passes the service's bytes to it.
  void take(std::string const& bytes) {
    BIO_write(SSL_get_rbio(ssl_.get()), bytes.data(), static_cast<int>(bytes.size()));
    SSL_do_handshake(ssl_.get());
    char ignored[512];
    while (SSL_read(ssl_.get(), ignored, sizeof ignored) > 0) continue;
  }
  /// Whether the text has been written as TLS records.
  bool say(std::string const& text) {
    SSL_do_handshake(ssl_.get());
    return SSL_is_init_finished(ssl_.get()) == 1 &&
           SSL_write(ssl_.get(), text.data(), static_cast<int>(text.size())) == static_cast<int>(text.size());
  }
  /// So many messages without text.
  void update_keys(std::size_t count) {
    for (SSL_do_handshake(ssl_.get()); count-- != 0 && SSL_is_init_finished(ssl_.get()) == 1;
         SSL_do_handshake(ssl_.get()))
      SSL_key_update(ssl_.get(), SSL_KEY_UPDATE_NOT_REQUESTED);
  }
  std::string bytes_to_send() {
    SSL_do_handshake(ssl_.get());
    std::string all;
    char piece[4096];
    for (int n = 0; (n = BIO_read(SSL_get_wbio(ssl_.get()), piece, sizeof piece)) > 0;)
      all.append(piece, static_cast<std::size_t>(n));
    return all;
  }

 private:
  static SSL_CTX* context() {
    static auto* const one = SSL_CTX_new(TLS_client_method());
    return one;
  }
  std::unique_ptr<SSL, decltype(&SSL_free)> ssl_{SSL_new(context()), &SSL_free};
};

class connection {
 public:
  connection() {
    int ends[2];
    require(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends) == 0,
            "there are sockets");
    wire_ = ends[0];
    service_end_ = ends[1];
    rondo::stream_socket socket(io_, asio::generic::stream_protocol(AF_UNIX, 0), ends[1]);
    served_ = rondo::service::make_tls_transport(std::move(socket), server_context(), true);
  }
  ~connection() {
    served_->close();
    ::close(wire_);
  }
  connection(connection const&) = delete;
  connection& operator=(connection const&) = delete;

  void step(unsigned what, std::size_t how_much, std::span<std::uint8_t const> raw) {
    switch (what % 9) {
      case 0:  // all pending bytes of the client
        return deliver(std::string::npos, std::string::npos);
      case 1:  // a part of them
        return deliver(how_much, std::string::npos);
      case 2:  // a part with a changed bit
        return deliver(std::string::npos, how_much);
      case 3:  // bytes that the client never wrote
        return put(std::string(raw.begin(), raw.end()));
      case 4: {
        std::string const text(how_much + 1, static_cast<char>('a' + how_much % 26));
        if (client_.say(text)) said_ += text;
        return;
      }
      case 5:
        return look();
      case 6: {
        std::string const text(how_much * 64 + 1, 'z');
        boost::system::error_code ec;
        auto const n = served_->write(std::as_bytes(std::span(text)), ec);
        require(n == text.size() || ec, "what was not written has a reason");
        return;
      }
      case 8:
        return client_.update_keys(how_much % 64 + 1);
      default:
        if (how_much % 4 == 0) ::shutdown(wire_, SHUT_WR);
        return take();
    }
  }

 private:
  void deliver(std::size_t most, std::size_t changed) {
    pending_ += client_.bytes_to_send();
    if (pending_.empty()) return;
    auto part = pending_.substr(0, most);
    pending_.erase(0, part.size());
    if (changed != std::string::npos) part[changed % part.size()] ^= static_cast<char>(1 << changed % 8);
    put(part);
  }
  void put(std::string const& bytes) {
    static_cast<void>(::send(wire_, bytes.data(), bytes.size(), MSG_NOSIGNAL));
    look();
    take();
  }
  void take() {
    char bytes[4096];
    for (ssize_t n = 0; (n = ::recv(wire_, bytes, sizeof bytes, 0)) > 0;)
      client_.take(std::string(bytes, static_cast<std::size_t>(n)));
  }
  /// What the service does when it can read.
  void look() {
    // A read may leave a part of what is there, and the wait then ends at once, but not again and again.
    boost::system::error_code ec;
    int const most_looks = static_cast<int>(unread()) + 2;
    for (int looks = 0; !ec || ec == asio::error::would_block; ++looks) {
      require(looks <= most_looks, "who has taken all there is to read waits for more");
      ec = {};
      for (std::byte into[256]; !ec;) {
        auto const n = served_->read(into, ec);
        require((n > 0) == !ec, "a read takes something, or says why not");
        heard_.append(reinterpret_cast<char const*>(into), n);
        require(said_.starts_with(heard_), "nothing is heard that the client has not said");
      }
      run_handlers();  // a wait for the bytes that have just been read
      if (ec != asio::error::would_block || waits_) return;
      waits_ = true;
      served_->async_readable([this](boost::system::error_code) { waits_ = false; });
      run_handlers();
      if (waits_) return;
    }
  }
  /// Bytes that the service has not taken yet.
  std::size_t unread() const {
    int bytes = 0;
    ::ioctl(service_end_, FIONREAD, &bytes);
    return static_cast<std::size_t>(bytes);
  }
  void run_handlers() {
    io_.restart();
    io_.poll();
  }

  asio::io_context io_{1};
  int wire_ = -1, service_end_ = -1;
  std::unique_ptr<rondo::service::transport> served_;
  sound_client client_;
  std::string pending_, said_, heard_;
  bool waits_ = false;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
  connection c;
  std::span<std::uint8_t const> left(data, size);
  for (int steps = 0; left.size() >= 2 && steps < 200; ++steps) {
    unsigned const what = left[0];
    std::size_t const how_much = left[1];
    left = left.subspan(2);
    auto const raw = left.first(what % 9 == 3 ? std::min(how_much, left.size()) : 0);
    left = left.subspan(raw.size());
    c.step(what, how_much, raw);
  }
  return 0;
}
