#include "tools/workloads/anomaly_picture.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <vector>

#include "tools/workloads/canvas.hpp"

namespace rondo::tools {

namespace {

using namespace workloads;

constexpr video::rgb background{16, 20, 28}, grid{48, 56, 70}, ink{200, 210, 225}, value_colour{64, 150, 220},
    mean_colour{255, 210, 90}, band_colour{150, 130, 70}, alert_colour{255, 84, 84};

/// Numbers along an axis: multiples of 1, 2 or 5 times a power of ten, about `wanted` of them.
double step_of(double range, double wanted) {
  auto const power = std::pow(10, std::floor(std::log10(range / wanted)));
  auto const most = range / wanted / power;
  return power * (most <= 1 ? 1 : most <= 2 ? 2 : most <= 5 ? 5 : 10);
}

struct range_of_numbers {
  double low = std::numeric_limits<double>::max(), high = -low;

  void include(double x) { low = std::min(low, x), high = std::max(high, x); }
  double size() const { return high - low; }
  /// With a margin, and never empty.
  range_of_numbers widened() const {
    auto const by = size() > 0 ? size() / 20 : std::max(std::abs(low) / 20, 1.0);
    return {low - by, high + by};
  }
};

/// What was usual before some of the readings.
struct usual {
  std::vector<double> at, mean, low, high;
};
usual usual_values(std::span<float const> values, anomaly_options const& how, std::size_t most) {
  usual u;
  auto const window = std::make_unique<sliding_window>();
  window->begin(how.window, how.sigmas);
  auto const step = values.size() / most + 1;
  for (std::size_t n = 0; n < values.size(); ++n) {
    if (n % step == 0 && window->can_judge()) {
      auto const mean = window->mean(), away = how.sigmas * window->deviation();
      u.at.push_back(static_cast<double>(n));
      u.mean.push_back(mean);
      u.low.push_back(mean - away);
      u.high.push_back(mean + away);
    }
    window->add(values[n]);
  }
  return u;
}

/// A canvas has letters of ASCII alone.
std::string drawable(std::string const& name) {
  std::string text;
  for (auto const c : name)
    if ((c & 0xc0) != 0x80) text += c >= ' ' && c <= '~' ? c : '?';  // not the further bytes of a letter
  return text;
}

/// A canvas with axes.
class chart {
 public:
  chart(range_of_numbers x, range_of_numbers y) : x_(x), y_(y), canvas_(1280, 720, background) {}

  canvas::place at(double x, double y) const {
    auto const across = (x - x_.low) / x_.size(), up = (y - y_.low) / y_.size();
    return {static_cast<float>(left + across * (canvas_.width() - left - right)),
            static_cast<float>(canvas_.height() - bottom - up * (canvas_.height() - top - bottom))};
  }
  void axes(std::string const& title, std::string const& below) {
    auto const step_y = step_of(y_.size(), 8), step_x = step_of(x_.size(), 10);
    for (auto y = std::ceil(y_.low / step_y); y * step_y <= y_.high; ++y) {
      line_between(at(x_.low, y * step_y), at(x_.high, y * step_y));
      auto const p = at(x_.low, y * step_y);
      canvas_.text({p.x - 12, p.y - canvas::capital / 2}, fmt::format("{:.6g}", y * step_y + 0.0), ink,
                   1);  // never -0
    }
    for (auto x = std::ceil(x_.low / step_x); x * step_x <= x_.high; ++x) {
      line_between(at(x * step_x, y_.low), at(x * step_x, y_.high));
      auto const p = at(x * step_x, y_.low);
      canvas_.text({p.x, p.y + 12}, fmt::format("{:.9g}", x * step_x), ink, 0.5F);
    }
    canvas_.text({left, 24}, title, ink);
    canvas_.text(middle_below(), below, ink, 0.5F);
  }
  /// Texts in their colours, from right to left.
  void legend(std::span<std::pair<std::string, video::rgb> const> entries) {
    auto x = static_cast<float>(canvas_.width()) - static_cast<float>(right);
    for (auto const& [text, colour] : entries) {
      canvas_.text({x, 24}, text, colour, 1);
      x -= 14 * static_cast<float>(text.size()) + 20;
    }
  }
  void curve(std::span<double const> x, std::span<double const> y, float width_px, video::rgb colour) {
    std::vector<canvas::place> through;
    for (std::size_t i = 0; i < x.size(); ++i) through.push_back(at(x[i], y[i]));
    canvas_.line(through, width_px, colour);
  }
  /// Of many values, those are drawn that can be seen: the lowest and the highest of each column.
  void values(std::span<float const> all) {
    auto const columns = static_cast<std::size_t>(canvas_.width());
    auto const step = all.size() > 2 * columns ? all.size() / columns + 1 : 1;
    std::vector<canvas::place> through;
    for (std::size_t first = 0; first < all.size(); first += step) {
      auto const some = all.subspan(first, std::min(step, all.size() - first));
      auto const [low, high] = std::ranges::minmax_element(some);
      for (auto const i : {std::min(low, high), std::max(low, high)}) {
        auto const n = first + static_cast<std::size_t>(i - some.begin());
        through.push_back(at(static_cast<double>(n), *i));
        if (low == high) break;
      }
    }
    canvas_.line(through, 1.2F, value_colour);
  }
  void dots(std::span<alert const> alerts) {
    std::vector<canvas::place> places;
    for (auto const& a : alerts) places.push_back(at(a.number, a.value));
    canvas_.dots(places, 5, alert_colour);
  }
  void write(std::string const& file) const { canvas_.write(file); }

 private:
  static constexpr double left = 110, right = 30, top = 60, bottom = 90;

  canvas::place middle_below() const {
    return {static_cast<float>(left + (canvas_.width() - left - right) / 2),
            static_cast<float>(canvas_.height()) - 36};
  }
  void line_between(canvas::place a, canvas::place b) {
    canvas::place const ends[] = {a, b};
    canvas_.line(ends, 1, grid);
  }

  range_of_numbers x_, y_;
  canvas canvas_;
};

}  // namespace

void draw_anomalies(std::string const& file, sensor_readings const& readings, std::uint32_t sensor,
                    std::span<alert const> alerts, anomaly_options const& how) {
  auto const values = readings.of(sensor);
  auto const u = usual_values(values, how, 1000);
  range_of_numbers y;
  for (auto const v : values) y.include(v);
  for (auto const v : u.low) y.include(v);
  for (auto const v : u.high) y.include(v);
  auto const last = std::max(static_cast<double>(values.size()) - 1, 1.0);

  chart c({0, last}, y.widened());
  c.axes(fmt::format("Readings of sensor '{}': {} alert{}", drawable(readings.name_of(sensor)), alerts.size(),
                     alerts.size() == 1 ? "" : "s"),
         "number of the reading");
  std::pair<std::string, video::rgb> const entries[] = {{"alert", alert_colour},
                                                        {fmt::format("{:g} sigma", how.sigmas), band_colour},
                                                        {"mean", mean_colour},
                                                        {"value", value_colour}};
  c.legend(entries);
  c.values(values);
  c.curve(u.at, u.low, 1.5F, band_colour);
  c.curve(u.at, u.high, 1.5F, band_colour);
  c.curve(u.at, u.mean, 2, mean_colour);
  c.dots(alerts);
  c.write(file);
}

}  // namespace rondo::tools
