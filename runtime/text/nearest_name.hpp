// Finds the name that a misspelt one was probably meant to be, for errors.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace rondo {

/// The one of `known` with the fewest letters that differ from `given`; empty if none is close. Among equals, the first
/// one.
std::string nearest_name(std::string_view given, std::vector<std::string> const& known);

/// `; did you mean 'NAME'?`, or nothing if no name is close.
std::string did_you_mean(std::string_view given, std::vector<std::string> const& known);

}  // namespace rondo
