#include "actors/workloads/readings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <optional>
#include <unordered_map>
#include <utility>

#include "actors/routing/policies.hpp"
#include "runtime/text/parse_number.hpp"

namespace rondo::workloads {

namespace {

std::string_view without_spaces(std::string_view text) {
  auto const first = text.find_first_not_of(' ');
  if (first == text.npos) return {};
  return text.substr(first, text.find_last_not_of(' ') - first + 1);
}

bool is_word(std::string_view text, std::string_view word) {
  return std::ranges::equal(text, word, {}, [](unsigned char c) { return std::tolower(c); });
}

/// A value of a line; its precision is that of a float.
std::optional<float> to_value(std::string_view text) {
  auto const number = parse_real<double>(text);
  if (!number || !std::isfinite(static_cast<float>(*number))) return std::nullopt;
  return static_cast<float>(*number);
}

class csv_reader {
 public:
  csv_reader(std::string_view text, std::string const& origin, progress_report const& report)
      : origin_(origin), lines_(text.starts_with(mark_of_utf8) ? text.substr(3) : text, origin, report) {}

  sensor_readings read() {
    while (next_line())
      if (!is_header()) take_line();
    if (sensors_.empty())
      throw input_error(fmt::format("{}: there is no reading in it; a line is 'sensor,value'", origin_));
    return by_sensor();
  }

 private:
  struct one {
    std::uint32_t sensor;
    float value;
  };
  static constexpr std::string_view mark_of_utf8 = "\xef\xbb\xbf";  // of some programs
  static constexpr std::size_t longest_name = 100, most_columns = 1000;

  [[noreturn]] void refuse(std::string const& why) const { lines_.refuse(why); }

  /// The next line that is neither empty nor a comment; false at the end.
  bool next_line() {
    while (lines_.next(line_))
      if (line_.find_first_not_of(" \t") != line_.npos && line_.front() != '#') return split(), true;
    return false;
  }
  void split() {
    if (separator_ == 0) {
      auto const first = line_.find_first_of(",;\t");
      if (first == line_.npos) refuse(fmt::format("'{}' is not 'sensor,value'", beginning_of(line_)));
      separator_ = line_[first];
    }
    fields_.clear();
    for (auto rest = line_;; rest.remove_prefix(1)) {
      if (fields_.size() == most_columns) refuse(fmt::format("more than {} columns", most_columns));
      fields_.push_back(take_field(rest));
      if (rest.empty()) return;
    }
  }
  /// What follows the field stays in `rest`: nothing, or a separator and more.
  std::string_view take_field(std::string_view& rest) const {
    auto const quoted = rest.starts_with('"');
    auto const end = quoted ? rest.find('"', 1) : std::min(rest.find(separator_), rest.size());
    if (end == rest.npos) refuse("a quotation mark is not closed in its line");
    auto const field = quoted ? rest.substr(1, end - 1) : without_spaces(rest.substr(0, end));
    rest.remove_prefix(quoted ? end + 1 : end);
    if (!rest.empty() && rest.front() != separator_) refuse("a quotation mark within a field is not read");
    return field;
  }

  /// Whether this is the first line, and names the columns.
  bool is_header() {
    if (std::exchange(has_begun_, true)) return false;
    auto const column = [&](std::string_view name) {
      auto const found = std::ranges::find_if(fields_, [&](auto f) { return is_word(f, name); });
      return static_cast<std::size_t>(found - fields_.begin());
    };
    auto const sensor = column("sensor"), value = column("value");
    if (sensor == fields_.size() && value == fields_.size()) return false;
    if (sensor == fields_.size() || value == fields_.size())
      refuse(fmt::format("there is no column '{}'", sensor == fields_.size() ? "sensor" : "value"));
    sensor_column_ = sensor, value_column_ = value, columns_ = fields_.size();
    return true;
  }
  void take_line() {
    if (fields_.size() != columns_)
      refuse(fmt::format("'{}' has {} fields, not {}", beginning_of(line_), fields_.size(), columns_));
    auto const text = fields_[value_column_];
    auto const value = to_value(text);
    if (!value)
      refuse(fmt::format("'{}' is not a value: a finite number, such as 21.5{}", beginning_of(text),
                         all_.empty() ? "; a line that names columns has 'sensor' and 'value'" : ""));
    all_.push_back({number_of(fields_[sensor_column_]), *value});
  }
  std::uint32_t number_of(std::string_view name) {
    auto const [found, is_new] = numbers_.try_emplace(name, static_cast<std::uint32_t>(sensors_.size()));
    if (!is_new) {
      if (++sensors_[found->second].readings > sensor_readings::most_of_sensor)
        refuse(fmt::format("more than {} readings of a sensor", sensor_readings::most_of_sensor));
      return found->second;
    }
    if (name.empty() || name.size() > longest_name)
      refuse(fmt::format("the name of a sensor has 1 to {} bytes, not {}", longest_name, name.size()));
    if (std::ranges::any_of(name, [](unsigned char c) { return c < ' ' || c == 0x7f || c == '"'; }))
      refuse(fmt::format("'{}' is not a name: it has a control character or a quotation mark",
                         beginning_of(name)));
    if (sensors_.size() == sensor_readings::most_sensors)
      refuse(fmt::format("more than {} sensors", sensor_readings::most_sensors));
    sensors_.push_back({name, 1});
    return found->second;
  }

