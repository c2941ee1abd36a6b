// Anomalies in the readings of many sensors, found on a runtime whose module has `sensor` and `alert_collector`.
#pragma once

#include <filesystem>
#include <functional>
#include <vector>

#include "actors/workloads/readings.hpp"
#include "actors/workloads/sensor.hpp"
#include "runtime/runtime.hpp"

namespace rondo::workloads {

struct anomaly_options {
  static constexpr std::uint32_t most_batch = 100'000;

  double sigmas = 3;
  std::uint32_t window = sliding_window::most;
  std::uint32_t batch =
      1000;  // readings of a message, 1 to most_batch; 1: in the message, otherwise in a buffer
  std::uint32_t device = 0;
  std::uint32_t collector_capacity = 1024;  // alerts that may wait in the collector's mailbox
  /// Readings until the host looks at the alerts, for which a buffer has room: one for each.
  std::uint32_t part = 2'000'000;
  /// If not empty: the state of the search is kept here, and a search that finds it goes on from there. It is removed
  /// by whoever has stored the result.
  std::filesystem::path checkpoint{};
  double checkpoint_every_s = 10;
};

struct found_anomalies {
  std::vector<alert> alerts{};    // by sensor, then by number
  std::uint64_t readings = 0;     // of all, also those before the checkpoint
  std::uint64_t restored = 0;     // readings before the checkpoint
  double seconds = 0;             // for the readings behind it
  std::uint32_t checkpoints = 0;  // that were written
};

/// A checkpoint that is damaged, or of another search; or that cannot be written.
struct checkpoint_refused : std::runtime_error {
  using std::runtime_error::runtime_error;
};
struct checkpoint_not_written : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Bytes of memory that this takes on the device.
std::uint64_t anomaly_bytes(sensor_readings const& readings, anomaly_options const& options);
/// Gives a runtime room for this: in `settings`, what is too small is raised.
void make_room(config& settings, sensor_readings const& readings, anomaly_options const& options);

/// Blocks. `report`: called now and then, with readings and alerts so far. Precondition: the runtime has no other
/// actors if there is a checkpoint to go on from. Throws boost::system::system_error, and the two above.
found_anomalies find_anomalies(
    runtime& rt, sensor_readings const& readings, anomaly_options const& options,
    std::function<void(std::uint64_t readings, std::uint64_t alerts)> const& report = {});

/// The same by a plain loop on one thread, as a reference.
found_anomalies find_anomalies_plainly(sensor_readings const& readings, anomaly_options const& options);

}  // namespace rondo::workloads
