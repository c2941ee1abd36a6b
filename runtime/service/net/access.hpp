// The rights of a client: the role of its token, and the actors that it covers.
//
// Each role includes those before it. A client on a Unix socket is the service's own user, and has the last one.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace rondo::service {

enum class role : std::uint8_t {
  read,     // find, list, inspect, describe, watch, traces
  send,     // tell and ask
  launch,   // make actors
  control,  // activate, deactivate and terminate them
  admin,    // write checkpoints
};
inline constexpr std::string_view role_names[] = {"read", "send", "launch", "control", "admin"};

std::optional<role> role_named(std::string_view name) noexcept;

struct access {
  role most = role::admin;
  std::string names = "*";  // a pattern of the shell: * ? [a-z]

  bool covers_all() const noexcept { return names == "*"; }
  bool covers(std::string const& actor) const noexcept;
  /// Why it does not allow what needs that role, for this actor or, where that is empty, for all; empty: it does.
  std::string refusal(role needed, std::string const& actor) const;
};

/// Who says this word has that access.
struct token {
  std::string word;
  access allows;
};

/// The access of the token with that word, or none; takes as long for a wrong word as for a right one.
std::optional<access> access_for(std::vector<token> const& tokens, std::string_view word) noexcept;

}  // namespace rondo::service
