// The name of a type, and the hash of it that identifies the type in headers, checkpoints and other processes.
//
// The name is what g++ spells: `long unsigned int`, `box<box<int> >`. Other compilers spell some names in another way;
// theirs are respelled, so that programs and devices of different compilers agree. That cannot mend what a compiler
// leaves out: types inside functions, in inline namespaces, and, for nvcc, with default template arguments. Declare
// their names where compilers meet.
//
// Types of unnamed namespaces need a declared name: two files may have different ones that are spelled the same.
//
//   template <> struct rondo::message_name_of<my_message> { static constexpr char const* value = "shop.my_message"; };
#pragma once

#include <cstdint>
#include <string_view>

namespace rondo {

/// The declared name of a message or behaviour. schemac specialises it for types generated from a schema.
template <class T>
struct message_name_of {
  static constexpr char const* value = nullptr;  // null: the name that the compiler spells
};

namespace detail {

/// Where the first template argument ends in `text`, which begins with it: at a semicolon or at the closing bracket of
/// the whole list. Brackets of its own (`grid<int [4]>`), and characters (`tag<']'>`), belong to it.
constexpr std::size_t end_of_argument(std::string_view text) noexcept {
  int open = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    char const c = text[i];
    if (c == '\'')
      for (++i; i < text.size() && text[i] != '\''; ++i) i += text[i] == '\\';
    else if (c == '[' || c == '(' || c == '{')
      ++open;
    else if (open == 0 && (c == ';' || c == ']'))
      return i;
    else if (c == ']' || c == ')' || c == '}')
      --open;
  }
  return text.size();
}

template <class T>
constexpr std::string_view spelled_name() noexcept {
  std::string_view text = __PRETTY_FUNCTION__;
  auto begin = text.find("T = ");
  begin = begin == std::string_view::npos ? text.find("T=") + 2 : begin + 4;
  text.remove_prefix(begin);
  return text.substr(0, end_of_argument(text));
}

/// Spells a name of clang or nvcc as g++ does; a name of g++ stays as it is.
class respelling {
 public:
  /// `to` null: only counts.
  constexpr respelling(std::string_view from, char* to) noexcept : rest_(from), to_(to) {
    while (!rest_.empty()) take();
  }
  constexpr std::size_t bytes() const noexcept { return bytes_; }

 private:
  static constexpr bool is_word(char c) noexcept {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
  }
  constexpr void put(std::string_view text) noexcept {
    for (char const c : text) {
      if (to_ != nullptr) to_[bytes_] = c;
      ++bytes_;
      last_ = c;
    }
  }
  constexpr bool skip(std::string_view text) noexcept {
    bool const is_next = rest_.starts_with(text);
    if (is_next) rest_.remove_prefix(text.size());
    return is_next;
  }

  constexpr void take() noexcept {
    char const c = rest_.front();
    if (c == ' ') return rest_.remove_prefix(1);  // the rules below say where spaces are
    if (skip("(anonymous namespace)") || skip("<unnamed>") || skip("{anonymous}")) return put("{anonymous}");
    if (c == '\'') return take_character();
    if (is_word(c)) return take_word();
    if (last_ == ',' || (c == '>' && last_ == '>') || (c == '[' && last_ != ']' && last_ != ')') ||
        (c == '(' && (is_word(last_) || last_ == '>') && begins_declarator()))
      put(" ");
    put(rest_.substr(0, 1));
    rest_.remove_prefix(1);
  }

  /// Whether the parentheses here hold a pointer, as in `int (*)[4]`, and not parameters.
  constexpr bool begins_declarator() const noexcept {
    auto const end = rest_.find(')');
    return end != rest_.npos && end > 1 && (rest_[end - 1] == '*' || rest_[end - 1] == '&');
  }

  constexpr std::string_view next_word() const noexcept {
    std::size_t n = 0;
    while (n < rest_.size() && is_word(rest_[n])) ++n;
    return rest_.substr(0, n);
  }
  constexpr void put_word(std::string_view word) noexcept {
    bool const is_number = word[0] >= '0' && word[0] <= '9';
    if (is_word(last_) || last_ == ',' || last_ == '*' || last_ == '&' || (last_ == ')' && !is_number))
      put(" ");
    put(word);
  }
  constexpr void take_word() noexcept {
    if (take_integer_type()) return;
    auto word = next_word();
    rest_.remove_prefix(word.size());
    auto const digits = word.find_first_not_of("0123456789");
    if (digits != 0 && word.find_first_not_of("uUlL", digits) == word.npos) word = word.substr(0, digits);
    put_word(word == "__nv_bool" ? "bool" : word);
  }
  /// `unsigned long`, `long long unsigned int` and the like.
  constexpr bool take_integer_type() noexcept {
    int longs = 0;
    bool is_unsigned = false, is_short = false, is_integer = false;
    auto const before = rest_;
    for (;;) {
      auto const word = next_word();
      if (word == "long")
        ++longs;
      else if (word == "unsigned")
        is_unsigned = true;
      else if (word == "short")
        is_short = true;
      else if (word != "int")
        break;
      is_integer = true;
      rest_.remove_prefix(word.size());
      if (rest_.starts_with(' ') && rest_.size() > 1 && is_word(rest_[1])) rest_.remove_prefix(1);
    }
    if (!is_integer || next_word() == "char" || next_word() == "double" || next_word() == "__int128") {
      rest_ = before;
      return false;
    }
    if (is_short) put_word("short");
    for (int i = 0; i < longs; ++i) put_word("long");
    if (is_unsigned) put_word("unsigned");
    put_word("int");
    return true;
  }

