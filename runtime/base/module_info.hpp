// The description of a module at run time: its behaviours and their messages, by name.
#pragma once

#include <string_view>
#include <vector>

#include "kernels/actor/captured.hpp"

namespace rondo {

/// A message that a behaviour takes.
struct message_info {
  std::uint32_t id;        // its type_id
  std::string_view name;   // qualified
  std::uint32_t bytes;     // of the struct
  bool has_reply;          // it is an ask
  std::uint32_t reply_id;  // type_id of the reply; 0: none
};

/// A behaviour of a module.
struct behaviour_info {
  std::string_view name;               // qualified
  std::uint64_t state_bytes;           // size of the struct
  std::vector<message_info> messages;  // that it takes, in the order of its list
  std::string_view
      upgrades;  // the behaviour of an earlier module whose actors this one takes over; empty: none
  void (*upgrade)(std::byte* state, std::byte const* old_state);  // constructs a state from that behaviour's
  bool is_captured;                                               // its handler is a graph
};

namespace detail {

template <class Entry>
message_info describe_message() {
  using request = typename entry_traits<Entry>::request;
  using reply = typename entry_traits<Entry>::reply;
  message_info m{type_id<request>, type_name<request>, sizeof(request), !std::is_void_v<reply>, 0};
  if constexpr (!std::is_void_v<reply>) m.reply_id = type_id<reply>;
  return m;
}

template <class B, class... Entries>
behaviour_info describe_behaviour(messages<Entries...>) {
  behaviour_info info{type_name<B>, sizeof(B), {describe_message<Entries>()...},
                      {},           nullptr,   captured_behaviour<B>};
  if constexpr (requires { typename B::upgrades; }) {
    info.upgrades = type_name<typename B::upgrades>;
    info.upgrade = [](std::byte* state, std::byte const* old_state) {
      (new (state) B{})->upgrade(*reinterpret_cast<typename B::upgrades const*>(old_state));
    };
  }
  return info;
}

}  // namespace detail

// -- for the runtime

template <class Module>
struct module_describer;
template <class... Behaviours>
struct module_describer<module_of<Behaviours...>> {
  static std::vector<behaviour_info> describe() {
    return {detail::describe_behaviour<Behaviours>(typename Behaviours::messages{})...};
  }
};

}  // namespace rondo
