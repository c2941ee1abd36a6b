// The last values of a sensor, and whether another reading is far from them.
//
// A value costs the same however many there are: a sum of the values and one of their squares are kept up to date with
// the value that comes and the one that leaves. They are sums of differences from one of the values, `origin_`.
//
// Invariants, which keep rounding far below what is compared:
//  W1 `origin_` is a value of the window, so n times the variance is at least the square of its distance from the mean.
//     The variance, which is a difference of sums, therefore loses at most as many digits as n has, of sixteen.
//  W2 The sums are computed from the values when the window has gone round, so errors do not add up for longer.
//  W3 They are also computed when the sum of squares has fallen below a ten-thousandth of its peak since: next to small
//     values, the error that a large one has left would count. A window of equal values has a variance of exactly 0.
#pragma once

#include <cmath>

#include "kernels/base/portable.hpp"

namespace rondo::workloads {

class sliding_window {
 public:
  static constexpr std::uint32_t most = 10'000;  // values that it can hold
  static constexpr std::uint32_t least = 30;     // values that it needs to tell what is far

  /// Empties it. Precondition: `size` is from 1 to `most`.
  RONDO_HD void begin(std::uint32_t size, double sigmas) noexcept {
    size_ = size;
    limit_ = sigmas * sigmas;
    next_ = count_ = 0;
    sum_ = squares_ = peak_ = 0;
  }

  /// Whether x is more than so many standard deviations away from the mean. Both sides are squared, and multiplied by
  /// n * n: nothing has to be divided.
  RONDO_HD bool is_far(float x) const noexcept {
    double const n = count_, away = n * (x - origin_) - sum_;
    return count_ >= least && away * away > limit_ * (n * squares_ - sum_ * sum_);
  }
  /// Of the values. Precondition for both: there is one.
  RONDO_HD double mean() const noexcept { return origin_ + sum_ / count_; }
  RONDO_HD double deviation() const noexcept {
    double const n = count_, spread = n * squares_ - sum_ * sum_;
    return spread > 0 ? std::sqrt(spread) / n : 0;
  }
  RONDO_HD bool can_judge() const noexcept { return count_ >= least; }

  /// Takes a value, in place of the oldest one if it is full.
  RONDO_HD void add(float x) noexcept {
    if (count_ == 0) origin_ = x;
    double const d = x - origin_;
    if (count_ == size_) {
      double const old = values_[next_] - origin_;
      sum_ += d - old;
      squares_ += d * d - old * old;
    } else {
      sum_ += d;
      squares_ += d * d;
      ++count_;
    }
    values_[next_] = x;
    if (squares_ > peak_) peak_ = squares_;
    if (++next_ == size_) next_ = 0;
    if (next_ == 0 || squares_ < peak_ * 1e-4) [[unlikely]]
      compute_sums(x);
  }

 private:
  /// W1: x is the newest value, which stays until the window has gone round.
  RONDO_CALL RONDO_HD void compute_sums(float x) noexcept {
    origin_ = x;
    // Four sums of each kind, because an addition waits for the one before.
    double sums[4] = {}, squares[4] = {};
    for (std::uint32_t i = 0; i < count_; ++i) {
      double const d = values_[i] - origin_;
      sums[i % 4] += d;
      squares[i % 4] += d * d;
    }
    sum_ = (sums[0] + sums[1]) + (sums[2] + sums[3]);
    peak_ = squares_ = (squares[0] + squares[1]) + (squares[2] + squares[3]);
  }

  std::uint32_t size_ = most, next_ = 0, count_ = 0;
  double limit_ = 9, origin_ = 0, sum_ = 0, squares_ = 0;
  double peak_ = 0;  // the largest `squares_` since the sums were computed
  float values_[most] = {};
};

}  // namespace rondo::workloads
