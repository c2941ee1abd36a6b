#include "tests/model/orders.hpp"

#include <algorithm>
#include <sstream>

namespace model {

std::vector<memory_order> weaker_than(order_use const& use) {
  switch (use.order) {
    case memory_order::seq_cst:
      return {use.kind == "load"    ? memory_order::acquire
              : use.kind == "store" ? memory_order::release
                                    : memory_order::acq_rel};
    case memory_order::acq_rel:
      return {memory_order::acquire, memory_order::release};
    case memory_order::acquire:
    case memory_order::release:
      return {memory_order::relaxed};
    default:
      return {};
  }
}

namespace {

/// Random executions first, because they find most failures quickly. Then all executions within the bounds.
findings search(scenario const& s, session& with, std::uint64_t executions) {
  random_search some{1, executions};
  auto f = explore(s, some, with);
  if (!f.failure.empty() || !s.all_within) return f;
  exhaustive all{s.all_within_in_ci.value_or(*s.all_within)};
  auto g = explore(s, all, with);
  g.executions += f.executions;
  return g;
}

}  // namespace

std::vector<weakened_order> weaken_all(std::vector<scenario> const& scenarios, orders_plan const& plan) {
  // Collects the scenarios that use each order.
  std::map<order_site, std::pair<order_use, std::vector<scenario const*>>> sites;
  for (auto const& s : scenarios) {
    order_uses uses;
    session with;
    with.uses = &uses;
    random_search some{1, 5'000};
    explore(s, some, with);
    for (auto const& [site, use] : uses) {
      auto& entry = sites[site];
      entry.first = use;
      entry.second.push_back(&s);
    }
  }
  std::vector<weakened_order> all;
  for (auto const& [site, entry] : sites) {
    if (!std::regex_search(site.file, plan.files)) continue;
    for (auto const to : weaker_than(entry.first)) {
      weakened_order w{site, entry.first, to, {}, {}, 0};
      weakening const weaken{site, to};
      // A few executions of each scenario before many of one.
      for (auto const share : {std::uint64_t{2'000}, plan.executions}) {
        for (auto const* s : entry.second) {
          if (!w.caught_by.empty()) break;
          session with;
          with.weaken = &weaken;
          findings f;
          if (share == plan.executions) {
            f = search(*s, with, share);
          } else {
            random_search some{1, share};
            f = explore(*s, some, with);
          }
          w.executions += f.executions;
          if (!f.failure.empty()) w.caught_by = s->name, w.failure = f.failure;
        }
      }
      if (plan.tell) plan.tell(w);
      all.push_back(std::move(w));
    }
  }
  return all;
}

std::string table_of(std::vector<weakened_order> const& all) {
  // One line per access. Line numbers change with the file; `tools/orders` rewrites the table.
  std::ostringstream out;
  out << "| access | in | order | weakened to: caught by |\n| --- | --- | --- | --- |\n";
  for (std::size_t i = 0; i < all.size();) {
    auto const& first = all[i];
    auto function = first.use.function.substr(0, first.use.function.find('('));
    function = function.substr(function.find_last_of(" :") + 1);
    out << "| " << first.site.file << ':' << first.site.line << " | " << function << ", " << first.use.kind
        << (first.site.part == order_of::failure ? " that fails" : "") << " | " << name_of(first.use.order)
        << " | ";
    char const* separator = "";
    for (; i < all.size() && all[i].site == first.site; ++i, separator = "; ")
      out << separator << name_of(all[i].to) << ": "
          << (all[i].caught_by.empty() ? "**nobody**" : "`" + all[i].caught_by + "`");
    out << " |\n";
  }
  return out.str();
}

}  // namespace model
