#include "tools/stream/run_graphs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <memory>
#include <optional>

#include "runtime/core/make_device.hpp"
#include "runtime/device/emulated/emulated_module.hpp"
#include "runtime/files/part_file.hpp"
#include "runtime/text/to_stderr.hpp"
#include "tools/commands/command_line.hpp"
#include "tools/stream/stream_watch.hpp"
#include "tools/stream_module/stream_module.hpp"

RONDO_EMULATED_MODULE(rondo::tools::stream_stages)
#if defined(RONDO_HAS_OPENCL)
#include "actors/video/overlay/overlay_kernels.hpp"
#include "actors/video/pixels/pixel_kernels.hpp"
RONDO_KERNELS(rondo::video::pixel_kernels, rondo::video::overlay_kernels)
#endif

namespace rondo::tools {

namespace {

using service::command_error;

void write_file(std::string const& path, std::string const& text) try {
  write_output(path, text);
} catch (std::runtime_error const& e) {
  throw command_error(exit_no_output, e.what());
}

/// If a stage works on the host, that is a device, too.
config with_host(config settings, std::vector<streams::stream_file> const& files) {
  bool const needed = std::ranges::any_of(files, [](streams::stream_file const& f) {
    return std::ranges::any_of(f.stages,
                               [](auto const& s) { return s.kind->where == streams::works::on_host; });
  });
  if (needed && !names_host(settings.device)) settings.device.insert(0, "cpu,");
  return settings;
}

std::unique_ptr<runtime> make_runtime(config const& settings) try {
  return std::make_unique<runtime>(use<stream_stages>, settings);
} catch (config_error const&) {
  throw;
} catch (std::runtime_error const& e) {
  throw command_error(exit_unavailable, e.what());
}

}  // namespace

bool names_host(std::string const& device) {
  auto const listed = ',' + device + ',';
  return listed.find(",cpu,") != std::string::npos || listed.find(",opencl") != std::string::npos ||
         listed.find(",metal,") != std::string::npos ||
         (device == "auto" && !why_no_cuda(stream_stages::key).empty());
}

exit_code run_graphs(stream_arguments const& a, std::vector<streams::stream_file> files,
                     std::string const& origin) {
  auto const rt = make_runtime(with_host(files.front().runtime, files));
  try {
    stream_run graphs(*rt, std::move(files), a.checkpoint);
    auto const uses = graphs.files(a);
    service::require_own_files(uses);
    // What standard output does not take is seen at the end (run_app): the picture and the reason come first.
    if (a.explain) std::fputs(graphs.explain().c_str(), stdout);
    if (!a.svg.empty()) write_file(a.svg, graphs.svg());
    if (a.explain || !a.svg.empty()) return exit_done;
    std::optional<stream_watch> watch;
    auto const status = graphs.run(a, [&] {
      if (!a.listen.empty() || !a.metrics.empty()) watch.emplace(*rt, a.listen, a.metrics);
    });
    auto const told = (a.budget_ms > 0 ? graphs.profile(a.budget_ms)
                       : a.quiet       ? std::string()
                                       : graphs.summary()) +
                      (a.explain_after ? graphs.explain() : "");
    if (uses.writes_standard_output())  // it may be a video
      to_stderr(told);
    else
      std::fputs(told.c_str(), stdout);
    return status;
  } catch (streams::graph_error const& e) {
    throw command_error(status_of(e.of, exit_bad_config), fmt::format("{}: {}", origin, e.what()));
  }
}

}  // namespace rondo::tools
