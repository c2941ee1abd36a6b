// A picture's colours in every ending that still_sink knows, as other programs see them: they are those of the picture,
// whatever its matrix and its range are.
#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <vector>

#include "actors/video/ffmpeg/ffmpeg.hpp"
#include "actors/video/files/still.hpp"
#include "actors/video/pixels/colours.hpp"
#include "tests/catch.hpp"
#include "tests/scratch_directory.hpp"

namespace stills_test {

using namespace rondo::video;

namespace {

constexpr std::int32_t side = 32, columns = 4, rows = 3;
/// One patch each, from left to right, and from the top down.
constexpr rgb colours[] = {{0, 0, 0},       {255, 255, 255}, {255, 0, 0},   {0, 255, 0},
                           {0, 0, 255},     {255, 255, 0},   {0, 255, 255}, {255, 0, 255},
                           {128, 128, 128}, {230, 90, 40},   {20, 60, 150}, {16, 235, 16}};
static_assert(std::size(colours) == columns * rows);

/// Patches of these colours, opaque.
std::vector<std::byte> patches(image const& about) {
  std::vector<std::byte> data(about.bytes());
  auto const p = planes_at(about, data.data());
  for (int plane = 0; plane < 3; ++plane)
    for (std::int32_t y = 0; y < p.of[plane == 0 ? 0 : plane].height; ++y) {
      auto const part = plane == 0 ? side : side / 2;
      for (std::int32_t x = 0; x < part * columns; ++x) {
        auto const s = samples_of(colours[y / part * columns + x / part], about.colours);
        int const sample = plane == 0 ? s.y : plane == 1 ? s.u : s.v;
        if (about.format == pixel_format::i420_10)
          reinterpret_cast<std::uint16_t*>(p.of[plane].row(y))[x] = static_cast<std::uint16_t>(4 * sample);
        else
          p.of[plane].at(x, y) = static_cast<std::uint8_t>(sample);
      }
    }
  for (std::int32_t y = 0; about.format == pixel_format::i420a && y < about.height; ++y)
    for (std::int32_t x = 0; x < about.width; ++x) p.of[3].at(x, y) = 255;
  return data;
}

/// A file's picture as a program shows it that knows nothing of video: red, green and blue of each pixel.
struct shown {
  int width = 0, height = 0;
  std::vector<std::array<double, 3>> pixels{};
};
shown read(std::string const& file) {
  namespace f = ffmpeg;
  AVFormatContext* opened = nullptr;
  REQUIRE(avformat_open_input(&opened, file.c_str(), nullptr, nullptr) >= 0);
  f::input const input(opened);
  REQUIRE(avformat_find_stream_info(input.get(), nullptr) >= 0);
  auto const* const parameters = input->streams[0]->codecpar;
  auto const* const codec = avcodec_find_decoder(parameters->codec_id);
  f::codec_context const decoder(avcodec_alloc_context3(codec));
  REQUIRE(avcodec_parameters_to_context(decoder.get(), parameters) >= 0);
  REQUIRE(avcodec_open2(decoder.get(), codec, nullptr) >= 0);
  auto const packet = f::new_packet();
  auto const frame = f::new_frame();
  REQUIRE(av_read_frame(input.get(), packet.get()) >= 0);
  REQUIRE(avcodec_send_packet(decoder.get(), packet.get()) >= 0);
  REQUIRE(avcodec_send_packet(decoder.get(), nullptr) >= 0);
  REQUIRE(avcodec_receive_frame(decoder.get(), frame.get()) >= 0);
  shown s{frame->width, frame->height};
  auto const* const d = av_pix_fmt_desc_get(static_cast<AVPixelFormat>(frame->format));
  INFO(file << ": " << d->name);
  REQUIRE(d->nb_components >= 3);
  REQUIRE(d->comp[0].depth == 8);
  bool const is_rgb = f::is_rgb(frame->format);
  // Only a JPEG's planes have one meaning: JFIF's, which is BT.601 in full range.
  if (!is_rgb) REQUIRE(parameters->codec_id == AV_CODEC_ID_MJPEG);
  auto const component = [&](int c, int x, int y) -> double {
    auto const& at = d->comp[c];
    int const right = !is_rgb && c != 0 ? d->log2_chroma_w : 0,
              down = !is_rgb && c != 0 ? d->log2_chroma_h : 0;
    return frame
        ->data[at.plane][(y >> down) * frame->linesize[at.plane] + (x >> right) * at.step + at.offset];
  };
  for (int y = 0; y < s.height; ++y)
    for (int x = 0; x < s.width; ++x) {
      std::array<double, 3> c{component(0, x, y), component(1, x, y), component(2, x, y)};
      if (!is_rgb) {
        double const cb = c[1] - 128, cr = c[2] - 128;
        c = {c[0] + 1.402 * cr, c[0] - 0.344136 * cb - 0.714136 * cr, c[0] + 1.772 * cb};
      }
      for (auto& one : c) one = std::min(255.0, std::max(0.0, one));
      s.pixels.push_back(c);
    }
  return s;
}

/// The mean difference of a channel, of a patch's pixels that are not beside another patch, is `most` of 255 at most.
void check_colours(shown const& s, double most) {
  REQUIRE(s.width == columns * side);
  REQUIRE(s.height == rows * side);
  constexpr int margin = 4, inner = side - 2 * margin;
  for (int n = 0; n < columns * rows; ++n)
    for (std::size_t channel = 0; channel < 3; ++channel) {
      int const should = channel == 0 ? colours[n].r : channel == 1 ? colours[n].g : colours[n].b;
      double sum = 0;
      for (int y = 0; y < inner; ++y)
        for (int x = 0; x < inner; ++x)
          sum += std::abs(s.pixels[static_cast<std::size_t>((n / columns * side + margin + y) * s.width +
                                                            n % columns * side + margin + x)][channel] -
                          should);
      INFO("patch " << n << ", channel " << channel << ": " << sum / inner / inner);
      CHECK(sum / inner / inner <= most);
    }
}

char const* const endings[] = {"png", "jpg", "jpeg", "bmp", "tif", "tiff", "ppm"};

}  // namespace

TEST_CASE("a still shows the colours of its picture, in every format, matrix and range", "[media][stills]") {
  rondo_test::scratch_directory const dir("stills");
  auto const format = GENERATE(pixel_format::i420, pixel_format::i420a, pixel_format::i420_10);
  int const matrix = GENERATE(1, 2, 6, 9);
  int const is_full = GENERATE(0, 1);
  colour_description const means{static_cast<std::uint8_t>(matrix), static_cast<std::uint8_t>(matrix),
                                 static_cast<std::uint8_t>(matrix), static_cast<std::uint8_t>(is_full)};
  image const about{.width = columns * side, .height = rows * side, .format = format, .colours = means};
  auto const data = patches(about);
  for (auto const* const ending : endings) {
    INFO(ending << " of " << to_text(about));
    auto const file = (dir.directory / "still.").string() + ending;
    try {
      write_still(file, about, data.data());
    } catch (std::exception const& e) {
      FAIL_CHECK(e.what());
      continue;
    }
    // A JPEG's planes become BT.601 by way of RGB, in 8 bits; from BT.2020 that is the farthest.
    check_colours(read(file), matrix == 9 ? 2.5 : 2);
  }
}

}  // namespace stills_test
