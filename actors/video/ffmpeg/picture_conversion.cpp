#include "actors/video/ffmpeg/picture_conversion.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "actors/video/ffmpeg/light_metadata.hpp"
#include "actors/video/ffmpeg/video_errors.hpp"
#include "actors/video/pixels/rates.hpp"
#include "kernels/pixels/layer.hpp"

extern "C" {
#include <libavutil/display.h>
}

namespace rondo::video {

namespace {

/// Quarter turns clockwise that show a stream upright, and 4 more if it is mirrored, too.
int turns_of(AVStream const& s) {
  auto const* const matrix =
      reinterpret_cast<std::int32_t const*>(av_stream_get_side_data(&s, AV_PKT_DATA_DISPLAYMATRIX, nullptr));
  if (matrix == nullptr) return 0;
  double const degrees = -av_display_rotation_get(matrix);
  if (!std::isfinite(degrees)) return 0;
  int const quarters = static_cast<int>(std::lround(degrees / 90)) & 3;
  bool const mirrored = std::int64_t{matrix[0]} * matrix[4] - std::int64_t{matrix[1]} * matrix[3] < 0;
  return quarters + (mirrored ? 4 : 0);
}

/// As FFmpeg's own program turns pictures.
char const* filter_for_turn(int turned) {
  constexpr char const* all[] = {"",       "transpose=clock,",       "hflip,vflip,", "transpose=cclock,",
                                 "vflip,", "transpose=cclock_flip,", "hflip,",       "transpose=clock_flip,"};
  return all[turned & 7];
}

/// As libavfilter's scale has it.
std::string name_of_matrix(int matrix) {
  switch (matrix) {
    case 1:
      return "bt709";
    case 4:
      return "fcc";
    case 7:
      return "smpte240m";
    case 9:
    case 10:
      return "bt2020";
    default:
      return "bt601";
  }
}

bool is_interlaced(AVFieldOrder order) {
  return order == AV_FIELD_TT || order == AV_FIELD_BB || order == AV_FIELD_TB || order == AV_FIELD_BT;
}

/// A pixel's width to its height, with numbers that fit an image.
AVRational small(AVRational aspect) {
  if (aspect.num <= 0 || aspect.den <= 0) return {1, 1};
  av_reduce(&aspect.num, &aspect.den, aspect.num, aspect.den, 65'535);
  return aspect.num > 0 && aspect.den > 0 ? aspect : AVRational{1, 1};
}

/// Of 32 bits a pixel.
bool is_opaque(AVFrame const& f) {
  auto const* const d = av_pix_fmt_desc_get(static_cast<AVPixelFormat>(f.format));
  if (d->nb_components != 4 || d->comp[3].step != 4) return false;
  for (int y = 0; y < f.height; ++y)
    for (int x = 0; x < f.width; ++x)
      if (f.data[0][y * f.linesize[0] + 4 * x + d->comp[3].offset] != 255) return false;
  return true;
}

/// Pictures per second, if they are always so many.
AVRational steady_rate(AVFormatContext* input, AVStream* s, AVFrame const& first) {
  if ((s->disposition & AV_DISPOSITION_ATTACHED_PIC) != 0) return {0, 1};
  auto const guess = av_guess_frame_rate(input, s, const_cast<AVFrame*>(&first));
  auto const mean = s->avg_frame_rate;
  if (guess.num <= 0 || guess.den <= 0) return {0, 1};
  if (mean.num <= 0 || mean.den <= 0) return guess;
  double const ratio = av_q2d(guess) / av_q2d(mean);
  return std::abs(ratio - 1) < 0.002 ? guess : AVRational{0, 1};
}

}  // namespace

picture_conversion::picture_conversion(std::string source, AVFormatContext* input, AVStream* of,
                                       AVFrame const& first, picture_wishes const& wishes)
    : source_(std::move(source)),
      tick_(of->time_base),
      wishes_(wishes),
      waiting_(ffmpeg::new_frame()),
      next_(ffmpeg::new_frame()) {
  auto const* const d = av_pix_fmt_desc_get(static_cast<AVPixelFormat>(first.format));
  if (d == nullptr)
    throw video_error(fmt::format("cannot convert the pictures of '{}': no known format", source_));
  depth_ = d->comp[0].depth;
  // GIF's decoder always gives opacities, mostly of pictures without any.
  bool const may_have_alpha = (d->flags & AV_PIX_FMT_FLAG_ALPHA) != 0 || first.format == AV_PIX_FMT_PAL8;
  bool const has_alpha = may_have_alpha && (of->codecpar->codec_id != AV_CODEC_ID_GIF || !is_opaque(first));
  about_.format = has_alpha                                                        ? pixel_format::i420a
                  : wishes_.is_deep && depth_ > 8 && !ffmpeg::is_rgb(first.format) ? pixel_format::i420_10
                                                                                   : pixel_format::i420;
  auto const order = of->codecpar->field_order;
  is_interlaced_ = is_interlaced(order) || first.interlaced_frame != 0;
  if (is_interlaced_ && !wishes_.deinterlaces)
    about_.fields = first.top_field_first != 0 || order == AV_FIELD_TT || order == AV_FIELD_BT
                        ? field_order::top_first
                        : field_order::bottom_first;

  int const turned = turns_of(*of);
  turns_ = wishes_.turns ? turned : 0;
  about_.turned = static_cast<std::uint8_t>(wishes_.turns ? 0 : turned);
  auto aspect = small(av_guess_sample_aspect_ratio(input, of, const_cast<AVFrame*>(&first)));
  int width = first.width, height = first.height;
  if ((turns_ & 1) != 0) std::swap(width, height), std::swap(aspect.num, aspect.den);
  if (wishes_.width != 0) {
    // Scaled, a picture keeps its shape only if pixels change theirs.
    aspect = small(av_mul_q(aspect, av_mul_q({width, wishes_.width}, {wishes_.height, height})));
    width = wishes_.width;
    height = wishes_.height;
  } else if (wishes_.pads) {
    width += width & 1;
    height += height & 1;
  } else {
    cut_columns_ = width & 1;
    cut_rows_ = height & 1;
    width -= cut_columns_;
    height -= cut_rows_;
  }
  about_.width = width;
  about_.height = height;
  about_.aspect_num = static_cast<std::uint16_t>(aspect.num);
  about_.aspect_den = static_cast<std::uint16_t>(aspect.den);
  auto const rate = steady_rate(input, of, first);
  about_.rate_num = static_cast<std::uint32_t>(rate.num);
  about_.rate_den = static_cast<std::uint32_t>(rate.den);
  // What is guessed from times that were rounded is meant to be a usual rate.
  image usual;
  if (rate.num > 0) set_rate(usual, av_q2d(rate));
  if (usual.rate_den == 1 || usual.rate_den == 1001)
    about_.rate_num = usual.rate_num, about_.rate_den = usual.rate_den;

  about_.light = keep_light_metadata(*of, first);
  auto& c = about_.colours;
  c.primaries = static_cast<std::uint8_t>(first.color_primaries);
  c.transfer = static_cast<std::uint8_t>(first.color_trc);
  bool const comes_as_yuv = !ffmpeg::is_rgb(first.format) && !ffmpeg::is_grey(first.format);
  if (comes_as_yuv) {
    c.matrix = static_cast<std::uint8_t>(first.colorspace);
    c.is_full = ffmpeg::is_full(first.format, first.color_range) ? 1 : 0;
  } else {
    c.matrix = first.height >= 720 ? 1 : 6;
  }
  if (wishes_.matrix >= 0) c.matrix = static_cast<std::uint8_t>(wishes_.matrix);
  if (wishes_.is_full >= 0) c.is_full = static_cast<std::uint8_t>(wishes_.is_full);
}
picture_conversion::~picture_conversion() = default;

picture_conversion::input_kind picture_conversion::kind_of(AVFrame const& f) const {
  return {f.width,
          f.height,
          f.format,
          ffmpeg::is_full(f.format, f.color_range),
          wishes_.deinterlaces && (is_interlaced_ || f.interlaced_frame != 0),
          f.colorspace};
}

/// Whether its planes can be copied.
bool picture_conversion::is_as_wanted(input_kind const& k) const {
  bool const same_format = k.format == ffmpeg::format_of(about_.format) ||
                           (k.format == AV_PIX_FMT_YUVJ420P && about_.format == pixel_format::i420);
  return same_format && !k.interlaced && turns_ == 0 && k.is_full == (about_.colours.is_full != 0) &&
         (wishes_.matrix < 0 || k.matrix == about_.colours.matrix) &&
         k.width - cut_columns_ == about_.width && k.height - cut_rows_ == about_.height;
}

std::string picture_conversion::filters_for(input_kind const& k) const {
  std::string all;
  if (k.interlaced) all += "bwdif=mode=send_frame:parity=auto:deint=interlaced,";
  all += filter_for_turn(turns_);
  if (cut_columns_ != 0 || cut_rows_ != 0)
    all += fmt::format("crop={}:{}:0:0:exact=1,", about_.width, about_.height);
  else if (wishes_.pads && wishes_.width == 0)
    all += fmt::format("pad={}:{}:0:0,", about_.width, about_.height);
  bool const comes_as_yuv = !ffmpeg::is_rgb(k.format) && !ffmpeg::is_grey(k.format);
  auto const range = [](bool full) { return full ? "pc" : "tv"; };
  all += fmt::format("scale={}:{}:flags=bicubic+accurate_rnd+full_chroma_int+full_chroma_inp", about_.width,
                     about_.height);
  if (comes_as_yuv)
    all += fmt::format(":in_color_matrix={}:in_range={}", name_of_matrix(k.matrix), range(k.is_full));
  else if (ffmpeg::is_grey(k.format))
    all += fmt::format(":in_range={}", range(k.is_full || k.format == AV_PIX_FMT_GRAY8));
  all +=
      fmt::format(":out_color_matrix={}:out_range={},format={}", name_of_matrix(about_.colours.matrix),
                  range(about_.colours.is_full != 0), av_get_pix_fmt_name(ffmpeg::format_of(about_.format)));
  return all;
}

void picture_conversion::build(AVFrame const& like) {
  auto const kind = kind_of(like);
  built_for_ = kind;
  graph_.graph.reset();
  draining_ = false;
  if (is_as_wanted(kind)) return;
  if (int const result = graph_.open(like, tick_, filters_for(kind)); result < 0)
    throw video_error(
        fmt::format("cannot convert the pictures of '{}' from {}x{}, {}, to {}x{} in YUV 4:2:0: {}", source_,
                    kind.width, kind.height, av_get_pix_fmt_name(static_cast<AVPixelFormat>(kind.format)),
                    about_.width, about_.height, ffmpeg::text(result)));
}

/// Of the graph; an error would show in what comes out.
void picture_conversion::end_input() {
  if (av_buffersrc_add_frame(graph_.in, nullptr) < 0) return;
}

void picture_conversion::give(AVFrame* frame) {
  if (frame == nullptr) {
    if (graph_.graph && !std::exchange(draining_, true)) end_input();
    return;
  }
  if (built_for_ != kind_of(*frame)) {
    if (graph_.graph && !draining_) {  // what it holds comes first
      draining_ = true;
      end_input();
      av_frame_move_ref(next_.get(), frame);
      has_next_ = true;
      return;
    }
    build(*frame);
  }
  if (!graph_.graph) {
    av_frame_move_ref(waiting_.get(), frame);
    has_waiting_ = true;
    return;
  }
  if (int const result = av_buffersrc_add_frame(graph_.in, frame); result < 0)
    throw video_error(fmt::format("cannot convert a picture of '{}': {}", source_, ffmpeg::text(result)));
}

bool picture_conversion::take(AVFrame& to) {
  av_frame_unref(&to);
  for (;;) {
    if (!graph_.graph) {
      if (!std::exchange(has_waiting_, false)) return false;
      av_frame_move_ref(&to, waiting_.get());
      return true;
    }
    int const result = av_buffersink_get_frame(graph_.out, &to);
    if (result >= 0) {
      if (to.pts != AV_NOPTS_VALUE)
        to.pts = av_rescale_q(to.pts, av_buffersink_get_time_base(graph_.out), tick_);
      return true;
    }
    if (!std::exchange(has_next_, false)) return false;
    graph_.graph.reset();
    build(*next_);
    give(next_.get());
  }
}

void picture_conversion::copy(AVFrame const& from, std::byte* to) const {
  ffmpeg::plane_pointers const out(about_, to);
  bool const fits = from.width - about_.width >= 0 && from.height - about_.height >= 0 &&
                    (from.format == ffmpeg::format_of(about_.format) || from.format == AV_PIX_FMT_YUVJ420P);
  if (!fits)
    throw video_error(fmt::format("cannot convert a picture of '{}': it has {}x{} pixels", source_,
                                  from.width, from.height));
  av_image_copy(const_cast<std::uint8_t**>(out.data), const_cast<int*>(out.strides),
                const_cast<std::uint8_t const**>(from.data), from.linesize, ffmpeg::format_of(about_.format),
                about_.width, about_.height);
  if (about_.format != pixel_format::i420a) return;
  auto const planes = planes_at(about_, to);
  for (int p = 0; p < 3; ++p) {  // premultiplied with its opacity
    int const shrink = p == 0 ? 1 : 2;
    auto const& plane = planes.of[p];
    for (std::int32_t y = 0; y < plane.height; ++y) {
      auto* const row = plane.row(y);
      auto const* const opacity = planes.of[3].row(shrink * y);
      for (std::int32_t x = 0; x < plane.width; ++x) {
        auto const of = p == 0 ? opacity[x] : pixels::mean_opacity(opacity + 2 * x, planes.of[3].stride);
        row[x] = static_cast<std::uint8_t>(pixels::over_255(static_cast<pixels::u16>(row[x] * of)));
      }
    }
  }
}

}  // namespace rondo::video
