// Options that all commands have: numbers with bounds, and the table of exit statuses in their help.
#pragma once

#include <CLI/CLI.hpp>
#include <concepts>
#include <cstdint>
#include <string>

namespace rondo::service {

/// `text` as a whole number within these bounds, or as a finite one. Throws CLI::ValidationError, which names the
/// option.
std::uint64_t whole_number(std::string const& option, std::string const& text, std::uint64_t least,
                           std::uint64_t most);
double real_number(std::string const& option, std::string const& text, double least, double most);

/// Adds an option that takes a whole number from `least` to `most`.
template <std::integral Number>
CLI::Option& add_number(CLI::App& command, std::string const& name, Number& to, std::string const& help,
                        std::uint64_t least, std::uint64_t most) {
  return *command
              .add_option_function<std::string>(
                  name,
                  [name, &to, least, most](std::string const& text) {
                    to = static_cast<Number>(whole_number(name, text, least, most));
                  },
                  help)
              ->type_name(std::to_string(least) + ".." + std::to_string(most));
}
/// Adds an option that takes a number from `least` to `most`.
CLI::Option& add_number(CLI::App& command, std::string const& name, double& to, std::string const& help,
                        double least, double most);

/// The table of exit statuses, for a command's help.
std::string exit_status_help();

}  // namespace rondo::service
