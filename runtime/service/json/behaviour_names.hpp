// How people name a behaviour: by its whole name, or by its last part where that is one behaviour's alone.
#pragma once

#include <fmt/format.h>

#include <string>
#include <string_view>
#include <vector>

#include "runtime/base/module_info.hpp"

namespace rondo::service {

/// The whole name; empty when there is none, or more than one: then `why` says so.
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
