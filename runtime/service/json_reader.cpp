#include "runtime/service/json_reader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <boost/json/stream_parser.hpp>

namespace rondo::service {

namespace json = boost::json;

namespace {

std::string_view kind_of(json::value const& v) {
  switch (v.kind()) {
    case json::kind::null:
      return "null";
    case json::kind::bool_:
      return "a flag";
    case json::kind::int64:
      return v.get_int64() < 0 ? "a negative number" : "a number";
    case json::kind::uint64:
      return "a number";
    case json::kind::double_:
      return "a fraction";
    case json::kind::string:
      return "a string";
    case json::kind::array:
      return "a list";
    case json::kind::object:
      return "an object";
  }
  return "nothing";
}

[[noreturn]] void fail(std::string const& origin, std::string const& path, std::string_view why) {
  throw config_error(path.empty() ? fmt::format("{}: {}", origin, why)
                                  : fmt::format("{}: {}: {}", origin, path, why));
}

}  // namespace

json_reader::json_reader(json::value const& value, std::string origin, std::string path)
    : object_(value.if_object()), origin_(std::move(origin)), path_(std::move(path)) {
  if (object_ == nullptr) fail(origin_, path_, fmt::format("is {}; it must be an object", kind_of(value)));
}

std::string json_reader::path_of(std::string_view field) const {
  return path_.empty() ? std::string(field) : fmt::format("{}.{}", path_, field);
}

void json_reader::refuse(std::string_view field, std::string_view why) const {
  fail(origin_, path_of(field), why);
}

json::value const* json_reader::find(char const* name) {
  known_.insert(name);
  return object_->if_contains(name);
}

void json_reader::text(char const* name, std::string& to) {
  auto const* const v = find(name);
  if (v == nullptr) return;
  if (!v->is_string()) refuse(name, fmt::format("is {}; it must be a string", kind_of(*v)));
  to.assign(v->get_string().data(), v->get_string().size());
}

void json_reader::flag(char const* name, bool& to) {
  auto const* const v = find(name);
  if (v == nullptr) return;
  if (!v->is_bool()) refuse(name, fmt::format("is {}; it must be true or false", kind_of(*v)));
  to = v->get_bool();
}

void json_reader::number(char const* name, std::uint64_t min, std::uint64_t max, std::uint64_t& to) {
  auto const* const v = find(name);
  if (v == nullptr) return;
  boost::system::error_code not_whole;
  auto const n = v->is_number() ? v->to_number<std::uint64_t>(not_whole) : 0;
  if (!v->is_number() || not_whole || v->is_double() || n < min || n > max)
    refuse(name, fmt::format("is {}; it must be a whole number from {} to {}",
                             v->is_number() && !v->is_double() && !not_whole ? std::to_string(n)
                                                                             : std::string(kind_of(*v)),
                             min, max));
  to = n;
}

void json_reader::list(char const* name,
                       std::function<void(json::value const&, std::string const&)> const& use) {
  auto const* const v = find(name);
  if (v == nullptr) return;
  if (!v->is_array()) refuse(name, fmt::format("is {}; it must be a list", kind_of(*v)));
  std::size_t i = 0;
  for (auto const& element : v->get_array()) use(element, fmt::format("{}[{}]", path_of(name), i++));
}

void json_reader::object(char const* name,
                         std::function<void(json::object const&, std::string const&)> const& use) {
  auto const* const v = find(name);
  if (v == nullptr) return;
  if (!v->is_object()) refuse(name, fmt::format("is {}; it must be an object", kind_of(*v)));
  use(v->get_object(), path_of(name));
}

void json_reader::done() const {
  for (auto const& field : *object_) {
    std::string_view const key(field.key().data(), field.key().size());
    if (known_.contains(key)) continue;
    std::string names;
    for (auto const& k : known_) names += (names.empty() ? "" : ", ") + k;
    refuse(key, "is no field here; known are " + names);
  }
}

json::value parse_json(std::string const& text, std::string const& origin) {
  json::parse_options options;
  options.allow_comments = true;
  boost::system::error_code wrong;
  json::stream_parser parser({}, options);
  auto const read = parser.write_some(text, wrong);
  if (!wrong && read < text.size()) {
    auto const rest = text.find_first_not_of(" \t\r\n", read);
    if (rest != std::string::npos) wrong = json::error::extra_data;
  }
  if (!wrong) parser.finish(wrong);
  if (wrong) {
    auto const at = text.begin() + static_cast<std::ptrdiff_t>(std::min(read, text.size()));
    throw config_error(fmt::format("{}:{}: {}; it must be JSON", origin,
                                   1 + std::count(text.begin(), at, '\n'), wrong.message()));
  }
  return parser.release();
}

}  // namespace rondo::service
