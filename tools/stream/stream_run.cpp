#include "tools/stream/stream_run.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <csignal>
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

stream_run::stream_run(runtime& rt, std::vector<streams::stream_file> files)
    : rt_(rt), files_(std::move(files)) {
  for (auto const& file : files_)
    for (std::uint32_t n = 0; n < file.repeat; ++n) {
      auto& g = graphs_.emplace_back(running_graph{
          &file, n, std::make_unique<streams::graph>(rt, streams::options_of_copy(file, n, rt))});
      streams::add_stages(*g.graph, file, n, rt);
    }
}

/// "name/" if there are several graphs.
std::string stream_run::prefix_of(running_graph const& g, char const* after) const {
  return graphs_.size() > 1 ? name_of(g) + after : std::string();
}

file_uses stream_run::files(stream_arguments const& a) const {
  file_uses all;
  all.reads("the graph's file", a.file);
  all.writes("--svg", a.svg);
  for (auto const& text : a.listen)
    if (auto const e = endpoint::parse(text, "--listen"); e.is_unix) all.writes("--listen", e.path);
  for (std::uint32_t n = 0; n < graphs_.size(); ++n) {
    all.add(graphs_[n].graph->files(!a.checkpoint.empty()));
    if (a.checkpoint.empty()) continue;
    auto const file = checkpoint_of(n, a.checkpoint).string();
    all.writes("--checkpoint", file);
    all.writes("the checkpoint's lock", file + ".lock");
  }
  return all;
}

std::string stream_run::explain() const {
  std::string text;
  for (auto const& g : graphs_) text += prefix_of(g, ":\n") + g.graph->explain();
  return text;
}

