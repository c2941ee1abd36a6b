#include "runtime/base/config_fields.hpp"

#include <flatbuffers/reflection.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <bit>
#include <iterator>
#include <limits>

#include "generated/config_bfbs_generated.h"
#include "runtime/text/nearest_name.hpp"
#include "runtime/text/parse_number.hpp"

namespace rondo::config_fields {
namespace {

struct binding {
  std::string_view name;
  member where;
};

// C++ cannot generate this list of members. `all` checks it against the schema.
#define RONDO_BIND(name) \
  binding { #name, &config::name }
constexpr binding bindings[] = {
    RONDO_BIND(device),
    RONDO_BIND(teams),
    RONDO_BIND(pinned_teams),
    RONDO_BIND(guest_teams),
    RONDO_BIND(lanes),
    RONDO_BIND(free_multiprocessors),
    RONDO_BIND(inbox),
    RONDO_BIND(portable),
    RONDO_BIND(ring_mode),
    RONDO_BIND(round_messages),
    RONDO_BIND(round_ms),
    RONDO_BIND(actors),
    RONDO_BIND(mail_blocks),
    RONDO_BIND(default_capacity),
    RONDO_BIND(state_bytes),
    RONDO_BIND(asks),
    RONDO_BIND(submission_slots),
    RONDO_BIND(completion_slots),
    RONDO_BIND(buffer_bytes_cap),
    RONDO_BIND(buffer_slots),
    RONDO_BIND(pinned_bytes),
    RONDO_BIND(share_buffers),
    RONDO_BIND(quota),
    RONDO_BIND(starvation_limit),
    RONDO_BIND(spin_us),
    RONDO_BIND(poll_us),
    RONDO_BIND(polling),
    RONDO_BIND(pin_teams),
    RONDO_BIND(latency_sample_every),
    RONDO_BIND(trace_every),
    RONDO_BIND(trace_hops),
    RONDO_BIND(log_level),
    RONDO_BIND(handler_limit_ms),
    RONDO_BIND(stop_timeout_ms),
    RONDO_BIND(seed),
    RONDO_BIND(visibility_delay_us),
};
#undef RONDO_BIND

std::optional<std::string> attribute(reflection::Field const& f, std::string_view key) {
  if (f.attributes() == nullptr) return std::nullopt;
  for (auto const* pair : *f.attributes()) {
    if (pair->key()->string_view() == key)
      return pair->value() == nullptr ? std::string() : pair->value()->str();
  }
  return std::nullopt;
}

/// The FlatBuffers type with exactly the member's values.
reflection::BaseType base_type_of(field const& f) {
  if (f.is_flag()) return reflection::Bool;
  if (f.is_choice()) return reflection::UByte;
  if (f.is_string()) return reflection::String;
  return std::holds_alternative<std::uint32_t config::*>(f.where) ? reflection::UInt : reflection::ULong;
}

field describe(reflection::Schema const& schema, reflection::Field const& f) {
  auto const name = f.name()->string_view();
  auto const* bound = std::ranges::find(bindings, name, &binding::name);
  if (bound == std::end(bindings)) {
    throw std::logic_error(
        fmt::format("schemas/config.fbs has the field {}, but rondo::config does not", name));
  }
  field out{
      .name = f.name()->str(), .doc = {}, .where = bound->where, .words = {}, .alone = {}, .choices = {}};
  if (f.type()->base_type() != base_type_of(out)) {
    throw std::logic_error(
        fmt::format("{} has different types in schemas/config.fbs and rondo::config", name));
  }
  out.id = f.id();
  if (f.documentation() != nullptr) {
    for (auto const* line : *f.documentation()) out.doc += line->str();
    out.doc.erase(0, out.doc.find_first_not_of(' '));
  }
  out.words = attribute(f, "words").value_or("");
  out.is_list = attribute(f, "list").has_value();
  out.alone = attribute(f, "alone").value_or("");
  out.power_of_two = attribute(f, "power_of_two").has_value();
  if (out.is_choice()) {
    auto const* e = schema.enums()->Get(static_cast<flatbuffers::uoffset_t>(f.type()->index()));
    for (auto const* choice : *e->values()) out.choices.push_back(choice->name()->str());
  }
  bool const narrow = base_type_of(out) == reflection::UInt;
  std::uint64_t const widest =
      narrow ? std::numeric_limits<std::uint32_t>::max() : std::numeric_limits<std::uint64_t>::max();
  out.min = parse_number(attribute(f, "min").value_or("")).value_or(0);
  out.max = parse_number(attribute(f, "max").value_or("")).value_or(widest);
  return out;
}

/// schemas/config.fbs in FlatBuffers' binary form. Copied because flatc generates an array of bytes, which guarantees
/// no alignment; a vector's memory does.
std::vector<std::uint8_t> const& binary_schema() {
  static std::vector<std::uint8_t> const bytes(
      schemas::configBinarySchema::data(),
      schemas::configBinarySchema::data() + schemas::configBinarySchema::size());
  return bytes;
}

std::vector<field> describe_all() {
  auto const& schema = *reflection::GetSchema(binary_schema().data());
  std::vector<field> list;
  for (auto const* f : *schema.root_table()->fields()) list.push_back(describe(schema, *f));
  if (list.size() != std::size(bindings)) {
    throw std::logic_error("rondo::config has a field that schemas/config.fbs does not have");
  }
  std::ranges::sort(list, {}, &field::id);
  return list;
}

constexpr std::size_t max_text_bytes = 2000;  // no valid value is longer

/// The parts of `text` between the separators. (std::views::split does not compile with clang 14 and this libstdc++.)
std::vector<std::string_view> split(std::string_view text, std::string_view separator) {
  std::vector<std::string_view> parts;
  while (true) {
    auto const end = text.find(separator);
    parts.push_back(text.substr(0, end));
    if (end == text.npos) return parts;
    text.remove_prefix(end + separator.size());
  }
}

/// Whether `text` is one of these words, which are separated by ", ". The N of cuda:N is one to three digits, the NAME
/// of opencl:NAME any printable text.
bool is_one_of(std::string_view words, std::string_view text) {
  return std::ranges::any_of(split(words, ", "), [text](std::string_view word) {
    if (constexpr std::string_view name = "NAME"; word.ends_with(name)) {
      auto const stem = word.substr(0, word.size() - name.size());
      return text.starts_with(stem) && text.size() > stem.size() &&
             std::ranges::all_of(text, [](char c) { return c >= ' ' && c <= '~'; });
    }
    if (!word.ends_with(":N")) return text == word;
    auto const stem = word.substr(0, word.size() - 1);
    auto const digits = text.substr(std::min(stem.size(), text.size()));
    return text.starts_with(stem) && !digits.empty() && digits.size() <= 3 &&
           parse_number(digits).has_value();
  });
}

bool fits(field const& f, std::string_view text) {
  if (!f.is_list) return is_one_of(f.words, text);
  if (!f.alone.empty() && text == f.alone) return true;
  return !text.empty() && text.size() <= max_text_bytes &&
         std::ranges::all_of(split(text, ","),
                             [&](std::string_view part) { return is_one_of(f.words, part); });
}

/// A runtime's actors run on a device, so there is no runtime without one.
std::string_view advice(field const& f, std::string_view text) {
  return f.name == "device" && text == "none" ? " (for no GPU, choose cpu)" : "";
}

[[noreturn]] void refuse_value(std::string_view origin, field const& f, std::string_view given) {
  refuse(origin, f.name, fmt::format("{} is refused; it must be {}", given, accepted(f)));
}

}  // namespace

std::vector<field> const& all() {
  static std::vector<field> const list = describe_all();
  return list;
}

field const* find(std::string_view name) {
  auto const found = std::ranges::find(all(), name, &field::name);
  return found == all().end() ? nullptr : &*found;
}

std::string accepted(field const& f) {
  if (f.is_flag()) return "true or false";
  if (f.is_choice()) {
    std::string names = "one of";
    for (auto const& choice : f.choices) names += (&choice == &f.choices.front() ? " " : ", ") + choice;
    return names;
  }
  if (f.is_string() && f.is_list)
    return fmt::format("{}one or several, separated by commas, of {}",
                       f.alone.empty() ? "" : f.alone + " alone, or ", f.words);
  if (f.is_string()) return "one of " + f.words;
  return fmt::format("{} from {} to {}", f.power_of_two ? "a power of two" : "a whole number", f.min, f.max);
}

std::string shortened(std::string_view given) {
  constexpr std::size_t most = 100;
  return given.size() <= most ? std::string(given) : fmt::format("{}...", given.substr(0, most));
}

std::vector<std::string> known_names() {
  std::vector<std::string> names;
  for (auto const& f : all()) names.push_back(f.name);
  return names;
}

void read(config& settings, json_node const& object, origin_of_field const& origin) {
  for (std::size_t i = 0; i < object.names.size(); ++i) {
    auto const& name = object.names[i];
    auto const& v = object.entries[i];
    auto const* const f = find(name);
    if (f == nullptr)
      refuse(origin(i), name,
             fmt::format("unknown field; expected one of {}{}", fmt::join(known_names(), ", "),
                         did_you_mean(name, known_names())));
    if (object.find(name) != &v) refuse(origin(i), name, "is given twice");
    auto const number = v.what == json_node::kind::number ? parse_number(v.text) : std::nullopt;
    if (f->is_number() && number)
      set(settings, *f, *number, origin(i));
    else if (f->is_flag() && v.what == json_node::kind::flag)
      set(settings, *f, v.flag, origin(i));
    else if (!f->is_number() && !f->is_flag() && v.what == json_node::kind::string)
      set(settings, *f, v.text, origin(i));
    else
      refuse(origin(i), name, fmt::format("is {}; it must be {}", v.described(), accepted(*f)));
  }
}

value get(config const& settings, field const& f) {
  if (auto const* flag = std::get_if<bool config::*>(&f.where)) return settings.**flag;
  if (auto const* text = std::get_if<std::string config::*>(&f.where)) return settings.**text;
  if (auto const* narrow = std::get_if<std::uint32_t config::*>(&f.where))
    return std::uint64_t{settings.**narrow};
  if (auto const* wide = std::get_if<std::uint64_t config::*>(&f.where)) return settings.**wide;
  auto const* const level = std::get_if<rondo::log_level config::*>(&f.where);
  auto const choice = level != nullptr
                          ? static_cast<std::size_t>(settings.**level)
                          : static_cast<std::size_t>(settings.*std::get<rondo::ring_mode config::*>(f.where));
  return choice < f.choices.size() ? f.choices[choice] : fmt::format("value {}", choice);
}

void set(config& settings, field const& f, value const& given, std::string_view origin) {
  if (auto const* flag = std::get_if<bool config::*>(&f.where)) {
    settings.** flag = std::get<bool>(given);
  } else if (f.is_choice()) {
    auto const& text = std::get<std::string>(given);
    auto const found = std::ranges::find(f.choices, text);
    if (found == f.choices.end()) refuse_value(origin, f, fmt::format("'{}'", shortened(text)));
    auto const choice = found - f.choices.begin();
    if (auto const* const level = std::get_if<rondo::log_level config::*>(&f.where))
      settings.** level = static_cast<rondo::log_level>(choice);
    else
      settings.*std::get<rondo::ring_mode config::*>(f.where) = static_cast<rondo::ring_mode>(choice);
  } else if (auto const* string = std::get_if<std::string config::*>(&f.where)) {
    auto const& text = std::get<std::string>(given);
    if (!fits(f, text)) refuse_value(origin, f, fmt::format("'{}'{}", shortened(text), advice(f, text)));
    settings.** string = text;
  } else {
    auto const number = std::get<std::uint64_t>(given);
    bool const in_range = number >= f.min && number <= f.max;
    if (!in_range || (f.power_of_two && !std::has_single_bit(number)))
      refuse_value(origin, f, std::to_string(number));
    if (auto const* narrow = std::get_if<std::uint32_t config::*>(&f.where)) {
      settings.** narrow = static_cast<std::uint32_t>(number);
    } else {
      settings.*std::get<std::uint64_t config::*>(f.where) = number;
    }
  }
}

bool gives(std::string_view text, field const& f, value const& v) {
  if (auto const* number = std::get_if<std::uint64_t>(&v)) return parse_number(text) == *number;
  if (auto const* flag = std::get_if<bool>(&v)) return text == (*flag ? "true" : "false");
  auto const& wanted = std::get<std::string>(v);
  if (text == wanted) return true;
  auto const parts = split(text, ",");
  return f.is_list && std::ranges::find(parts, wanted) != parts.end();
}

void refuse(std::string_view origin, std::string_view name, std::string_view reason) {
  throw config_error(fmt::format("{}: {}: {}", origin, name, reason));
}

}  // namespace rondo::config_fields
