// The picture of `rondo run anomaly`: the readings of one sensor, and what is far from them.
#pragma once

#include <span>
#include <string>

#include "actors/workloads/find_anomalies.hpp"

namespace rondo::tools {

/// Draws a sensor's values, their mean with a band of so many deviations, and its alerts. Throws command_error if the
/// file cannot be written.
void draw_anomalies(std::string const& file, workloads::sensor_readings const& readings, std::uint32_t sensor,
                    std::span<workloads::alert const> alerts, workloads::anomaly_options const& how);

}  // namespace rondo::tools
