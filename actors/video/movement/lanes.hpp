// The team of one lane, for a stage that a single thread runs.
//
// Every stage takes a `Team` with these members, so that the same source serves a CPU thread and a GPU block:
//   lanes(n)              the range of indexes in [0, n) that this lane handles;
//   lane(), lane_count()  for functions of kernels/pixels: the first index, and the step to the next one;
//   sync()                a barrier of the team's lanes, which orders their memory accesses.
// All lanes of a team call a stage together with the same arguments.
#pragma once

#include <cstdint>

#include "kernels/base/portable.hpp"

namespace rondo::video {

struct one_lane {
  struct range {
    struct iterator {
      std::int32_t index;
      RONDO_HD constexpr std::int32_t operator*() const { return index; }
      RONDO_HD constexpr iterator& operator++() {
        ++index;
        return *this;
      }
      RONDO_HD constexpr bool operator!=(iterator const& other) const { return index != other.index; }
    };
    std::int32_t count;
    RONDO_HD constexpr iterator begin() const { return {0}; }
    RONDO_HD constexpr iterator end() const { return {count}; }
  };

  RONDO_HD constexpr range lanes(std::int32_t count) const { return {count > 0 ? count : 0}; }
  RONDO_HD constexpr std::int32_t lane() const { return 0; }
  RONDO_HD constexpr std::int32_t lane_count() const { return 1; }
  RONDO_HD constexpr void sync() const {}
};

}  // namespace rondo::video
