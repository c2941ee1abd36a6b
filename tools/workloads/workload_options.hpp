// What the workloads of `rondo run` have in common.
#pragma once

#include <fmt/format.h>

#include <chrono>
#include <string>
#include <string_view>

#include "actors/workloads/input_text.hpp"
#include "runtime/base/config.hpp"
#include "tools/commands/command_line.hpp"

namespace rondo::tools {

struct workload_options {
  std::string device;  // empty: from the configuration
  int teams = -1;      // likewise
  std::string picture;
  bool is_json = false, is_quiet = false;

  /// `shows`: what the picture shows.
  void add_to(CLI::App& command, std::string const& shows);
  /// From the environment and the options, with room for so many bytes of buffers. Throws config_error.
  config settings(std::uint64_t buffer_bytes) const;
};

/// Refuses a small file, or an option, that asks for more memory than the machine has. Throws command_error; its
/// text begins with `what`.
void require_memory(std::string const& what, std::uint64_t bytes);

/// Lines on standard error while something takes long: at most one a second.
class progress_lines {
 public:
  explicit progress_lines(bool is_quiet) : is_quiet_(is_quiet) {}
  /// Whether a line is due.
  bool is_due();
  void show(std::string const& line) const;

 private:
  bool is_quiet_;
  std::chrono::steady_clock::time_point last_ = std::chrono::steady_clock::now();
};

/// The data of a workload: `file` holds it, or `generate` says how it is made up. One of both is empty.
struct workload_data {
  std::string file, generate;

  void add_to(CLI::App& command, std::string const& kind, std::string const& example);
  /// What `parse(text, origin, report)` makes of the file, or `make(generate)`. `command` begins all errors; `example`
  /// is one of --generate. Throws command_error.
  template <class Parse, class Make>
  auto load(std::string const& command, std::string const& example, bool is_quiet, Parse const& parse,
            Make const& make) const {
    if (file.empty() == generate.empty())
      throw service::command_error(exit_usage,
                                   fmt::format("{}: pass a file, or --generate {}", command, example));
    try {
      if (file.empty()) return make(generate);
      progress_lines progress(is_quiet);
      return parse(text_of_file(), file, [&](double part) {
        if (progress.is_due()) progress.show(fmt::format("rondo: {}: {:.0f} % read", file, 100 * part));
      });
    } catch (workloads::input_error const& e) {
      throw service::command_error(
          file.empty() ? exit_usage : exit_bad_data,
          fmt::format("{}: {}{}", command, file.empty() ? "--generate " : "", e.what()));
    }
  }

 private:
  std::string text_of_file() const;
};

/// Throws command_error if a file cannot be written: before the work that it is to hold. An empty name is no file.
void require_writable(std::string const& command, std::string const& file);
/// Writes a file as a whole. Throws command_error.
void write_result(std::string const& command, std::string const& file, std::string_view text);

/// Adds the workloads to `rondo run`.
void add_agents_command(CLI::App& run, int& exit_status);
void add_anomaly_command(CLI::App& run, int& exit_status);
void add_pagerank_command(CLI::App& run, int& exit_status);

}  // namespace rondo::tools