  sensor_readings by_sensor() const {
    sensor_readings r;
    for (auto const& s : sensors_) {
      r.names.emplace_back(s.name);
      r.firsts.push_back(r.firsts.back() + s.readings);
    }
    r.values.resize(all_.size());
    std::vector<std::uint64_t> next(r.firsts.begin(), r.firsts.end() - 1);
    for (auto const& [sensor, value] : all_) r.values[next[sensor]++] = value;
    return r;
  }

  std::string const& origin_;
  input_lines lines_;
  std::string_view line_;
  char separator_ = 0;  // 0: the first line says
  std::vector<std::string_view> fields_;
  bool has_begun_ = false;
  std::size_t columns_ = 2, sensor_column_ = 0, value_column_ = 1;

  struct seen_sensor {
    std::string_view name;
    std::uint64_t readings;
  };
  std::vector<seen_sensor> sensors_;
  std::unordered_map<std::string_view, std::uint32_t> numbers_;
  std::vector<one> all_;
};

std::uint64_t seed_of(random_readings const& shape) { return scatter_bits(shape.seed + std::uint64_t{1}); }

std::uint64_t chance_of(std::uint64_t seed, std::uint32_t sensor, std::uint32_t number, std::uint64_t which) {
  return scatter_bits(seed ^ scatter_bits(which << 60 ^ std::uint64_t{sensor} << 32 ^ number));
}

/// 0 to 1.
double part_of(std::uint64_t chance) { return static_cast<double>(chance >> 11) * 0x1p-53; }

/// Twelve even numbers from 0 to 1 together scatter like a normal distribution, by 1. Whole numbers, for the same sum
/// on every machine.
double normal(std::uint64_t seed, std::uint32_t sensor, std::uint32_t number) {
  std::int64_t sum = 0;
  for (std::uint64_t which = 0; which < 3; ++which) {
    auto const chance = chance_of(seed, sensor, number, which);
    for (int bits = 0; bits < 64; bits += 16) sum += static_cast<std::int64_t>(chance >> bits & 0xffff);
  }
  return static_cast<double>(sum - 6 * 0xffff) / 0x10000;
}

constexpr std::uint64_t of_plants = 3, of_sensors = 4;
constexpr std::uint64_t rarity = 1000;

}  // namespace

sensor_readings parse_readings(std::string_view text, std::string const& origin,
                               progress_report const& report) {
  return csv_reader(text, origin, report).read();
}

random_readings parse_random_readings(std::string_view text) {
  constexpr std::uint64_t most = 4'000'000'000;
  random_readings r;
  named_number const numbers[] = {{"sensors", r.sensors, 1, sensor_readings::most_sensors},
                                  {"readings", r.readings, 1, 1'000'000'000},
                                  {"seed", r.seed, 0, 0xffff'ffff}};
  read_numbers(text, numbers, "sensors=1000,readings=10000,seed=1");
  if (std::uint64_t{r.sensors} * r.readings > most)
    throw input_error(fmt::format("'{}': that is more than {} readings", text, most));
  return r;
}

bool is_planted(random_readings const& shape, std::uint32_t sensor, std::uint32_t number) {
  return chance_of(seed_of(shape), sensor, number, of_plants) % rarity == 0;
}

sensor_readings generate_readings(random_readings const& shape) {
  constexpr double period = 4000, drift = 0.5, least_off = 8, most_off = 16;
  sensor_readings r;
  r.values.resize(std::size_t{shape.sensors} * shape.readings);
  auto const seed = seed_of(shape);
  auto* next = r.values.data();
  for (std::uint32_t s = 0; s < shape.sensors; ++s) {
    auto const level = 10 + 20 * part_of(chance_of(seed, s, 0, of_sensors));
    auto const phase = part_of(chance_of(seed, s, 1, of_sensors));
    for (std::uint32_t n = 0; n < shape.readings; ++n) {
      auto const turns = phase + n / period;
      auto const wave = 4 * std::abs(turns - std::floor(turns) - 0.5) - 1;  // -1 to 1, and back
      auto value = level + drift * wave + normal(seed, s, n);
      if (auto const chance = chance_of(seed, s, n, of_plants); chance % rarity == 0) {
        auto const off = least_off + (most_off - least_off) * part_of(scatter_bits(chance));
        value += chance >> 63 != 0 ? off : -off;
      }
      *next++ = static_cast<float>(value);
    }
    r.firsts.push_back(r.firsts.back() + shape.readings);
  }
  return r;
}

}  // namespace rondo::workloads
