// A client of a service that has been welcomed, and reads the verdict on each of its requests.
#pragma once

#include <string>

#include "tests/catch.hpp"
#include "tests/service/raw_client.hpp"

namespace rondo_test {

struct guest_client : raw_client {
  explicit guest_client(rondo::endpoint const& at, std::string const& token = {}, std::uint8_t from = 1,
                        std::uint64_t session = 0)
      : raw_client(at, from) {
    hello(session, token);
    auto const* const r = receive();
    REQUIRE(r != nullptr);
    REQUIRE(r->body_as_welcome() != nullptr);
  }
  /// The reason in the next response if it is a refusal; otherwise "ok".
  std::string verdict() {
    auto const* const r = receive();
    if (r == nullptr) return "hung up";
    auto const* const o = r->body_as_outcome();
    return o == nullptr || o->status() == 0 ? "ok" : o->reason()->str();
  }
  std::string launch(std::string const& name, std::uint32_t capacity = 0) {
    request(9, [&](auto& b) {
      auto const actor = b.CreateString(name), behaviour = b.CreateString("counter");
      return wire::Createlaunch(b, actor, behaviour, capacity);
    });
    return verdict();
  }
  std::string terminate(std::string const& name) {
    request(9, [&](auto& b) {
      return wire::Createcontrol(b, b.CreateString(name), wire::control_kind_terminate_discard);
    });
    return verdict();
  }
};

}  // namespace rondo_test
