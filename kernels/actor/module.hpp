// A module: the behaviours that are compiled together into one ring kernel, and the dispatch of messages to handlers.
//
// A behaviour is a trivially destructible struct with
//
//   using messages = rondo::messages<tell_type, rondo::ask<request, reply>, ...>;
//
// and, for each message, one of
//
//   void on(context&, Message const&);                one at a time
//   Reply on(context&, Message const&);               the same; the value that it returns is its reply, unless it
//                                                     failed, replied, or deferred its answer
//   void on(context&, batch<Message> const&);         several adjacent messages; only for tells
//   uint32_t tiles(context&, Message const&);         a wide message: returns its number of tiles,
//   void tile(context&, Message const&, uint32_t);    ... each of which some team runs;
//   void finish(context&, Message const&);            ... the team that ran the last one completes the message
//
// Optional:
//
//   void on_start(context&);                          after each construction
//   using arguments = A;                              with `void on_start(context&, A const&)`: gets the values that
//                                                     the launch gave, each time; they are kept beside the state
//   void on(context&, again const&);                  with `again` among the messages: for context::again
//   void on(context&, room const&);                   likewise, for context::when_room
//   static constexpr auto width = rondo::width::lane; the part of a team that runs the handlers: see `width`
//   static constexpr bool holds_addresses = true;     its state or its launch arguments have addresses, which mean
//                                                     nothing to another process: checkpoints and recordings refuse its
//                                                     actors. Pointer members of an aggregate are found without it
//                                                     (runtime/base/holds_addresses.hpp); `false` says that its
//                                                     pointers do no harm
//   static constexpr bool saved_apart = true;         likewise, but checkpoints and recordings leave its actors out,
//                                                     because who launches them does so again
//   RONDO_PORTABLE_BEHAVIOUR(B, kernel)               its handlers also run on GPUs without a ring kernel
//                                                     (kernels/portable/behaviour.hpp)
//   using upgrades = Old;                             with `void upgrade(Old const&)`: takes over the state of an
//                                                     actor whose behaviour was Old in the previous module
//                                                     (rondo::upgrade)
//
// An exception of the behaviour's code fails the handler with exception_thrown, as context::fail does: what it sent
// before stays sent. A GPU has no exceptions. If several lanes run a handler, one that throws on some of them must not
// keep the others waiting at a sync.
#pragma once

#include <concepts>
#include <new>

#include "kernels/actor/portable_context.hpp"
#include "kernels/base/exceptions.hpp"

namespace rondo {

inline constexpr std::uint32_t max_batch = 64;  // the most messages that a batch handler gets at once

/// The part of a team that an actor takes while its handlers run. In a team of one lane they are the same.
enum class width : std::uint8_t {
  lane,        // one lane: each of the other lanes may run another such actor at the same time
  team,        // the whole team, of which only lane 0 runs the handler; of a behaviour that does not say
  whole_team,  // the whole team, whose lanes run the handler together
};

// -- for the runtime

// For tests, which run all that is written for a team in lanes, too.
#if !defined(RONDO_DEFAULT_WIDTH)
#define RONDO_DEFAULT_WIDTH ::rondo::width::team
#endif

// -- for programs

/// Messages of one type that are adjacent in a mailbox, oldest first.
template <class Message>
class batch {
 public:
  // -- for the runtime
  RONDO_HD batch(payload_places const& payloads, std::uint32_t count) noexcept
      : payloads_(payloads), count_(count) {}
  // -- for handlers
  /// At least 1.
  RONDO_HD std::uint32_t size() const noexcept { return count_; }
  /// Precondition: `i < size()`.
  RONDO_HD Message const& operator[](std::uint32_t i) const noexcept {
    return *reinterpret_cast<Message const*>(payloads_[i]);
  }
  /// Goes through the messages, oldest first.
  struct iterator {
    batch const* owner;  // the batch
    std::uint32_t i;     // the index of the message
    /// The message.
    RONDO_HD Message const& operator*() const noexcept { return (*owner)[i]; }
    /// To the next message.
    RONDO_HD iterator& operator++() noexcept { return ++i, *this; }
    /// Whether they are at different messages of one batch.
    RONDO_HD bool operator!=(iterator const& o) const noexcept { return i != o.i; }
  };
  /// The oldest message.
  RONDO_HD iterator begin() const noexcept { return {this, 0}; }
  /// Behind the newest message.
  RONDO_HD iterator end() const noexcept { return {this, count_}; }

