// Copies living actors out of the arenas of a runtime into a checkpoint's image, and back into others.
//
// Kept: name, id, behaviour, capacity, pinning, supervision, lifecycle, control that waits, state, counters,
// latencies, and committed mail with its age and priority, also what is on its way from one device to another. As ids come
// back too, addresses inside states and messages stay valid.
// Not kept, for it belongs to the process: asks of the host (their messages stay, but want no reply), timers
// and delayed messages, senders that wait for room, buffers, the supervision's restart window.
// Threads: all functions run at a safepoint (device::at_safepoint) of all devices: no handler runs and
// nobody launches, but host threads may go on sending. Of what one sender sends to one actor meanwhile, the
// image has a prefix; what was accepted before is in it.
#pragma once

#include "kernels/mail/arena.hpp"
#include "runtime/base/listed_actor.hpp"
#include "runtime/base/module_info.hpp"
#include "runtime/messaging/messenger.hpp"
#include "runtime/state/checkpoint_image.hpp"

namespace rondo {

/// The actors of `living` that the arena has, without what arrives. Throws std::bad_alloc.
std::vector<saved_actor> copy_actors(arena_ref const& arena, std::vector<listed_actor> const& living,
                                     std::vector<behaviour_info> const& module);

/// What is on its way: each as the message of an actor of `actors`, if it is for one of them.
void add_arriving(std::vector<saved_actor>& actors, std::vector<outgoing> const& on_their_way,
                  std::vector<behaviour_info> const& module);

/// Gives the arena's launched but inactive actors the states, counters and mail of `image`, and lets those run that ran.
/// `passed_ns`: since the image was made, for the deadlines of its mail. Returns what went wrong, or nothing.
std::string place_actors(arena_ref const& arena, checkpoint_image const& image, std::uint64_t passed_ns);

/// The same for the header of a message that arrives.
message_header revived(saved_message const& m, std::uint64_t now_ns, std::uint64_t passed_ns);

}  // namespace rondo
