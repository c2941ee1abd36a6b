// Options of a graph, of its stages and of its connections.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "kernels/base/delivery.hpp"
#include "runtime/runtime.hpp"

namespace rondo::streams {

/// Which devices a graph may use.
enum class backend { automatic, cpu, cuda, metal, emulated, opencl };

/// Where a stage's work is done if it has kernels, and a GPU plays them beside its device (docs/fallback.md).
enum class kernel_choice {
  measured,  // where a tick takes less time
  host,      // on the device
  player,    // on the GPU
};

/// How a graph runs.
struct graph_options {
  std::string name = "graph";  // its actors are called name/stage
  double rate = 0;             // ticks per second; 0: as fast as the sinks take them
  std::uint64_t ticks = 0;     // ends after so many, of each source; 0: until `stop`, or its sources end
  /// False: ticks have the times of the rate, but follow each other as fast as the sinks take them, so none is late or
  /// skipped: for what is made for a file, not for somebody who watches.
  bool paced = true;
  std::uint32_t window = 4;  // without a rate, or if not paced: ticks under way at the same time, at most
  /// A stage that takes longer for one tick logs a warning; 0: the period of the rate, if paced.
  std::chrono::nanoseconds slow{0};
  backend use = backend::automatic;      // which devices it may use
  std::vector<std::uint32_t> devices{};  // of those, by index in the runtime's list; empty: all
  bool strict = false;                   // refuses to start if a transfer would be needed
  bool measure = true;  // runs stages that it could place, to see where they are fast; likewise kernels
  bool paused = false;  // makes no ticks before `resume`
  std::function<void(std::string const&)> warn{};  // gets one line; empty: stderr
};

/// How a stage runs.
struct stage_options {
  std::optional<std::uint32_t> device{};            // index in the runtime's list; empty: negotiated
  kernel_choice kernels = kernel_choice::measured;  // if a GPU plays beside its device
  std::uint32_t replicas = 1;  // so many instances take its frames in turn; their order is kept
  std::uint32_t attempts = 3;  // to process a tick; then its frames are given up, and counted
  supervision supervise{.max_restarts = 100};  // what follows a failure, as for any actor
};

/// How frames pass from an output to an input.
struct connection_options {
  std::optional<delivery> how{};  // empty: as the input says
  std::uint32_t capacity = 2;     // of a queue, in frames: rounded up to a power of two
};

}  // namespace rondo::streams
