#include "runtime/net/listener.hpp"

#include <fmt/format.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/asio/steady_timer.hpp>
#include <cerrno>
#include <optional>
#include <system_error>

#include "runtime/base/errc.hpp"
#include "runtime/files/file_lock.hpp"
#include "runtime/net/local_socket.hpp"
#include "runtime/net/trusted_path.hpp"
#include "runtime/os/made_here.hpp"

namespace rondo {

namespace asio = boost::asio;
using asio::ip::tcp;
using local = asio::local::stream_protocol;

namespace {

void require(error_code const& ec, endpoint const& at, char const* what) {
  if (ec) throw std::system_error(ec, fmt::format("{}: {}", at.text(), what));
}

template <class Protocol>
class listener_of : public listener {
 public:
  listener_of(asio::io_context& network, endpoint at)
      : at_(std::move(at)), acceptor_(network), pause_(network) {}

  endpoint where() const override { return at_; }
  void accept(taker take) override {
    take_ = std::move(take);
    next();
  }

 protected:
  void open(typename Protocol::endpoint const& where) {
    error_code ec;
    acceptor_.open(where.protocol(), ec);
    require(ec, at_, "the socket could not be created");
    prepare();
    acceptor_.bind(where, ec);
    require(ec, at_, "the address could not be bound");
    bound();
    acceptor_.listen(asio::socket_base::max_listen_connections, ec);
    require(ec, at_, "the socket could not listen");
  }
  virtual void prepare() = 0;
  virtual void bound() {}
  virtual client_address address_of(typename Protocol::socket& s) = 0;

  endpoint at_;
  asio::basic_socket_acceptor<Protocol> acceptor_;

 private:
  void next() {
    // A handler that has already accepted a client may run after this object is gone.
    acceptor_.async_accept([this, lives = std::weak_ptr(lives_)](error_code ec, typename Protocol::socket s) {
      if (lives.expired() || ec == asio::error::operation_aborted) return;
      if (!ec) {
        auto from = address_of(s);
        take_(stream_socket(std::move(s)), std::move(from));
        return next();
      }
      // Most likely out of file descriptors: some will be free again.
      pause_.expires_after(std::chrono::milliseconds(50));
      pause_.async_wait([this, lives](error_code over) {
        if (!lives.expired() && !over) next();
      });
    });
  }

  taker take_;
  asio::steady_timer pause_;
  std::shared_ptr<bool> const lives_ = std::make_shared<bool>(true);
};

/// Identifies the file at a path, to notice that it was replaced.
struct file_identity {
  dev_t device = 0;
  ino_t inode = 0;
  bool operator==(file_identity const&) const = default;
};

/// Removes the socket that a dead service of this user left at the path, if any; `connecting` is the result of
/// connecting to it. Throws config_error for anything else at the path, above all a socket whose owner is only slow.
void remove_left_socket(endpoint const& at, error_code const& connecting) {
  struct stat about {};
  if (::lstat(at.path.c_str(), &about) != 0) return;
  auto const refuse = [&](std::string const& what) {
    throw config_error(fmt::format("{}: {}; choose another path, or move it away", at.text(), what));
  };
  if (!S_ISSOCK(about.st_mode)) refuse("this path is not a socket");
  if (connecting != asio::error::connection_refused)
    refuse(fmt::format("this socket may be in use ({})", connecting.message()));
  if (about.st_uid != ::geteuid()) refuse(fmt::format("this socket belongs to user {}", about.st_uid));
  ::unlink(at.path.c_str());
}

class unix_listener final : public listener_of<local> {
 public:
  unix_listener(asio::io_context& network, endpoint const& at) : listener_of(network, at) {
    std::filesystem::path const path = at.path;
    // The operator decides who owns the folder: a wrong path must not make one.
    if (std::error_code ec; path.has_parent_path() && !std::filesystem::exists(path.parent_path(), ec))
      throw config_error(fmt::format("{}: the folder {} does not exist; create it, or choose another path",
                                     at.text(), path.parent_path().string()));
    if (auto const why = why_not_trusted(path.parent_path()); !why.empty())
      throw config_error(fmt::format("{}: {}", at.text(), why));
    require_nobody(network);
    // If two services start at once, one fails here, and does not remove the socket that the other has just made.
    lock_.emplace(path);
    remove_left_socket(at, require_nobody(network));
    open(local::endpoint(at.path));
    ours_ = identity();
  }
  /// By now the path may belong to another service, and in a forked child it is the parent's.
  ~unix_listener() override {
    if (made_here_ && ours_ != file_identity() && identity() == ours_) ::unlink(at_.path.c_str());
  }

 private:
  /// Returns the error of connecting. Throws config_error if a service accepts connections there.
  error_code require_nobody(asio::io_context& network) const {
    error_code ec;
    local::socket probe(network);
    probe.connect(local::endpoint(at_.path), ec);
    if (!ec)
      throw config_error(
          fmt::format("{}: another service listens there; stop it, or choose another path", at_.text()));
    return ec;
  }
  void prepare() override { keep_from_others(acceptor_.native_handle()); }
  void bound() override {
    if (!keep_from_others(at_.path))
      throw std::system_error(errno, std::generic_category(), at_.text() + ": its mode could not be set");
  }
  client_address address_of(local::socket& s) override {
    auto const who = identity_of(s.native_handle());
    if (who.uid == static_cast<uid_t>(-1)) return {"a local client", "local", true};
    auto const user = fmt::format("user {}", who.uid);
    return {fmt::format("process {} of {}", who.pid, user), user, true};
  }
  file_identity identity() const {
    struct stat about {};
    return ::lstat(at_.path.c_str(), &about) == 0 ? file_identity{about.st_dev, about.st_ino}
                                                  : file_identity();
  }

  made_here made_here_;
  std::optional<file_lock> lock_;
  file_identity ours_{};  // of the socket that this object made
};

class tcp_listener final : public listener_of<tcp> {
  /// What the system may hold for a client beyond what is on its way: otherwise megabytes, which limits.response_bytes
  /// would not count.
  static constexpr int unsent_bytes = 128 << 10;

 public:
  tcp_listener(asio::io_context& network, endpoint const& at) : listener_of(network, at) {
    open({asio::ip::make_address(at.path), at.port});
    at_.port = acceptor_.local_endpoint().port();
  }

 private:
  void prepare() override { acceptor_.set_option(asio::socket_base::reuse_address(true)); }
  client_address address_of(tcp::socket& s) override {
    error_code ignored;
    s.set_option(tcp::no_delay(true), ignored);
    s.set_option(asio::socket_base::keep_alive(true), ignored);
    ::setsockopt(s.native_handle(), IPPROTO_TCP, TCP_NOTSENT_LOWAT, &unsent_bytes, sizeof unsent_bytes);
    auto const from = s.remote_endpoint(ignored);
    auto const address = from.address().to_string();
    return {fmt::format("{}:{}", address, from.port()), address, false};
  }
};

}  // namespace

std::unique_ptr<listener> make_listener(asio::io_context& network, endpoint const& at) {
  if (at.is_unix) return std::make_unique<unix_listener>(network, at);
  return std::make_unique<tcp_listener>(network, at);
}

}  // namespace rondo
