// An actor made of states: behaviours, one of which it presently is. A handler makes it another one.
//
//   struct locked { using messages = rondo::messages<unlock>; ... };
//   struct unlocked { using messages = rondo::messages<enter, lock>; ... };
//   struct door : rondo::states<locked, unlocked> {};                          // in the module, without its states
//   RONDO_HD inline void locked::on(rondo::context& ctx, unlock const& m) {    // after the door
//     door::become(ctx, unlocked{m.key});
//   }
//
// It takes the messages of all its states. One that its present state does not take waits until it has become a state
// that does: it is stashed (context::stash), and unstashed whenever the actor becomes another state. So messages of a
// sender that the same states take keep their order; and a mailbox full of messages for other states takes no other
// one, unless it has reserved room.
//
// It begins as the first state, also after a restart. Only this one's on_start runs. What the present state asked for
// by context::again or context::when_room goes to the state that the actor is when it comes, and nowhere if that does
// not list it.
//
// It has room for two of them, the present one and the next. The members of a behaviour that derives from `states` are
// out of reach for them.
#pragma once

#include "kernels/actor/module.hpp"

namespace rondo {

namespace detail {

/// The entries of all lists, each once.
template <class... Lists>
struct merged;
template <class... Entries>
struct merged<messages<Entries...>> {
  using type = messages<Entries...>;
};
template <class... Entries, class... Lists>
struct merged<messages<Entries...>, messages<>, Lists...> : merged<messages<Entries...>, Lists...> {};
template <class... Entries, class Next, class... Rest, class... Lists>
struct merged<messages<Entries...>, messages<Next, Rest...>, Lists...>
    : merged<std::conditional_t<find_entry<typename entry_traits<Next>::request, messages<Entries...>>::taken,
                                messages<Entries...>, messages<Entries..., Next>>,
             messages<Rest...>, Lists...> {};

template <class First, class...>
struct first_of {
  using type = First;
};

template <std::size_t First, std::size_t... Rest>
inline constexpr std::size_t largest = First;
template <std::size_t First, std::size_t Next, std::size_t... Rest>
inline constexpr std::size_t largest<First, Next, Rest...> = largest<(First < Next ? Next : First), Rest...>;

}  // namespace detail

/// A behaviour. Derive from it alone. The states are behaviours whose handlers take messages one at a time or in
/// batches.
template <class... States>
class states {
  using first = typename detail::first_of<States...>::type;
  template <class State>
  static constexpr bool is_state = (std::is_same_v<State, States> || ...);

 public:
  /// What it takes: the messages of all its states.
  using messages = typename detail::merged<rondo::messages<>, typename States::messages...>::type;
  /// As of its states.
  static constexpr auto width = detail::width_of<first>;

  RONDO_HD states() { new (places_[0]) first{}; }

  /// Makes the actor `next` once the present handler has returned, which may go on with its own state until then; the
  /// last call counts. All that waits for another state comes again; so does the message being handled, if the handler
  /// stashes it. Only for a handler of a state of this behaviour.
  template <class State>
  requires(is_state<State>) RONDO_HD static void become(context& ctx, State const& next) {
    if (!ctx.team().leader()) return;
    arena_ref const& arena = ctx.sched().arena();
    auto& self = *reinterpret_cast<states*>(arena.state(arena.cell(ctx.self().index)));
    new (self.places_[1 - self.place_]) State(next);
    std::uint32_t index = 0;
    ((++index, std::is_same_v<State, States> ? self.next_ = index : 0), ...);
  }

  // -- for the runtime
  RONDO_HD void on_start(context& ctx) requires(detail::starts<first>) {
    reinterpret_cast<first*>(places_[place_])->on_start(ctx);
    become_next(ctx);
  }
  template <class Message>
  requires(detail::find_entry<Message, messages>::taken &&
           !(detail::handles_batch<States, Message> || ...)) RONDO_HD
      void on(context& ctx, Message const& m) {
    pass<Message>(ctx, m);
  }
  template <class Message>
  requires(detail::find_entry<Message, messages>::taken &&
           (detail::handles_batch<States, Message> || ...)) RONDO_HD
      void on(context& ctx, batch<Message> const& some) {
    pass<Message>(ctx, some);
  }

 private:
  /// Gives the mail to the present state, if that takes it.
  template <class Message, class Mail>
  RONDO_HD void pass(context& ctx, Mail const& mail) {
    std::uint32_t index = 0;
    auto const pass_to = [&]<class State>(std::type_identity<State>) {
      auto& state = *reinterpret_cast<State*>(places_[place_]);
      if constexpr (!takes<State, Message>) {
        if (!std::is_same_v<Message, again> && !std::is_same_v<Message, room>) ctx.stash();
      } else if constexpr (detail::returns_reply<State, Message>) {
        ctx.reply_with(state.on(ctx, mail));
      } else {
        state.on(ctx, mail);
      }
    };
    (void)((index++ == present_ ? (pass_to(std::type_identity<States>{}), true) : false) || ...);
    become_next(ctx);
  }
  RONDO_HD void become_next(context& ctx) {
    if constexpr (width == rondo::width::whole_team)
      ctx.team().sync();  // no lane is in the old state any more
    if (!ctx.team().leader() || next_ == 0) return;
    present_ = next_ - 1;
    place_ = 1 - place_;
    next_ = 0;
    ctx.unstash();
  }

  template <class State, class... Entries>
  static constexpr bool fits(rondo::messages<Entries...>) {
    return ((std::is_same_v<typename detail::entry_traits<Entries>::reply,
                            reply_to_t<states, typename detail::entry_traits<Entries>::request>>)&&...);
  }
  template <class State, class... Entries>
  static constexpr bool handles(rondo::messages<Entries...>) {
    return (handles_as_others<State, typename detail::entry_traits<Entries>::request> && ...);
  }
  /// If one state takes a message in batches, all that take it do.
  template <class State, class Message>
  static constexpr bool handles_as_others =
      !detail::handles_wide<State, Message> &&
      ((detail::handles_batch<States, Message> || ...)
           ? detail::handles_batch<State, Message>
           : detail::handles_one<State, Message>)&&detail::returns_well<State, Message>;
  static_assert((fits<States>(typename States::messages{}) && ...),
                "two states declare different replies to a message");
  static_assert(
      (handles<States>(typename States::messages{}) && ...),
      "each state that lists a message handles it alike: on(context&, Message const&), or all of them "
      "on(context&, batch<Message> const&); not as a wide message; and returns nothing, or the reply "
      "that rondo::ask<Message, Reply> declares");
  static_assert(((detail::width_of<States> == width) && ...), "all states have the same width");
  static_assert(((std::is_trivially_copyable_v<States> && std::is_trivially_destructible_v<States>)&&...),
                "a state is copied as bytes");

  static constexpr std::size_t alignment = detail::largest<alignof(States)...>;
  static constexpr std::size_t state_bytes = align_up(detail::largest<sizeof(States)...>, alignment);

  alignas(alignment) std::byte places_[2][state_bytes]{};
  std::uint32_t place_ = 0;    // of the present state
  std::uint32_t present_ = 0;  // its number
  std::uint32_t next_ = 0;     // the number + 1 of the state in the other place, which comes next; 0: none
};

}  // namespace rondo
