// Checkpoints: all actors of a runtime are written to a file, and restored in another runtime.
//
// runtime/state/actor_images.hpp says what is kept and what is not. Threads: any.
#pragma once

#include <cstddef>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "runtime/runtime.hpp"

namespace rondo {

class runtime_core;
struct checkpoint_image;

/// Writes all actors, their states, and their waiting mail to `file`, at a safepoint. Blocks its caller, but senders
/// hardly at all. The actors of graphs are left out, and their names are returned: a graph has checkpoints of its own
/// (streams::graph::checkpoint). To the others they have ended: mail for them is rejected or becomes a dead letter, in
/// the file, and their ids are not used again. An actor that holds addresses (`holds_addresses`,
/// kernels/actor/module.hpp) is refused. Replaces an old file only with a complete new one. `notes` are the caller's
/// own bytes, which `restore` returns: data that must agree with the states, such as which messages of a queue they
/// include. Throws std::runtime_error with the file and the reason.
std::vector<std::string> checkpoint(runtime& rt, std::filesystem::path const& file,
                                    std::span<std::byte const> notes = {});

namespace detail {
/// The same; what was left out becomes a failure report (runtime::on_failure_report).
void checkpoint_and_report(runtime& rt, std::filesystem::path const& file, std::span<std::byte const> notes);
}  // namespace detail

/// The same for a caller that does not wait: completes with void(std::exception_ptr), which has what the call would
/// throw. A failure report names the actors that were left out.
template <detail::operation_token<void(std::exception_ptr)> Token>
requires(!std::is_convertible_v<Token, std::span<std::byte const>>) auto checkpoint(
    runtime& rt, std::filesystem::path file, Token&& token) {
  return detail::operate_or_throw(rt, std::forward<Token>(token), [&rt, file = std::move(file)] {
    detail::checkpoint_and_report(rt, file, {});
  });
}
/// The same with notes, which are copied.
template <detail::operation_token<void(std::exception_ptr)> Token>
auto checkpoint(runtime& rt, std::filesystem::path file, std::span<std::byte const> notes, Token&& token) {
  return detail::operate_or_throw(
      rt, std::forward<Token>(token),
      [&rt, file = std::move(file), kept = std::vector(notes.begin(), notes.end())] {
        detail::checkpoint_and_report(rt, file, kept);
      });
}

/// Launches all actors of a checkpoint with their ids, states, and mail; counters continue from their saved values.
/// Returns the checkpoint's notes. Precondition: the runtime has no actors, and no other thread uses it during the
/// call. Blocks. Throws std::runtime_error for a file that is torn, foreign, from another module, or too large for this
/// runtime; the runtime then has no actors.
std::vector<std::byte> restore(runtime& rt, std::filesystem::path const& file);

namespace detail {
/// The part of `restore` that `replay` shares; its errors name `file`.
void restore_image(runtime_core& core, checkpoint_image& image, std::filesystem::path const& file);
}  // namespace detail

}  // namespace rondo
