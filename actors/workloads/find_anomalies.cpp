#include "actors/workloads/find_anomalies.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <boost/asio/use_future.hpp>
#include <chrono>
#include <cstring>
#include <memory>
#include <numeric>

#include "actors/workloads/raise.hpp"
#include "runtime/checkpoint.hpp"
#include "runtime/lifecycle.hpp"
#include "runtime/memory/unified_buffer.hpp"

namespace rondo::workloads {

namespace {

using namespace std::chrono_literals;
using clock = std::chrono::steady_clock;

/// Messages to a sensor at once, and in its mailbox.
constexpr std::uint32_t most_at_once = 32, sensor_capacity = 2 * most_at_once;

/// A failure of an actor ends the search, whose alerts would not be complete.
constexpr supervision no_second_try{.rule = on_failure::escalate, .poison_after = 1};

double seconds_from(clock::time_point began) {
  return std::chrono::duration<double>(clock::now() - began).count();
}

bool comes_before(alert const& a, alert const& b) {
  return a.sensor != b.sensor ? a.sensor < b.sensor : a.number < b.number;
}

void require_delivered(error_code status, char const* what) {
  if (status) throw boost::system::system_error(status, what);
}

/// Of what must be the same when a search goes on.
std::uint64_t hash_of(sensor_readings const& readings, anomaly_options const& options) {
  std::uint64_t hash = 0xcbf2'9ce4'8422'2325;
  auto const mix = [&hash](std::uint64_t word) {
    hash = (hash ^ word) * 0x9e37'79b9'7f4a'7c15;
    hash ^= hash >> 32;
  };
  mix(std::bit_cast<std::uint64_t>(options.sigmas));
  mix(std::uint64_t{options.window} << 32 | options.batch);
  mix(options.part);
  for (auto const first : readings.firsts) mix(first);
  for (auto const value : readings.values) mix(std::bit_cast<std::uint32_t>(value));
  return hash;
}

/// Readings of one sensor that are sent at once.
struct run_of_readings {
  std::uint32_t sensor, first, count;
};

/// All readings in runs, which take turns: the first run of each sensor, then the second one of each that has more.
class readings_in_turn {
 public:
  /// Where it is. Saved in checkpoints.
  struct place {
    std::uint64_t round = 0;  // as many runs of each sensor were before
    std::uint64_t turn = 0;   // in order_
  };

  readings_in_turn(sensor_readings const& readings, std::uint32_t stride)
      : readings_(readings), stride_(stride), order_(readings.sensors()) {
    std::iota(order_.begin(), order_.end(), 0u);
    std::ranges::stable_sort(order_, std::greater{}, [&](auto s) { return readings.of(s).size(); });
  }

  /// False at the end.
  bool has_next() const { return left_of(order_.front()) != 0; }
  /// Precondition: has_next().
  run_of_readings next() const {
    auto const s = order_[at_.turn];
    return {s, static_cast<std::uint32_t>(at_.round * stride_),
            static_cast<std::uint32_t>(std::min<std::uint64_t>(left_of(s), stride_))};
  }
  void step() {
    if (++at_.turn < order_.size() && left_of(order_[at_.turn]) != 0) return;
    ++at_.round;
    at_.turn = 0;
  }
  place where() const { return at_; }
  void go_to(place p) { at_ = p; }
  bool has(place p) const { return p.turn < order_.size(); }

 private:
  /// Of this sensor, in this round and later.
  std::uint64_t left_of(std::uint32_t sensor) const {
    auto const all = readings_.of(sensor).size(), before = at_.round * stride_;
    return all > before ? all - before : 0;
  }

  sensor_readings const& readings_;
  std::uint64_t stride_;
  std::vector<std::uint32_t> order_;  // of the sensors: the one with the most readings first
  place at_;
};

std::uint32_t stride_of(sensor_readings const& readings, anomaly_options const& options) {
  auto const of_part = options.part / readings.sensors() / options.batch * options.batch;
  return std::clamp(of_part, options.batch, options.batch * most_at_once);
}

std::uint64_t most_alerts(sensor_readings const& readings, anomaly_options const& options) {
  auto const part = std::max(options.part, stride_of(readings, options));
  return std::min<std::uint64_t>(part, readings.values.size());
}

/// In the notes of a checkpoint: this, the ids of the sensors, and the alerts so far.
struct saved_search {
  static constexpr std::uint64_t of_this_kind = 0x3161'6d6f'6e61'6472;

