// Writes all actors of a runtime to a file, and brings them back in another one.
//
// What is kept, and what is not: runtime/state/actor_images.hpp. Threads: any.
#pragma once

#include <cstddef>
#include <filesystem>
#include <span>
#include <vector>

namespace rondo {

class runtime;

/// Writes all actors, their states and waiting mail to `file`, at a point where no handler runs. Blocks its caller, senders
/// hardly. The file is complete or not there at all; an old one is kept until then. `notes` are bytes of the caller's own that
/// `restore` gives back: what must agree with the states, such as which messages of a queue are in them. Throws
/// std::runtime_error naming the file and the reason.
void checkpoint(runtime& rt, std::filesystem::path const& file, std::span<std::byte const> notes = {});

/// Launches all actors of a checkpoint with their ids, states and mail; counters continue from there. Returns the
/// checkpoint's notes. Precondition: no actor lives, and nobody else uses the runtime until this has returned. Blocks. Throws
/// std::runtime_error for a file that is torn, foreign, of another module, or does not fit into this runtime; then no actor
/// lives.
std::vector<std::byte> restore(runtime& rt, std::filesystem::path const& file);

}  // namespace rondo