 private:
  payload_places payloads_;
  std::uint32_t count_;
};

namespace detail {

template <class B, class M>
concept handles_wide = requires(B b, context& c, M const& m) {
  { b.tiles(c, m) } -> std::convertible_to<std::uint32_t>;
  b.tile(c, m, 0u);
  b.finish(c, m);
};
template <class B, class M>
concept handles_batch = requires(B b, context& c, batch<M> const& m) {
  b.on(c, m);
};
template <class B, class M>
concept handles_one = requires(B b, context_of<B, M>& c, M const& m) {
  b.on(c, m);
};
/// A behaviour with launch arguments, which follow its state in the arena.
template <class B>
concept has_arguments = requires {
  typename B::arguments;
};
template <class B>
struct state_of {
  B state;
};
template <has_arguments B>
struct state_of<B> {
  static_assert(message_type<typename B::arguments> && sizeof(typename B::arguments) <= max_argument_bytes,
                "launch arguments are a trivially copyable struct of at most 64 bytes");
  B state;
  alignas(16) typename B::arguments arguments;
};
template <class B>
concept starts_with_arguments = has_arguments<B> &&
    requires(B b, context_of<B, void>& c, typename B::arguments const& a) {
  b.on_start(c, a);
};
template <class B>
concept starts = starts_with_arguments<B> || requires(B b, context_of<B, void>& c) {
  b.on_start(c);
};

template <class B>
inline constexpr width width_of = RONDO_DEFAULT_WIDTH;
template <class B>
concept says_width = requires {  // a member of this name may be something else
  { B::width } -> std::same_as<width const&>;
};
template <says_width B>
inline constexpr width width_of<B> = B::width;

template <class B, class Entries>
struct behaviour_dispatch;

/// Dispatch compares type ids, which are constants: no table, no virtual call.
template <class B, class... Entries>
struct behaviour_dispatch<B, messages<Entries...>> {
  static_assert(std::is_trivially_copyable_v<B> && std::is_trivially_destructible_v<B>,
                "a behaviour's state lives in the arena and is copied as bytes");
  template <class F>
  RONDO_HD static bool with_type(std::uint32_t type, F const& f) {
    return ((type == type_id<typename entry_traits<Entries>::request>
                 ? (f(std::type_identity<typename entry_traits<Entries>::request>{}), true)
                 : false) ||
            ...);
  }
};

}  // namespace detail

// -- for the runtime

/// The kind of handler that a behaviour has for a message type.
enum class handler_kind : std::uint32_t { none, one, batch, wide };

/// The parts of a wide handler.
enum class wide_step { tiles, tile, finish };

namespace detail {

template <class B, class M>
inline constexpr handler_kind kind_of = handles_wide<B, M>    ? handler_kind::wide
                                        : handles_batch<B, M> ? handler_kind::batch
                                                              : handler_kind::one;

/// Runs a behaviour's own code. An exception fails the handler of `ctx`.
template <class Code>
RONDO_HOT RONDO_HD inline void run_caught(context& ctx, Code const& code) {
  call_caught(code, [&ctx](char const* text) { ctx.fail_thrown(text); });
}

/// What the handler of one message at a time returns; void for other kinds of handlers.
template <class B, class M>
struct returned_by {
  using type = void;
};
template <class B, class M>
requires(kind_of<B, M> == handler_kind::one && handles_one<B, M>) struct returned_by<B, M> {
  using type = std::remove_cvref_t<decltype(std::declval<B&>().on(std::declval<context_of<B, M>&>(),
                                                                  std::declval<M const&>()))>;
};
template <class B, class M>
inline constexpr bool returns_reply = !std::is_void_v<typename returned_by<B, M>::type>;
template <class B, class M>
inline constexpr bool returns_well =
    !returns_reply<B, M> || std::is_same_v<typename returned_by<B, M>::type, reply_to_t<B, M>>;

/// The context that code of the behaviour gets; made of the team's.
template <class B, class M>
using own_context = std::conditional_t<portable_behaviour<B>, portable_context<B, M>, context&>;

/// What the context expects is said before.
template <class B, class M>
RONDO_HD void call_expected(B& b, context& ctx, std::byte const* payload) {
  auto const& m = *reinterpret_cast<M const*>(payload);
  own_context<B, M> made(ctx);
  context_of<B, M>& own = made;
  run_caught(ctx, [&] {
    if constexpr (returns_reply<B, M>)
      ctx.reply_with(b.on(own, m));
    else
      b.on(own, m);
  });
}

template <class B, class M>
RONDO_HD void call_one(B& b, context& ctx, std::byte const* payload) {
  if constexpr (kind_of<B, M> == handler_kind::one) {
    ctx.expect(reply_id_of<B, M>);
    call_expected<B, M>(b, ctx, payload);
  }
}

template <class B, class M, class Mail, class GoesOn>
RONDO_HD void call_each(B& b, context& ctx, Mail const* mail, GoesOn const& goes_on) {
  if constexpr (kind_of<B, M> == handler_kind::one) {
    ctx.expect(reply_id_of<B, M>);
    do {
      auto const& m = message_in(*mail++);
      ctx.begin(m.header);
      call_expected<B, M>(b, ctx, m.payload);
    } while (goes_on());
  }
}

template <class B, class M>
RONDO_HD void call_batch(B& b, context& ctx, batch<M> const& messages) {
  if constexpr (kind_of<B, M> == handler_kind::batch) {
    ctx.expect(reply_id_of<B, M>);
    run_caught(ctx, [&] { b.on(ctx, messages); });
  }
}

template <class B, class M>
RONDO_HD std::uint32_t call_wide(wide_step step, B& b, context& ctx, M const& m, std::uint32_t tile) {
  std::uint32_t tiles = 0;
  if constexpr (handles_wide<B, M>) {
    ctx.expect(reply_id_of<B, M>);
    run_caught(ctx, [&] {
      if (step == wide_step::tiles)
        tiles = b.tiles(ctx, m);
      else if (step == wide_step::tile)
        b.tile(ctx, m, tile);
      else
        b.finish(ctx, m);
    });
  }
  return tiles;
}

/// One step of 64-bit FNV-1a over 32-bit words.
constexpr std::uint64_t mix_key(std::uint64_t key, std::uint32_t word) noexcept {
  return (key ^ word) * 0x100'0000'01b3ull;
}
template <class... Entries>
constexpr std::uint64_t mix_messages(std::uint64_t key, messages<Entries...>) noexcept {
  ((key = mix_key(mix_key(key, type_id<typename entry_traits<Entries>::request>),
                  sizeof(typename entry_traits<Entries>::request))),
   ...);
  return key;
}
template <class... Behaviours>
constexpr std::uint64_t key_of() noexcept {
  std::uint64_t key = 0xcbf2'9ce4'8422'2325ull;
  ((key = mix_messages(mix_key(key, type_id<Behaviours>), typename Behaviours::messages{})), ...);
  return key;
}

}  // namespace detail

// -- for programs

/// The type of a module; RONDO_MODULE names one.
template <class... Behaviours>
struct module_of {
  static constexpr std::uint32_t size = sizeof...(Behaviours);  // number of behaviours
  /// A hash of the names of all behaviours and messages, in order: equal if two compilers spell them alike.
  static constexpr std::uint64_t key = detail::key_of<Behaviours...>();

