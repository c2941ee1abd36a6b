#include "tools/workloads/run_command.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include "actors/video/files/still.hpp"
#include "runtime/device/emulated/emulated_module.hpp"
#include "runtime/files/durable_file.hpp"
#include "runtime/files/part_file.hpp"
#include "runtime/text/to_stderr.hpp"
#include "tools/workloads/workload_options.hpp"
#include "tools/workloads_module/workloads_module.hpp"

RONDO_EMULATED_MODULE(rondo::tools::workloads_module)

namespace rondo::tools {

void workload_options::add_to(CLI::App& command, std::string const& shows) {
  command.add_option("--device", device, "auto, cpu, emulated, cuda or cuda:N");
  service::add_number(command, "--teams", teams, "teams that run handlers; 0: one per core", 0, 65536);
  command.add_option("--picture", picture, fmt::format("write a picture: {}", shows))
      ->check([](std::string const& file) { return video::why_no_still(file); });
  command.add_flag("--json", is_json, "print the result as JSON");
  command.add_flag("--quiet", is_quiet, "show no progress");
}

config workload_options::settings(std::uint64_t buffer_bytes) const {
  auto c = config_from_environment();
  if (!device.empty()) set_field(c, "device", device, "--device");
  if (teams >= 0) c.teams = static_cast<std::uint32_t>(teams);
  c.buffer_bytes_cap = std::max(c.buffer_bytes_cap, buffer_bytes + buffer_bytes / 4);
  validate(c);
  return c;
}

void require_memory(std::string const& what, std::uint64_t bytes) {
  auto const all = static_cast<std::uint64_t>(::sysconf(_SC_PHYS_PAGES)) *
                   static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
  if (bytes > all)
    throw service::command_error(exit_failed, fmt::format("{} takes {} MB, but this machine has only {} MB",
                                                          what, bytes >> 20, all >> 20));
}

void workload_data::add_to(CLI::App& command, std::string const& kind, std::string const& example) {
  command.add_option("file", file, kind);
  command.add_option("--generate", generate, fmt::format("make random data instead: {}", example));
}

std::string workload_data::text_of_file() const {
  try {
    auto const bytes = read_whole_file(file, ~std::uint64_t{0});
    return {reinterpret_cast<char const*>(bytes.data()), bytes.size()};
  } catch (std::runtime_error const& e) {
    throw service::command_error(exit_no_input, e.what());
  }
}

void require_writable(std::string const& command, std::string const& file) {
  if (file.empty() || is_written_directly(file)) return;
  try {
    part_file(file).discard();
  } catch (std::system_error const& e) {
    throw service::command_error(
        exit_no_output, fmt::format("{}: {}: cannot be written: {}", command, file, e.code().message()));
  }
}

void write_result(std::string const& command, std::string const& file, std::string_view text) {
  try {
    write_output(file, text);
  } catch (std::runtime_error const& e) {
    throw service::command_error(exit_no_output, fmt::format("{}: {}", command, e.what()));
  }
}

bool progress_lines::is_due() {
  auto const now = std::chrono::steady_clock::now();
  if (is_quiet_ || now - last_ < std::chrono::seconds(1)) return false;
  last_ = now;
  return true;
}

void progress_lines::show(std::string const& line) const {
  if (!is_quiet_) to_stderr(line + "\n");
}

void add_run_command(CLI::App& app, int& exit_status) {
  auto& run = *app.add_subcommand("run", "Run a workload: agents, anomaly or pagerank");
  run.require_subcommand(1);
  run.footer(service::exit_status_help());
  add_agents_command(run, exit_status);
  add_anomaly_command(run, exit_status);
  add_pagerank_command(run, exit_status);
}

}  // namespace rondo::tools
