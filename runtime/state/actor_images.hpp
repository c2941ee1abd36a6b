// Copies of living actors, from the arenas of a runtime into a checkpoint's image and back into other arenas.
//
// Kept: name, id, behaviour, capacity, reserved room, batch size, pinning, supervision, lifecycle, pending control
// operations, state, launch arguments, counters, latencies, and committed mail with its priority and the rest of its
// deadline, including messages in transit between devices. Ids are restored too, so addresses inside states and
// messages stay valid. What actors have asked of their host, such as timers and watches, is in the image too, but not
// handled here (runtime/core/actor_requests.hpp). Not kept, because it belongs to the process: asks of the host (their
// messages stay, but expect no reply), senders that wait for room, buffers, the supervision's restart window, and
// actors that are saved apart (kernels/actor/module.hpp): for those that are kept, they have ended.
// Threads: all functions run at a safepoint (device::at_safepoint) of all devices: no handler runs and
// no actor is launched, but host threads may continue to send. Of the messages that one sender sends to one actor
// during the copy, the image has a prefix; it has all messages that were accepted before.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/mail/arena.hpp"
#include "runtime/base/listed_actor.hpp"
#include "runtime/base/module_info.hpp"
#include "runtime/base/outgoing.hpp"
#include "runtime/state/checkpoint_image.hpp"

namespace rondo {

/// The actors of `living`, which are in the order of their cells, that are in the arena, without arriving messages.
/// `may_follow`: of an actor that does nothing, whether it may be in the block of another one. Throws std::bad_alloc.
std::vector<saved_actor> copy_actors(arena_ref const& arena, std::span<living_actor const> living,
                                     std::vector<behaviour_info> const& module,
                                     std::function<bool(living_actor const&)> const& may_follow);

/// Of this life of an actor; null if that has ended, or is in another arena.
std::byte const* state_of_living(arena_ref const& arena, actor_id actor);

/// Throws std::runtime_error if one of the actors holds addresses and is not saved apart.
void require_savable(std::vector<living_actor> const& actors, std::vector<behaviour_info> const& module);
/// Of an actor that no file may have: which one it is, and why.
std::string why_not_savable(std::string_view actor, behaviour_info const& behaviour);

/// Takes the actors that are saved apart out of the image, as if they had ended: what waits for them is rejected to its
/// asker or becomes a dead letter, and is counted, and what they have asked their host for is gone. Returns their
/// names. Call it when the image is complete.
std::vector<std::string> leave_out_apart(checkpoint_image& image, std::vector<behaviour_info> const& module);

/// Adds each message in transit to its actor in `actors`, if that is there.
void add_arriving(std::vector<saved_actor>& actors, std::vector<outgoing> const& on_their_way,
                  std::vector<behaviour_info> const& module);

/// Gives the arena's launched but inactive actors the states, counters, and mail of `image`, and resumes those that
/// were active. `passed_ns`: time since the image was made, for the deadlines of its mail. Returns an error text;
/// empty: success.
std::string place_actors(arena_ref const& arena, checkpoint_image const& image, std::uint64_t passed_ns);

/// The header of a restored message, with its deadline adjusted; see place_actors.
message_header revived(saved_message const& m, std::uint64_t now_ns, std::uint64_t passed_ns);

}  // namespace rondo
