#include "runtime/population/read_states.hpp"

#include <fmt/format.h>

#include <optional>
#include <stdexcept>

#include "runtime/core/runtime_core.hpp"
#include "runtime/state/actor_images.hpp"

namespace rondo {

void detail::read_states(runtime& rt, std::string_view behaviour, std::size_t count,
                         std::function<actor_id(std::size_t)> const& id_of, std::size_t bytes,
                         std::byte* into) {
  auto& core = rt.core();
  std::optional<std::size_t> gone;
  auto const copy = [&](std::vector<arena_ref> const& arenas) {
    for (std::size_t i = 0; i < count && !gone; ++i) {
      auto const id = id_of(i);
      auto const d = device_of(id);
      auto const* const state = d < arenas.size() ? state_of_living(arenas[d], id) : nullptr;
      if (state == nullptr)
        gone = i;
      else
        __builtin_memcpy(into + i * bytes, state, bytes);
    }
  };
  if (core.blocks_safepoint())
    throw boost::system::system_error(errc::would_deadlock, "reading the states of actors");
  bool quiet = false;
  {
    std::unique_lock const held(core.launching());  // none is launched in place of one that has ended
    quiet = core.at_safepoint(arena_access::reads, copy);
  }
  if (!quiet)
    throw std::runtime_error(
        fmt::format("the states of {} actors were not read: {}", count, core.why_no_safepoint()));
  if (gone)
    throw boost::system::system_error(
        errc::actor_gone,
        fmt::format("reading the states of {} actors of {}: number {}", count, behaviour, *gone));
}

}  // namespace rondo
