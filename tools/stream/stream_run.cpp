#include "tools/stream/stream_run.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
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
  std::uint64_t memory;

  double mean_ms() const {
    auto const ticks = static_cast<double>(counts.processed);
    return ticks > 0 ? static_cast<double>(counts.busy_ns) / 1e6 / ticks : 0.0;
  }
  double most_ms() const { return static_cast<double>(counts.longest_ns) / 1e6; }
};

stream_run::stream_run(runtime& rt, std::vector<streams::stream_file> files, std::string const& checkpoint)
    : rt_(rt), files_(std::move(files)), checkpoints_(checkpoint) {
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
    all.add(graphs_[n].graph->files(checkpoints_.are_wanted()));
    if (!checkpoints_.are_wanted()) continue;
    auto const file = checkpoints_.path_of(n).string();
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
                     g.graph->counts_of(s), g.graph->memory_of(s)});
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

void stream_run::start_all(bool quiet) {
  for (std::uint32_t n = 0; n < graphs_.size(); ++n) try {
      auto& g = graphs_[n];
      auto const next = checkpoints_.start(*g.graph, n);
      if (next && !quiet)
        to_stderr(fmt::format("{}: goes on with tick {}, from {}\n", name_of(g), *next,
                              clean_text(checkpoints_.path_of(n).string())));
      g.is_open = true;
    } catch (streams::graph_error const& e) {
      if (files_.size() == 1) throw;
      report(status_of(e.of, exit_bad_config), name_of(graphs_[n]) + ": " + e.what());
    }
}

void stream_run::report(exit_code status, std::string const& why) {
  say("rondo: " + clean_text(why));
  if (status_ == exit_done) status_ = status;
}

void stream_run::say(std::string const& text) const {
  to_stderr(fmt::format("{}{}\n", shows_ ? "\r\033[K" : "", text));
}

/// Calls a function with each graph that runs, and its number.
template <class F>
void stream_run::each_open(F const& f) {
  for (std::uint32_t n = 0; n < graphs_.size(); ++n)
    if (graphs_[n].is_open) f(*graphs_[n].graph, n);
}

void stream_run::listen(command_loop& loop) {
  auto const take_pictures = [this] { each_open([](streams::graph& g, std::uint32_t) { g.trigger(); }); };
  loop.on_signal(SIGUSR1, take_pictures);
  loop.on_line([this, take_pictures](std::string_view text) {
    if (text == "s") take_pictures();
    if (text != "p") return;
    paused_ = !paused_;
    each_open(
        [this](streams::graph& g, std::uint32_t) { static_cast<void>(paused_ ? g.pause() : g.resume()); });
  });
}

/// On a thread of its own: frames under way arrive first.
void stream_run::stop(streams::graph& g, std::uint32_t number, command_loop& loop) {
  if (checkpoints_.are_wanted()) {
    static_cast<void>(g.pause());  // so that nothing is processed after it
    if (auto const why = checkpoints_.save(g, number); !why.empty())
      loop.post([this, why] { report(exit_no_output, why); });
  }
  static_cast<void>(g.stop());
}

void stream_run::note_end(std::uint32_t number, error_code ec, command_loop& loop) {
  auto& g = graphs_[number];
  g.is_open = false;
  if (auto const why = g.graph->why_failed(); ec)
    report(status_of(g.graph->failed_by(), exit_internal), why.empty() ? ec.message() : why);
  if (std::ranges::none_of(graphs_, &running_graph::is_open)) loop.end();
}

exit_code stream_run::run(stream_arguments const& a, std::function<void()> const& before) {
  shows_ = !a.quiet && ::isatty(STDERR_FILENO) != 0;
  command_loop loop;
  auto const begun = clock::now();
  auto const lines = rt_.on_log([this](log_line const& l) { say(to_text(l)); });
  listen(loop);

  before();
  start_all(a.quiet);
  std::vector<graph_checkpoints::numbered> opened;
  each_open([&opened](streams::graph& g, std::uint32_t n) { opened.emplace_back(&g, n); });
  if (opened.empty()) return status_;
  std::vector<std::jthread> waiting, stopping;  // after all that their functions refer to
  loop.on_stop([&](int) {
    if (!a.quiet) say("stopping: frames under way arrive first");
    each_open([&](streams::graph& g, std::uint32_t n) {
      stopping.push_back(start_jthread("the stop of a graph", [this, &g, n, &loop] { stop(g, n, loop); }));
    });
  });
  auto const note_time = [&] { seconds_ = std::chrono::duration<double>(clock::now() - begun).count(); };
  loop.every(std::chrono::milliseconds(500), [&] {
    note_time();
    if (shows_) to_stderr("\r\033[K" + progress());
  });
  try {
    for (auto const& [g, n] : opened)
      waiting.push_back(start_jthread("the end of a graph", [this, of = g, number = n, &loop] {
        auto const ec = of->wait();
        loop.post([this, number, ec, &loop] { note_end(number, ec, loop); });
      }));
    if (checkpoints_.are_wanted())
      checkpoints_.save_often(opened, {a.checkpoint_every, a.checkpoint_ticks},
                              [this](std::string const& why) { say("rondo: " + clean_text(why)); });
    loop.run();
  } catch (...) {  // the threads wait for the graphs
    each_open([](streams::graph& g, std::uint32_t) { static_cast<void>(g.stop()); });
    throw;
  }
  note_time();
  if (shows_) to_stderr("\r\033[K");
  checkpoints_.stop();
  if (!loop.is_asked_to_stop() && status_ == exit_done)
    checkpoints_.remove(static_cast<std::uint32_t>(graphs_.size()));
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
                        device_width, r.counts.processed, ticks / std::max(seconds_, 1e-3), r.mean_ms(),
                        r.most_ms());
    for (auto const& c : columns)
      if (shown(c)) text += fmt::format(" {:>9}", r.counts.*c.count);
    text += '\n';
  }
  return text;
}

std::string stream_run::profile(double budget_ms) const {
  auto const all = rows();
  std::size_t width = 5;
  for (auto const& r : all) width = std::max(width, r.name.size());
  auto text = fmt::format("{:{}} {:>9} {:>9} {:>9}\n", "stage", width, "mean ms", "most ms", "MiB");
  double ms = 0, mib = 0;
  for (auto const& r : all) {
    auto const of_it = static_cast<double>(r.memory) / (1 << 20);
    text += fmt::format("{:{}} {:>9.3f} {:>9.3f} {:>9.1f}\n", r.name, width, r.mean_ms(), r.most_ms(), of_it);
    ms += r.mean_ms(), mib += of_it;
  }
  text += fmt::format("{:{}} {:>9.3f} {:>9} {:>9.1f}\n", "all", width, ms, "", mib);
  // Not from when frames came: they may have waited for the clock.
  return text + fmt::format("{} frames, {:.2f} ms each: the budget of {:.2f} ms was {}\n",
                            all.back().counts.processed, ms, budget_ms,
                            ms <= budget_ms ? "kept" : "exceeded");
}

}  // namespace rondo::tools