  // -- for the runtime
  static constexpr bool has_portable = (portable_behaviour<Behaviours> || ...);
  static constexpr bool has_lanes = ((detail::width_of<Behaviours> == width::lane) || ...);

  template <class B>
  static constexpr std::uint16_t index_of() {
    static_assert((std::is_same_v<B, Behaviours> || ...), "this behaviour is not part of the module");
    std::uint16_t index = 0, found = 0;
    ((std::is_same_v<B, Behaviours> ? found = index : 0, ++index), ...);
    return found;
  }

  RONDO_HD static handler_kind kind_of(std::uint16_t behaviour, std::uint32_t type) {
    handler_kind kind = handler_kind::none;
    visit(behaviour, [&]<class B>(std::type_identity<B>) {
      dispatch<B>::with_type(type, [&]<class M>(std::type_identity<M>) { kind = detail::kind_of<B, M>; });
    });
    return kind;
  }
  /// Null: it is not portable. For threads of the host.
  static packed_behaviour const* packed(std::uint16_t behaviour) {
    packed_behaviour const* found = nullptr;
    if constexpr (has_portable)
      visit(behaviour, [&]<class B>(std::type_identity<B>) {
        if constexpr (portable_behaviour<B>) found = &packed_behaviour_of<B>;
      });
    return found;
  }
  RONDO_HD static width width_of(std::uint16_t behaviour) {
    auto result = width::team;
    visit(behaviour, [&]<class B>(std::type_identity<B>) { result = detail::width_of<B>; });
    return result;
  }

