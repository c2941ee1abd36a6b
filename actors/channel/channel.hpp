// A channel: an actor that keeps messages until the program receives them, one at a time (runtime/channel_reader.hpp).
//
//   struct alarms : rondo::channel<alarm> {};                              // in the module
//   auto const a = rt.launch<alarms>("alarms", rondo::channel_options(64));
//   rondo::channel_reader<alarm> reader{a};
//   alarm const next = co_await reader.async_receive();
//
// Actors, and the program, tell it messages. They wait in its mailbox, so nothing is allocated, and a channel that is
// full refuses them with mailbox_full: a sender then waits with context::when_room, or with
// tell_options::wait_for_room.
//
// Order: the most urgent message first, and those of one priority in the order in which they came.
// Never lost: a message stays in the channel until a later `receive` says that it was got. One that was given to a
// `receive` that had been cancelled, or had timed out, is given to the next one again. A restart with a fresh state
// loses only that one. A message whose deadline passes, and what waits when the channel ends, become dead letters.
// Room: `receive` finds none in a mailbox full of messages, unless room is reserved for it: launch with
// channel_options.
// Cost: a `receive` looks at each message that waits, so keep the capacity to a few hundred.
//
// Invariants
//  C1 `asker_` sent the newest `receive` that waits, if `wanted_`. That waits in the stash, and the next message is
//     taken at once.
//  C2 At most one `receive` is stashed: a newer one unstashes it, and it is then rejected (`before_`). Otherwise those
//     that nobody waits for any more would fill the room that is reserved.
#pragma once

#include "kernels/actor/module.hpp"
#include "kernels/actor/receive.hpp"

namespace rondo {

/// A behaviour. It never fails.
template <message_type Message>
class channel {
  static_assert(message_type<received<Message>>, "a message of a channel has at most 88 bytes");

 public:
  /// What it takes; programs receive with a channel_reader.
  using messages = rondo::messages<Message, ask<receive<Message>, received<Message>>>;

  // -- for the runtime
  RONDO_HD void on(context& ctx, Message const& m) {
    if (!wanted_) return ctx.stash();
    last_ = {last_.number + 1, m};
    is_got_ = wanted_ = false;
    ctx.unstash();  // the `receive` comes again, and gets it
  }
  RONDO_HD received<Message> on(context& ctx, receive<Message> const& m) {
    if (!is_got_ && last_.number != m.got) return last_;
    is_got_ = true;
    if (last_.number < m.got) last_.number = m.got;  // the state is fresh
    auto const asker = ctx.header().reply_to;
    if (wanted_ && asker == before_) return ctx.reject(errc::wrong_state), received<Message>{};
    if (!wanted_ || !(asker == asker_)) {  // it is new, and comes again after the one before
      before_ = wanted_ ? asker_ : actor_id{};
      asker_ = asker;
      wanted_ = true;
      ctx.unstash();
    }
    return ctx.stash(), received<Message>{};
  }

 private:
  received<Message> last_{};  // the message that is to be given, or was
  bool is_got_ = true;        // the last message, as a later `receive` said
  bool wanted_ = false;
  actor_id asker_{}, before_{};
};

}  // namespace rondo
