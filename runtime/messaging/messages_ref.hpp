// A reference to an actor that takes certain messages, whatever its behaviour is. For code that is given an actor and
// does not care which one: a logger, a sink, a subscriber.
//
//   using printer = rondo::messages_ref<line, rondo::ask<count, total>>;
//   void print(printer to) { to.tell(line{...}); }
//   print(rt.launch<terminal>("out"));                    // its behaviour takes both messages, and more
//
// It is an actor_ref in all else: tell, try_tell, ask, equality, threads.
#pragma once

#include "runtime/messaging/actor_ref.hpp"

namespace rondo {

/// A ref to an actor that takes these messages.
template <class... Entries>
using messages_ref = actor_ref<any_that_takes<Entries...>>;

namespace detail {

template <class Behaviour, class Entry>
inline constexpr bool serves = takes<Behaviour, typename entry_traits<Entry>::request> &&
                               (std::is_void_v<typename entry_traits<Entry>::reply> ||
                                std::is_same_v<reply_to_t<Behaviour, typename entry_traits<Entry>::request>,
                                               typename entry_traits<Entry>::reply>);

template <class... Entries, class Behaviour>
inline constexpr bool can_stand_for<any_that_takes<Entries...>, Behaviour> = (serves<Behaviour, Entries> &&
                                                                              ...);

}  // namespace detail

}  // namespace rondo
