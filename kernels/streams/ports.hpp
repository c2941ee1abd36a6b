// The ports of a stage: their names, the frames that they pass, and in which places the stage can work.
//
//   struct blur {
//     using ports = streams::ports<streams::in<"video", image>, streams::out<"video", image>>;
//     ...
//   };
#pragma once

#include "kernels/streams/edge.hpp"
#include "kernels/streams/messages.hpp"

namespace rondo::streams {

/// A port's name, in a type.
template <std::size_t Bytes>
struct port_name {
  // -- for the runtime
  char text[Bytes];
  consteval port_name(char const (&literal)[Bytes]) {  // NOLINT: a literal converts
    for (std::size_t i = 0; i < Bytes; ++i) text[i] = literal[i];
  }
};

/// An input, and the delivery that it has unless a connection says otherwise.
template <port_name Name, frame_type Frame, delivery How = delivery::lossless>
struct in {
  // -- for the runtime
  using frame = Frame;
  static constexpr auto name = Name;
  static constexpr bool is_input = true, is_optional = false;
  static constexpr delivery how = How;
};
/// An input that need not be connected.
template <port_name Name, frame_type Frame, delivery How = delivery::latest>
struct optional_in : in<Name, Frame, How> {
  // -- for the runtime
  static constexpr bool is_optional = true;
};
/// An output. If `EditOf` names an input, its frames may lie in the blocks of that input's frames: stage_context::edit
/// and pass.
template <port_name Name, frame_type Frame, port_name EditOf = "">
struct out {
  // -- for the runtime
  using frame = Frame;
  static constexpr auto name = Name;
  static constexpr auto edit_of = EditOf;
  static constexpr bool is_input = false, is_optional = false;
};
/// An output beside the main one: in files, the stage's name alone does not stand for it.
template <port_name Name, frame_type Frame, port_name EditOf = "">
struct optional_out : out<Name, Frame, EditOf> {
  // -- for the runtime
  static constexpr bool is_optional = true;
};

namespace detail {

template <auto A, auto B>
consteval bool same_name() {
  if constexpr (sizeof A.text != sizeof B.text) {
    return false;
  } else {
    for (std::size_t i = 0; i < sizeof A.text; ++i)
      if (A.text[i] != B.text[i]) return false;
    return true;
  }
}

template <bool IsInput, auto Name, class... Ports>
struct find_port;
template <bool IsInput, auto Name, class First, class... Rest>
struct find_port<IsInput, Name, First, Rest...>
    : std::conditional_t<First::is_input == IsInput && same_name<First::name, Name>(),
                         std::type_identity<First>, find_port<IsInput, Name, Rest...>> {};

}  // namespace detail

/// The list of a stage's ports.
template <class... Ports>
struct ports {
  // -- for the runtime
  static constexpr std::uint32_t inputs = (0u + ... + (Ports::is_input ? 1u : 0u));
  static constexpr std::uint32_t outputs = sizeof...(Ports) - inputs;

  /// The number of the input or output of this name among its kind; ~0: there is none.
  template <bool IsInput, port_name Name>
  static consteval std::uint32_t number_of() {
    std::uint32_t number = 0, found = ~0u;
    ((Ports::is_input != IsInput               ? void()
      : detail::same_name<Ports::name, Name>() ? void(found = number++)
                                               : void(++number)),
     ...);
    return found;
  }
  /// Calls f(std::type_identity<Port>{}) for each port, in order.
  template <class F>
  static constexpr void for_each(F const& f) {
    (f(std::type_identity<Ports>{}), ...);
  }

  /// The port of this name; only if number_of finds it.
  template <bool IsInput, port_name Name>
  using port = typename detail::find_port<IsInput, Name, Ports...>::type;
};

/// Where a stage can work.
enum class works : std::uint32_t {
  anywhere,
  on_host,        // on a `cpu` device alone: it uses the program's libraries, files, or windows
  on_accelerator  // only on devices with their own memory
};

namespace detail {

template <class Stage>
consteval works works_where() {
  if constexpr (requires { Stage::where; })
    return Stage::where;
  else
    return works::anywhere;
}

/// Whether it takes a tick as soon as one of its inputs has a frame, as one that writes pictures and sound to one file
/// does: `static constexpr bool takes_any = true`. The tick is then that of the first input that has one.
template <class Stage>
inline constexpr bool takes_any = requires {
  requires Stage::takes_any;
};

/// Whether it is a source with ticks of its own.
template <class Stage>
inline constexpr bool has_own_ticks = requires {
  requires Stage::has_own_ticks;
};

template <class Stage>
struct options_or_none {
  struct type {};
};
template <class Stage>
requires requires { typename Stage::options; }
struct options_or_none<Stage> {
  using type = typename Stage::options;
};

}  // namespace detail

/// What a stage says before its graph begins: runtime/streams/kinds/stage_spec.hpp.
template <class Stage>
class spec_of;

/// A stage's options; an empty struct if it has none.
template <class Stage>
using options_of = typename detail::options_or_none<Stage>::type;

}  // namespace rondo::streams
