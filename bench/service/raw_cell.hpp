// A connection to a service's cell `store`, made of a socket and prebuilt bytes; the benches of services use it to
// create load.
//
// Threads: one at a time per socket. Errors throw.
#pragma once

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <span>
#include <stdexcept>
#include <string>

#include "generated/basics_messages.hpp"
#include "runtime/service/wire/wire.hpp"

namespace rondo::bench {

[[noreturn]] inline void fail(std::string const& what) {
  throw std::runtime_error(what + ": " + std::strerror(errno));
}

inline int connect_to(std::string const& path) {
  int const s = ::socket(AF_UNIX, SOCK_STREAM, 0);
  sockaddr_un at{};
  at.sun_family = AF_UNIX;
  std::strncpy(at.sun_path, path.c_str(), sizeof at.sun_path - 1);
  if (s < 0 || ::connect(s, reinterpret_cast<sockaddr*>(&at), sizeof at) != 0) fail(path);
  return s;
}

/// Blocks until a whole frame has arrived. Precondition: no bytes of the next frame have arrived yet.
inline std::string read_frame(int s) {
  std::string frame;
  char buffer[4096];
  for (;;) {
    if (frame.size() >= 4) {
      std::uint32_t length = 0;
      std::memcpy(&length, frame.data(), 4);
      if (frame.size() == length + 4) return frame;
    }
    auto const n = ::read(s, buffer, sizeof buffer);
    if (n <= 0) fail("reading");
    frame.append(buffer, static_cast<std::size_t>(n));
  }
}

inline std::string to_string(std::span<std::byte const> bytes) {
  return {reinterpret_cast<char const*>(bytes.data()), bytes.size()};
}

inline std::string hello_frame() {
  auto& b = service::frame_builder();
  return to_string(service::request_frame(b, 1, wire::Createhello(b, wire::protocol_version)));
}

/// Sends hello and finds the cell; returns the frame of a put of 64 bytes. The service answers each put.
inline std::string open_cell(int s) {
  auto const hello = hello_frame();
  if (::write(s, hello.data(), hello.size()) < 0) fail("hello");
  read_frame(s);
  auto& f = service::frame_builder();
  auto const find = to_string(service::request_frame(f, 2, wire::Createfind(f, f.CreateString("store"))));
  if (::write(s, find.data(), find.size()) < 0) fail("find");
  auto const answer = read_frame(s);
  auto const* const r = service::verified<wire::response>(std::as_bytes(std::span(answer)));
  if (r == nullptr || r->body_as_found() == nullptr) throw std::runtime_error("there is no actor 'store'");
  auto const* const actor = r->body_as_found()->actor();
  basics::put message{};
  std::memset(message.bytes, 'x', sizeof message.bytes);
  auto& p = service::frame_builder();
  auto const payload = p.CreateVector(reinterpret_cast<std::uint8_t const*>(&message), sizeof message);
  return to_string(service::request_frame(
      p, 3, wire::Createsend(p, actor, 0, type_id<basics::put>, 128, true, false, 0, 0, 0, payload)));
}

/// Throws unless `frame` confirms a put.
inline void require_done(std::span<std::byte const> frame) {
  auto const* const r = service::verified<wire::response>(frame);
  if (r == nullptr || r->body_as_outcome() == nullptr)
    throw std::runtime_error("an answer is no reply to a put");
  if (auto const* const o = r->body_as_outcome(); o->status() != 0)
    throw std::runtime_error("a put was refused: " + o->reason()->str());
}

}  // namespace rondo::bench
