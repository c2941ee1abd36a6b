// Resolves a NATS message to an actor and one of its message types. Input from NATS is checked here, once.
//
// Threads: any.
#pragma once

#include <string>
#include <string_view>
#include <variant>

#include "runtime/nats/nats_message.hpp"
#include "runtime/runtime.hpp"

namespace rondo::service {

struct nats_target {
  any_ref actor;
  std::uint32_t type = 0;
  bool has_reply = false;
  nats_headers headers;
};

/// Why a message is refused, for its sender.
struct nats_refusal {
  errc status;
  std::string reason;
};

/// `actor` is a name. The payload of a target has the size of its type.
std::variant<nats_target, nats_refusal> find_target(rondo::runtime const& rt, std::string_view actor,
                                                    nats_message const& m);

/// Whether `given`, as `a.b.c` or `a::b::c`, names the type with this C++ name.
bool names_type(std::string_view given, std::string_view name) noexcept;

/// The last word of a subject.
std::string_view last_word(std::string_view subject) noexcept;

}  // namespace rondo::service
