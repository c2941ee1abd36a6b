// A short text in a stage's options, such as the name of a file. Options are copied to the stage's device, so they hold
// no pointers.
#pragma once

#include <cstddef>

namespace rondo::streams {

/// At most `Bytes - 1` bytes, and a zero.
template <std::size_t Bytes>
struct option_text {
  // -- for the runtime
  char text[Bytes] = {};
  static constexpr std::size_t most = Bytes - 1;
  // -- for programs

  constexpr option_text() = default;
  /// From a literal; a longer one does not compile.
  template <std::size_t Length>
  requires(Length <=
           Bytes) constexpr option_text(char const (&literal)[Length]) {  // NOLINT: a literal converts
    for (std::size_t i = 0; i < Length; ++i) text[i] = literal[i];
  }
  /// False, and unchanged, if it is too long, or has a zero in it.
  constexpr bool assign(char const* from, std::size_t bytes) noexcept {
    if (bytes > most) return false;
    for (std::size_t i = 0; i < bytes; ++i)
      if (from[i] == 0) return false;
    for (std::size_t i = 0; i < Bytes; ++i) text[i] = i < bytes ? from[i] : '\0';
    return true;
  }
  /// As in C.
  constexpr char const* c_str() const noexcept { return text; }
  /// Whether there is no text.
  constexpr bool empty() const noexcept { return text[0] == 0; }
  friend constexpr bool operator==(option_text const&, option_text const&) = default;
};

}  // namespace rondo::streams
