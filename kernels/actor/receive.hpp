// The request by which a program receives, one at a time, the messages that wait in a channel
// (actors/channel/channel.hpp), and its answer. runtime/channel_reader.hpp sends it.
#pragma once

#include "kernels/base/address.hpp"
#include "kernels/mail/actor_cell.hpp"

namespace rondo {

/// Asks for a message.
template <class Message>
struct receive {
  /// The number of the last message that the asker got; 0: none. If the channel has given a later one, it gives that
  /// again.
  std::uint64_t got;
};
/// The answer.
template <class Message>
struct received {
  std::uint64_t number;  // counts the messages that the channel gives, from 1
  Message message;       // as it was sent
};

/// The priority of `receive`. Messages for a channel have lower ones.
inline constexpr std::uint8_t receive_priority = 255;
/// The room that the mailbox of a channel keeps for `receive`: for one that waits, and one that takes its place.
inline constexpr reserved_room room_to_receive{.slots = 2, .from = receive_priority};

}  // namespace rondo