  std::uint64_t kind, input;  // `input`: of hash_of
  readings_in_turn::place place;
  std::uint64_t readings, alerts;
  actor_id collector;
};
static_assert(sizeof(saved_search) == 56 && std::is_trivially_copyable_v<saved_search>);

class anomaly_search {
 public:
  anomaly_search(runtime& rt, sensor_readings const& readings, anomaly_options const& options)
      : rt_(rt),
        readings_(readings),
        options_(options),
        input_(options.checkpoint.empty() ? 0 : hash_of(readings, options)),
        in_turn_(readings, stride_of(readings, options)),
        values_(rt.memory(options.device), {options.batch > 1 ? readings.values.size() : 1}),
        alerts_(rt.memory(options.device), {most_alerts(readings, options)}) {
    if (options.batch > 1) {
      std::ranges::copy(readings.values, values_.overwrite().value().begin());
      on_device_ = values_.device().value();
    }
    if (!options.checkpoint.empty() && std::filesystem::exists(options.checkpoint))
      go_on();
    else
      launch();
    if (!options.checkpoint.empty()) save();  // one that cannot be written is told at once
  }

  found_anomalies run(std::function<void(std::uint64_t, std::uint64_t)> const& report) {
    auto const began = clock::now();
    while (in_turn_.has_next()) {
      run_part();
      if (is_checkpoint_due()) save();
      if (report) report(found_.readings, found_.alerts.size());
    }
    std::ranges::sort(found_.alerts, comes_before);
    found_.seconds = seconds_from(began);
    end_actors();
    return std::move(found_);
  }

 private:
  // -- actors

  void launch() {
    auto const some = options_.collector_capacity;
    actor_options const of_collector{.device = options_.device,
                                     .capacity = some,
                                     .reserve = {.slots = some / 2, .from = 255},
                                     .supervise = no_second_try};
    collector_ = rt_.launch<alert_collector>({}, of_collector);
    std::vector<sensor::arguments> about;
    for (std::uint32_t s = 0; s < readings_.sensors(); ++s)
      about.push_back({collector_.where(), s, options_.window, options_.sigmas});
    sensors_ = rt_.launch_many<sensor>(
        about, {.device = options_.device, .capacity = sensor_capacity, .supervise = no_second_try});
  }

  void end_actors() {
    std::vector<std::future<void>> ends;
    for (auto const& s : sensors_)
      ends.push_back(terminate(s, termination::discard, boost::asio::use_future));
    ends.push_back(terminate(collector_, termination::discard, boost::asio::use_future));
    for (auto& e : ends) e.get();
  }

  // -- readings

  /// A part: readings to the sensors, and the alerts that come of them. Then all actors are idle.
  void run_part() {
    auto const into = alerts_.device_for_overwriting().value();
    auto all = collector_.ask(collect_alerts{into, readings_.sensors()}, {.timeout = 24h, .priority = 255},
                              boost::asio::use_future);
    std::uint64_t sent = 0;
    while (in_turn_.has_next() && !(sent != 0 && is_checkpoint_due())) {
      auto const run = in_turn_.next();
      if (sent + run.count > alerts_.size()) break;
      send(run);
      sent += run.count;
      in_turn_.step();
    }
    for (auto const& s : sensors_) deliver(s, std::array{end_of_part{}});
    auto const count = all.get().alerts;
    auto const seen = alerts_.host().value();
    found_.alerts.insert(found_.alerts.end(), seen.begin(), seen.begin() + count);
    found_.readings += sent;
  }
  void send(run_of_readings const& run) {
    auto const& to = sensors_[run.sensor];
    std::uint32_t messages = 0;
    if (options_.batch == 1) {
      auto const values = readings_.of(run.sensor).subspan(run.first, run.count);
      std::array<reading, most_at_once> all;
      for (auto const value : values) all[messages] = {run.first + messages, value}, ++messages;
      return deliver(to, std::span(all).first(messages));
    }
    auto const end = run.first + run.count;
    std::array<reading_range, most_at_once> all;
    for (auto first = run.first; first < end; first += options_.batch) {
      auto const count = std::min(options_.batch, end - first);
      auto const begin = sizeof(float) * (readings_.firsts[run.sensor] + first);
      all[messages++] = {on_device_.slice(begin, sizeof(float) * count), first};
    }
    deliver(to, std::span(all).first(messages));
  }
  template <class Messages>
  void deliver(actor_ref<sensor> const& to, Messages const& messages) {
    using message = std::remove_cvref_t<decltype(*messages.begin())>;
    std::span<message const> const all(messages);
    if (to.try_tell(all)) [[unlikely]]
      require_delivered(to.tell(all, {.wait_for_room = true}, block), "readings for a sensor");
  }

  // -- checkpoints

