// The states of many actors, read at once.
//
//   auto const crowd = rt.launch_many<walker>(1'000'000);
//   std::vector<walker> now(crowd.size());
//   rondo::read_states(rt, crowd, now);
//
// They are of one moment: while they are copied, no handler runs, on any device. (lifecycle.hpp has `inspect`, which
// reads one actor after its turn and stops no other.) Threads: any.
#pragma once

#include <functional>
#include <span>
#include <stdexcept>
#include <string_view>
#include <type_traits>
#include <vector>

#include "runtime/runtime.hpp"

namespace rondo {

namespace detail {
/// `id_of(i)`: the actors, `count` of them. `into`: `bytes` for each.
void read_states(runtime& rt, std::string_view behaviour, std::size_t count,
                 std::function<actor_id(std::size_t)> const& id_of, std::size_t bytes, std::byte* into);
}  // namespace detail

/// Copies the actors' states, in their order. Blocks its caller until all devices stand still and the states are
/// copied; senders hardly at all. Throws boost::system::system_error with actor_gone if one of them has terminated, and
/// then `into` has arbitrary states, or with would_deadlock on a thread that would have to stand still itself;
/// std::runtime_error with the reason if a handler does not return within settings().stop_timeout_ms;
/// std::invalid_argument if `into` has another size than `actors`. Precondition: they are actors of `rt`, and
/// no upgrade has given them another behaviour than `Behaviour`.
template <class Behaviour>
requires std::is_trivially_copyable_v<Behaviour>
void read_states(runtime& rt, std::span<actor_ref<Behaviour> const> actors, std::span<Behaviour> into) {
  if (into.size() != actors.size())
    throw std::invalid_argument("read_states: there is not one place for each actor");
  detail::read_states(
      rt, type_name<Behaviour>, actors.size(), [&](std::size_t i) { return actors[i].id(); },
      sizeof(Behaviour), reinterpret_cast<std::byte*>(into.data()));
}
/// The same of vectors.
template <class Behaviour>
requires std::is_trivially_copyable_v<Behaviour>
void read_states(runtime& rt, std::vector<actor_ref<Behaviour>> const& actors, std::vector<Behaviour>& into) {
  read_states(rt, std::span(actors), std::span(into));
}

}  // namespace rondo
