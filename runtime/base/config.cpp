#include "runtime/base/config.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string_view>

#include "runtime/base/config_fields.hpp"
#include "runtime/text/json_reader.hpp"
#include "runtime/text/parse_number.hpp"

extern char** environ;  // not every system's headers have it

namespace rondo {
namespace {

using config_fields::field;
using config_fields::refuse;

constexpr std::string_view variable_prefix = "RONDO_";

std::string upper_case(std::string_view name) {
  std::string text(name);
  std::ranges::transform(text, text.begin(), [](char c) {
    return static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  });
  return text;
}

std::string variable_of(field const& f) { return std::string(variable_prefix) + upper_case(f.name); }

std::string read_text(std::filesystem::path const& file) {
  std::ifstream in(file, std::ios::binary);
  std::string text;
  if (in && !std::filesystem::is_directory(file))
    text.assign(std::istreambuf_iterator<char>(in), {});
  else
    in.setstate(std::ios::failbit);
  if (in.fail())
    throw config_error(fmt::format("{}: cannot be read; name an existing JSON file", file.string()));
  return text;
}

config read_json(std::string const& file, std::string const& text, config settings) {
  auto const root = parse_json_file(text, file);
  if (root.what != json_node::kind::object)
    throw config_error(fmt::format("{}: is {}; it must be a JSON object", file, root.described()));
  config_fields::read(settings, root, [&](std::size_t field) {
    return root.lines[field] == 0 ? file : fmt::format("{}:{}", file, root.lines[field]);
  });
  return settings;
}

void set_from_text(config& settings, field const& f, std::string const& text, std::string_view origin) {
  auto const refuse_text = [&] {
    refuse(origin, f.name,
           fmt::format("'{}' is refused; it must be {}", config_fields::shortened(text),
                       config_fields::accepted(f)));
  };
  if (f.is_flag()) {
    if (text != "true" && text != "false") refuse_text();
    config_fields::set(settings, f, text == "true", origin);
  } else if (f.is_number()) {
    auto const number = parse_number(text);
    if (!number) refuse_text();
    config_fields::set(settings, f, *number, origin);
  } else {
    config_fields::set(settings, f, text, origin);
  }
}

std::string default_of(field const& f, config const& defaults) {
  auto const value = config_fields::get(defaults, f);
  if (auto const* text = std::get_if<std::string>(&value)) return *text;
  if (auto const* flag = std::get_if<bool>(&value)) return *flag ? "true" : "false";
  return std::to_string(std::get<std::uint64_t>(value));
}

}  // namespace

config load_config(std::filesystem::path const& file, config base) {
  return read_json(file.string(), read_text(file), std::move(base));
}

config parse_config(std::string const& json, std::string const& origin, config base) {
  return read_json(origin, json, std::move(base));
}

config config_from_environment(config base) { return config_from_environment(std::move(base), ::environ); }

config config_from_environment(config base, char const* const* environment) {
  auto const file_variable = std::string(variable_prefix) + "CONFIG";
  std::vector<std::pair<std::string, std::string>> ours;
  for (; environment != nullptr && *environment != nullptr; ++environment) {
    std::string_view const entry = *environment;
    if (!entry.starts_with(variable_prefix)) continue;
    auto const equals = std::min(entry.find('='), entry.size());
    auto const text = entry.substr(std::min(equals + 1, entry.size()));
    if (!text.empty()) ours.emplace_back(entry.substr(0, equals), text);
  }

  auto const file = std::ranges::find(ours, file_variable, &std::pair<std::string, std::string>::first);
  if (file != ours.end()) base = load_config(file->second, std::move(base));
  for (auto const& [name, text] : ours) {
    if (name == file_variable) continue;
    auto const found = std::ranges::find(config_fields::all(), name, variable_of);
    if (found == config_fields::all().end()) {
      refuse("environment", name,
             fmt::format("unknown variable; expected {} or RONDO_ followed by one of {}, in capitals",
                         file_variable, fmt::join(config_fields::known_names(), ", ")));
    }
    set_from_text(base, *found, text, "environment: " + name);
  }
  return base;
}

void validate(config const& settings) {
  config scratch;
  for (auto const& f : config_fields::all()) {
    config_fields::set(scratch, f, config_fields::get(settings, f), "configuration");
  }
}

void set_field(config& settings, std::string_view field, std::string const& text, std::string_view option) {
  set_from_text(settings, *config_fields::find(field), text, option);
}

std::string setting_name(config const& settings, std::string_view field) {
  auto const& f = *config_fields::find(field);
  auto const variable = variable_of(f);
  auto const* const text = std::getenv(variable.c_str());
  return text != nullptr && config_fields::gives(text, f, config_fields::get(settings, f)) ? variable
                                                                                           : f.name;
}

std::string config_fields::help_text(config const& defaults) {
  std::string text;
  for (auto const& f : all()) {
    fmt::format_to(std::back_inserter(text), "{} ({})\n    {}\n    {}; default {}\n", f.name, variable_of(f),
                   f.doc, accepted(f), default_of(f, defaults));
  }
  return text;
}

std::string describe_config_fields() { return config_fields::help_text({}); }

}  // namespace rondo
