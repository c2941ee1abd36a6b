// Portable kernels that show what a player gives to a kernel.
#pragma once

#include "kernels/portable/kernel.hpp"

namespace rondo {
namespace test {

/// `spoils`: a kernel that writes one byte beyond what it is told.
struct shape {
  int columns, rows;
  unsigned int factor;
  int spoils;
};

/// Twice, by a reference to a work-item's own variable.
RONDO_PORTABLE void add_twice(RONDO_PRIVATE unsigned int& sum, RONDO_PRIVATE unsigned int const* value) {
  sum += 2 * *value;
}

/// Each of three buffers has its own value, and the last the sum of what it had before: which buffer is which, where it
/// begins, and which work-item is where.
RONDO_PORTABLE void mix(RONDO_BUFFER unsigned char* first, RONDO_BUFFER unsigned char* second,
                        RONDO_BUFFER unsigned char* third, RONDO_BUFFER unsigned char* all, shape s,
                        work_item at) {
  for (int x = at.lane; x < s.columns; x += at.lanes) {
    int const i = at.row * s.columns + x;
    unsigned int sum = all[i], value = first[i];
    add_twice(sum, &value);
    sum += second[i] * 3u + third[i] * s.factor;
    all[i] = static_cast<unsigned char>(sum);
    first[i] = static_cast<unsigned char>(1 + x);
    second[i] = static_cast<unsigned char>(100 + at.row);
    third[i] = static_cast<unsigned char>(x ^ at.row);
  }
  if (s.spoils != 0 && at.lane == 0 && at.row == 0) all[s.columns * s.rows + 64] = 1;
}
RONDO_KERNEL(mix, shape);

}  // namespace test
}  // namespace rondo
