#include "runtime/config.hpp"

#include <flatbuffers/flexbuffers.h>
#include <flatbuffers/idl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <fstream>
#include <iterator>
#include <string_view>

#include "runtime/config_fields.hpp"

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

/// `file:line` of a key, or `file` where the text spells the key with escapes.
std::string place_of(std::string const& file, std::string const& text, std::string const& key) {
  auto const at = text.find('"' + key + '"');
  if (at == std::string::npos) return file;
  return fmt::format("{}:{}", file,
                     1 + std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(at), '\n'));
}

flatbuffers::IDLOptions strict() {
  flatbuffers::IDLOptions options;
  options.strict_json = true;
  return options;
}

std::string_view kind_of(flexbuffers::Reference const& json) {
  if (json.IsNull()) return "null";
  if (json.IsBool()) return "a flag";
  if (json.IsString()) return "a string";
  if (json.IsFloat()) return "a fraction";
  if (json.IsIntOrUint()) return json.AsInt64() < 0 ? "a negative number" : "a number";
  return json.IsMap() ? "an object" : "a list";
}

/// FlatBuffers' parser turns "2" into 2 and 2 into true; here a value must have the kind that the field has.
void check_kind(field const& f, flexbuffers::Reference const& json, std::string_view place) {
  bool const fits = f.is_number() ? json.IsIntOrUint() && json.AsInt64() >= 0
                                  : (f.is_flag() ? json.IsBool() : json.IsString());
  if (!fits)
    refuse(place, f.name, fmt::format("is {}; it must be {}", kind_of(json), config_fields::accepted(f)));
}

/// The text gives the field exactly this number. Without std::regex, which recurses for each character that it reads.
bool gives(std::string_view text, std::string_view name, std::string_view number) {
  constexpr std::string_view blank = " \t\r\n";
  for (auto at = text.find(name); at != std::string_view::npos; at = text.find(name, at + 1)) {
    auto rest = text.substr(at + name.size());
    if (at == 0 || text[at - 1] != '"' || !rest.starts_with('"')) continue;
    auto const skip_blanks = [&] {
      rest.remove_prefix(std::min(rest.find_first_not_of(blank), rest.size()));
    };
    rest.remove_prefix(1);
    skip_blanks();
    if (!rest.starts_with(':')) continue;
    rest.remove_prefix(1);
    skip_blanks();
    if (rest.substr(0, rest.find_first_of(" \t\r\n,}")) == number) return true;
  }
  return false;
}

/// What the parser says of a number that its type cannot hold names no field: look for who had that number.
[[noreturn]] void refuse_overflow(std::string const& file, std::string const& text,
                                  std::string const& error) {
  constexpr std::string_view mark = "invalid number: \"";
  if (auto const at = error.find(mark); at != std::string::npos) {
    auto const number = std::string_view(error).substr(at + mark.size());
    auto const digits = number.substr(0, number.find('"'));
    for (auto const& f : config_fields::all())
      if (gives(text, f.name, digits))
        refuse(place_of(file, text, f.name), f.name,
               fmt::format("{} is refused; it must be {}", config_fields::shortened(digits),
                           config_fields::accepted(f)));
  }
  throw config_error(error);
}

std::string known_names() {
  std::string names;
  for (auto const& f : config_fields::all()) names += (names.empty() ? "" : ", ") + f.name;
  return names;
}

config read_json(std::string const& file, std::string const& text, config settings) {
  if (text.find('\0') != std::string::npos)
    throw config_error(fmt::format("{}: contains a zero byte; it must be JSON text", file));
  flatbuffers::Parser typed(strict());
  if (!typed.Deserialize(config_fields::binary_schema().data(), config_fields::binary_schema().size())) {
    throw std::logic_error("the schema of the configuration is damaged");
  }
  // Without a schema the parser keeps the kinds of the values, with it it keeps all 64 bits of a number: use
  // both.
  flatbuffers::Parser untyped(strict());
  flexbuffers::Builder tree;
  if (!untyped.ParseFlexBuffer(text.c_str(), file.c_str(), &tree)) {
    // The typed parser names a field that was given twice.
    bool const accepted = typed.ParseJson(text.c_str(), file.c_str());
    throw config_error(accepted ? untyped.error_ : typed.error_);
  }
  auto const root = flexbuffers::GetRoot(tree.GetBuffer());
  if (!root.IsMap())
    throw config_error(fmt::format("{}: is {}; it must be a JSON object", file, kind_of(root)));

  auto const entries = root.AsMap();
  for (std::size_t i = 0; i < entries.size(); ++i) {
    std::string const key = entries.Keys()[i].AsKey();
    auto const place = place_of(file, text, key);
    auto const* f = config_fields::find(key);
    if (f == nullptr) refuse(place, key, "unknown field; expected one of " + known_names());
    check_kind(*f, entries.Values()[i], place);
    if (!f->is_number() && !f->is_flag()) {
      config_fields::set(settings, *f, entries.Values()[i].AsString().str(), place);
    } else if (f->is_flag()) {
      config_fields::set(settings, *f, entries.Values()[i].AsBool(), place);
    }
  }

  if (!typed.ParseJson(text.c_str(), file.c_str())) refuse_overflow(file, text, typed.error_);
  auto const& table = *flatbuffers::GetRoot<flatbuffers::Table>(typed.builder_.GetBufferPointer());
  for (auto const& f : config_fields::all()) {
    if (!f.is_number() || !table.CheckField(f.offset)) continue;
    bool const narrow = std::holds_alternative<std::uint32_t config::*>(f.where);
    auto const number =
        narrow ? table.GetField<std::uint32_t>(f.offset, 0) : table.GetField<std::uint64_t>(f.offset, 0);
    config_fields::set(settings, f, number, place_of(file, text, f.name));
  }
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
    auto const number = config_fields::parse_number(text);
    if (!number) refuse_text();
    config_fields::set(settings, f, *number, origin);
  } else {
    config_fields::set(settings, f, text, origin);
  }
}

std::string default_of(field const& f) {
  auto const value = config_fields::get(config{}, f);
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
                         file_variable, known_names()));
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

std::string describe_config_fields() {
  std::string text;
  for (auto const& f : config_fields::all()) {
    fmt::format_to(std::back_inserter(text), "{} ({})\n    {}\n    {}; default {}\n", f.name, variable_of(f),
                   f.doc, config_fields::accepted(f), default_of(f));
  }
  return text;
}

}  // namespace rondo
