#include "runtime/population/refs_of.hpp"

#include <algorithm>

#include "runtime/core/runtime_core.hpp"

namespace rondo {

std::vector<actor_id> detail::ids_of(runtime const& rt, std::string_view behaviour) {
  auto const& module = rt.behaviours();
  auto const found = std::ranges::find(module, behaviour, &behaviour_info::name);
  std::vector<actor_id> ids;
  if (found == module.end()) return ids;
  for (auto const& a : rt.core().actors().all_living())
    if (a.behaviour == found - module.begin()) ids.push_back(a.id);
  return ids;
}

messenger& detail::mail_of(runtime const& rt, actor_id actor) { return rt.core().devices().mail_of(actor); }

}  // namespace rondo
