// A behaviour that several programs of docs/actors.md use: it writes down the numbers of its messages in the order in
// which they come.
#pragma once

#include <vector>

#include "kernels/actor/module.hpp"

struct line { std::uint32_t number; };
struct read_lines {};
struct lines {
  std::uint32_t count, number[16];
  std::vector<std::uint32_t> list() const { return {number, number + count}; }
};

struct journal {
  using messages = rondo::messages<line, rondo::ask<read_lines, lines>>;
  lines seen{};

  RONDO_HD void on(rondo::context&, line const& m) {
    if (seen.count < 16) seen.number[seen.count++] = m.number;
  }
  RONDO_HD lines on(rondo::context&, read_lines const&) { return seen; }
};
RONDO_MODULE(journals, journal)

using numbers = std::vector<std::uint32_t>;
