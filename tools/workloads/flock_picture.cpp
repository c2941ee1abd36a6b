#include "tools/workloads/flock_picture.hpp"

#include <algorithm>
#include <cmath>

#include "actors/video/pixels/colours.hpp"

namespace rondo::tools {

namespace {

using namespace video;
using light = flock_picture::light;
constexpr light darkness{0.03F, 0.04F, 0.07F};

/// As BT.709, so that players show the colours of a video as they are meant.
image picture_of(std::int32_t side, std::uint32_t rate) {
  image about{side, side, pixel_format::i420, {1, 1, 1, 0}};
  about.rate_num = rate;
  return about;
}

/// Gold to the right, rose down, blue to the left, teal up, and mixed between them.
light colour_of(workloads::agent const& a) {
  constexpr light right{1, 0.7F, 0.2F}, down{1, 0.25F, 0.4F}, left{0.25F, 0.4F, 1}, up{0.1F, 0.8F, 0.65F};
  float const across = a.vx, along = a.vy;
  auto const& one = across > 0 ? right : left;
  auto const& other = along > 0 ? down : up;
  auto const part = across * across / (across * across + along * along + 1);
  return {other.r + part * (one.r - other.r), other.g + part * (one.g - other.g),
          other.b + part * (one.b - other.b)};
}

}  // namespace

flock_picture::flock_picture(std::uint32_t rate)
    : about_(picture_of(side, rate)), bytes_(about_.bytes()), lights_(std::size_t{side} * side) {}

void flock_picture::draw(std::span<workloads::agent const> agents) {
  std::ranges::fill(lights_, light{0, 0, 0});
  constexpr auto size = static_cast<std::size_t>(side);
  for (auto const& a : agents) {
    // An agent's light falls on the four pixels around it, where edges meet, too.
    auto const x = static_cast<float>(a.x) * (static_cast<float>(side) * 0x1p-32F),
               y = static_cast<float>(a.y) * (static_cast<float>(side) * 0x1p-32F);
    auto const left = static_cast<std::size_t>(x) % size, top = static_cast<std::size_t>(y) % size;
    auto const across = x - std::floor(x), down = y - std::floor(y);
    auto const right = left + 1 == size ? 0 : left + 1, bottom = top + 1 == size ? 0 : top + 1;
    auto const colour = colour_of(a);
    auto const shine = [&](std::size_t row, std::size_t column, float part) {
      auto& l = lights_[row * size + column];
      l.r += part * colour.r, l.g += part * colour.g, l.b += part * colour.b;
    };
    shine(top, left, (1 - across) * (1 - down));
    shine(top, right, across * (1 - down));
    shine(bottom, left, (1 - across) * down);
    shine(bottom, right, across * down);
  }
  auto const mean = static_cast<float>(agents.size()) / (static_cast<float>(side) * side);
  develop(std::min(0.4F / std::max(mean, 1e-6F), 4.F));
}

void flock_picture::develop(float exposure) {
  auto const matrix = matrix_of(about_.colours);
  auto const p = planes_at(about_, bytes_.data());
  // As film: where there is more light, more of it does less.
  auto const seen = [&](float l, float dark) { return 1 - (1 - dark) * std::exp(-exposure * l); };
  auto const sample = [](float value) { return static_cast<std::uint8_t>(std::lround(value)); };
  for (std::int32_t y = 0; y < side; y += 2)
    for (std::int32_t x = 0; x < side; x += 2) {
      float u = 0, v = 0;
      for (std::int32_t i = 0; i < 4; ++i) {
        auto const row = y + i / 2, column = x + i % 2;
        auto const& l = lights_[static_cast<std::size_t>(row) * side + static_cast<std::size_t>(column)];
        auto const r = seen(l.r, darkness.r), g = seen(l.g, darkness.g), b = seen(l.b, darkness.b);
        auto const bright = matrix.red * r + matrix.green * g + matrix.blue * b;
        p.of[0].at(column, row) = sample(matrix.black + matrix.bright * bright);
        u += b - bright, v += r - bright;
      }
      p.of[1].at(x / 2, y / 2) = sample(128 + matrix.u * u / 4);
      p.of[2].at(x / 2, y / 2) = sample(128 + matrix.v * v / 4);
    }
}

}  // namespace rondo::tools
