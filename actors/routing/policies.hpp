// The policies of a router: which of its members gets a message.
//
// A policy is a part of the router's state, with
//
//   static constexpr reach to = ...;                        who may get a message
//   template <class Entry> static constexpr bool routes;    whether the router takes this entry of its members'
//                                                           messages
//   uint32_t choose(context&, members, message, turn);      the index of the member to try first; not for reach::all.
//                                                           `members` is not empty. `turn` comes after the member that
//                                                           got the last message
//
// Threads: the team that runs the router.
#pragma once

#include "kernels/actor/context.hpp"

namespace rondo {

/// The chosen member only; another one if that is full; or all of them.
enum class reach { chosen, any, all };

/// One after the other.
struct round_robin {
  /// Another member if the chosen one is full.
  static constexpr reach to = reach::any;
  /// All messages.
  template <class Entry>
  static constexpr bool routes = true;

  /// The next one.
  template <class Members, class Message>
  RONDO_HD std::uint32_t choose(context&, Members const& members, Message const&,
                                std::uint32_t turn) const noexcept {
    return turn % members.size();
  }
};

/// A finalizer of 64 bits in which each bit of the result depends on each bit of `x` (splitmix64, by Sebastiano Vigna).
RONDO_HD constexpr std::uint64_t scatter_bits(std::uint64_t x) noexcept {
  x = (x ^ x >> 30) * 0xbf58'476d'1ce4'e5b9ull;
  x = (x ^ x >> 27) * 0x94d0'49bb'1331'11ebull;
  return x ^ x >> 31;
}

/// Any of them. The sequence is the same in each run, on each device.
struct random_member {
  /// Another member if the chosen one is full.
  static constexpr reach to = reach::any;
  /// All messages.
  template <class Entry>
  static constexpr bool routes = true;
  std::uint64_t state = 0;  // of the random numbers

  /// A random one.
  template <class Members, class Message>
  RONDO_HD std::uint32_t choose(context&, Members const& members, Message const&, std::uint32_t) noexcept {
    state += 0x9e37'79b9'7f4a'7c15ull;
    return static_cast<std::uint32_t>((scatter_bits(state) >> 32) * members.size() >> 32);
  }
};

/// The one in whose mailbox the fewest messages wait; among equals, one after the other. Members on other devices come
/// last, because their mailboxes cannot be seen: launch the router where its members are. Members that are gone come
/// first, and so leave.
struct least_loaded {
  /// Another member if the chosen one is full.
  static constexpr reach to = reach::any;
  /// All messages.
  template <class Entry>
  static constexpr bool routes = true;

  /// The one with the fewest messages.
  template <class Members, class Message>
  RONDO_HD std::uint32_t choose(context& ctx, Members const& members, Message const&,
                                std::uint32_t turn) const noexcept {
    std::uint32_t best = turn % members.size();
    std::uint32_t fewest = ctx.waiting_at(members[best]);
    for (std::uint32_t i = 1; i < members.size() && fewest != 0; ++i) {
      auto const next = (turn + i) % members.size();
      auto const waiting = ctx.waiting_at(members[next]);
      if (waiting < fewest) best = next, fewest = waiting;
    }
    return best;
  }
};

/// `key_of(message)`, which is found in the namespace of the message, returns its key, a number.
template <class Message>
concept has_key = requires(Message const& m) {
  static_cast<std::uint64_t>(key_of(m));
};

/// Always the same one for messages with the same key, by rendezvous hashing (Thaler and Ravishankar, 1998): a member
/// that joins takes over its share of the keys from all others, and one that leaves gives only its own keys to them.
/// Messages without a key_of that was declared before the router are not among those that the router takes.
struct by_key {
  /// Only the chosen member.
  static constexpr reach to = reach::chosen;
  /// Messages with a key.
  template <class Entry>
  static constexpr bool routes = has_key<typename detail::entry_traits<Entry>::request>;

  /// The one to which the message's key belongs.
  template <class Members, class Message>
  RONDO_HD std::uint32_t choose(context&, Members const& members, Message const& m,
                                std::uint32_t) const noexcept {
    auto const key = scatter_bits(static_cast<std::uint64_t>(key_of(m)));
    std::uint32_t best = 0;
    std::uint64_t highest = 0;
    for (std::uint32_t i = 0; i < members.size(); ++i) {
      auto const id = members[i].id;
      auto const score = scatter_bits(key ^ (std::uint64_t{id.index} << 32 | id.generation));
      if (score >= highest) best = i, highest = score;
    }
    return best;
  }
};

/// Every member. Only tells: an answer would come from each of them.
struct broadcast {
  /// All members.
  static constexpr reach to = reach::all;
  /// Messages without a reply.
  template <class Entry>
  static constexpr bool routes = std::is_void_v<typename detail::entry_traits<Entry>::reply>;
};

}  // namespace rondo