std::vector<stream_run::stage_row> stream_run::rows() const {
  std::vector<stage_row> all;
  for (auto const& g : graphs_)
    for (std::uint32_t s = 0; s < g.file->stages.size(); ++s)
      all.push_back({prefix_of(g, "/") + g.file->stages[s].name, rt_.info(g.graph->place_of(s)).name,
                     g.graph->counts_of(s)});
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
  auto const wanted = files_.front().graph.ticks;
  auto const of = wanted != 0 ? fmt::format(" of {}", wanted) : std::string();
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

/// `checkpoint`: empty: none.
void stream_run::start(running_graph& g, std::filesystem::path const& checkpoint, bool quiet) {
  if (!checkpoint.empty()) lock(checkpoint);
  if (checkpoint.empty() || !std::filesystem::exists(checkpoint)) return g.graph->start();
  try {
    auto const next = g.graph->start_from(checkpoint);
    if (!quiet)
      to_stderr(fmt::format("{}: goes on with tick {}, from {}\n", name_of(g), next,
                            clean_text(checkpoint.string())));
  } catch (streams::graph_error const&) {
    throw;
  } catch (no_thread const&) {
    throw;
  } catch (std::runtime_error const& e) {  // the file
    throw streams::graph_error(e.what());
  }
}

void stream_run::start_all(stream_arguments const& a) {
  for (std::uint32_t n = 0; n < graphs_.size(); ++n) try {
      start(graphs_[n], a.checkpoint.empty() ? std::filesystem::path() : checkpoint_of(n, a.checkpoint),
            a.quiet);
      graphs_[n].is_open = true;
    } catch (streams::graph_error const& e) {
      if (files_.size() == 1) throw;
      report(status_of(e.of, exit_bad_config), name_of(graphs_[n]) + ": " + e.what());
    }
}

void stream_run::report(exit_code status, std::string const& why) {
  to_stderr(fmt::format("{}rondo: {}\n", ::isatty(STDERR_FILENO) != 0 ? "\r\033[K" : "", clean_text(why)));
  if (status_ == exit_done) status_ = status;
}

exit_code stream_run::run(stream_arguments const& a, std::function<void()> const& before) {
  bool const shows = !a.quiet && ::isatty(STDERR_FILENO) != 0;
  command_loop loop;
  auto const begun = clock::now();
  auto const line = [shows](std::string const& text) {
    if (shows) to_stderr(fmt::format("\r\033[K{}", text));
  };
  auto const lines = rt_.on_log([&line](log_line const& l) {
    line("");
    to_stderr(fmt::format("{}\n", to_text(l)));
  });
  auto const each = [this](auto const& f) {
    for (auto& g : graphs_)
      if (g.is_open) f(*g.graph);
  };
  auto const take_pictures = [each] { each([](streams::graph& g) { g.trigger(); }); };
  loop.on_signal(SIGUSR1, take_pictures);
  loop.on_line([&](std::string_view text) {
    if (text == "s") take_pictures();
    if (text != "p") return;
    paused_ = !paused_;
    each([this](streams::graph& g) { static_cast<void>(paused_ ? g.pause() : g.resume()); });
  });

  before();
  start_all(a);
  auto open = std::ranges::count_if(graphs_, &running_graph::is_open);
  if (open == 0) return status_;
  auto const open_graphs = [this] {
    std::vector<std::uint32_t> all;
    for (std::uint32_t n = 0; n < graphs_.size(); ++n)
      if (graphs_[n].is_open) all.push_back(n);
    return all;
  };
  // Returns why it was not saved; the graph goes on, and the file before stays.
  auto const save = [&](std::uint32_t n) -> std::string {
    try {
      static_cast<void>(graphs_[n].graph->checkpoint(checkpoint_of(n, a.checkpoint)));
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
    for (std::uint32_t n = 0; n < graphs_.size(); ++n) {
      if (!graphs_[n].is_open) continue;
      stopping.push_back(start_jthread("the stop of a graph", [&, n] {
        if (!a.checkpoint.empty()) {
          static_cast<void>(graphs_[n].graph->pause());  // so that nothing is processed after it
          if (auto const why = save(n); !why.empty()) loop.post([this, why] { report(exit_no_output, why); });
        }
        static_cast<void>(graphs_[n].graph->stop());
      }));
    }
  });
  auto const save_often = [&, opened = open_graphs()](std::stop_token const& stops) {
    std::mutex mutex;
    std::unique_lock lock(mutex);
    std::condition_variable_any ends;
    auto const by_ticks = a.checkpoint_ticks != 0;
    auto const period = std::chrono::duration<double>(by_ticks ? 0.02 : a.checkpoint_every);
    std::string said;  // once, not every time
    std::uint64_t saved = 0;
    while (!ends.wait_for(lock, stops, period, [&] { return stops.stop_requested(); })) {
      auto const ticks = by_ticks ? graphs_[opened.front()].graph->counts_of(0).processed : 0;
      if (by_ticks && ticks < saved + a.checkpoint_ticks) continue;
      saved = ticks;
      for (auto const n : opened)
        if (auto const why = save(n); !why.empty() && std::exchange(said, why) != why) {
          line("");
          to_stderr(fmt::format("rondo: {}\n", clean_text(why)));
        }
    }
  };
  loop.every(std::chrono::milliseconds(500), [&] {
    seconds_ = std::chrono::duration<double>(clock::now() - begun).count();
    if (shows) line(progress());
  });
  try {
    for (auto& g : graphs_) {
      if (!g.is_open) continue;
      waiting.push_back(start_jthread("the end of a graph", [&, at = &g] {
        auto const ec = at->graph->wait();
        loop.post([&, at, ec] {
          at->is_open = false;
          if (auto const why = at->graph->why_failed(); ec)
            report(status_of(at->graph->failed_by(), exit_internal), why.empty() ? ec.message() : why);
          if (--open == 0) loop.end();
        });
      }));
    }
    if (!a.checkpoint.empty()) saving = start_jthread("checkpoints of graphs", save_often);
    loop.run();
  } catch (...) {  // the threads wait for the graphs
    each([](streams::graph& g) { static_cast<void>(g.stop()); });
    throw;
  }
  seconds_ = std::chrono::duration<double>(clock::now() - begun).count();
  line("");
  if (saving.joinable()) {
    saving.request_stop();
    saving.join();
    for (std::uint32_t n = 0; n < graphs_.size() && !loop.is_asked_to_stop() && status_ == exit_done; ++n)
      std::filesystem::remove(checkpoint_of(n, a.checkpoint));
  }
  return status_;
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
