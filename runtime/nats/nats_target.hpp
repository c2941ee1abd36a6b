// Which actor, and which of its messages, a message of NATS is for. What comes from outside is checked here, once.
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

/// Why a message is not taken, for who has sent it.
struct nats_refusal {
  errc status;
  std::string reason;
};

/// `actor`: its name. The payload has the right size for the type.
std::variant<nats_target, nats_refusal> find_target(rondo::runtime const& rt, std::string_view actor,
                                                    nats_message const& m);

/// Whether `given`, `a.b.c` or `a::b::c`, is the type of this C++ name.
bool names_type(std::string_view given, std::string_view name) noexcept;

/// The last word of a subject.
std::string_view last_word(std::string_view subject) noexcept;

}  // namespace rondo::service
