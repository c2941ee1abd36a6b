#include "runtime/text/json_node.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <boost/json/basic_parser_impl.hpp>
#include <functional>
#include <iterator>
#include <utility>

#include "runtime/text/json_string.hpp"

namespace rondo {
namespace {

namespace json = boost::json;

/// The parser's handler, which builds the tree. `open_` holds the unfinished lists and objects, outermost first.
class tree_builder {
 public:
  static constexpr std::size_t max_array_size = max_json_entries;
  static constexpr std::size_t max_object_size = max_json_entries;
  static constexpr std::size_t max_string_size = json_file.bytes;
  static constexpr std::size_t max_key_size = 256;

  explicit tree_builder(std::string_view text) : counted_(text.data()), end_(text.data() + text.size()) {}
  json_node take() { return std::move(root_); }

  bool on_document_begin(json::error_code&) { return true; }
  bool on_document_end(json::error_code&) { return true; }
  bool on_array_begin(json::error_code&) { return begin(json_node::kind::list); }
  bool on_array_end(std::size_t, json::error_code&) { return end(); }
  bool on_object_begin(json::error_code&) { return begin(json_node::kind::object); }
  bool on_object_end(std::size_t, json::error_code&) { return end(); }
  bool on_key_part(json::string_view s, std::size_t, json::error_code&) { return collect(s); }
  bool on_key(json::string_view s, std::size_t, json::error_code&) {
    collect(s);
    open_.back().names.push_back(std::exchange(text_, {}));
    open_.back().lines.push_back(line_of(s.data()));
    return true;
  }
  bool on_string_part(json::string_view s, std::size_t, json::error_code&) { return collect(s); }
  bool on_string(json::string_view s, std::size_t, json::error_code&) {
    return scalar(json_node::kind::string, s);
  }
  bool on_number_part(json::string_view s, json::error_code&) { return collect(s); }
  bool on_int64(std::int64_t, json::string_view s, json::error_code&) {
    return scalar(json_node::kind::number, s);
  }
  bool on_uint64(std::uint64_t, json::string_view s, json::error_code&) {
    return scalar(json_node::kind::number, s);
  }
  bool on_double(double, json::string_view s, json::error_code&) {
    return scalar(json_node::kind::number, s);
  }
  bool on_bool(bool flag, json::error_code&) { return put({.what = json_node::kind::flag, .flag = flag}); }
  bool on_null(json::error_code&) { return put({}); }
  bool on_comment_part(json::string_view, json::error_code&) { return true; }
  bool on_comment(json::string_view, json::error_code&) { return true; }

 private:
  bool collect(json::string_view s) {
    text_.append(s.data(), s.size());
    return true;
  }
  bool scalar(json_node::kind what, json::string_view s) {
    collect(s);
    return put({.what = what, .text = std::exchange(text_, {})});
  }
  /// The line of `at`; 0 if the parser has copied the name to replace its escapes. Names come in the text's order.
  std::size_t line_of(char const* at) {
    if (std::less<>()(at, counted_) || std::less<>()(end_, at)) return 0;
    line_ += static_cast<std::size_t>(std::count(std::exchange(counted_, at), at, '\n'));
    return line_;
  }
  bool begin(json_node::kind what) {
    open_.push_back({.what = what});
    return true;
  }
  bool end() {
    auto done = std::move(open_.back());
    open_.pop_back();
    return put(std::move(done));
  }
  bool put(json_node node) {
    if (open_.empty())
      root_ = std::move(node);
    else
      open_.back().entries.push_back(std::move(node));
    return true;
  }

  json_node root_;
  std::vector<json_node> open_;
  std::string text_;
  char const *counted_, *end_;  // lines are counted up to the first
  std::size_t line_ = 1;
};

[[noreturn]] void refuse(std::string_view text, std::size_t at, std::string const& why) {
  auto const before = text.substr(0, std::min(at, text.size()));
  auto const line = 1 + std::count(before.begin(), before.end(), '\n');
  auto const column = before.size() - (before.rfind('\n') + 1) + 1;  // npos + 1 is 0
  throw json_error(fmt::format("line {}, column {}: {}", line, column, why));
}

}  // namespace

std::string json_node::described() const {
  switch (what) {
    case kind::null:
      return "null";
    case kind::flag:
      return flag ? "true" : "false";
    case kind::number:
      return text.size() <= 40 ? text : text.substr(0, 40) + "...";
    case kind::string:
      return "a string";
    case kind::list:
      return "a list";
    default:
      return "an object";
  }
}

json_node const* json_node::find(std::string_view name) const noexcept {
  auto const at = std::ranges::find(names, name);
  return at == names.end() ? nullptr : &entries[static_cast<std::size_t>(at - names.begin())];
}

json_node parse_json_node(std::string_view text, json_limits const& limits) {
  if (text.size() > limits.bytes)
    throw json_error(fmt::format("has {} bytes of JSON; the limit is {}", text.size(), limits.bytes));
  if (text.find_first_not_of(" \t\r\n") == std::string_view::npos)
    throw json_error("is empty; it must be JSON text");
  json::parse_options options;
  options.max_depth = max_json_depth;
  options.allow_comments = limits.comments;
  json::basic_parser<tree_builder> parser(options, text);
  json::error_code failed;
  auto const read = parser.write_some(false, text.data(), text.size(), failed);
  if (failed) refuse(text, read, failed.message());
  if (read != text.size()) refuse(text, read, "unexpected text after the JSON value");
  return parser.handler().take();
}

std::string json_text(json_node const& node) {
  bool const is_object = node.what == json_node::kind::object;
  switch (node.what) {
    case json_node::kind::null:
      return "null";
    case json_node::kind::flag:
      return node.flag ? "true" : "false";
    case json_node::kind::number:
      return node.text;
    case json_node::kind::string:
      return json_string(node.text);
    default:
      break;
  }
  std::string out;
  for (std::size_t i = 0; i < node.entries.size(); ++i) {
    if (i != 0) out += ", ";
    if (is_object) out += json_string(node.names[i]) + ": ";
    out += json_text(node.entries[i]);
  }
  return is_object ? "{" + out + "}" : "[" + out + "]";
}

}  // namespace rondo
