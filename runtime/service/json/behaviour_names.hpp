// Resolves the name of a behaviour: its qualified name, or its last part where that is unambiguous.
#pragma once

#include <fmt/format.h>

#include <string>
#include <string_view>
#include <vector>

#include "runtime/base/module_info.hpp"

namespace rondo::service {

/// The qualified name. Empty if there is no such behaviour, or more than one: `why` says which.
inline std::string_view full_behaviour_name(std::vector<behaviour_info> const& known, std::string_view given,
                                            std::string& why) {
  std::string_view found;
  std::string names;
  for (auto const& b : known) {
    names += (names.empty() ? "" : ", ") + std::string(b.name);
    if (b.name == given) return b.name;
    if (b.name.size() <= given.size() + 2 || !b.name.ends_with(given) ||
        b.name.substr(b.name.size() - given.size() - 2, 2) != "::")
      continue;
    if (!found.empty()) {
      why = fmt::format("'{}' is ambiguous: {} or {}; use the qualified name", given, found, b.name);
      return {};
    }
    found = b.name;
  }
  if (found.empty()) why = fmt::format("unknown behaviour '{}'; expected one of {}", given, names);
  return found;
}

}  // namespace rondo::service
