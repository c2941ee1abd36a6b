#include "runtime/text/json_reader.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "runtime/text/nearest_name.hpp"
#include "runtime/text/parse_number.hpp"

namespace rondo {

namespace {

[[noreturn]] void fail(std::string const& origin, std::string const& path, std::string_view why) {
  throw config_error(path.empty() ? fmt::format("{}: {}", origin, why)
                                  : fmt::format("{}: {}: {}", origin, path, why));
}

}  // namespace

json_reader::json_reader(json_node const& value, std::string origin, std::string path)
    : object_(value), origin_(std::move(origin)), path_(std::move(path)) {
  if (value.what != json_node::kind::object)
    fail(origin_, path_, fmt::format("is {}; it must be an object", value.described()));
  auto names = value.names;
  std::ranges::sort(names);
  if (auto const twice = std::ranges::adjacent_find(names); twice != names.end())
    refuse(*twice, "is given twice");
}

std::string json_reader::path_of(std::string_view field) const {
  return path_.empty() ? std::string(field) : fmt::format("{}.{}", path_, field);
}

void json_reader::refuse(std::string_view field, std::string_view why) const {
  fail(origin_, path_of(field), why);
}

json_node const* json_reader::find(char const* name) {
  known_.push_back(name);
  return object_.find(name);
}

json_node const* json_reader::find(char const* name, json_node::kind kind, char const* wanted) {
  auto const* const v = find(name);
  if (v != nullptr && v->what != kind)
    refuse(name, fmt::format("is {}; it must be {}", v->described(), wanted));
  return v;
}

void json_reader::text(char const* name, std::string& to) {
  if (auto const* const v = find(name, json_node::kind::string, "a string")) to = v->text;
}

void json_reader::flag(char const* name, bool& to) {
  if (auto const* const v = find(name, json_node::kind::flag, "true or false")) to = v->flag;
}

std::uint64_t json_reader::number_of(json_node const& v, char const* name, std::uint64_t min,
                                     std::uint64_t max) const {
  auto const n = v.what == json_node::kind::number ? parse_number(v.text) : std::nullopt;
  if (!n || *n < min || *n > max)
    refuse(name, fmt::format("is {}; it must be a whole number from {} to {}", v.described(), min, max));
  return *n;
}

void json_reader::real(char const* name, double min, double max, double& to) {
  auto const* const v = find(name);
  if (v == nullptr) return;
  if (auto const ratio = parse_ratio(v->text); ratio && v->what == json_node::kind::string)
    if (*ratio >= min && *ratio <= max) return static_cast<void>(to = *ratio);
  auto const n = parse_real<double>(v->text);
  if (v->what != json_node::kind::number || !n || !(*n >= min && *n <= max))
    refuse(name, fmt::format("is {}; it must be a number from {} to {}", v->described(), min, max));
  to = *n;
}

void json_reader::list(char const* name, use_value const& use) {
  auto const* const v = find(name, json_node::kind::list, "a list");
  for (std::size_t i = 0; v != nullptr && i < v->entries.size(); ++i)
    use(v->entries[i], fmt::format("{}[{}]", path_of(name), i));
}

void json_reader::value(char const* name, use_value const& use) {
  if (auto const* const v = find(name)) use(*v, path_of(name));
}

void json_reader::object(char const* name, use_value const& use) {
  if (auto const* const v = find(name, json_node::kind::object, "an object")) use(*v, path_of(name));
}

void json_reader::done() const {
  for (auto const& name : object_.names) {
    if (std::ranges::find(known_, name) != known_.end()) continue;
    std::vector<std::string> names(known_.begin(), known_.end());
    std::ranges::sort(names);
    refuse(name, fmt::format("unknown field; expected one of {}{}", fmt::join(names, ", "),
                             did_you_mean(name, names)));
  }
}

json_node parse_json_file(std::string_view text, std::string const& origin) {
  try {
    return parse_json_node(text, json_file);
  } catch (json_error const& e) {
    throw config_error(fmt::format("{}: {}", origin, e.what()));
  }
}

}  // namespace rondo
