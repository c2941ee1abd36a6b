// Readings of sensors, on the host: read from a CSV file, or generated with anomalies in known places.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "actors/workloads/input_text.hpp"

namespace rondo::workloads {

/// The readings of all sensors: those of a sensor one after the other, in the order in which they were read.
struct sensor_readings {
  static constexpr std::uint32_t most_sensors = 500'000, most_of_sensor = 0xffff'fff0;

  std::vector<float> values{};
  std::vector<std::uint64_t> firsts{
      0};  // where the values of each sensor begin; behind the last one, all of them
  std::vector<std::string> names{};  // of the sensors; empty: their numbers

  std::uint32_t sensors() const { return static_cast<std::uint32_t>(firsts.size() - 1); }
  std::span<float const> of(std::uint32_t sensor) const {
    return std::span(values).subspan(firsts[sensor], firsts[sensor + 1] - firsts[sensor]);
  }
  std::string name_of(std::uint32_t sensor) const {
    return names.empty() ? std::to_string(sensor) : names[sensor];
  }
};

/// Reads a CSV file with a sensor's name and a value in each line. Fields are separated by commas, semicolons or tabs,
/// by what comes first in the file; those with a separator in them are in double quotes. The first line may name the
/// columns: then `sensor` and `value` are read, and others are left out. Empty lines, and lines that begin with #, are
/// skipped. `origin` stands for the file in errors. Throws input_error.
sensor_readings parse_readings(std::string_view text, std::string const& origin,
                               progress_report const& report = {});

/// Readings that are made up: each sensor has its own level, around which its readings drift slowly and scatter like a
/// normal distribution. One in a thousand is planted: 8 to 16 standard deviations off.
struct random_readings {
  std::uint32_t sensors = 1000, readings = 10'000, seed = 1;  // `readings`: of each sensor
};
/// From text such as "sensors=1000,readings=10000,seed=1", each part of which may be left out. Throws input_error.
random_readings parse_random_readings(std::string_view text);
/// The same seed makes the same readings everywhere.
sensor_readings generate_readings(random_readings const& shape);
/// Whether this reading of it was planted.
bool is_planted(random_readings const& shape, std::uint32_t sensor, std::uint32_t number);

}  // namespace rondo::workloads
