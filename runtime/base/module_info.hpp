// The description of a module at run time: its behaviours and their messages, by name.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "kernels/actor/captured.hpp"
#include "runtime/base/holds_addresses.hpp"

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
  std::vector<std::byte>
      arguments;  // the default ones of its on_start, at `arguments_at` in its state; empty: none
  std::uint64_t arguments_at;       // see arguments
  std::string_view arguments_type;  // qualified; empty: none
  bool holds_addresses;             // in its state or launch arguments: no file may have its actors
  bool saved_apart;                 // holds addresses, and checkpoints and recordings leave its actors out
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

template <class B>
inline constexpr bool is_saved_apart = false;
template <class B>
requires requires { B::saved_apart; }
inline constexpr bool is_saved_apart<B> = B::saved_apart;

template <class B>
constexpr bool has_addresses() {
  if constexpr (is_saved_apart<B>) {
    return true;
  } else if constexpr (requires { B::holds_addresses; }) {
    return B::holds_addresses;
  } else if constexpr (has_arguments<B>) {
    return one_holds_address<B, typename B::arguments>();
  } else {
    return holds_address<B>();
  }
}

template <class B, class... Entries>
behaviour_info describe_behaviour(messages<Entries...>) {
  behaviour_info info{.name = type_name<B>,
                      .state_bytes = sizeof(state_of<B>),
                      .messages = {describe_message<Entries>()...},
                      .upgrades = {},
                      .upgrade = nullptr,
                      .is_captured = captured_behaviour<B>,
                      .arguments = {},
                      .arguments_at = align_up(sizeof(B), 16),
                      .arguments_type = {},
                      .holds_addresses = has_addresses<B>(),
                      .saved_apart = is_saved_apart<B>};
  if constexpr (has_arguments<B>) {
    typename B::arguments const arguments{};
    auto const bytes = std::as_bytes(std::span(&arguments, 1));
    info.arguments.assign(bytes.begin(), bytes.end());
    info.arguments_type = type_name<typename B::arguments>;
  }
  if constexpr (requires { typename B::upgrades; }) {
    using old = typename B::upgrades;
    info.upgrades = type_name<old>;
    info.upgrade = [](std::byte* state, std::byte const* old_state) {
      (new (state) B{})->upgrade(*reinterpret_cast<old const*>(old_state));
      if constexpr (has_arguments<B>) {
        auto& arguments = reinterpret_cast<state_of<B>*>(state)->arguments;
        arguments = {};
        if constexpr (has_arguments<old>)
          if constexpr (std::is_same_v<typename B::arguments, typename old::arguments>)
            arguments = reinterpret_cast<state_of<old> const*>(old_state)->arguments;
      }
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
