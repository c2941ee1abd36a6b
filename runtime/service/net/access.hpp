// The rights of a client: the role of its token, and the actors that the token covers.
//
// Each role includes those before it. A client on a Unix socket runs as the service's own user, and has the last role.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace rondo::service {

/// What a client may do.
enum class role : std::uint8_t {
  read,     // find, list, inspect, describe, watch, traces
  send,     // tell and ask
  launch,   // launch actors
  control,  // activate, deactivate and terminate them
  admin,    // write checkpoints
};
inline constexpr std::string_view role_names[] = {"read", "send", "launch", "control", "admin"};  // by role

/// The role with this name, or none.
std::optional<role> role_named(std::string_view name) noexcept;

struct access {
  role most = role::admin;  // the highest role
  std::string names = "*";  // a shell pattern: * ? [a-z]

  /// Whether it covers every actor.
  bool covers_all() const noexcept { return names == "*"; }
  /// Whether it covers the actor with this name.
  bool covers(std::string const& actor) const noexcept;
  /// Whether it has the highest role, for all actors.
  bool is_operator() const noexcept { return most == role::admin && covers_all(); }
  bool operator==(access const&) const = default;
  /// Why this access does not include the role `needed` for `actor` (empty: for all actors). Empty if it does.
  std::string refusal(role needed, std::string const& actor) const;
};

/// A secret word, and the access of clients that send it.
struct token {
  std::string word;          // the secret
  access allows;             // to its clients
  std::uint64_t number = 0;  // not 0; stays when its file gets another word
};
/// Connections share them with the service.
using token_ptr = std::shared_ptr<token const>;

/// The token with this word, or null. A wrong word takes as long as a right one.
token_ptr token_for(std::vector<token_ptr> const& tokens, std::string_view word) noexcept;

}  // namespace rondo::service
