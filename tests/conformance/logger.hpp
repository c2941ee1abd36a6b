// Behaviours that log.
#pragma once

#include "kernels/actor/module.hpp"

namespace conformance {

/// Is logged at this level, as it stands.
struct say {
  rondo::log_level level;
  char text[88];
};
/// Is logged with one number of each kind.
struct say_numbers {
  std::uint64_t large;
  std::int32_t negative;
  double real;
  float single;
};
struct say_flags {
  bool yes;
  std::uint8_t few;
};
struct say_batch {
  std::uint32_t number;
};
/// Each tile logs its number.
struct say_wide {
  std::uint32_t tiles;
};
struct is_said {};
struct said {
  std::uint32_t lines;
};

struct logger {
  using messages =
      rondo::messages<say, say_numbers, say_flags, say_batch, say_wide, rondo::ask<is_said, said>>;

  RONDO_HD void on_start(rondo::context& ctx) { ctx.log(rondo::log_level::debug, "started"); }
  RONDO_HD void on(rondo::context& ctx, say const& m) { ctx.log(m.level, m.text); }
  RONDO_HD void on(rondo::context& ctx, say_numbers const& m) {
    ctx.log(rondo::log_level::info, "{}, {}, {} and {}", m.large, m.negative, m.real, m.single);
  }
  RONDO_HD void on(rondo::context& ctx, say_flags const& m) {
    ctx.log(rondo::log_level::info, "{}\n{}{}", m.yes, rondo::errc::mailbox_full);
    ctx.log(rondo::log_level::error, "few", m.few);
  }
  RONDO_HD void on(rondo::context& ctx, rondo::batch<say_batch> const& batch) {
    for (auto const& m : batch) ctx.log(rondo::log_level::warning, "batch {}", m.number);
  }
  RONDO_HD std::uint32_t tiles(rondo::context&, say_wide const& m) { return m.tiles; }
  RONDO_HD void tile(rondo::context& ctx, say_wide const&, std::uint32_t t) {
    ctx.log(rondo::log_level::info, "tile {}", t);
  }
  RONDO_HD void finish(rondo::context& ctx, say_wide const&) { ctx.log(rondo::log_level::info, "all"); }
  RONDO_HD said on(rondo::context&, is_said const&) { return {0}; }
};

/// All lanes of a team log together.
struct loggers_together {
  using messages = rondo::messages<rondo::ask<is_said, said>>;
  static constexpr auto width = rondo::width::whole_team;
  RONDO_HD void on(rondo::context& ctx, is_said const&) {
    ctx.log(rondo::log_level::info, "together");
    ctx.reply(said{1});
  }
};

}  // namespace conformance
