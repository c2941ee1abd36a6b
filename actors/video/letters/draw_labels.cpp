#include "actors/video/letters/draw_labels.hpp"

#include <algorithm>

#include "actors/video/letters/glyph_atlas.hpp"
#include "actors/video/stages/drawing_spec.hpp"
#include "runtime/text/named_field.hpp"

namespace rondo::video {

namespace {

std::uint32_t most_labels(streams::spec_of<draw_labels> const& s) {
  auto const* const points = s.in<"points">();
  auto const* const boxes = s.in<"boxes">();
  return (points != nullptr ? points->most : 0) + (boxes != nullptr ? boxes->most : 0);
}
std::int32_t size_of(draw_labels::options const& o, image const& picture) {
  return o.size != 0 ? o.size : std::max(picture.height / 45, 8);
}

}  // namespace

void draw_labels::spec(options const& o, streams::spec_of<draw_labels>& s) {
  if (s.in<"points">() == nullptr && s.in<"boxes">() == nullptr)
    return s.refuse("neither its input 'points' nor its input 'boxes' is connected");
  specify_drawing<pixels::glyph_shape>(o, most_labels(s) * most_letters, s, {o.colour});
}

draw_labels::host::host(options const& o, streams::spec_of<draw_labels> const& s)
    : atlas_(std::make_unique<glyph_atlas>(o.font.c_str(), size_of(o, *s.in<"video">()))),
      most_(most_labels(s) * most_letters) {
  letters_.reserve(most_);
}
draw_labels::host::~host() = default;

void draw_labels::take(streams::stage_context<draw_labels>& ctx, streams::tick const&, image const& on) {
  auto const& o = ctx.options();
  host_ = &ctx.host();
  colour_ = ink_of(o.colour, o.opacity, on);
  host_->letters_.clear();
  auto const label = [&](std::uint32_t id, float x, float y) {
    if (!is_drawable(x) || !is_drawable(y)) return;
    auto const before = host_->letters_.size();
    host_->atlas_->lay_out(
        with_field(o.text.c_str(), "id", std::to_string(id)), static_cast<std::int32_t>(x) + o.x,
        static_cast<std::int32_t>(y) + o.y - host_->atlas_->line_height(), host_->letters_);
    host_->letters_.resize(std::min(host_->letters_.size(), before + most_letters));
  };
  if (auto const in = ctx.input<"points">())
    for (auto const& p : list_view<point>{in.about, in.data}) label(p.id, p.x, p.y);
  if (auto const in = ctx.input<"boxes">())
    for (auto const& b : list_view<box>{in.about, in.data}) label(b.id, b.x, b.y);
}

pixels::lettering draw_labels::how() const noexcept { return {host_->atlas_->data(), colour_}; }

}  // namespace rondo::video
