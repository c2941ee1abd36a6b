#include "tools/stream/stream_run.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <system_error>
#include <thread>

#include "runtime/net/endpoint.hpp"
#include "runtime/observe/graph_reports.hpp"
#include "runtime/os/start_thread.hpp"
#include "runtime/text/clean_text.hpp"
#include "runtime/text/to_stderr.hpp"
#include "tools/commands/command_end.hpp"

namespace rondo::tools {

using clock = std::chrono::steady_clock;

streams::stream_file load(stream_arguments const& a, streams::stage_catalog const& catalog) {
  auto file = streams::load_stream_file(a.file, catalog);
  for (auto const& assignment : a.set) streams::set_option(file, assignment, "--set");
  file.runtime = config_from_environment(file.runtime);
  if (!a.device.empty()) set_field(file.runtime, "device", a.device, "--device");
  if (a.rate >= 0) file.graph.rate = a.rate;
  if (a.ticks != 0) file.graph.ticks = a.ticks;
  return file;
}

exit_code status_of(streams::fault what, exit_code of_stage) noexcept {
  switch (what) {
    case streams::fault::input_missing:
      return exit_no_input;
    case streams::fault::input_malformed:
      return exit_bad_data;
    case streams::fault::output_refused:
      return exit_no_output;
    case streams::fault::unavailable:
      return exit_unavailable;
    case streams::fault::stage:
      break;
  }
  return of_stage;
}

struct stream_run::stage_row {
  std::string name, device;
  streams::stage_counts counts;
};

stream_run::stream_run(runtime& rt, streams::stream_file const& file) : rt_(rt), file_(file) {
  for (std::uint32_t n = 0; n < file.repeat; ++n) {
    graphs_.push_back(std::make_unique<streams::graph>(rt, streams::options_of_copy(file, n, rt)));
    streams::add_stages(*graphs_.back(), file, n, rt);
  }
}

file_uses stream_run::files(stream_arguments const& a) const {
  file_uses all;
  all.reads("the graph's file", a.file);
  all.writes("--svg", a.svg);
  for (auto const& text : a.listen)
    if (auto const e = endpoint::parse(text, "--listen"); e.is_unix) all.writes("--listen", e.path);
  for (std::uint32_t n = 0; n < graphs_.size(); ++n) {
    all.add(graphs_[n]->files(!a.checkpoint.empty()));
    if (a.checkpoint.empty()) continue;
    auto const file = checkpoint_of(n, a.checkpoint).string();
    all.writes("--checkpoint", file);
    all.writes("the checkpoint's lock", file + ".lock");
  }
  return all;
}

std::string stream_run::explain() const {
  std::string text;
  for (std::uint32_t n = 0; n < graphs_.size(); ++n) {
    if (graphs_.size() > 1) text += fmt::format("{}:\n", streams::options_of_copy(file_, n, rt_).name);
    text += graphs_[n]->explain();
  }
  return text;
}

std::vector<stream_run::stage_row> stream_run::rows() const {
  std::vector<stage_row> all;
  for (std::uint32_t n = 0; n < graphs_.size(); ++n) {
    auto const prefix =
        graphs_.size() > 1 ? streams::options_of_copy(file_, n, rt_).name + '/' : std::string();
    for (std::uint32_t s = 0; s < file_.stages.size(); ++s)
      all.push_back(
          {prefix + file_.stages[s].name, rt_.info(graphs_[n]->place_of(s)).name, graphs_[n]->counts_of(s)});
  }
  return all;
}

namespace {

std::uint64_t lost(streams::stage_counts const& c) { return c.dropped + c.replaced + c.skipped + c.lost; }

}  // namespace

/// From reports, which a stage that hangs does not hold up.
std::string stream_run::progress() const {
  std::uint64_t ticks = 0, gone = 0;
  for (auto const& graph : rt_.graphs().read())
    for (auto const& stage : graph.stages) {
      ticks = std::max(ticks, stage.counts.processed);
      gone += lost(stage.counts);
    }
  auto const of = file_.graph.ticks != 0 ? fmt::format(" of {}", file_.graph.ticks) : std::string();
  return fmt::format("{}{} ticks, {:.1f} per second, {} frames left out{}", ticks, of,
                     static_cast<double>(ticks) / std::max(seconds_, 1e-3), gone, paused_ ? "; paused" : "");
}

/// "state.rondo" of the first graph, "state-2.rondo" of the second, and so on.
std::filesystem::path stream_run::checkpoint_of(std::uint32_t graph, std::string const& file) const {
  std::filesystem::path const path(file);
  if (graph == 0) return path;
  return path.parent_path() /
         fmt::format("{}-{}{}", path.stem().string(), graph + 1, path.extension().string());
}

void stream_run::lock(std::filesystem::path const& checkpoint) try {
  locks_.emplace_back(checkpoint);
} catch (std::system_error const& e) {  // it cannot be written there
  throw streams::graph_error(e.what(), streams::fault::output_refused);
} catch (std::runtime_error const& e) {  // another process has it
  throw streams::graph_error(e.what());
}

void stream_run::start(stream_arguments const& a) {
  for (std::uint32_t n = 0; n < graphs_.size(); ++n) {
    if (a.checkpoint.empty()) {
      graphs_[n]->start();
      continue;
    }
    auto const from = checkpoint_of(n, a.checkpoint);
    lock(from);
    if (!std::filesystem::exists(from)) {
      graphs_[n]->start();
      continue;
    }
    try {
      auto const next = graphs_[n]->start_from(from);
      if (!a.quiet)
        to_stderr(fmt::format("{}: goes on with tick {}, from {}\n",
                              streams::options_of_copy(file_, n, rt_).name, next, clean_text(from.string())));
    } catch (streams::graph_error const&) {
      throw;
    } catch (no_thread const&) {
      throw;
    } catch (std::runtime_error const& e) {  // the file
      throw streams::graph_error(e.what());
    }
  }
}

stream_outcome stream_run::run(stream_arguments const& a, std::function<void()> const& before) {
  bool const shows = !a.quiet && ::isatty(STDERR_FILENO) != 0;
  command_loop loop;
  stream_outcome outcome;
  auto const fail = [&outcome](exit_code status, std::string const& why) {
    if (outcome.why.empty()) outcome = {status, why};
  };
  auto open = graphs_.size();
  auto const begun = clock::now();
  auto const line = [shows](std::string const& text) {
    if (shows) to_stderr(fmt::format("\r\033[K{}", text));
  };
  auto const lines = rt_.on_log([&line](log_line const& l) {
    line("");
    to_stderr(fmt::format("{}\n", to_text(l)));
  });
  loop.on_line([&](std::string_view text) {
    if (text != "p") return;
    paused_ = !paused_;
    for (auto const& g : graphs_) static_cast<void>(paused_ ? g->pause() : g->resume());
  });

  before();
  start(a);
  // Returns why it was not saved; the graph goes on, and the file before stays.
  auto const save = [&](std::uint32_t n) -> std::string {
    try {
      static_cast<void>(graphs_[n]->checkpoint(checkpoint_of(n, a.checkpoint)));
      return {};
    } catch (std::exception const& e) {
      return e.what();
    }
  };
  std::vector<std::jthread> waiting, stopping;  // after all that their functions refer to
  std::jthread saving;
  loop.on_stop([&](int) {
    line("");
    if (!a.quiet) to_stderr("stopping: frames under way arrive first\n");
    for (std::uint32_t n = 0; n < graphs_.size(); ++n)
      stopping.push_back(start_jthread("the stop of a graph", [&, n] {
        if (!a.checkpoint.empty()) {
          static_cast<void>(graphs_[n]->pause());  // so that nothing is processed after it
          if (auto const why = save(n); !why.empty()) loop.post([&fail, why] { fail(exit_no_output, why); });
        }
        static_cast<void>(graphs_[n]->stop());
      }));
  });
  auto const save_often = [&](std::stop_token const& stops) {
    std::mutex mutex;
    std::unique_lock lock(mutex);
    std::condition_variable_any ends;
    auto const period = std::chrono::duration<double>(a.checkpoint_every);
    std::string said;  // once, not every time
    while (!ends.wait_for(lock, stops, period, [&] { return stops.stop_requested(); }))
      for (std::uint32_t n = 0; n < graphs_.size(); ++n)
        if (auto const why = save(n); !why.empty() && std::exchange(said, why) != why) {
          line("");
          to_stderr(fmt::format("rondo: {}\n", clean_text(why)));
        }
  };
  loop.every(std::chrono::milliseconds(500), [&] {
    seconds_ = std::chrono::duration<double>(clock::now() - begun).count();
    if (shows) line(progress());
  });
  try {
    for (std::size_t n = 0; n < graphs_.size(); ++n)
      waiting.push_back(start_jthread("the end of a graph", [&, n] {
        auto const ec = graphs_[n]->wait();
        loop.post([&, n, ec] {
          if (auto const why = graphs_[n]->why_failed(); ec)
            fail(status_of(graphs_[n]->failed_by(), exit_internal), why.empty() ? ec.message() : why);
          if (--open == 0) loop.end();
        });
      }));
    if (!a.checkpoint.empty()) saving = start_jthread("checkpoints of graphs", save_often);
    loop.run();
  } catch (...) {  // the threads wait for the graphs
    for (auto const& g : graphs_) static_cast<void>(g->stop());
    throw;
  }
  seconds_ = std::chrono::duration<double>(clock::now() - begun).count();
  line("");
  if (saving.joinable()) {
    saving.request_stop();
    saving.join();
    for (std::uint32_t n = 0; n < graphs_.size() && !loop.is_asked_to_stop() && outcome.why.empty(); ++n)
      std::filesystem::remove(checkpoint_of(n, a.checkpoint));
  }
  return outcome;
}

std::string stream_run::summary() const {
  struct column {
    char const* title;
    std::uint64_t streams::stage_counts::*count;
  };
  constexpr column columns[] = {
      {"dropped", &streams::stage_counts::dropped}, {"replaced", &streams::stage_counts::replaced},
      {"skipped", &streams::stage_counts::skipped}, {"lost", &streams::stage_counts::lost},
      {"failed", &streams::stage_counts::failed},   {"late", &streams::stage_counts::late},
      {"copied", &streams::stage_counts::copied},
  };
  auto const all = rows();
  std::size_t name_width = 5, device_width = 5;
  for (auto const& r : all)
    name_width = std::max(name_width, r.name.size()), device_width = std::max(device_width, r.device.size());
  auto const shown = [&](column const& c) {  // a column of zeros says nothing
    return std::ranges::any_of(all, [&](stage_row const& r) { return r.counts.*c.count != 0; });
  };
  auto text = fmt::format("{:{}}  {:{}} {:>9} {:>8} {:>9} {:>9}", "stage", name_width, "place", device_width,
                          "ticks", "per s", "mean ms", "most ms");
  for (auto const& c : columns)
    if (shown(c)) text += fmt::format(" {:>9}", c.title);
  text += '\n';
  for (auto const& r : all) {
    auto const ticks = static_cast<double>(r.counts.processed);
    text += fmt::format("{:{}}  {:{}} {:>9} {:>8.1f} {:>9.3f} {:>9.3f}", r.name, name_width, r.device,
                        device_width, r.counts.processed, ticks / std::max(seconds_, 1e-3),
                        ticks > 0 ? static_cast<double>(r.counts.busy_ns) / 1e6 / ticks : 0.0,
                        static_cast<double>(r.counts.longest_ns) / 1e6);
    for (auto const& c : columns)
      if (shown(c)) text += fmt::format(" {:>9}", r.counts.*c.count);
    text += '\n';
  }
  return text;
}

}  // namespace rondo::tools
