#include "tools/stream/graph_checkpoints.hpp"

#include <fmt/format.h>

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <system_error>
#include <utility>

#include "runtime/os/start_thread.hpp"

namespace rondo::tools {

std::filesystem::path graph_checkpoints::path_of(std::uint32_t number) const {
  if (number == 0) return file_;
  return file_.parent_path() /
         fmt::format("{}-{}{}", file_.stem().string(), number + 1, file_.extension().string());
}

std::optional<std::uint64_t> graph_checkpoints::start(streams::graph& g, std::uint32_t number) {
  if (!are_wanted()) return g.start(), std::nullopt;
  auto const path = path_of(number);
  try {
    locks_.emplace_back(path);
  } catch (std::system_error const& e) {  // it cannot be written there
    throw streams::graph_error(e.what(), streams::fault::output_refused);
  } catch (std::runtime_error const& e) {  // another process has it
    throw streams::graph_error(e.what());
  }
  if (!std::filesystem::exists(path)) return g.start(), std::nullopt;
  try {
    return g.start_from(path);
  } catch (streams::graph_error const&) {
    throw;
  } catch (no_thread const&) {
    throw;
  } catch (std::runtime_error const& e) {  // the file
    throw streams::graph_error(e.what());
  }
}

std::string graph_checkpoints::save(streams::graph& g, std::uint32_t number) const {
  try {
    static_cast<void>(g.checkpoint(path_of(number)));
    return {};
  } catch (std::exception const& e) {
    return e.what();
  }
}

void graph_checkpoints::save_often(std::vector<numbered> graphs, checkpoint_period const& when,
                                   std::function<void(std::string const&)> say) {
  saves_ = start_jthread("checkpoints of graphs", [this, graphs = std::move(graphs), when,
                                                   say = std::move(say)](std::stop_token const& stops) {
    std::mutex mutex;
    std::unique_lock lock(mutex);
    std::condition_variable_any ends;
    auto const pause = std::chrono::duration<double>(when.ticks != 0 ? 0.02 : when.seconds);
    std::string said;  // once, not every time
    std::uint64_t saved = 0;
    while (!ends.wait_for(lock, stops, pause, [&] { return stops.stop_requested(); })) {
      auto const ticks = when.ticks != 0 ? graphs.front().first->counts_of(0).processed : 0;
      if (ticks < saved + when.ticks) continue;
      saved = ticks;
      for (auto const& [g, number] : graphs)
        if (auto const why = save(*g, number); !why.empty() && std::exchange(said, why) != why) say(why);
    }
  });
}

void graph_checkpoints::stop() {
  if (!saves_.joinable()) return;
  saves_.request_stop();
  saves_.join();
}

void graph_checkpoints::remove(std::uint32_t graphs) const {
  for (std::uint32_t n = 0; n < graphs && are_wanted(); ++n) std::filesystem::remove(path_of(n));
}

}  // namespace rondo::tools
