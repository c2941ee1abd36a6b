// A client that sends arbitrary bytes to a socket, and reads the responses.
#pragma once

#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstring>
#include <optional>
#include <stdexcept>
#include <string>

#include "runtime/service/service_config.hpp"
#include "runtime/service/wire/frame.hpp"
#include "runtime/service/wire/wire.hpp"

namespace rondo_test {

namespace wire = rondo::wire;

class raw_client {
 public:
  /// Connects to a Unix socket, or to a port of this machine, from the address 127.0.0.`from`.
  explicit raw_client(rondo::endpoint const& at, std::uint8_t from = 1)
      : socket_(::socket(at.is_unix ? AF_UNIX : AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_un path{};
    path.sun_family = AF_UNIX;
    std::strncpy(path.sun_path, at.path.c_str(), sizeof path.sun_path - 1);
    sockaddr_in port{};
    port.sin_family = AF_INET;
    port.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    port.sin_port = htons(at.port);
    sockaddr_in own{};
    own.sin_family = AF_INET;
    own.sin_addr.s_addr = htonl(0x7f000000u + from);
    if (!at.is_unix && ::bind(socket_, reinterpret_cast<sockaddr*>(&own), sizeof own) != 0)
      throw std::runtime_error("cannot bind");
    auto const* const to =
        at.is_unix ? reinterpret_cast<sockaddr*>(&path) : reinterpret_cast<sockaddr*>(&port);
    if (::connect(socket_, to, at.is_unix ? sizeof path : sizeof port) != 0)
      throw std::runtime_error("cannot connect");
  }
  ~raw_client() { ::close(socket_); }
  raw_client(raw_client const&) = delete;
  raw_client& operator=(raw_client const&) = delete;

  /// Returns false if the service has hung up, or (with `block` false) accepts no more at the moment.
  bool send(std::span<std::byte const> bytes, bool block = true) {
    return ::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL | (block ? 0 : MSG_DONTWAIT)) ==
           static_cast<ssize_t>(bytes.size());
  }
  bool send(std::string const& bytes) { return send(std::as_bytes(std::span(bytes))); }
  /// Has the system take little for this client, which is about to read nothing.
  void leave_unread() const {
    int const bytes = 4096;
    ::setsockopt(socket_, SOL_SOCKET, SO_RCVBUF, &bytes, sizeof bytes);
  }
  /// Sends a request that `body` creates with the builder.
  template <class Body>
  bool request(std::uint64_t id, Body body) {
    auto& b = rondo::service::frame_builder();
    return send(rondo::service::request_frame(b, id, body(b)));
  }

  /// The next response; null if the service hangs up. Throws if neither happens within a minute.
  wire::response const* receive() {
    for (;;) {
      std::span<std::byte const> frame;
      if (in_.next(frame) == rondo::service::frame_reader::state::frame) {
        auto const* const r = rondo::service::verified<wire::response>(frame);
        if (r == nullptr) throw std::runtime_error("the service sent a damaged frame");
        return r;
      }
      pollfd p{socket_, POLLIN, 0};
      if (::poll(&p, 1, 60'000) != 1) throw std::runtime_error("the service says nothing");
      auto const room = in_.room(4096);
      auto const n = ::recv(socket_, room.data(), room.size(), 0);
      if (n <= 0) return nullptr;
      in_.came(static_cast<std::size_t>(n));
    }
  }
  /// The farewell of the service, after which it must hang up; earlier responses are skipped.
  std::string last_words() {
    std::string words;
    while (auto const* const r = receive())
      if (r->id() == 0 && r->body_as_outcome() != nullptr && r->body_as_outcome()->reason() != nullptr)
        words = r->body_as_outcome()->reason()->str();
    return words;
  }

  void hello(std::uint64_t session = 0, std::string const& token = {}) {
    auto& b = rondo::service::frame_builder();
    auto const word = b.CreateString(token);
    send(rondo::service::request_frame(b, 1, wire::Createhello(b, wire::protocol_version, session, word)));
  }
  /// A frame with one message for the actor of that name.
  template <class Message>
  std::string frame_for(std::uint64_t id, char const* actor, Message const& m, bool wants_reply,
                        std::uint64_t key = 0, bool wait_for_room = false, std::uint64_t trace = 0) {
    auto& b = rondo::service::frame_builder();
    auto const name = b.CreateString(actor);
    auto const payload = b.CreateVector(reinterpret_cast<std::uint8_t const*>(&m), sizeof m);
    auto const bytes = rondo::service::request_frame(
        b, id,
        wire::Createsend(b, nullptr, name, rondo::type_id<Message>, 128, wants_reply, wait_for_room, 0, key,
                         0, payload, trace));
    return {reinterpret_cast<char const*>(bytes.data()), bytes.size()};
  }

 private:
  int socket_;
  rondo::service::frame_reader in_{16 << 20};
};

}  // namespace rondo_test
