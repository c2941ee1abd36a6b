// Resolves names that may be given without their namespace, where that is unambiguous.
#pragma once

#include <fmt/format.h>

#include <string>
#include <string_view>
#include <vector>

#include "runtime/base/module_info.hpp"

namespace rondo::service {

/// Whether `given` is the qualified name `full`, or the part of it after a separator.
inline bool is_called(std::string_view full, std::string_view given, std::string_view separator) {
  if (!full.ends_with(given)) return false;
  return full.size() == given.size() || full.substr(0, full.size() - given.size()).ends_with(separator);
}

/// A behaviour's qualified name. Empty if there is no such behaviour, or more than one: `why` says which.
inline std::string_view full_behaviour_name(std::vector<behaviour_info> const& known, std::string_view given,
                                            std::string& why) {
  std::string_view found;
  std::string names;
  for (auto const& b : known) {
    names += (names.empty() ? "" : ", ") + std::string(b.name);
    if (b.name == given) return b.name;
    if (!is_called(b.name, given, "::")) continue;
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