  /// Constructs a behaviour's state at `at`. Exceptions of its constructor pass through.
  RONDO_HD static void construct(std::uint16_t behaviour, std::byte* at) {
    visit(behaviour, [&]<class B>(std::type_identity<B>) { new (at) B{}; });
  }
  RONDO_HD static bool has_start(std::uint16_t behaviour) {
    bool result = false;
    visit(behaviour, [&]<class B>(std::type_identity<B>) { result = detail::starts<B>; });
    return result;
  }
  RONDO_HD static void start(std::uint16_t behaviour, std::byte* state, context& ctx) {
    visit(behaviour, [&]<class B>(std::type_identity<B>) {
      if constexpr (detail::starts<B>) {
        detail::own_context<B, void> made(ctx);
        detail::context_of<B, void>& own = made;
        if constexpr (detail::starts_with_arguments<B>) {
          auto& s = *reinterpret_cast<detail::state_of<B>*>(state);
          detail::run_caught(ctx, [&] { s.state.on_start(own, s.arguments); });
        } else {
          detail::run_caught(ctx, [&] { reinterpret_cast<B*>(state)->on_start(own); });
        }
      }
    });
  }

  /// Handles a message if its handler takes one message at a time. Returns the kind of its handler. `mail` is a
  /// message_slot or a message: it goes by reference, because two words copied from it would cost a twentieth of a
  /// round trip.
  template <class Mail>
  RONDO_HD static handler_kind handle_one(std::uint16_t behaviour, std::byte* state, context& ctx,
                                          Mail const& mail) {
    handler_kind kind = handler_kind::none;
    visit(behaviour, [&]<class B>(std::type_identity<B>) {
      dispatch<B>::with_type(mail.header.type, [&]<class M>(std::type_identity<M>) {
        kind = detail::kind_of<B, M>;
        detail::call_one<B, M>(*reinterpret_cast<B*>(state), ctx, mail.payload);
      });
    });
    return kind;
  }

  /// The same for messages of one type that lie one behind the other, from `mail` on, as long as `goes_on()`, called
  /// behind each, is true. All that is asked of a type is asked once. `Mail`: has a message_in().
  template <class Mail, class GoesOn>
  RONDO_HD static handler_kind handle_each(std::uint16_t behaviour, std::byte* state, context& ctx,
                                           Mail const* mail, GoesOn const& goes_on) {
    handler_kind kind = handler_kind::none;
    visit(behaviour, [&]<class B>(std::type_identity<B>) {
      dispatch<B>::with_type(message_in(*mail).header.type, [&]<class M>(std::type_identity<M>) {
        kind = detail::kind_of<B, M>;
        detail::call_each<B, M>(*reinterpret_cast<B*>(state), ctx, mail, goes_on);
      });
    });
    return kind;
  }

  /// Handles a message without contents that has no slot. False if the behaviour does not list it.
  template <class Message>
  RONDO_HD static bool handle_own(std::uint16_t behaviour, std::byte* state, context& ctx) {
    bool listed = false;
    visit(behaviour, [&]<class B>(std::type_identity<B>) {
      if constexpr (takes<B, Message>) {
        static_assert(detail::kind_of<B, Message> == handler_kind::one,
                      "it comes alone: on(context&, Message const&)");
        Message const m{};
        detail::call_one<B, Message>(*reinterpret_cast<B*>(state), ctx,
                                     reinterpret_cast<std::byte const*>(&m));
        listed = true;
      }
    });
    return listed;
  }

