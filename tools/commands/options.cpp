#include "tools/commands/options.hpp"

#include <fmt/format.h>

#include "runtime/text/clean_text.hpp"
#include "runtime/text/parse_number.hpp"
#include "tools/commands/exit_codes.hpp"

namespace rondo::service {

std::uint64_t whole_number(std::string const& option, std::string const& text, std::uint64_t least,
                           std::uint64_t most) {
  auto const number = parse_number(text);
  if (number && *number >= least && *number <= most) return *number;
  throw CLI::ValidationError(
      option, fmt::format("is '{}'; it must be a whole number from {} to {}", clean_text(text), least, most));
}

double real_number(std::string const& option, std::string const& text, double least, double most) {
  auto const number = parse_real<double>(text);
  if (number && *number >= least && *number <= most) return *number;  // not NaN
  throw CLI::ValidationError(
      option, fmt::format("is '{}'; it must be a number from {} to {}", clean_text(text), least, most));
}

CLI::Option& add_number(CLI::App& command, std::string const& name, double& to, std::string const& help,
                        double least, double most) {
  return *command
              .add_option_function<std::string>(
                  name,
                  [name, &to, least, most](std::string const& text) {
                    auto const ratio = parse_ratio(text);  // "60000/1001"
                    to = ratio && *ratio >= least && *ratio <= most ? *ratio
                                                                    : real_number(name, text, least, most);
                  },
                  help)
              ->type_name(fmt::format("{}..{}", least, most));
}

std::string exit_status_help() {
  std::string text = "Exit status:\n";
  for (auto const& row : exit_statuses)
    text += fmt::format("  {:2} {}\n", static_cast<int>(row.code), row.meaning);
  return text;
}

}  // namespace rondo::service
