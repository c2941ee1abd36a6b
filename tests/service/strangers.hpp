// Clients without a token that do random things at a TLS port, one step at a time.
#pragma once

#include <memory>
#include <random>
#include <string>
#include <vector>

#include "tests/service/tls_peer.hpp"

namespace rondo_test {

class strangers {
 public:
  /// The token that they do not know.
  static constexpr char const* word = "a long word that strangers do not know";

  strangers(rondo::endpoint const& at, std::uint64_t seed) : at_(at), random_(seed) {}

  /// Either another client connects, or one that is connected acts: it sends more of the expected bytes, other bytes,
  /// half of them, nothing, or leaves.
  void step();
  void leave() { all_.clear(); }

 private:
  struct stranger {
    explicit stranger(rondo::endpoint const& at) : line(std::make_unique<tls_peer>(at)) {}
    std::unique_ptr<tls_peer> line;
    std::string next{};  // the bytes that it would send
  };

  std::size_t below(std::size_t n) { return random_() % n; }
  std::string noise(std::size_t bytes);
  bool goes_on(stranger& s);
  bool says_more(stranger& s);
  std::string some_frame();
  static std::string in_tiny_records(std::string const& record);

  rondo::endpoint at_;
  std::mt19937_64 random_;
  std::vector<stranger> all_;
};

}  // namespace rondo_test
