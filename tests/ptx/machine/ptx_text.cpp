#include "tests/ptx/machine/ptx_text.hpp"

#include <algorithm>
#include <cctype>
#include <charconv>

namespace ptx {

namespace {

bool is_word(char c) noexcept {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '$' || c == '.' || c == '%';
}

}  // namespace

token_reader::token_reader(std::string file, std::string_view text) : file_(std::move(file)), text_(text) {
  std::uint32_t line = 1;
  std::size_t i = 0;
  auto const add = [&](token_kind kind, std::size_t from, std::size_t to) {
    tokens_.push_back({kind, text.substr(from, to - from), line});
  };
  while (i < text.size()) {
    char const c = text[i];
    if (c == '\n') {
      ++line, ++i;
    } else if (std::isspace(static_cast<unsigned char>(c)) != 0) {
      ++i;
    } else if (text.substr(i, 2) == "//") {
      i = std::min(text.find('\n', i), text.size());
    } else if (text.substr(i, 2) == "/*") {
      auto const end = std::min(text.find("*/", i), text.size() - 2) + 2;
      line += static_cast<std::uint32_t>(
          std::count(text.begin() + static_cast<long>(i), text.begin() + static_cast<long>(end), '\n'));
      i = end;
    } else if (c == '"') {
      auto const end = text.find('"', i + 1);
      if (end == std::string_view::npos) fail("a string without an end", line);
      add(token_kind::text, i + 1, end);
      i = end + 1;
    } else if (std::isdigit(static_cast<unsigned char>(c)) != 0) {
      auto end = i;
      while (end < text.size() && std::isalnum(static_cast<unsigned char>(text[end])) != 0) ++end;
      add(token_kind::number, i, end);
      i = end;
    } else if (is_word(c)) {
      auto end = i;
      while (end < text.size() && (is_word(text[end]) || text.substr(end, 2) == "::"))
        end += text[end] == ':' ? 2 : 1;
      add(token_kind::word, i, end);
      i = end;
    } else if (std::string_view(",;:(){}[]<>|!@+-=~*").find(c) != std::string_view::npos) {
      add(token_kind::sign, i, i + 1);
      ++i;
    } else {
      fail(std::string("unexpected character '") + c + "'", line);
    }
  }
  tokens_.push_back({token_kind::end, {}, line});
}

void token_reader::expect(std::string_view what) {
  if (!skip(what)) fail("expected '" + std::string(what) + "', found '" + std::string(peek().text) + "'");
}

std::string_view token_reader::name() {
  if (peek().kind != token_kind::word) fail("expected a name, found '" + std::string(peek().text) + "'");
  return next().text;
}

std::int64_t token_reader::integer() {
  bool const negative = skip("-");
  std::uint64_t value = 0;
  if (peek().kind != token_kind::number || !parse_literal(peek().text, value))
    fail("expected a number, found '" + std::string(peek().text) + "'");
  next();
  return static_cast<std::int64_t>(negative ? 0 - value : value);
}

std::string token_reader::line_text(std::uint32_t line) const {
  std::size_t from = 0;
  for (std::uint32_t n = 1; n < line; ++n) {
    auto const end = text_.find('\n', from);
    if (end == std::string_view::npos) return {};
    from = end + 1;
  }
  auto const end = std::min(text_.find('\n', from), text_.size());
  while (from < end && std::isspace(static_cast<unsigned char>(text_[from])) != 0) ++from;
  return std::string(text_.substr(from, end - from));
}

void token_reader::fail(std::string const& what, std::uint32_t line) const {
  throw error(file_ + ":" + std::to_string(line) + ": " + what + ": '" + line_text(line) + "'");
}

bool parse_literal(std::string_view text, std::uint64_t& value) noexcept {
  int base = 10;
  if (text.size() > 2 && text[0] == '0') {
    char const kind = text[1];
    if (kind == 'x' || kind == 'X' || kind == 'f' || kind == 'F' || kind == 'd' || kind == 'D') base = 16;
    if (kind == 'b' || kind == 'B') base = 2;
    if (base != 10) text.remove_prefix(2);
  }
  if (base == 10 && text.size() > 1 && text[0] == '0') base = 8;
  if (base == 10 && !text.empty() && text.back() == 'U') text.remove_suffix(1);
  if (base == 16 && !text.empty() && text.back() == 'U') text.remove_suffix(1);
  auto const [end, failed] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  return failed == std::errc{} && end == text.data() + text.size() && !text.empty();
}

std::vector<std::string_view> split_dots(std::string_view mnemonic) {
  std::vector<std::string_view> parts;
  for (;;) {
    auto const dot = mnemonic.find('.');
    parts.push_back(mnemonic.substr(0, dot));
    if (dot == std::string_view::npos) return parts;
    mnemonic.remove_prefix(dot + 1);
  }
}

}  // namespace ptx
