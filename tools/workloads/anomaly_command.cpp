// `rondo run anomaly`.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <iterator>
#include <memory>

#include "actors/workloads/find_anomalies.hpp"
#include "runtime/text/json_string.hpp"
#include "tools/workloads/anomaly_picture.hpp"
#include "tools/workloads/workload_options.hpp"
#include "tools/workloads_module/workloads_module.hpp"

namespace rondo::tools {

namespace {

using namespace workloads;
using service::command_error;

struct anomaly_command {
  workload_options run;
  workload_data data;
  std::string output, checkpoint;
  anomaly_options how;
};

constexpr char const *anomaly_name = "run anomaly", *anomaly_example = "sensors=1000,readings=10000,seed=1";

sensor_readings readings_of(anomaly_command const& o) {
  return o.data.load(anomaly_name, anomaly_example, o.run.is_quiet, parse_readings,
                     [](std::string const& text) {
                       auto const shape = parse_random_readings(text);
                       require_memory(fmt::format("{}: generating the readings", anomaly_name),
                                      sizeof(float) * std::uint64_t{shape.sensors} * shape.readings);
                       return generate_readings(shape);
                     });
}

found_anomalies search(anomaly_command const& o, sensor_readings const& readings) {
  auto settings = o.run.settings(0);
  make_room(settings, readings, o.how);
  runtime rt{use<workloads_module>, std::move(settings)};
  progress_lines progress(o.run.is_quiet);
  try {
    return find_anomalies(rt, readings, o.how, [&](std::uint64_t so_far, std::uint64_t alerts) {
      if (progress.is_due())
        progress.show(
            fmt::format("rondo: {} of {} readings, {} alerts", so_far, readings.values.size(), alerts));
    });
  } catch (checkpoint_refused const& e) {
    throw command_error(exit_bad_config, fmt::format("run anomaly: --checkpoint: {}", e.what()));
  } catch (checkpoint_not_written const& e) {
    throw command_error(exit_no_output, fmt::format("run anomaly: --checkpoint: {}", e.what()));
  }
}

/// As a field of a CSV file. Names have no quotation marks.
std::string csv_field(std::string const& name) {
  return name.find_first_of(",;\t ") == name.npos ? name : fmt::format("\"{}\"", name);
}

std::string to_csv(sensor_readings const& readings, found_anomalies const& found) {
  std::string text = "sensor,number,value,mean,deviation\n";
  for (auto const& a : found.alerts)
    fmt::format_to(std::back_inserter(text), "{},{},{},{},{}\n", csv_field(readings.name_of(a.sensor)),
                   a.number, a.value, a.mean, a.deviation);
  return text;
}

/// The alerts of the sensor that has the most of them.
std::span<alert const> most_alerts_of_one(found_anomalies const& found) {
  std::span<alert const> most;
  for (std::span<alert const> rest = found.alerts; !rest.empty();) {
    auto const next = std::ranges::upper_bound(rest, rest.front().sensor, {}, &alert::sensor);
    auto const count = static_cast<std::size_t>(next - rest.begin());
    if (count > most.size()) most = rest.first(count);
    rest = rest.subspan(count);
  }
  return most;
}

double rate_of(found_anomalies const& found) {
  auto const readings = static_cast<double>(found.readings - found.restored);
  return found.seconds > 0 ? readings / found.seconds : 0;
}

std::string to_json(sensor_readings const& readings, found_anomalies const& found,
                    std::span<alert const> most) {
  auto const of_most = most.empty()
                           ? "null"
                           : fmt::format("{{\"sensor\": {}, \"alerts\": {}}}",
                                         json_string(readings.name_of(most.front().sensor)), most.size());
  return fmt::format(
      "{{\"readings\": {}, \"sensors\": {}, \"alerts\": {}, \"seconds\": {:.6f}, \"readings_per_s\": {:.6g}, "
      "\"restored_readings\": {}, \"most_alerts\": {}}}\n",
      found.readings, readings.sensors(), found.alerts.size(), found.seconds, rate_of(found), found.restored,
      of_most);
}

void print(sensor_readings const& readings, found_anomalies const& found, std::span<alert const> most) {
  if (found.restored != 0) fmt::print("{} readings were already in the checkpoint\n", found.restored);
  fmt::print("{:>12} {:>9} {:>10} {:>10} {:>13}\n", "readings", "sensors", "alerts", "seconds",
             "M readings/s");
  fmt::print("{:>12} {:>9} {:>10} {:>10.3f} {:>13.1f}\n", found.readings, readings.sensors(),
             found.alerts.size(), found.seconds, rate_of(found) * 1e-6);
  if (!most.empty())
    fmt::print("most alerts: {} of sensor '{}'\n", most.size(), readings.name_of(most.front().sensor));
}

void run_anomaly(anomaly_command& o) {
  file_uses uses;
  uses.reads("the readings", o.data.file);
  uses.writes("--output", o.output);
  uses.writes("--picture", o.run.picture);
  uses.writes("--checkpoint", o.checkpoint);
  service::require_own_files(uses);
  require_writable(anomaly_name, o.output);
  require_writable(anomaly_name, o.run.picture);
  auto const readings = readings_of(o);
  o.how.checkpoint = o.checkpoint;
  require_memory(fmt::format("run anomaly: the search in readings of {} sensors", readings.sensors()),
                 anomaly_bytes(readings, o.how));
  auto const found = search(o, readings);
  auto const most = most_alerts_of_one(found);
  if (!o.output.empty()) write_result(anomaly_name, o.output, to_csv(readings, found));
  if (!o.run.picture.empty())
    draw_anomalies(o.run.picture, readings, most.empty() ? 0 : most.front().sensor, most, o.how);
  if (o.run.is_json)
    fmt::print("{}", to_json(readings, found, most));
  else
    print(readings, found, most);
  // All is stored, and told: the next search begins with the first reading.
  if (std::fflush(stdout) == 0 && !o.checkpoint.empty()) std::filesystem::remove(o.checkpoint);
}

}  // namespace

void add_anomaly_command(CLI::App& run, int& exit_status) {
  auto const o = std::make_shared<anomaly_command>();
  auto& c =
      service::add_command(run, "anomaly", "Find readings of sensors that are far from those before them",
                           exit_status, [o] { run_anomaly(*o); });
  o->data.add_to(c, "CSV file with a sensor's name and a value in each line", anomaly_example);
  service::add_number(c, "--sigmas", o->how.sigmas,
                      "alert if a value is more than so many standard deviations from the mean (3)", 0, 1000);
  service::add_number(c, "--window", o->how.window,
                      "mean and deviation are those of so many values before it (10000)",
                      sliding_window::least, sliding_window::most);
  service::add_number(c, "--batch", o->how.batch, "readings of a sensor in a message (1000)", 1,
                      anomaly_options::most_batch);
  c.add_option("--output", o->output, "write all alerts: a CSV file");
  auto* const checkpoint = c.add_option(
      "--checkpoint", o->checkpoint,
      "keep the state in this file; after a crash, the same command goes on from there. Removed at the end");
  service::add_number(c, "--checkpoint-every", o->how.checkpoint_every_s,
                      "seconds from a checkpoint to the next (10)", 0.001, 86'400)
      .needs(checkpoint);
  o->run.add_to(c, "the sensor with the most alerts");
  c.footer(
      std::string("Examples:\n  rondo run anomaly readings.csv --output alerts.csv\n"
                  "  rondo run anomaly --generate sensors=1000,readings=10000 --picture alerts.png\n\n") +
      service::exit_status_help());
}

}  // namespace rondo::tools
