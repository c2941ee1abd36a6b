// Sensors that notice readings far from the usual: each is an actor that keeps its last readings in a window, and sends
// an alert for one that is more than some standard deviations away from their mean. One collector gets all alerts.
//
// Readings come one by one, or as ranges of a buffer. The host sends them in parts, each of which ends with an
// end_of_part to every sensor. A sensor passes that on behind its alerts, so the collector knows when it has them all.
//
// No alert is lost: a sensor that finds the collector full stashes what it cannot finish, and all that comes later,
// until there is room.
#pragma once

#include "actors/workloads/sliding_window.hpp"
#include "kernels/actor/module.hpp"
#include "kernels/buffers/buffer_lease.hpp"

namespace rondo::workloads {

/// A reading is number 0, 1, 2, ... of its sensor.
struct reading {
  std::uint32_t number;
  float value;
};
/// Readings one after the other: floats, the first of which is number `first`.
struct reading_range {
  buffer_ref values;
  std::uint32_t first;
};
/// No further readings of this part follow.
struct end_of_part {};

/// A reading that is far from those before it, which had this mean and standard deviation.
struct alert {
  std::uint32_t sensor, number;
  float value, mean, deviation;
};
/// Asks for the alerts of a part. They are written to `into`, which has room for one for each of its readings.
struct collect_alerts {
  buffer_ref into;  // alerts
  std::uint32_t sensors;
};
struct collected {
  std::uint32_t alerts = 0;
};

struct alert_collector {
  using messages = rondo::messages<rondo::ask<collect_alerts, collected>, alert, end_of_part>;

  /// Comes before the readings, and is as urgent as the alerts: so it is handled before them.
  RONDO_HD void on(context& ctx, collect_alerts const& m) {
    part_ = m;
    so_far_ = {};
    asker_ = ctx.defer();
  }
  RONDO_HD void on(context& ctx, batch<alert> const& some) {
    write_lease<alert> const all(ctx.buffers(), part_.into);
    if (!all) return ctx.fail(all.status());
    if (some.size() > all.view().size() - so_far_.alerts) return ctx.fail(errc::buffer_out_of_bounds);
    for (auto const& a : some) all.view()[so_far_.alerts++] = a;
  }
  RONDO_HD void on(context& ctx, end_of_part const&) {
    if (--part_.sensors == 0) ctx.reply_to(asker_, so_far_);
  }

 private:
  collect_alerts part_{};
  collected so_far_{};
  reply_token asker_{};
};

struct sensor {
  struct arguments {
    address<alert_collector> collector{};
    std::uint32_t number = 0, window = sliding_window::most;
    double sigmas = 3;
  };
  using messages = rondo::messages<reading, reading_range, end_of_part, room>;
  static constexpr auto width = rondo::width::lane;  // there are thousands, and they do the same

  RONDO_HD void on_start(context&, arguments const& a) {
    about_ = a;
    window_.begin(a.window, a.sigmas);
  }
  RONDO_HD void on(context& ctx, reading const& m) {
    if (is_waiting_ || !take(ctx, m)) ctx.stash();
  }
  RONDO_HD void on(context& ctx, reading_range const& m) {
    if (is_waiting_) return ctx.stash();
    read_lease<float> const values(ctx.buffers(), m.values);
    if (!values) return ctx.fail(values.status());
    auto const count = static_cast<std::uint32_t>(values.view().size());
    for (auto i = taken_; i < count; ++i)
      if (!take(ctx, {m.first + i, values.view()[i]})) return taken_ = i, ctx.stash();
    taken_ = 0;
  }
  RONDO_HD void on(context& ctx, end_of_part const& m) {
    if (is_waiting_ || !send(ctx, m)) ctx.stash();
  }
  /// What was stashed comes again in its order, first of all what the collector had no room for.
  RONDO_HD void on(context& ctx, room const&) {
    is_waiting_ = false;
    ctx.unstash();
  }

 private:
  /// False: it is not taken yet, because there is no room for its alert.
  RONDO_HD bool take(context& ctx, reading const& r) {
    if (window_.is_far(r.value)) [[unlikely]] {
      auto const mean = static_cast<float>(window_.mean()),
                 deviation = static_cast<float>(window_.deviation());
      if (!send(ctx, alert{about_.number, r.number, r.value, mean, deviation})) return false;
    }
    window_.add(r.value);
    return true;
  }
  /// False: the collector is full, and the actor waits for room there.
  template <class Message>
  RONDO_HD bool send(context& ctx, Message const& m) {
    auto const e = ctx.tell(about_.collector, m, {.priority = 255});
    if (e == errc::mailbox_full || e == errc::arena_full) {
      is_waiting_ = true;
      ctx.when_room(about_.collector);
      return false;
    }
    if (e != errc::ok) ctx.fail(e);  // the collector has ended
    return true;
  }

  arguments about_{};
  std::uint32_t taken_ = 0;  // of the range that is stashed
  bool is_waiting_ = false;  // for room at the collector
  sliding_window window_{};
};

}  // namespace rondo::workloads
