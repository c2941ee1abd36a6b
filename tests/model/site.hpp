// Identifies an access in the source, and the order of it that a run weakens.
#pragma once

#include <atomic>
#include <compare>
#include <cstdint>
#include <map>
#include <source_location>
#include <string>

namespace model {

using std::memory_order;

/// A compare-exchange has an order for success and one for failure; everything else has only the first.
enum class order_of : std::uint8_t { success, failure };

/// One memory order in the source.
struct order_site {
  std::string file;  // relative to the project's root
  std::uint32_t line = 0, column = 0;
  order_of part = order_of::success;
  auto operator<=>(order_site const&) const = default;
};

/// The facts about a site, once some execution has used it.
struct order_use {
  memory_order order = memory_order::relaxed;
  std::string function;  // the function that contains the access
  std::string kind;      // "load", "store", "exchange", "fence", ...
};

using order_uses = std::map<order_site, order_use>;

order_site site_of(std::source_location const& where, order_of part = order_of::success);
/// "kernels/mail/mailbox.hpp:67"
std::string short_name(std::source_location const& where);
char const* name_of(memory_order order) noexcept;

constexpr bool acquires(memory_order o) noexcept {
  return o == memory_order::acquire || o == memory_order::acq_rel || o == memory_order::seq_cst;
}
constexpr bool releases(memory_order o) noexcept {
  return o == memory_order::release || o == memory_order::acq_rel || o == memory_order::seq_cst;
}

}  // namespace model
