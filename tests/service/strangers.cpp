#include "tests/service/strangers.hpp"

#include "runtime/service/wire/frame.hpp"
#include "runtime/service/wire/wire.hpp"

namespace rondo_test {

namespace wire = rondo::wire;

void strangers::step() {
  if (all_.size() < 48 && below(4) == 0) return void(all_.emplace_back(at_));
  if (all_.empty()) return;
  auto const who = all_.begin() + static_cast<std::ptrdiff_t>(below(all_.size()));
  if (!goes_on(*who)) all_.erase(who);
}

std::string strangers::noise(std::size_t bytes) {
  std::string all(bytes, '\0');
  for (auto& c : all) c = static_cast<char>(random_());
  return all;
}

/// Returns false if it leaves, or the service has hung up.
bool strangers::goes_on(stranger& s) {
  auto& line = *s.line;
  switch (below(12)) {
    case 0:  // leaves
      return false;
    case 1:
      line.reset();
      return false;
    case 2:
      return line.send(noise(1 + below(2000)));
    case 3:  // the beginning of a record, possibly without an end
      return line.send(std::string("\x16\x03\x01\x02\x00", 5) + noise(below(100)));
    case 4:
      return line.send("GET /metrics HTTP/1.1\r\n\r\n");
    case 5:
      line.end_sending();
      return true;
    case 6:  // sends nothing for a while
      return line.take_what_came();
    default:
      return line.take_what_came() && says_more(s);
  }
}

/// Sends a part of the next bytes of the handshake or, after it, of a login or a request.
bool strangers::says_more(stranger& s) {
  if (s.next.empty() && s.line->is_open())
    s.next = below(4) == 0 ? s.line->key_updates(1 + below(500)) : s.line->sealed(some_frame());
  if (s.next.empty()) s.next = s.line->step();
  if (below(16) == 0) s.next = in_tiny_records(s.next);
  auto const bytes = below(3) == 0 ? below(s.next.size() + 1) : s.next.size();
  bool const sent = s.line->send(std::string_view(s.next).substr(0, bytes));
  s.next.erase(0, bytes);
  return sent;
}

/// A handshake message that takes as many records as it can.
std::string strangers::in_tiny_records(std::string const& record) {
  if (!record.starts_with('\x16')) return record;
  std::string all;
  for (char const c : record.substr(std::min<std::size_t>(5, record.size())))
    all += std::string("\x16\x03\x01\x00\x01", 5) + c;
  return all;
}

std::string strangers::some_frame() {
  auto& b = rondo::service::frame_builder();
  auto const text = [](std::span<std::byte const> bytes) {
    return std::string(reinterpret_cast<char const*>(bytes.data()), bytes.size());
  };
  switch (below(6)) {
    case 0:
      return text(rondo::service::request_frame(
          b, 1, wire::Createhello(b, wire::protocol_version, random_(), b.CreateString(noise(below(64))))));
    case 1:  // an unknown version
      return text(rondo::service::request_frame(b, 1, wire::Createhello(b, 77)));
    case 2:  // before any hello
      return text(rondo::service::request_frame(b, 2, wire::Createwatch(b)));
    case 3:  // a length beyond the limit
      return noise(3) + std::string(1, '\x7f') + noise(below(500));
    case 4: {  // a damaged frame
      auto frame = text(rondo::service::request_frame(
          b, 1, wire::Createhello(b, wire::protocol_version, 0, b.CreateString(word))));
      frame[below(frame.size())] = static_cast<char>(random_());
      return below(2) == 0 ? frame : frame.substr(0, below(frame.size()));
    }
    default:
      return noise(1 + below(300));
  }
}

}  // namespace rondo_test
