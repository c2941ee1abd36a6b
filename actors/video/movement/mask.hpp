// Mask clean-up: a 3x3 majority filter removes specks, a vertical opening removes flat objects, and a
// closing joins the parts of an object.
//
// A mask of bytes (0 or 1) becomes rows of bits, 64 pixels per word, lowest bit leftmost, so that one
// instruction handles 64 pixels. A tile reads the byte mask of its rows and of `clean_halo` rows around them,
// and writes only the bits of its own rows: tiles may run at the same time, and their number does not change the
// result. At the image's border, the majority filter counts outside pixels as background; opening and closing ignore
// them.
#pragma once

#include <cstdint>

#include "actors/video/pixels/image_view.hpp"

namespace rondo::video {

/// Radii in mask pixels, each at most 31.
struct clean_params {
  std::int32_t open_y = 2;  ///< removes objects lower than 2 * open_y + 1: ropes and branches in the wind
  std::int32_t close_x = 1;
  std::int32_t close_y = 3;
};

/// A mask of one bit per pixel. A row has `words` 64-bit words; bits past `width` are 0.
struct bit_mask {
  std::uint64_t* data = nullptr;
  std::int32_t width = 0;
  std::int32_t height = 0;
  std::int32_t words = 0;

  RONDO_HD std::uint64_t* row(std::int32_t r) const { return data + static_cast<std::ptrdiff_t>(r) * words; }
  RONDO_HD bool get(std::int32_t x, std::int32_t y) const { return ((row(y)[x / 64] >> (x % 64)) & 1U) != 0; }
};

RONDO_HD inline bit_mask carve_bits(carver& memory, std::int32_t width, std::int32_t height) {
  std::int32_t const words = (width + 63) / 64;
  auto const items = static_cast<std::size_t>(words) * static_cast<std::size_t>(height);
  return {memory.take<std::uint64_t>(items), width, height, words};
}

/// The number of rows above and below a tile on which its result depends.
RONDO_HD constexpr std::int32_t clean_halo(clean_params const& p) { return 1 + 2 * p.open_y + 2 * p.close_y; }

/// Words of scratch memory for one tile of `rows` rows of `width` pixels.
RONDO_HD constexpr std::int32_t clean_scratch_words(std::int32_t width, std::int32_t rows,
                                                    clean_params const& p) {
  return 2 * (rows + 2 * clean_halo(p)) * ((width + 63) / 64);
}

namespace detail {

/// Packs up to 64 bytes of 0 or 1 into bits; one multiplication gathers eight.
RONDO_HD inline std::uint64_t pack64(std::uint8_t const* bytes, std::int32_t count) {
  std::uint64_t word = 0;
  for (std::int32_t k = 0; k < count; k += 8) {
    std::uint64_t eight = 0;
    for (std::int32_t j = 0; j < 8 && k + j < count; ++j)
      eight |= static_cast<std::uint64_t>(bytes[k + j]) << (8 * j);
    word |= ((eight * 0x0102040810204080U) >> 56) << k;
  }
  return word;
}

/// Bits of word w that lie inside a row of `width` pixels.
RONDO_HD inline std::uint64_t inside(std::int32_t width, std::int32_t w) {
  std::int32_t const left = width - 64 * w;
  return left >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << left) - 1;
}

/// Word w of a row moved by `by` pixels to the right (negative: left). `fill` (0 or ~0) is shifted in from
/// outside.
RONDO_HD inline std::uint64_t moved(std::uint64_t const* row, std::int32_t words, std::int32_t w,
                                    std::int32_t by, std::uint64_t fill) {
  std::uint64_t const here = row[w];
  if (by == 0) return here;
  if (by > 0) return (here << by) | ((w > 0 ? row[w - 1] : fill) >> (64 - by));
  return (here >> -by) | ((w + 1 < words ? row[w + 1] : fill) << (64 + by));
}

struct two_bits {
  std::uint64_t low, high;
};
RONDO_HD inline two_bits add3(std::uint64_t a, std::uint64_t b, std::uint64_t c) {
  return {a ^ b ^ c, (a & b) | (c & (a ^ b))};
}

/// Pixels of word w whose 3x3 neighbourhood has five or more set pixels. Null rows count as empty.
RONDO_HD inline std::uint64_t majority(std::uint64_t const* up, std::uint64_t const* mid,
                                       std::uint64_t const* down, std::int32_t words, std::int32_t w) {
  auto const across = [&](std::uint64_t const* row) {
    if (row == nullptr) return two_bits{0, 0};
    return add3(row[w], moved(row, words, w, 1, 0), moved(row, words, w, -1, 0));
  };
  two_bits const a = across(up), b = across(mid), c = across(down);
  two_bits const ones = add3(a.low, b.low, c.low), twos = add3(a.high, b.high, c.high);
  std::uint64_t const two = ones.high ^ twos.low, carry = ones.high & twos.low;
  std::uint64_t const four = twos.high ^ carry, eight = twos.high & carry;
  return eight | (four & (two | ones.low));
}

}  // namespace detail

