// "Orders are earned": weakens each memory order of the protocols, one at a time, and looks which scenario notices.
#pragma once

#include <regex>

#include "tests/model/explore.hpp"

namespace model {

/// One order made weaker, and what came of it.
struct weakened_order {
  order_site site;
  order_use use;
  memory_order to;
  std::string caught_by;  // a scenario; empty: nobody noticed
  std::string failure;
  std::uint64_t executions = 0;
};

/// The orders that are one step weaker and still legal for that kind of access.
std::vector<memory_order> weaker_than(order_use const& use);

struct orders_plan {
  std::regex files{".*"};                           // whose name matches
  std::uint64_t executions = 100'000;               // random ones of each scenario that comes by
  std::function<void(weakened_order const&)> tell;  // called with each as it is done
};

/// Tries every order that any of the scenarios comes by.
std::vector<weakened_order> weaken_all(std::vector<scenario> const& scenarios, orders_plan const& plan);

/// The table of docs/memory_model.md.
std::string table_of(std::vector<weakened_order> const& all);

}  // namespace model
