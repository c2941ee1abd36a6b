// Messages that lie at addresses of every alignment in their sender's state.
#pragma once

#include "kernels/actor/context.hpp"

namespace conformance {

/// 28 bytes: in an array, most begin at no multiple of 16.
struct table_row {
  std::uint32_t words[7];
};
/// Makes the actor send itself all rows.
struct send_rows {};
struct read_rows {};
/// How many rows came, and how many of them were whole.
struct rows_seen {
  std::uint32_t all, whole;
};

struct table_of_rows {
  using messages = rondo::messages<send_rows, table_row, rondo::ask<read_rows, rows_seen>>;
  static constexpr std::uint32_t count = 8;
  table_row rows[count];
  rows_seen seen{};

  RONDO_HD void on(rondo::context& ctx, send_rows const&) {
    for (std::uint32_t r = 0; r < count; ++r) {
      for (std::uint32_t w = 0; w < 7; ++w) rows[r].words[w] = r * 7 + w;
      if (ctx.tell(ctx.self_as<table_of_rows>(), rows[r]) != rondo::errc::ok) ctx.fail();
    }
  }
  RONDO_HD void on(rondo::context&, table_row const& m) {
    bool whole = m.words[0] == seen.all * 7;
    for (std::uint32_t w = 1; w < 7; ++w) whole &= m.words[w] == m.words[0] + w;
    ++seen.all;
    seen.whole += std::uint32_t{whole};
  }
  RONDO_HD rows_seen on(rondo::context&, read_rows const&) { return seen; }
};

}  // namespace conformance