/// Cleans rows `rows` of `mask` into `out` (same size). `scratch` has clean_scratch_words(...) words, which only
/// this call uses while it runs.
template <class Team>
RONDO_HD void clean_mask(Team const& team, image_view<std::uint8_t> const& mask, clean_params const& p,
                         band rows, std::uint64_t* scratch, bit_mask const& out) {
  std::int32_t const words = out.words, width = out.width, halo = clean_halo(p);
  std::int32_t const base = rows.first - halo;
  std::uint64_t* const front = scratch;
  std::uint64_t* const back = scratch + (rows.last - rows.first + 2 * halo) * words;
  auto const at = [&](std::uint64_t* plane, std::int32_t r) { return plane + (r - base) * words; };
  auto const around = [&](std::int32_t reach) {
    return band{rows.first > reach ? rows.first - reach : 0,
                rows.last + reach < mask.height ? rows.last + reach : mask.height};
  };
  auto const each_word = [&](band b, auto const& body) {
    for (auto const i : team.lanes((b.last - b.first) * words)) body(b.first + i / words, i % words);
    team.sync();
  };

  // Bitwise and, or bitwise or, of word w of rows [r - reach, r + reach] of a plane. Rows outside the image are
  // skipped.
  auto const all_of = [&](std::uint64_t* plane, std::int32_t r, std::int32_t w, std::int32_t reach) {
    std::uint64_t keep = ~std::uint64_t{0};
    for (std::int32_t k = r > reach ? r - reach : 0; k <= r + reach && k < mask.height; ++k)
      keep &= at(plane, k)[w];
    return keep;
  };
  auto const any_of = [&](std::uint64_t* plane, std::int32_t r, std::int32_t w, std::int32_t reach) {
    std::uint64_t grow = 0;
    for (std::int32_t k = r > reach ? r - reach : 0; k <= r + reach && k < mask.height; ++k)
      grow |= at(plane, k)[w];
    return grow;
  };

  band const read = around(halo), all = around(halo - 1), thin = around(2 * p.close_y + p.open_y);
  band const wide = around(2 * p.close_y), grown = around(p.close_y);
  each_word(read, [&](std::int32_t r, std::int32_t w) {
    std::int32_t const left = width - 64 * w;
    at(front, r)[w] = detail::pack64(mask.row(r) + 64 * w, left < 64 ? left : 64);
  });
  each_word(all, [&](std::int32_t r, std::int32_t w) {
    at(back, r)[w] = detail::majority(r > 0 ? at(front, r - 1) : nullptr, at(front, r),
                                      r + 1 < mask.height ? at(front, r + 1) : nullptr, words, w) &
                     detail::inside(width, w);
  });
  if (p.open_y > 0) {
    each_word(thin, [&](std::int32_t r, std::int32_t w) { at(front, r)[w] = all_of(back, r, w, p.open_y); });
    each_word(wide, [&](std::int32_t r, std::int32_t w) { at(back, r)[w] = any_of(front, r, w, p.open_y); });
  }
  each_word(wide, [&](std::int32_t r, std::int32_t w) {
    std::uint64_t grow = 0;
    for (std::int32_t k = -p.close_x; k <= p.close_x; ++k) grow |= detail::moved(at(back, r), words, w, k, 0);
    at(front, r)[w] = grow & detail::inside(width, w);
  });
  each_word(grown, [&](std::int32_t r, std::int32_t w) {
    at(back, r)[w] = any_of(front, r, w, p.close_y) |
                     ~detail::inside(width, w);  // outside pixels must not let the erosion shrink anything
  });
  each_word(grown, [&](std::int32_t r, std::int32_t w) {
    std::uint64_t keep = ~std::uint64_t{0};
    for (std::int32_t k = -p.close_x; k <= p.close_x; ++k)
      keep &= detail::moved(at(back, r), words, w, k, ~std::uint64_t{0});
    at(front, r)[w] = keep;
  });
  each_word(rows, [&](std::int32_t r, std::int32_t w) {
    out.row(r)[w] = all_of(front, r, w, p.close_y) & detail::inside(width, w);
  });
}

}  // namespace rondo::video
