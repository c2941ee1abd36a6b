// A router: an actor that passes each message on to one of its members, or to all of them.
//
//   struct clerks : rondo::router<clerk, rondo::round_robin> {};    // in the module, beside clerk
//   desk.ask(rondo::join<clerk>{c.where()}, 1s, rondo::block);      // desk and c are refs to launched actors
//   desk.try_tell(order{7});                                        // as if it were a clerk
//
// A router takes the messages of its members that its policy routes (policies.hpp). Priorities, deadlines and traces
// are kept, and the member answers the asker. From one sender to one member, messages of one priority keep their order.
//
// Full: if the chosen member is full, the next one is tried, but not with by_key. A message that no member takes is
// rejected with mailbox_full or arena_full, and with not_found if there are no members: an asker gets the error, and a
// tell becomes a dead letter. So does a broadcast that some members had no room for; the others have got it.
// Gone: a member that has terminated leaves when a message finds it gone; that message goes to another member.
// Other devices: a member there is never seen to be full or gone. A message to it waits in the host, as with
// context::tell.
#pragma once

#include "actors/routing/fixed_set.hpp"
#include "actors/routing/policies.hpp"

namespace rondo {

/// Makes `member` a member; without effect if it is one. Rejected with table_full.
template <class Member>
struct join {
  address<Member> member;  // which
};
/// Without effect if it is no member.
template <class Member>
struct leave {
  address<Member> member;  // which
};
/// Asks how many there are. Those that have terminated count until a message finds them gone.
template <class Member>
struct count_members {};
/// The answer to all three.
struct member_count {
  std::uint32_t members;  // how many there are
};

namespace detail {

template <class... Lists>
struct concatenated;
template <class... Entries>
struct concatenated<messages<Entries...>> {
  using type = messages<Entries...>;
};
template <class... First, class... Second, class... Lists>
struct concatenated<messages<First...>, messages<Second...>, Lists...>
    : concatenated<messages<First..., Second...>, Lists...> {};

/// What is in `List` and routed by `Policy`. Nobody sends an actor's own mail.
template <class Policy, class List>
struct routed;
template <class Policy, class... Entries>
struct routed<Policy, messages<Entries...>>
    : concatenated<messages<>,
                   std::conditional_t<Policy::template routes<Entries> && !std::is_same_v<Entries, again> &&
                                          !std::is_same_v<Entries, room>,
                                      messages<Entries>, messages<>>...> {};

}  // namespace detail

/// A behaviour. It never fails, so it keeps its members.
template <class Member, class Policy, std::uint32_t Most = 32>
class router {
  using routed = typename detail::routed<Policy, typename Member::messages>::type;
  static_assert(
      !std::is_same_v<routed, rondo::messages<>>,
      "the policy routes no message of this member: by_key needs a function key_of(Message const&), declared "
      "before the router, and broadcast needs a message without a reply");

 public:
  /// Those that the policy routes, and those of this header.
  using messages = typename detail::concatenated<
      routed, rondo::messages<ask<join<Member>, member_count>, ask<leave<Member>, member_count>,
                              ask<count_members<Member>, member_count>>>::type;

  /// Adds a member.
  RONDO_HD member_count on(context& ctx, join<Member> const& m) {
    if (!members_.add(entry{m.member})) ctx.reject(errc::table_full);
    return {members_.size()};
  }
  /// Removes a member.
  RONDO_HD member_count on(context&, leave<Member> const& m) {
    members_.remove(entry{m.member});
    return {members_.size()};
  }
  /// Counts the members.
  RONDO_HD member_count on(context&, count_members<Member> const&) { return {members_.size()}; }

  /// Passes the message on.
  template <class Message>
  requires(detail::find_entry<Message, routed>::taken) RONDO_HD void on(context& ctx, Message const& m) {
    auto refused = errc::ok;
    if constexpr (Policy::to == reach::all)
      refused = send_to_all(ctx, m);
    else
      refused = send_to_one(ctx, m);
    if (refused != errc::ok) ctx.reject(refused);
  }

 private:
  struct entry : address<Member> {
    RONDO_HD friend bool operator==(entry const& a, entry const& b) noexcept { return a.id == b.id; }
  };

  template <class Message>
  RONDO_HD errc send_to_one(context& ctx, Message const& m) {
    while (members_.size() != 0) {
      auto const first = policy_.choose(ctx, members_, m, turn_);
      std::uint32_t const tries = Policy::to == reach::any ? members_.size() : 1;
      auto outcome = errc::ok;
      for (std::uint32_t i = 0; i < tries && outcome != errc::actor_gone; ++i) {
        auto const chosen = (first + i) % members_.size();
        outcome = ctx.forward(members_[chosen], m);
        if (outcome == errc::ok) return turn_ = chosen + 1, errc::ok;
        if (outcome == errc::actor_gone) members_.remove(members_[chosen]);
      }
      if (outcome != errc::actor_gone) return outcome;
    }
    return errc::not_found;
  }

  template <class Message>
  RONDO_HD errc send_to_all(context& ctx, Message const& m) {
    auto refused = errc::ok;
    members_.keep_if([&](entry const& member) {
      auto const outcome = ctx.forward(member, m);
      if (outcome != errc::ok && outcome != errc::actor_gone) refused = outcome;
      return outcome != errc::actor_gone;
    });
    return members_.size() == 0 ? errc::not_found : refused;
  }

  fixed_set<entry, Most> members_{};
  Policy policy_{};
  std::uint32_t turn_ = 0;
};

}  // namespace rondo
