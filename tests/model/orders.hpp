// Checks that every memory order is needed: weakens each one, and finds a scenario that fails.
#pragma once

#include <regex>

#include "tests/model/explore.hpp"

namespace model {

/// One weakened order, and the result.
struct weakened_order {
  order_site site;
  order_use use;
  memory_order to;
  std::string caught_by;  // a scenario; empty: none noticed
  std::string failure;
  std::uint64_t executions = 0;
};

/// The legal orders for that kind of access that are one step weaker.
std::vector<memory_order> weaker_than(order_use const& use);

struct orders_plan {
  std::regex files{".*"};                           // only files whose name matches
  std::uint64_t executions = 100'000;               // random ones, of each scenario that uses the order
  std::function<void(weakened_order const&)> tell;  // called with each result
};

/// Tries every order that any of the scenarios uses.
std::vector<weakened_order> weaken_all(std::vector<scenario> const& scenarios, orders_plan const& plan);

/// The table of docs/memory_model.md.
std::string table_of(std::vector<weakened_order> const& all);

}  // namespace model
