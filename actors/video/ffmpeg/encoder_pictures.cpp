#include "actors/video/ffmpeg/encoder_pictures.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "actors/video/ffmpeg/video_errors.hpp"
#include "kernels/pixels/layer.hpp"
#include "runtime/text/shown_url.hpp"

extern "C" {
#include <libavutil/opt.h>
}

namespace rondo::video {

namespace {

bool has_opacities(AVPixelFormat f) {
  auto const* const d = av_pix_fmt_desc_get(f);
  return d != nullptr && (f == AV_PIX_FMT_PAL8 || (d->flags & AV_PIX_FMT_FLAG_ALPHA) != 0);
}

/// The same planes, of whatever range: swscale, which is told the range, warns of formats with a J.
AVPixelFormat without_range(AVPixelFormat f) {
  return f == AV_PIX_FMT_YUVJ420P   ? AV_PIX_FMT_YUV420P
         : f == AV_PIX_FMT_YUVJ422P ? AV_PIX_FMT_YUV422P
         : f == AV_PIX_FMT_YUVJ444P ? AV_PIX_FMT_YUV444P
                                    : f;
}

AVPixelFormat nearest(image const& about, AVCodec const* codec) {
  auto const own = ffmpeg::format_of(about.format);
  if (codec->pix_fmts == nullptr) return own;
  bool only_full = about.colours.is_full != 0;
  // It lists the planes of any range, too, but encodes them only if they are in full range.
  if (codec->id == AV_CODEC_ID_MJPEG) return AV_PIX_FMT_YUVJ420P;
  // TIFF has such planes, too, but does not say their matrix, and programs show them in wrong colours.
  for (auto const* f = codec->pix_fmts; *f != AV_PIX_FMT_NONE && codec->id != AV_CODEC_ID_TIFF; ++f)
    if (*f == own) return own;
  // The same planes, in full range.
  for (auto const* f = codec->pix_fmts; *f != AV_PIX_FMT_NONE; ++f)
    if (*f == AV_PIX_FMT_YUVJ420P && (only_full || about.format == pixel_format::i420)) return *f;
  bool const transparent = about.format == pixel_format::i420a;
  if (transparent)  // RGB formats keep them best
    for (auto const wanted : {AV_PIX_FMT_RGBA, AV_PIX_FMT_BGRA, AV_PIX_FMT_ARGB, AV_PIX_FMT_PAL8})
      for (auto const* f = codec->pix_fmts; *f != AV_PIX_FMT_NONE; ++f)
        if (*f == wanted) return *f;
  if (!transparent)
    for (auto const wanted : {AV_PIX_FMT_RGB24, AV_PIX_FMT_BGR24, AV_PIX_FMT_PAL8})
      for (auto const* f = codec->pix_fmts; *f != AV_PIX_FMT_NONE; ++f)
        if (*f == wanted) return *f;
  return avcodec_find_best_pix_fmt_of_list(codec->pix_fmts, own, transparent ? 1 : 0, nullptr);
}

}  // namespace

encoder_pictures::encoder_pictures(image const& about, AVCodec const* codec, std::string const& file,
                                   AVPixelFormat format)
    : about_(about),
      file_(shown_url(file)),
      format_(format != AV_PIX_FMT_NONE ? format : nearest(about, codec)),
      colours_(about.colours),
      frame_(ffmpeg::new_frame()) {
  auto const own = ffmpeg::format_of(about.format);
  auto const target = format_ == AV_PIX_FMT_PAL8 ? AV_PIX_FMT_BGRA : format_;
  keeps_opacities_ = about.format == pixel_format::i420a && has_opacities(format_);
  if (about.format == pixel_format::i420a && !keeps_opacities_)
    remarks_ = "opacities are left out: what is transparent becomes black";
  if (about.format == pixel_format::i420_10 && av_pix_fmt_desc_get(format_)->comp[0].depth <= 8)
    remarks_ = "its 10 bits a sample become 8";
  bool const to_rgb = ffmpeg::is_rgb(target);
  bool const jpeg = codec->id == AV_CODEC_ID_MJPEG || target == AV_PIX_FMT_YUVJ420P ||
                    target == AV_PIX_FMT_YUVJ422P || target == AV_PIX_FMT_YUVJ444P;
  if (jpeg) {  // its header has no other matrix, and no other range
    colours_.is_full = 1;
    colours_.matrix = 6;
  }
  if (to_rgb) colours_.is_full = 1, colours_.matrix = 0;
  frame_->format = target;
  frame_->width = about.width;
  frame_->height = about.height;
  if (av_frame_get_buffer(frame_.get(), 0) < 0) throw std::bad_alloc();
  bool const matrix_stays = ffmpeg::coefficients_of(colours_) == ffmpeg::coefficients_of(about.colours) ||
                            (colours_.matrix == 6 && about.colours.matrix == 2) || to_rgb;
  bool const copies = (target == own || (target == AV_PIX_FMT_YUVJ420P && own == AV_PIX_FMT_YUV420P)) &&
                      matrix_stays && colours_.is_full == about.colours.is_full;
  if (!copies) open_scaler(target);
}

void encoder_pictures::open_scaler(AVPixelFormat target) {
  // Opacities that are left out are over black already: premultiplied.
  auto const from = about_.format == pixel_format::i420a && !keeps_opacities_
                        ? AV_PIX_FMT_YUV420P
                        : ffmpeg::format_of(about_.format);
  bool const to_rgb = ffmpeg::is_rgb(target);
  scaler_.reset(sws_alloc_context());
  if (!scaler_) throw std::bad_alloc();
  // Ranges are said before it is opened: of samples with more than 8 bits it believes no others afterwards.
  std::pair<char const*, std::int64_t> const options[] = {
      {"srcw", about_.width},
      {"srch", about_.height},
      {"src_format", from},
      {"src_range", about_.colours.is_full},
      {"dstw", about_.width},
      {"dsth", about_.height},
      {"dst_format", without_range(target)},
      {"dst_range", to_rgb ? 0 : colours_.is_full},
      {"sws_flags", SWS_BICUBIC | SWS_ACCURATE_RND | SWS_FULL_CHR_H_INT | SWS_FULL_CHR_H_INP},
  };
  int result = 0;
  for (auto const& [name, value] : options)
    if (result >= 0) result = av_opt_set_int(scaler_.get(), name, value, 0);
  if (result >= 0) result = sws_init_context(scaler_.get(), nullptr, nullptr);
  if (result < 0)
    throw video_error(fmt::format("cannot write '{}': pictures of {}x{} cannot become {}: {}", file_,
                                  about_.width, about_.height, av_get_pix_fmt_name(target),
                                  ffmpeg::text(result)));
  sws_setColorspaceDetails(scaler_.get(), sws_getCoefficients(ffmpeg::coefficients_of(about_.colours)),
                           about_.colours.is_full,
                           sws_getCoefficients(ffmpeg::coefficients_of(to_rgb ? about_.colours : colours_)),
                           colours_.is_full, 0, 1 << 16, 1 << 16);
}

std::byte const* encoder_pictures::without_premultiplication(std::byte const* data) {
  plain_.assign(data, data + about_.bytes());
  // A block has no set alignment here; planes only need to lie as planes_at has them.
  auto const planes = planes_at(about_, plain_.data());
  for (int p = 0; p < 3; ++p) {
    int const shrink = p == 0 ? 1 : 2;
    for (std::int32_t y = 0; y < planes.of[p].height; ++y) {
      auto* const row = planes.of[p].row(y);
      auto const* const opacity = planes.of[3].row(shrink * y);
      for (std::int32_t x = 0; x < planes.of[p].width; ++x) {
        int const a = p == 0 ? opacity[x] : pixels::mean_opacity(opacity + 2 * x, planes.of[3].stride);
        row[x] = static_cast<std::uint8_t>(a == 0 ? (p == 0 ? 16 : 128)
                                                  : std::min((row[x] * 255 + a / 2) / a, 255));
      }
    }
  }
  return plain_.data();
}

AVFrame* encoder_pictures::make(std::byte const* data) {
  if (av_frame_make_writable(frame_.get()) < 0) throw std::bad_alloc();
  auto of = about_;
  if (about_.format == pixel_format::i420a) {
    if (keeps_opacities_)
      data = without_premultiplication(data);
    else
      of.format = pixel_format::i420;  // the planes come first
  }
  ffmpeg::plane_pointers const from(of, data);
  if (scaler_)
    sws_scale(scaler_.get(), from.data, from.strides, 0, about_.height, frame_->data, frame_->linesize);
  else
    av_image_copy(frame_->data, frame_->linesize, const_cast<std::uint8_t const**>(from.data), from.strides,
                  ffmpeg::format_of(of.format), about_.width, about_.height);
  ffmpeg::set_colours(*frame_, colours_);
  frame_->sample_aspect_ratio = {about_.aspect_num, std::max<int>(about_.aspect_den, 1)};
  frame_->interlaced_frame = about_.fields != field_order::progressive;
  frame_->top_field_first = about_.fields == field_order::top_first;
  if (format_ != AV_PIX_FMT_PAL8) return frame_.get();
  make_palette(*frame_);
  return coloured_.get();
}

void encoder_pictures::make_palette(AVFrame& from) {
  auto const check = [this](int result) {
    if (result < 0)
      throw video_error(
          fmt::format("cannot write '{}': no palette of 256 colours: {}", file_, ffmpeg::text(result)));
  };
  // One graph for each picture: palettegen gives its palette at the end.
  check(palette_.open(from, {1, 1}, "split[a][b];[a]palettegen=stats_mode=single[p];[b][p]paletteuse=new=1"));
  from.pts = 0;
  check(av_buffersrc_add_frame_flags(palette_.in, &from, AV_BUFFERSRC_FLAG_KEEP_REF));
  check(av_buffersrc_add_frame(palette_.in, nullptr));
  coloured_ = ffmpeg::new_frame();
  check(av_buffersink_get_frame(palette_.out, coloured_.get()));
}

}  // namespace rondo::video
