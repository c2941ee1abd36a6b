// The actors of one behaviour, for instance after a restore:
//
//   rondo::restore(rt, "crowd.checkpoint");
//   auto const crowd = rondo::refs_of<walker>(rt);
//
// Threads: any.
#pragma once

#include <string_view>
#include <vector>

#include "runtime/runtime.hpp"

namespace rondo {

namespace detail {
std::vector<actor_id> ids_of(runtime const& rt, std::string_view behaviour);
messenger& mail_of(runtime const& rt, actor_id actor);
}  // namespace detail

/// All living actors of this behaviour, in the order of their ids, which is that of their launches if none has ended in
/// between. Empty if the module does not have it.
template <class Behaviour>
std::vector<actor_ref<Behaviour>> refs_of(runtime const& rt) {
  auto const ids = detail::ids_of(rt, type_name<Behaviour>);
  std::vector<actor_ref<Behaviour>> all;
  all.reserve(ids.size());
  for (auto const id : ids) all.emplace_back(detail::mail_of(rt, id), id);
  return all;
}

}  // namespace rondo
