// Random numbers that depend only on the seed; the results of the standard distributions differ between libraries.
#pragma once

#include <cstdint>

namespace simulation {

/// splitmix64 (Steele, Lea, Flood: Fast splittable pseudorandom number generators, 2014).
class random_numbers {
 public:
  explicit random_numbers(std::uint64_t seed = 0) noexcept : state_(seed) {}

  std::uint64_t next() noexcept { return mix(state_ += 0x9e37'79b9'7f4a'7c15ull); }
  /// 0 to n - 1; 0 for n = 0.
  std::uint32_t below(std::uint64_t n) noexcept {
    return n == 0 ? 0 : static_cast<std::uint32_t>((next() >> 11) % n);
  }
  /// True `of` times in `all`.
  bool chance(std::uint32_t of, std::uint32_t all) noexcept { return below(all) < of; }
  template <class T, std::size_t N>
  T const& one_of(T const (&choices)[N]) noexcept {
    return choices[below(N)];
  }

  static std::uint64_t mix(std::uint64_t x) noexcept {
    x = (x ^ (x >> 30)) * 0xbf58'476d'1ce4'e5b9ull;
    x = (x ^ (x >> 27)) * 0x94d0'49bb'1331'11ebull;
    return x ^ (x >> 31);
  }

 private:
  std::uint64_t state_;
};

}  // namespace simulation
