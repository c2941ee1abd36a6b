#include "runtime/streams/kinds/option_list.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <optional>
#include <type_traits>

#include "runtime/files/file_uses.hpp"
#include "runtime/streams/kinds/stage_kind.hpp"
#include "runtime/text/config_error.hpp"
#include "runtime/text/json_node.hpp"
#include "runtime/text/nearest_name.hpp"
#include "runtime/text/parse_number.hpp"
#include "runtime/text/shown_url.hpp"

namespace rondo::streams {

namespace {

template <class... F>
struct overloaded : F... {
  using F::operator()...;
};

/// The whole text as a number.
template <class Number>
std::optional<Number> number_in(std::string_view text) {
  if constexpr (std::is_floating_point_v<Number>) {
    return parse_real<Number>(text);
  } else {
    Number n{};
    auto const* const end = text.data() + text.size();
    auto const [stop, failed] = std::from_chars(text.data(), end, n);
    if (failed != std::errc() || stop != end) return std::nullopt;
    return n;
  }
}

std::string name_of_choice(option_field const& f, std::uint32_t value) {
  return value < f.choices.size() ? std::string(f.choices[value]) : fmt::format("{}", value);
}

std::vector<std::string> names_of(option_field const& f) { return {f.choices.begin(), f.choices.end()}; }

bool is_within(option_field const& f, double n) { return n >= f.least && n <= f.most; }  // NaN never is

/// Whether it accepts the value that it has.
bool is_accepted(option_field const& f) {
  return std::visit(
      overloaded{
          [](bool*) { return true; },
          [](option_field::text const& t) { return std::memchr(t.at, 0, t.bytes) != nullptr; },
          [&](std::uint32_t* n) { return f.choices.empty() ? is_within(f, *n) : *n < f.choices.size(); },
          [&](auto* n) { return is_within(f, static_cast<double>(*n)); },
      },
      f.at);
}

/// False if the option does not accept the value.
bool set(option_field const& f, json_node const& v) {
  bool const is_number = v.what == json_node::kind::number;
  return std::visit(overloaded{
                        [&](bool* to) {
                          if (v.what != json_node::kind::flag) return false;
                          *to = v.flag;
                          return true;
                        },
                        [&](option_field::text const& to) {
                          if (v.what != json_node::kind::string || v.text.size() >= to.bytes ||
                              v.text.find('\0') != std::string::npos)
                            return false;
                          std::memset(to.at, 0, to.bytes);
                          std::memcpy(to.at, v.text.data(), v.text.size());
                          return true;
                        },
                        [&]<class Number>(Number* to) {
                          if constexpr (std::is_same_v<Number, std::uint32_t>)
                            if (!f.choices.empty()) {
                              auto const found = std::find(f.choices.begin(), f.choices.end(), v.text);
                              if (v.what != json_node::kind::string || found == f.choices.end()) return false;
                              *to = static_cast<std::uint32_t>(found - f.choices.begin());
                              return true;
                            }
                          auto n = is_number ? number_in<Number>(v.text) : std::nullopt;
                          if constexpr (std::is_floating_point_v<Number>)
                            if (auto const ratio = parse_ratio(v.text);
                                ratio && v.what == json_node::kind::string)
                              n = static_cast<Number>(*ratio);
                          if (!n || !is_within(f, static_cast<double>(*n))) return false;
                          *to = *n;
                          return true;
                        },
                    },
                    f.at);
}

void set_or_refuse(std::vector<option_field> const& all, stage_kind const& kind, std::string_view name,
                   json_node const& value, std::string const& where) {
  for (auto const& f : all) {
    if (name != f.name) continue;
    if (set(f, value)) return;
    auto const given = value.what == json_node::kind::string ? fmt::format("'{}'", shown_url(value.text))
                                                             : value.described();
    throw config_error(fmt::format("{}: is {}; it must be {}{}", where, given, f.accepted(),
                                   f.choices.empty() ? "" : did_you_mean(value.text, names_of(f))));
  }
  std::vector<std::string> known;
  for (auto const& f : all) known.emplace_back(f.name);
  throw config_error(known.empty()
                         ? fmt::format("{}: unknown option; '{}' has none", where, kind.short_name())
                         : fmt::format("{}: unknown option; '{}' has {}{}", where, kind.short_name(),
                                       fmt::join(known, ", "), did_you_mean(name, known)));
}

}  // namespace

std::string option_field::accepted() const {
  auto const whole = [this](auto least_of_type, auto most_of_type) {
    auto const from = std::max(least, static_cast<double>(least_of_type)),
               to = std::min(most, static_cast<double>(most_of_type));
    return fmt::format("a whole number from {:.0f} to {:.0f}", from, to);
  };
  auto const real = [this](double most_of_type) {
    return most >= most_of_type ? std::string("a number")
                                : fmt::format("a number from {} to {}", least, most);
  };
  return std::visit(overloaded{
                        [](bool*) { return std::string("true or false"); },
                        [&](std::uint8_t*) { return whole(0, UINT8_MAX); },
                        [&](std::int32_t*) { return whole(INT32_MIN, INT32_MAX); },
                        [&](std::uint32_t*) {
                          return choices.empty() ? whole(0, UINT32_MAX)
                                                 : fmt::format("one of {}", fmt::join(choices, ", "));
                        },
                        [&](std::uint64_t*) { return whole(0, UINT64_MAX); },
                        [&](float*) { return real(std::numeric_limits<float>::max()); },
                        [&](double*) { return real(std::numeric_limits<double>::max()); },
                        [](text const& t) { return fmt::format("a text of at most {} bytes", t.bytes - 1); },
                    },
                    at);
}

std::string option_field::value() const {
  return std::visit(overloaded{
                        [](bool* v) { return std::string(*v ? "true" : "false"); },
                        [](text const& t) {
                          return json_text({.what = json_node::kind::string, .text = std::string(t.at)});
                        },
                        [this](std::uint32_t* v) {
                          return choices.empty() ? fmt::format("{}", *v)
                                                 : fmt::format("\"{}\"", name_of_choice(*this, *v));
                        },
                        [](auto* v) { return fmt::format("{}", +*v); },
                    },
                    at);
}

std::vector<option_field> options_in(stage_kind const& kind, void* object) {
  std::vector<option_field> all;
  if (kind.describe == nullptr) return all;
  option_visitor to{[&all](option_field const& f) { all.push_back(f); }};
  kind.describe(object, to);
  return all;
}

std::string wrong_option(stage_kind const& kind, void const* object) {
  std::vector<std::max_align_t> copy(kind.option_bytes / sizeof(std::max_align_t) + 1);
  std::memcpy(copy.data(), object, kind.option_bytes);
  for (auto const& f : options_in(kind, copy.data()))
    if (!is_accepted(f))
      return fmt::format("the option '{}' is {}; it must be {}", f.name, f.value(), f.accepted());
  return {};
}

void add_files(file_uses& to, stage_kind const& kind, void const* object, std::string const& who,
               bool goes_on, std::uint32_t replicas) {
  std::vector<std::max_align_t> copy(kind.option_bytes / sizeof(std::max_align_t) + 1);
  std::memcpy(copy.data(), object, kind.option_bytes);
  for (auto const& f : options_in(kind, copy.data())) {
    if (f.file == option_field::use::no_file) continue;
    std::string const name = std::get<option_field::text>(f.at).at;
    if (f.file == option_field::use::reads)
      to.reads(who, name);
    else if (f.file == option_field::use::reads_url)
      to.reads_url(who, name);
    else if (f.file == option_field::use::writes_url)
      to.writes_url(who, name);
    else
      for (auto left = name.find("{tick}") == std::string::npos ? replicas : 1; left != 0; --left)
        goes_on ? to.writes_from_any_tick(who, name) : to.writes(who, name);
  }
}

void read_options(stage_kind const& kind, json_node const& from, std::string const& origin,
                  std::string const& path, void* object) {
  if (from.what != json_node::kind::object)
    throw config_error(fmt::format("{}: {}: is {}; it must be an object", origin, path, from.described()));
  auto const all = options_in(kind, object);
  for (std::size_t i = 0; i < from.names.size(); ++i) {
    auto const where = fmt::format("{}: {}.{}", origin, path, from.names[i]);
    if (from.find(from.names[i]) != &from.entries[i])
      throw config_error(fmt::format("{}: is given twice", where));
    set_or_refuse(all, kind, from.names[i], from.entries[i], where);
  }
}

void set_option(stage_kind const& kind, std::string_view name, std::string_view value,
                std::string const& origin, void* object) {
  auto const all = options_in(kind, object);
  json_node v{.what = json_node::kind::string, .text = std::string(value)};
  for (auto const& f : all) {  // a text, or a choice, has no quotes on a command line
    if (name != f.name || std::holds_alternative<option_field::text>(f.at) || !f.choices.empty()) continue;
    try {
      v = parse_json_node(value);
    } catch (json_error const&) {  // then it stays a string, which is refused
    }
  }
  set_or_refuse(all, kind, name, v, fmt::format("{}: {}", origin, name));
}

}  // namespace rondo::streams
