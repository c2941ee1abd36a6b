// The words of a PTX file: one token after the other, each with its line.
//
// Threads: one at a time. The text must live as long as the tokens.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "tests/ptx/machine/ptx_error.hpp"

namespace ptx {

enum class token_kind : std::uint8_t { word, number, text, sign, end };

/// A word is a name, a directive, or a mnemonic with its modifiers ("ld.param.v2.u32"). A number keeps its spelling.
struct token {
  token_kind kind;
  std::string_view text;
  std::uint32_t line;

  bool is(std::string_view what) const noexcept { return text == what && kind != token_kind::text; }
};

/// A cursor over the tokens of a file.
class token_reader {
 public:
  /// Throws ptx::error at a character that PTX does not have.
  token_reader(std::string file, std::string_view text);

  token const& peek(std::size_t ahead = 0) const noexcept {
    return tokens_[std::min(at_ + ahead, tokens_.size() - 1)];
  }
  token next() noexcept {
    auto const t = peek();
    if (t.kind != token_kind::end) ++at_;
    return t;
  }
  /// True, and past it, if the next token is `what`.
  bool skip(std::string_view what) noexcept {
    if (!peek().is(what)) return false;
    next();
    return true;
  }
  void expect(std::string_view what);
  /// An identifier.
  std::string_view name();
  std::int64_t integer();

  /// Throws ptx::error: `what` at this line, with the line's text.
  [[noreturn]] void fail(std::string const& what, std::uint32_t line) const;
  [[noreturn]] void fail(std::string const& what) const { fail(what, peek().line); }

  std::string const& file() const noexcept { return file_; }
  std::string line_text(std::uint32_t line) const;

 private:
  std::string file_;
  std::string_view text_;
  std::vector<token> tokens_;
  std::size_t at_ = 0;
};

/// The value of a literal: decimal, 0x, 0 (octal), 0b, 0f and 0d (the bits of a float). False if it is none.
bool parse_literal(std::string_view text, std::uint64_t& value) noexcept;

/// The parts of "ld.param.v2.u32" between the dots.
std::vector<std::string_view> split_dots(std::string_view mnemonic);

}  // namespace ptx