  /// Passes `count` messages of one type on to their batch handler.
  RONDO_HD static void handle_batch(std::uint16_t behaviour, std::byte* state, context& ctx,
                                    std::uint32_t type, payload_places const& payloads, std::uint32_t count) {
    visit(behaviour, [&]<class B>(std::type_identity<B>) {
      dispatch<B>::with_type(type, [&]<class M>(std::type_identity<M>) {
        detail::call_batch<B, M>(*reinterpret_cast<B*>(state), ctx, batch<M>{payloads, count});
      });
    });
  }

  /// One step of a wide message; returns the number of tiles for wide_step::tiles.
  RONDO_HD static std::uint32_t handle_wide(wide_step step, std::uint16_t behaviour, std::byte* state,
                                            context& ctx, message_slot const& slot, std::uint32_t tile) {
    std::uint32_t tiles = 0;
    visit(behaviour, [&]<class B>(std::type_identity<B>) {
      dispatch<B>::with_type(slot.header.type, [&]<class M>(std::type_identity<M>) {
        tiles = detail::call_wide<B, M>(step, *reinterpret_cast<B*>(state), ctx,
                                        *reinterpret_cast<M const*>(slot.payload), tile);
      });
    });
    return tiles;
  }

  /// Calls f(std::type_identity<B>{}) for the behaviour with this index. `f` is passed by reference: copying a closure
  /// right after it was written stalls the processor for longer than the rest of the call. With many behaviours it is a
  /// call, because nvcc would compile all handlers for each place that looks for one.
  template <class F>
  RONDO_HD static void visit(std::uint16_t behaviour, F const& f) {
    if constexpr (size > 8) return find(behaviour, f);
    find_inline(behaviour, f);
  }

 private:
  template <class F>
  RONDO_CALL RONDO_HD static void find(std::uint16_t behaviour, F const& f) {
    find_inline(behaviour, f);
  }
  template <class F>
  RONDO_HD static void find_inline(std::uint16_t behaviour, F const& f) {
    std::uint16_t index = 0;
    (void)((index++ == behaviour ? (f(std::type_identity<Behaviours>{}), true) : false) || ...);
  }

  template <class B>
  using dispatch = detail::behaviour_dispatch<B, typename B::messages>;

  template <class B, class... Entries>
  static constexpr bool all_handled(messages<Entries...>) {
    return ((detail::handles_wide<B, typename detail::entry_traits<Entries>::request> ||
             detail::handles_batch<B, typename detail::entry_traits<Entries>::request> ||
             detail::handles_one<B, typename detail::entry_traits<Entries>::request>)&&...);
  }
  template <class B, class... Entries>
  static constexpr bool none_but_one(messages<Entries...>) {
    return !portable_behaviour<B> ||
           ((detail::kind_of<B, typename detail::entry_traits<Entries>::request> == handler_kind::one) &&
            ...);
  }
  template <class B, class... Entries>
  static constexpr bool all_return_well(messages<Entries...>) {
    return (detail::returns_well<B, typename detail::entry_traits<Entries>::request> && ...);
  }
  template <class... Entries>
  static constexpr bool told_apart(messages<Entries...>) {
    std::uint32_t const ids[] = {type_id<typename detail::entry_traits<Entries>::request>..., 0};
    for (std::size_t i = 0; i < sizeof...(Entries); ++i)
      for (std::size_t j = 0; j < i; ++j)
        if (ids[i] == ids[j]) return false;
    return true;
  }
  static_assert((told_apart(typename Behaviours::messages{}) && ...),
                "a behaviour lists a message twice, or two whose names have the same hash: rename one");
  static_assert((all_handled<Behaviours>(typename Behaviours::messages{}) && ...),
                "a behaviour lists a message that it has no handler for: on(context&, Message const&)");
  static_assert((none_but_one<Behaviours>(typename Behaviours::messages{}) && ...),
                "a portable behaviour handles one message at a time: no batches, no tiles");
  static_assert(
      (all_return_well<Behaviours>(typename Behaviours::messages{}) && ...),
      "a handler returns nothing, or the reply that rondo::ask<Message, Reply> declares for its message");
};

/// Names a module: RONDO_MODULE(counters, counter, summary)
#define RONDO_MODULE(name, ...) using name = ::rondo::module_of<__VA_ARGS__>;

}  // namespace rondo
