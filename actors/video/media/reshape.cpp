#include "actors/video/media/reshape.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "actors/video/ffmpeg/filter_graph.hpp"
#include "actors/video/ffmpeg/video_errors.hpp"
#include "runtime/streams/kinds/stage_spec.hpp"

namespace rondo::video {

namespace {

struct size {
  std::int32_t width = 0, height = 0;
};

std::int32_t even(double of) { return std::max(2, 2 * static_cast<std::int32_t>(of / 2 + 0.5)); }

/// What becomes of a picture, step by step.
struct shape_plan {
  size cut, turned, scaled, out;

  shape_plan(reshape::options const& o, image const& from) {
    cut = {from.width - o.cut_left - o.cut_right, from.height - o.cut_top - o.cut_bottom};
    if (cut.width <= 0 || cut.height <= 0) return;  // `spec` refuses it
    turned = cut;
    if (is_on_its_side(o)) std::swap(turned.width, turned.height);
    out = {o.width, o.height};
    auto const ratio = static_cast<double>(turned.width) / turned.height;
    if (out.width == 0) out.width = out.height == 0 ? turned.width : even(out.height * ratio);
    if (out.height == 0) out.height = o.width == 0 ? turned.height : even(out.width / ratio);
    scaled = out;
    if (o.fit == reshape::fitting::stretch) return;
    auto const x = static_cast<double>(out.width) / turned.width,
               y = static_cast<double>(out.height) / turned.height;
    auto const by = o.fit == reshape::fitting::pad ? std::min(x, y) : std::max(x, y);
    scaled = {even(turned.width * by), even(turned.height * by)};
  }
  static bool is_on_its_side(reshape::options const& o) {
    return o.turn == reshape::quarter_turns::right || o.turn == reshape::quarter_turns::left;
  }
  /// What FFmpeg's filters make of it: all but the margin.
  size filtered() const { return {std::min(scaled.width, out.width), std::min(scaled.height, out.height)}; }
};

std::string filters_for(reshape::options const& o, shape_plan const& plan) {
  auto all = fmt::format("crop={}:{}:{}:{}:exact=1", plan.cut.width, plan.cut.height, o.cut_left, o.cut_top);
  switch (o.turn) {
    case reshape::quarter_turns::right:
      all += ",transpose=clock";
      break;
    case reshape::quarter_turns::half:
      all += ",hflip,vflip";
      break;
    case reshape::quarter_turns::left:
      all += ",transpose=cclock";
      break;
    case reshape::quarter_turns::none:
      break;
  }
  if (o.mirror == reshape::mirror_of::sides) all += ",hflip";
  if (o.mirror == reshape::mirror_of::top) all += ",vflip";
  if (plan.scaled.width != plan.turned.width || plan.scaled.height != plan.turned.height)
    all += fmt::format(",scale={}:{}:flags=bicubic+accurate_rnd", plan.scaled.width, plan.scaled.height);
  auto const kept = plan.filtered();
  if (kept.width != plan.scaled.width || kept.height != plan.scaled.height)
    all += fmt::format(",crop={}:{}:{}:{}:exact=1", kept.width, kept.height,
                       (plan.scaled.width - kept.width) / 4 * 2, (plan.scaled.height - kept.height) / 4 * 2);
  return all;
}

/// What a picture is afterwards.
image reshaped(reshape::options const& o, shape_plan const& plan, image about) {
  about.width = plan.out.width, about.height = plan.out.height;
  if (shape_plan::is_on_its_side(o)) std::swap(about.aspect_num, about.aspect_den);
  return about;
}

}  // namespace

/// Threads: the stage's.
class shaper {
 public:
  shaper(reshape::options const& o, image const& from)
      : plan_(o, from),
        from_(from),
        to_(reshaped(o, plan_, from)),
        frame_(ffmpeg::new_frame()),
        made_(ffmpeg::new_frame()) {
    frame_->width = from.width, frame_->height = from.height;
    frame_->format = ffmpeg::format_of(from.format);
    check(graph_.open(*frame_, {1, 1}, filters_for(o, plan_)));
  }

