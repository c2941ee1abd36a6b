// The command replay: handles a service's recorded messages again, without the service.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include "runtime/checkpoint.hpp"
#include "runtime/replay.hpp"
#include "runtime/state/replayer.hpp"
#include "runtime/text/clean_text.hpp"
#include "runtime/text/to_stderr.hpp"
#include "tools/commands/command_line.hpp"
#include "tools/commands/commands.hpp"

namespace rondo::service {

namespace {

struct replay_arguments {
  std::string recording, checkpoint;
  std::uint32_t devices = 1;
  bool quiet = false;
};

/// One team per device: this thread.
rondo::config one_team(std::uint32_t devices) {
  rondo::config c;
  c.device = "cpu";
  for (std::uint32_t d = 1; d < devices; ++d) c.device += ",cpu";
  c.teams = 1;
  c.guest_teams = 1;
  return config_from_environment(c);
}

int replay(replay_arguments const& a, served_module const& module) {
  file_uses uses;
  uses.reads("the recording", a.recording);
  uses.writes("--checkpoint", a.checkpoint);
  require_own_files(uses);
  open_input(a.recording);  // before the devices start
  auto const rt = module.start(one_team(a.devices));
  bool const shows = !a.quiet && ::isatty(STDERR_FILENO) != 0;
  replay_report found;
  try {
    found = rondo::replay(*rt, a.recording, [&](std::uint64_t entries) {
      if (shows) to_stderr(fmt::format("\r{} entries", entries));
    });
    if (shows) to_stderr("\r\033[K");
  } catch (std::runtime_error const& e) {
    throw command_error(exit_bad_data, e.what());
  }
  try {
    if (!a.checkpoint.empty())
      if (auto const left_out = rondo::checkpoint(*rt, a.checkpoint); !left_out.empty())
        to_stderr(
            fmt::format("the checkpoint leaves out the actors of graphs: {}\n", fmt::join(left_out, ", ")));
  } catch (std::runtime_error const& e) {
    throw command_error(exit_no_output, e.what());
  }
  for (auto const& line : found.differences) fmt::print("{}\n", clean_text(line));
  if (found.differing > found.differences.size())
    fmt::print("... and {} more\n", found.differing - found.differences.size());
  fmt::print(
      "replayed {} messages at {} actors: {} with a different result; {} were not handled in the original "
      "run\n",
      found.messages, found.launched, found.differing, found.not_handled);
  if (!found.complete) fmt::print("the recording is incomplete: its writer exited before closing it\n");
  return found.differing == 0 ? exit_done : exit_failed;
}

}  // namespace

void add_replay_command(CLI::App& app, served_module module, int& exit_status) {
  auto const a = std::make_shared<replay_arguments>();
  auto& c = add_command(app, "replay", "Replay a recording and report every result that differs", exit_status,
                        [a, module = std::move(module), &exit_status] { exit_status = replay(*a, module); });
  c.add_option("recording", a->recording, "file written by rondo serve --recording")->required();
  c.add_option("--checkpoint", a->checkpoint,
               "write the final states to this file, for rondo serve --checkpoint");
  add_number(c, "--devices", a->devices, "number of devices of the original service", 1, 64)
      .default_str(fmt::to_string(a->devices));
  c.add_flag("--quiet", a->quiet, "do not show progress");
  c.footer(
      "Examples:\n  rondo serve --actor clicks=counter --recording run.rec\n  rondo replay run.rec\n"
      "  rondo replay run.rec --checkpoint after.ckpt\n");
}

}  // namespace rondo::service
