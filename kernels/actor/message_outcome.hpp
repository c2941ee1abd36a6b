// The outcome of a message, unless its handler simply handles it: the handler fails, rejects the message, or stashes
// it.
//
// Threads: a part of a context, on each lane that runs the handler.
#pragma once

#include "kernels/base/portable.hpp"
#include "kernels/base/status.hpp"

namespace rondo {

/// What becomes of a message that was not handled. `stays`: the handler has stashed it and unstashed all.
enum class unhandled : std::uint8_t { failed, rejected, stashed, stays };

class message_outcome {
 public:
  /// Reports that the handler failed. The actor's supervision rule decides what follows.
  RONDO_HD void fail(errc reason = errc::handler_failed) noexcept { end(reason, unhandled::failed); }
  /// Does not handle the message: its asker gets `reason`; if there is none, it becomes a dead letter with this reason.
  /// The actor has not failed, and goes on with its state as it is. Of a batch, this concerns all messages. Do not
  /// reject a request that was answered. Where a message does not end (in on_start, a tile, `again`, and `room`), the
  /// handler fails with `reason` instead.
  RONDO_HD void reject(errc reason) noexcept { end(reason, unhandled::rejected); }
  /// Does not handle the message now: it waits until the actor calls context::unstash, then comes again. It keeps its
  /// place in the mailbox, its asker, and its deadline, at which it is looked at when it comes again. When the actor
  /// ends, it ends as waiting mail does, also with termination::drain. Of a batch, this concerns all messages.
  /// Otherwise as `reject`; the reason is wrong_state. While an actor has stashed mail, its batch handlers get one
  /// message at a time. A mailbox full of stashed messages takes no other one: reserve room for those on which the
  /// actor unstashes.
  RONDO_HD void stash() noexcept {
    end(errc::wrong_state, (done_ & unstashed_bit) != 0 ? unhandled::stays : unhandled::stashed);
  }

  // -- for the runtime
  /// Why the message was not handled; ok: it was.
  RONDO_HD errc failure() const noexcept { return failure_; }
  /// With a `failure`: what follows.
  RONDO_HD unhandled how() const noexcept { return how_; }

 protected:
  RONDO_HD void begin_outcome() noexcept {
    failure_ = errc::ok;
    done_ = 0;
  }
  /// Returns a number that grows with each tagged message that the handler sends.
  RONDO_HD std::uint32_t count_sent() noexcept { return ++done_; }
  RONDO_HD void note_unstashed() noexcept {
    done_ |= unstashed_bit;
    if (failure_ != errc::ok && how_ == unhandled::stashed) how_ = unhandled::stays;
  }

 private:
  static constexpr std::uint32_t unstashed_bit = 1u << 31;

  RONDO_HD void end(errc reason, unhandled how) noexcept {
    failure_ = reason;
    how_ = how;
  }

  // Side by side, so that one store resets both.
  errc failure_ = errc::ok;
  std::uint32_t done_ = 0;             // by this handler call: tagged messages sent, and unstashed_bit
  unhandled how_ = unhandled::failed;  // only with a failure
};

}  // namespace rondo
