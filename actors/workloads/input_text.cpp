#include "actors/workloads/input_text.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "runtime/text/parse_number.hpp"

namespace rondo::workloads {

bool input_lines::next(std::string_view& line) {
  if (at_ >= text_.size()) return false;
  auto const end = std::min(text_.find('\n', at_), text_.size());
  line = text_.substr(at_, end - at_);
  at_ = end + 1;
  if (line.ends_with('\r')) line.remove_suffix(1);
  if (++number_ % 65'536 == 0 && report_)
    report_(static_cast<double>(at_) / static_cast<double>(text_.size()));
  return true;
}

void input_lines::refuse(std::string const& why) const {
  throw input_error(fmt::format("{}:{}: {}", origin_, number_, why));
}

std::string beginning_of(std::string_view text) {
  constexpr std::size_t most = 40;
  std::string clean;
  for (auto const c : text.substr(0, most)) clean += c >= ' ' && c <= '~' ? c : '?';
  return text.size() > most ? clean + "..." : clean;
}

namespace {

/// "a, b and c".
std::string names_of(std::span<named_number const> numbers) {
  std::string all;
  for (auto const& n : numbers)
    all += fmt::format("{}{}", all.empty() ? "" : &n == &numbers.back() ? " and " : ", ", n.name);
  return all;
}

}  // namespace

void read_numbers(std::string_view text, std::span<named_number const> numbers, std::string_view example) {
  auto const refuse = [&](std::string const& why) {
    throw input_error(fmt::format("'{}': {}; such as {}", beginning_of(text), why, example));
  };
  for (auto rest = text; !rest.empty();) {
    auto const part = rest.substr(0, rest.find(','));
    rest.remove_prefix(std::min(part.size() + 1, rest.size()));
    auto const name = part.substr(0, part.find('='));
    auto const found =
        std::find_if(numbers.begin(), numbers.end(), [&](named_number const& n) { return n.name == name; });
    if (found == numbers.end())
      refuse(fmt::format("'{}' is none of {}", beginning_of(name), names_of(numbers)));
    auto const value = parse_number(part.substr(std::min(name.size() + 1, part.size())));
    if (!value || *value < found->least || *value > found->most)
      refuse(fmt::format("{} is a whole number from {} to {}", name, found->least, found->most));
    found->value = static_cast<std::uint32_t>(*value);
  }
}

}  // namespace rondo::workloads
