#include "actors/video/letters/text.hpp"

#include <fmt/format.h>

#include <cmath>
#include <optional>

#include "actors/video/letters/text_mask.hpp"
#include "actors/video/pixels/colours.hpp"
#include "actors/video/pixels/rows.hpp"
#include "runtime/streams/kinds/stage_spec.hpp"
#include "runtime/text/named_field.hpp"

namespace rondo::video {

namespace {

rgb colour_of(text::options const& o) {
  rgb colour{};
  read_colour(o.colour.c_str(), colour);  // `spec` has seen that it is one
  return colour;
}

}  // namespace

/// A text that may say the tick. Threads: the stage's.
class caption {
 public:
  caption(text::options const& o, image const& about)
      : mask_(o.font.c_str(), o.size, about.width, about.height), options_(o), colour_(colour_of(o)) {}

  void draw_over(image const& about, planes const& picture, streams::tick const& t) {
    update(t);
    auto const ink = samples_of(colour_, about.colours);
    u8 const of[] = {ink.y, ink.u, ink.v, 255};
    for (int p = 0; p < 4; ++p) {
      auto const& plane = picture.of[p];
      if (plane.data == nullptr) continue;
      auto const& area = p == 1 || p == 2 ? mask_.half() : mask_.full();
      for (i32 row = 0; row < area.height; ++row)
        whole_rows::mask(plane.row(area.top + row) + area.left,
                         &area.opacities[std::size_t(row * area.width)], of[p], area.width);
    }
  }

 private:
  /// Draws the mask if the text has changed.
  void update(streams::tick const& t) {
    if (!begun_ns_) begun_ns_ = t.time_ns;
    std::string now = options_.text.c_str();
    now = with_field(std::move(now), "tick", fmt::format("{}", t.number));
    auto const own = t.origin.time_ns != streams::no_time;
    auto const ms = (own ? t.origin.time_ns : t.time_ns - *begun_ns_) / 1'000'000;
    now = with_field(
        std::move(now), "time",
        fmt::format("{}:{:02}:{:02}.{:03}", ms / 3'600'000, ms / 60'000 % 60, ms / 1000 % 60, ms % 1000));
    if (is_drawn_ && now == drawn_) return;
    mask_.draw(now, options_.x, options_.y, static_cast<u8>(std::lround(options_.opacity * 255)));
    drawn_ = now;
    is_drawn_ = true;
  }

  text_mask mask_;
  text::options options_;
  rgb colour_;
  std::optional<std::uint64_t> begun_ns_;  // the time of the first tick
  std::string drawn_;
  bool is_drawn_ = false;
};

void text::spec(options const& o, streams::spec_of<text>& s) {
  if (rgb colour{}; !read_colour(o.colour.c_str(), colour))
    s.refuse(
        fmt::format("the colour is '{}'; it must be red, green and blue, such as #ff8000", o.colour.c_str()));
}
text::host::host(options const& o, streams::spec_of<text> const& s)
    : caption_(std::make_unique<caption>(o, *s.in<"video">())) {}
text::host::~host() = default;
void text::process(streams::stage_context<text>& ctx, streams::tick const& t) {
  if (auto const to = ctx.edit<"video">())
    ctx.host().caption_->draw_over(to.about, planes_at(to.about, to.data), t);
}

}  // namespace rondo::video
