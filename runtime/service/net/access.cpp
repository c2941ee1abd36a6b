#include "runtime/service/net/access.hpp"

#include <fmt/format.h>
#include <fnmatch.h>
#include <openssl/crypto.h>

#include <algorithm>
#include <iterator>

namespace rondo::service {

std::optional<role> role_named(std::string_view name) noexcept {
  auto const* const found = std::ranges::find(role_names, name);
  if (found == std::end(role_names)) return std::nullopt;
  return static_cast<role>(found - std::begin(role_names));
}

bool access::covers(std::string const& actor) const noexcept {
  return covers_all() || ::fnmatch(names.c_str(), actor.c_str(), 0) == 0;
}

std::string access::refusal(role needed, std::string const& actor) const {
  if (most < needed)
    return fmt::format("this requires the role {}; the client's token has {}",
                       role_names[static_cast<std::size_t>(needed)],
                       role_names[static_cast<std::size_t>(most)]);
  if (actor.empty() ? covers_all() : covers(actor)) return {};
  return actor.empty()
             ? fmt::format("the client's token is limited to the actors '{}', and this covers all actors",
                           names)
             : fmt::format("the client's token is limited to the actors '{}'", names);
}

token_ptr token_for(std::vector<token_ptr> const& tokens, std::string_view word) noexcept {
  token_ptr const* found = nullptr;
  for (auto const& t : tokens)
    if (t->word.size() == word.size() && CRYPTO_memcmp(t->word.data(), word.data(), word.size()) == 0)
      found = &t;
  return found != nullptr ? *found : nullptr;
}

}  // namespace rondo::service