  image const& about() const { return to_; }
  void make(image const& from, std::byte const* data, std::byte* to) {
    if (!from.fits(from_))
      throw video_error(fmt::format("a picture is {}, and the first was {}", to_text(from), to_text(from_)));
    ffmpeg::plane_pointers const in(from, data);
    for (int p = 0; p < 4; ++p) frame_->data[p] = in.data[p], frame_->linesize[p] = in.strides[p];
    frame_->pts = ++pictures_;
    // FFmpeg copies it, as it is not its own.
    check(av_buffersrc_add_frame_flags(graph_.in, frame_.get(), AV_BUFFERSRC_FLAG_KEEP_REF));
    av_frame_unref(made_.get());
    check(av_buffersink_get_frame(graph_.out, made_.get()));
    auto const kept = plan_.filtered();
    if (kept.width != to_.width || kept.height != to_.height) blacken(to);
    auto const planes = planes_at(to_, to);
    auto const left = (to_.width - kept.width) / 4 * 2, top = (to_.height - kept.height) / 4 * 2;
    for (int p = 0; p < 4; ++p) {
      if (planes.of[p].data == nullptr) continue;
      int const shrink = p == 1 || p == 2 ? 2 : 1;
      av_image_copy_plane(planes.of[p].row(top / shrink) + left / shrink, planes.of[p].stride, made_->data[p],
                          made_->linesize[p], kept.width / shrink, kept.height / shrink);
    }
  }

 private:
  void blacken(std::byte* to) const {
    auto const planes = planes_at(to_, to);
    bool const is_clear = to_.format == pixel_format::i420a;  // premultiplied with an opacity of 0
    for (int p = 0; p < 4; ++p) {
      auto const& plane = planes.of[p];
      if (plane.data == nullptr) continue;
      auto const black = is_clear ? 0 : p != 0 ? 128 : to_.colours.is_full != 0 ? 0 : 16;
      for (std::int32_t y = 0; y < plane.height; ++y)
        std::memset(plane.row(y), black, static_cast<std::size_t>(plane.width));
    }
  }
  static void check(int result) {
    if (result < 0) throw video_error(fmt::format("cannot reshape a picture: {}", ffmpeg::text(result)));
  }

  shape_plan plan_;
  image from_, to_;
  ffmpeg::frame frame_, made_;
  ffmpeg::filter_graph graph_;
  std::int64_t pictures_ = 0;
};

void reshape::spec(options const& o, streams::spec_of<reshape>& s) {
  auto const from = *s.in<"video">();
  if (auto const* const why = from.error()) return s.refuse(to_text(from) + ": " + why);
  shape_plan const plan(o, from);
  for (auto const n : {o.cut_left, o.cut_right, o.cut_top, o.cut_bottom, o.width, o.height})
    if (n % 2 != 0) return s.refuse(fmt::format("{} is odd: pictures are cut and scaled by even numbers", n));
  if (plan.cut.width < 16 || plan.cut.height < 16)
    return s.refuse(fmt::format("of {}x{} pixels {}x{} are left: at least 16 must be, in each direction",
                                from.width, from.height, plan.cut.width, plan.cut.height));
  if (from.fields != field_order::progressive)
    return s.refuse("the pictures are interlaced: have their source make whole ones (`deinterlace`)");
  auto const to = reshaped(o, plan, from);
  if (auto const* const why = to.error()) return s.refuse(to_text(to) + ": " + why);
  s.out<"video">(to);
}
reshape::host::host(options const& o, streams::spec_of<reshape> const& s)
    : shaper_(std::make_unique<shaper>(o, *s.in<"video">())) {}
reshape::host::~host() = default;
void reshape::process(streams::stage_context<reshape>& ctx, streams::tick const&) {
  auto const in = ctx.input<"video">();
  auto const to = ctx.output<"video">(ctx.host().shaper_->about());
  if (!to) return;
  try {
    ctx.host().shaper_->make(in.about, in.data, to.data);
  } catch (std::exception const& e) {
    ctx.host().why_ = e.what();
    ctx.fail_graph();
  }
}

}  // namespace rondo::video
