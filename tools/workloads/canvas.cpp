#include "tools/workloads/canvas.hpp"

#include <algorithm>
#include <memory>

#include "actors/video/ffmpeg/video_errors.hpp"
#include "actors/video/files/still.hpp"
#include "actors/video/movement/draw.hpp"
#include "actors/video/overlay/tile_layer.hpp"
#include "actors/video/pixels/lettering.hpp"
#include "tools/commands/command_line.hpp"

namespace rondo::tools {

namespace {

using namespace video;

/// Memory as stages have it: zeroed, at a multiple of what they carve.
class carved_memory {
 public:
  explicit carved_memory(std::size_t bytes) : bytes_(bytes + carver::alignment) {
    at_ = bytes_.data();
    auto space = bytes_.size();
    std::align(carver::alignment, bytes, at_, space);
  }
  void* get() const noexcept { return at_; }

 private:
  std::vector<std::byte> bytes_;
  void* at_;
};

/// One lane, for what is drawn by rows.
struct alone {
  static constexpr std::int32_t lane() noexcept { return 0; }
  static constexpr std::int32_t lane_count() noexcept { return 1; }
  static constexpr void sync() noexcept {}
};

pixels::letter_book const& letters() {
  static carved_memory const memory = [] {
    letter_sizes const sizes{{canvas::capital, 0}};
    carved_memory made(book_bytes(sizes));
    provide_letters(alone{}, *static_cast<pixels::letter_book*>(made.get()), sizes);
    return made;
  }();
  return *static_cast<pixels::letter_book const*>(memory.get());
}

}  // namespace

canvas::canvas(std::int32_t width, std::int32_t height, rgb background)
    : about_{width, height, pixel_format::i420}, bytes_(about_.bytes()) {
  auto const colour = samples_of(background, about_.colours);
  auto const planes = planes_at(about_, bytes_.data());
  std::uint8_t const samples[] = {colour.y, colour.u, colour.v};
  for (int p = 0; p < 3; ++p)
    for (std::int32_t y = 0; y < planes.of[p].height; ++y)
      std::fill_n(planes.of[p].row(y), planes.of[p].width, samples[p]);
}

pixels::ink canvas::ink_of(rgb colour, float opacity) const {
  auto const s = samples_of(colour, about_.colours);
  return {static_cast<float>(s.y), static_cast<float>(s.u), static_cast<float>(s.v), opacity};
}

template <class Shape, class How>
void canvas::draw(std::vector<Shape> const& shapes, How const& how) {
  using layer = tile_layer<Shape>;
  for (std::size_t first = 0; first < shapes.size(); first += layer::most_shapes) {
    auto const count =
        static_cast<std::uint32_t>(std::min<std::size_t>(shapes.size() - first, layer::most_shapes));
    carver measure(nullptr);
    layer(measure, count, about_.width, about_.height);
    carved_memory const scratch(measure.used());
    carver memory(scratch.get());
    layer drawn(memory, count, about_.width, about_.height);
    auto const make = [&](std::uint32_t n, Shape* to) { *to = shapes[first + n]; };
    for (std::uint32_t p = 0, parts = drawn.begin(count); p < parts; ++p) drawn.count(p, make);
    for (std::uint32_t p = 0, parts = drawn.join(); p < parts; ++p) drawn.put(p);
    auto const to = drawn_planes_at(about_, bytes_.data());
    for (std::uint32_t n = 0; n < drawn.touched(); ++n) drawn.draw(team{0}, to, how, n);
  }
}

void canvas::dots(std::span<place const> at, float radius, rgb colour, float opacity) {
  std::vector<pixels::dot_shape> shapes;
  shapes.reserve(at.size());
  for (auto const& p : at) shapes.push_back({p.x, p.y, radius, opacity});
  draw(shapes, ink_of(colour, 1));
}

void canvas::line(std::span<place const> through, float width_px, rgb colour) {
  pixels::stroke_style style{ink_of(colour, 1), width_px / 2, 1, pixels::end_round, 0};
  std::vector<pixels::segment> shapes;
  for (std::size_t i = 1; i < through.size(); ++i)
    shapes.push_back(pixels::segment_between(through[i - 1].x, through[i - 1].y, through[i].x, through[i].y,
                                             pixels::reach_of(style), 0));
  draw(shapes, pixels::stroke_styles{&style, 1});
}

void canvas::text(place at, std::string_view text, rgb colour, float align) {
  auto const list = std::make_unique<draw_list>();
  std::int32_t wide = 0;
  for (auto const c : text) wide += letter_advance(c, capital);
  auto x = static_cast<std::int32_t>(at.x - align * static_cast<float>(wide));
  // A line of a list is short: a long text is several.
  for (auto rest = text; !rest.empty();) {
    auto const some = rest.substr(0, pixels::text_line::capacity);
    rest.remove_prefix(some.size());
    auto& line = list->text[list->texts++];
    line = {x,   static_cast<std::int32_t>(at.y),        0, samples_of(colour, about_.colours),
            256, static_cast<std::int32_t>(some.size()), {}};
    std::ranges::copy(some, line.text);
    for (auto const c : some) x += letter_advance(c, capital);
    if (list->texts == draw_list::text_capacity) break;
  }
  draw_tile(alone{}, view_at(about_, bytes_.data()), *list, letters(), {0, about_.height});
}

void canvas::write(std::string const& file) const try {
  write_still(file, about_, bytes_.data());
} catch (video_error const& e) {
  throw service::command_error(exit_no_output, e.what());
}

}  // namespace rondo::tools
