#include "bench/streams/plain.hpp"

#include <condition_variable>
#include <cstring>
#include <deque>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <thread>
#include <vector>

#include "actors/video/video_module.hpp"

using namespace rondo;
using namespace rondo::video;

namespace streams_bench {

namespace {

using pixels::u32;

team const one{0};

void make_pattern(image const& about, std::byte* data, std::uint64_t number) {
  auto const picture = planes_at(about, data);
  rows const row{one};
  for (int p = 0; p < 3; ++p) {
    auto const& v = picture.of[p];
    auto const shape =
        pixels::pattern_for(about.width, about.height, p == 0 ? 1 : 2, static_cast<std::uint32_t>(number));
    for (std::int32_t y = 0; y < v.height; ++y)
      row.pattern(v.row(y), static_cast<pixels::plane_kind>(p), shape, y);
  }
}
void make_blur(image const& about, std::byte const* in, std::byte* out, float sigma,
               std::vector<u8>& between) {
  auto const from = planes_at(about, in), to = planes_at(about, out);
  auto const weights = blur::weights_for(sigma);
  rows const row{one};
  between.resize(static_cast<std::size_t>(about.width));
  for (int p = 0; p < 3; ++p)
    for (std::int32_t y = 0; y < from.of[p].height; ++y) {
      row.blur_down(between.data(), from.of[p].data, from.of[p].stride, from.of[p].height, y,
                    from.of[p].width, weights);
      row.blur_across(to.of[p].row(y), between.data(), from.of[p].width, weights);
    }
}
/// As the waveform and the frame rate do: a darkened band with a curve, and a text.
void make_band(image const& about, std::byte* data, std::vector<u16>& lines, std::vector<u32>& letters) {
  auto const picture = planes_at(about, data);
  rows const row{one};
  auto const width = static_cast<std::size_t>(about.width);
  lines.resize(2 * width);
  std::int32_t const band = about.height / 10 * 2;
  for (std::size_t x = 0; x < width; ++x)
    lines[x] = static_cast<u16>(x * 7 % static_cast<std::size_t>(band)),
    lines[width + x] = static_cast<u16>(lines[x] + 3);
  for (int p = 0; p < 3; ++p) {
    std::int32_t const half = p == 0 ? 1 : 2, top = (about.height - band) / half;
    for (std::int32_t y = 0; y < band / half; ++y)
      row.band(picture.of[p].row(top + y), lines.data(), lines.data() + width, half,
               static_cast<u16>(half * y), {220, 230, 16, 96}, picture.of[p].width);
  }
  auto const sizes = frame_rate::sizes_for({}, about);
  if (letters.empty()) letters.resize(book_bytes(sizes) / sizeof(u32) + 1);
  auto& book = *reinterpret_cast<pixels::letter_book*>(letters.data());
  provide_letters(one_lane{}, book, sizes);  // by the first picture
  text_line line{8, 8, 0, samples_of({255, 255, 255}, about.colours), 256, 0, {}};
  append(line, "59.9 fps");
  pixels::drawn_planes const to{picture.of[0].data,   picture.of[1].data,   picture.of[2].data,
                                picture.of[0].stride, picture.of[1].stride, about.width,
                                about.height};
  for (std::int32_t by = 0; 2 * by < 8 + book.face[0].below; ++by)
    pixels::draw_text_row(to, &line, &book, by, 0, 1);
}

/// Memory for one picture, from malloc.
class picture {
 public:
  explicit picture(std::size_t bytes)
      : bytes_(bytes), data_(std::make_unique_for_overwrite<std::byte[]>(bytes)) {}
  picture(picture const& other) : picture(other.bytes_) { std::memcpy(data(), other.data(), bytes_); }
  picture(picture&&) = default;
  std::byte* data() const noexcept { return data_.get(); }
  std::uint64_t number() const noexcept {
    std::uint64_t n;
    std::memcpy(&n, data(), sizeof n);
    return n;
  }
  void set_number(std::uint64_t n) noexcept { std::memcpy(data(), &n, sizeof n); }

 private:
  std::size_t bytes_;
  std::unique_ptr<std::byte[]> data_;
};

/// A bounded queue of pictures, each a copy.
class copies_queue {
 public:
  void put(picture const& p) {
    picture copy = p;
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return waiting_.size() < 2; });
    waiting_.push_back(std::move(copy));
    ++copies;
    changed_.notify_all();
  }
  picture take() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return !waiting_.empty(); });
    picture first = std::move(waiting_.front());
    waiting_.pop_front();
    changed_.notify_all();
    return first;
  }
  std::uint64_t copies = 0;

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<picture> waiting_;
};

}  // namespace

outcome run_loop(work const& w) {
  image const about{w.width, w.height};
  std::vector<std::byte> a(about.bytes()), b(about.bytes());
  std::vector<u8> between;
  std::vector<u32> letters;
  std::vector<u16> lines;
  return timed(w.frames, [&] {
    for (std::uint64_t n = 0; n < w.frames; ++n) {
      make_pattern(about, a.data(), n);
      make_blur(about, a.data(), b.data(), w.sigma, between);
      make_band(about, b.data(), lines, letters);
    }
  });
}

outcome run_copies(work const& w) {
  image const about{w.width, w.height};
  bool const pixels = w.of == load::pixels;
  copies_queue q[4];
  std::uint64_t wrong = 0;
  auto o = timed(w.frames, [&] {
    std::vector<std::jthread> threads;
    threads.emplace_back([&] {
      for (std::uint64_t n = 0; n < w.frames; ++n) {
        picture out(about.bytes());
        pixels ? make_pattern(about, out.data(), n) : out.set_number(n);
        q[0].put(out);
      }
    });
    threads.emplace_back([&] {
      std::vector<u8> between;
      for (std::uint64_t n = 0; n < w.frames; ++n) {
        auto const in = q[0].take();
        picture out(about.bytes());
        pixels ? make_blur(about, in.data(), out.data(), w.sigma, between) : out.set_number(in.number() + 1);
        q[1].put(out);
      }
    });
    threads.emplace_back([&] {
      std::vector<u32> letters;
      std::vector<u16> lines;
      for (std::uint64_t n = 0; n < w.frames; ++n) {
        auto in = q[1].take();
        pixels ? make_band(about, in.data(), lines, letters) : in.set_number(in.number() + 2);
        q[2].put(in);
      }
    });
    threads.emplace_back([&] {
      for (std::uint64_t n = 0; n < w.frames; ++n) q[3].put(q[2].take());
    });
    threads.emplace_back([&] {
      for (std::uint64_t n = 0; n < w.frames; ++n) {
        auto const in = q[3].take();
        if (!pixels && in.number() != n + 3) ++wrong;
      }
    });
  });
  if (wrong != 0) throw std::runtime_error(std::to_string(wrong) + " pictures arrived with wrong numbers");
  std::uint64_t copies = 0;
  for (auto const& each : q) copies += each.copies;
  o.copies_per_frame = static_cast<double>(copies) / static_cast<double>(w.frames);
  return o;
}

}  // namespace streams_bench