  /// A character, which g++ shows as itself or in octal digits.
  constexpr void take_character() noexcept {
    constexpr std::string_view names = "abfnrtv0", values = "\a\b\f\n\r\t\v";
    if (last_ == ',') put(" ");
    rest_.remove_prefix(1);
    char const c = rest_.empty() ? '\'' : rest_.front();
    auto const escaped = c == '\\' && rest_.size() > 1 ? rest_[1] : '\0';
    auto const name = escaped == '\0' ? names.npos : names.find(escaped);
    bool const is_octal = escaped >= '0' && escaped <= '7' && rest_.size() > 2 && rest_[2] != '\'';
    if (c == '\'') {  // nvcc escapes none
      put("'\\''");
      rest_.remove_prefix(rest_.size() < 2 ? rest_.size() : 2);
    } else if (static_cast<unsigned char>(c) < ' ' || (name != names.npos && !is_octal)) {
      auto const value = static_cast<unsigned char>(name == names.npos      ? c
                                                    : name == values.size() ? '\0'
                                                                            : values[name]);
      char const text[] = {'\'',
                           '\\',
                           static_cast<char>('0' + value / 64),
                           static_cast<char>('0' + value / 8 % 8),
                           static_cast<char>('0' + value % 8),
                           '\''};
      put({text, sizeof text});
      rest_.remove_prefix((name == names.npos ? 1 : 2) + 1u);
    } else {
      auto end = rest_.find('\'', escaped != '\0' ? 2 : 1);
      end = end == rest_.npos ? rest_.size() : end + 1;
      put("'");
      put(rest_.substr(0, end));
      rest_.remove_prefix(end);
    }
  }

  std::string_view rest_;
  char* to_;
  std::size_t bytes_ = 0;
  char last_ = '\0';
};

#if defined(__clang__) || defined(__CUDACC__) || defined(__EDG__)
template <class T>
struct respelled {
  static constexpr std::size_t bytes = respelling(spelled_name<T>(), nullptr).bytes();
  struct text {
    char at[bytes + 1] = {};
    constexpr text() noexcept { respelling(spelled_name<T>(), at); }
  };
  static constexpr text all{};
  static constexpr std::string_view name{all.at, bytes};
};
template <class T>
constexpr std::string_view compiled_name() noexcept {
  return respelled<T>::name;
}
#else
template <class T>
constexpr std::string_view compiled_name() noexcept {
  return spelled_name<T>();
}
#endif

constexpr std::uint32_t fnv1a(std::string_view text) noexcept {
  std::uint32_t hash = 2166136261u;
  for (char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 16777619u;
  return hash;
}

/// Whether another file may have a different type of this name. nvcc spells unnamed namespaces for g++ as _GLOBAL__N_
/// and a number.
constexpr bool is_of_one_file(std::string_view name) noexcept {
  return name.find("{anonymous}") != name.npos || name.find("_GLOBAL__N_") != name.npos;
}

template <class T>
struct type_identity_of {
  static constexpr bool is_declared = message_name_of<T>::value != nullptr;
  static_assert(is_declared || !is_of_one_file(compiled_name<T>()),
                "a message or behaviour in an unnamed namespace needs a declared name: move it to a named "
                "one, or specialise "
                "rondo::message_name_of");
  static constexpr std::string_view name = is_declared ? message_name_of<T>::value : compiled_name<T>();
  static constexpr std::uint32_t id = fnv1a(name);
};

}  // namespace detail

/// The qualified name of a type: of a message or a behaviour.
template <class T>
inline constexpr std::string_view type_name = detail::type_identity_of<T>::name;

/// The hash of the name, which identifies the type in headers.
template <class T>
inline constexpr std::uint32_t type_id = detail::type_identity_of<T>::id;

}  // namespace rondo