  bool is_checkpoint_due() const {
    return !options_.checkpoint.empty() && seconds_from(saved_at_) >= options_.checkpoint_every_s;
  }
  /// Between two parts: no message is on its way, and no buffer in use.
  void save() {
    saved_search const about{saved_search::of_this_kind, input_,         in_turn_.where(), found_.readings,
                             found_.alerts.size(),       collector_.id()};
    std::vector<actor_id> ids;
    for (auto const& s : sensors_) ids.push_back(s.id());
    std::vector<std::byte> notes;
    for (auto const& bytes : {std::as_bytes(std::span(&about, 1)), std::as_bytes(std::span(ids)),
                              std::as_bytes(std::span(found_.alerts))})
      notes.insert(notes.end(), bytes.begin(), bytes.end());
    try {
      checkpoint(rt_, options_.checkpoint, notes);
    } catch (std::runtime_error const& e) {
      throw checkpoint_not_written(e.what());
    }
    ++found_.checkpoints;
    saved_at_ = clock::now();
  }
  void go_on() {
    std::vector<std::byte> notes;
    try {
      notes = restore(rt_, options_.checkpoint);
    } catch (std::runtime_error const& e) {
      throw checkpoint_refused(fmt::format("{}; remove it to begin from the first reading", e.what()));
    }
    auto rest = std::span<std::byte const>(notes);
    auto const take = [&rest](void* to, std::size_t bytes) {
      if (bytes > rest.size()) return false;
      if (bytes != 0) std::memcpy(to, rest.data(), bytes);
      rest = rest.subspan(bytes);
      return true;
    };
    saved_search about{};
    std::vector<actor_id> ids(readings_.sensors());
    bool is_whole = take(&about, sizeof about) && about.kind == saved_search::of_this_kind &&
                    about.input == input_ && in_turn_.has(about.place) &&
                    take(ids.data(), ids.size() * sizeof(actor_id)) &&
                    rest.size() == about.alerts * sizeof(alert);
    if (is_whole) {
      found_.alerts.resize(about.alerts);
      is_whole = take(found_.alerts.data(), rest.size()) && find_actors(about.collector, ids);
    }
    if (!is_whole)
      throw checkpoint_refused(
          fmt::format("{}: it is of other readings or options; remove it to begin from the first reading, or "
                      "run the command that wrote it",
                      options_.checkpoint.string()));
    in_turn_.go_to(about.place);
    found_.readings = found_.restored = about.readings;
  }
  /// A restored actor has the id that it had.
  bool find_actors(actor_id collector, std::vector<actor_id> const& ids) {
    auto const mail = rt_.at(collector);
    if (!mail) return false;
    collector_ = {mail->mail(), collector};
    for (auto const id : ids) {
      if (!rt_.at(id)) return false;
      sensors_.emplace_back(mail->mail(), id);
    }
    return true;
  }

  runtime& rt_;
  sensor_readings const& readings_;
  anomaly_options const& options_;
  std::uint64_t const input_;
  readings_in_turn in_turn_;
  unified_buffer<float> values_;
  buffer_ref on_device_{};  // values_, there
  unified_buffer<alert> alerts_;
  actor_ref<alert_collector> collector_;
  std::vector<actor_ref<sensor>> sensors_;
  clock::time_point saved_at_{};
  found_anomalies found_;
};

}  // namespace

std::uint64_t anomaly_bytes(sensor_readings const& readings, anomaly_options const& options) {
  std::uint64_t const of_sensor = sizeof(detail::state_of<sensor>) + sensor_capacity * sizeof(message);
  return readings.sensors() * of_sensor + sizeof(float) * readings.values.size() +
         sizeof(alert) * most_alerts(readings, options);
}

void make_room(config& settings, sensor_readings const& readings, anomaly_options const& options) {
  constexpr std::uint32_t others = 16;  // the collector, and some to spare
  constexpr std::uint32_t rings_of_all = 16'000;
  auto const sensors = readings.sensors();
  raise(settings.actors, sensors + others);
  raise(settings.default_capacity, sensor_capacity);
  // All sensors may have mail at once.
  if (sensors > rings_of_all) raise(settings.mail_blocks, settings.actors + 1024);
  // With what is taken for other actors, and for the collector's mailbox.
  auto const states = std::uint64_t{sensors} * (sizeof(detail::state_of<sensor>) + 128);
  auto const automatic = std::uint64_t{settings.actors} * 256 + (std::uint64_t{256} << 20);
  if (settings.state_bytes != 0 || states > automatic / 2) raise(settings.state_bytes, automatic + states);
  auto const buffers =
      sizeof(float) * readings.values.size() + sizeof(alert) * most_alerts(readings, options);
  raise(settings.buffer_bytes_cap, buffers + buffers / 4);
}

found_anomalies find_anomalies(runtime& rt, sensor_readings const& readings, anomaly_options const& options,
                               std::function<void(std::uint64_t, std::uint64_t)> const& report) {
  return anomaly_search(rt, readings, options).run(report);
}

found_anomalies find_anomalies_plainly(sensor_readings const& readings, anomaly_options const& options) {
  found_anomalies found;
  auto const window = std::make_unique<sliding_window>();
  auto const began = clock::now();
  for (std::uint32_t s = 0; s < readings.sensors(); ++s) {
    window->begin(options.window, options.sigmas);
    std::uint32_t number = 0;
    for (auto const x : readings.of(s)) {
      if (window->is_far(x)) [[unlikely]]
        found.alerts.push_back(
            {s, number, x, static_cast<float>(window->mean()), static_cast<float>(window->deviation())});
      window->add(x);
      ++number;
    }
  }
  found.seconds = seconds_from(began);
  found.readings = readings.values.size();
  return found;
}

}  // namespace rondo::workloads
