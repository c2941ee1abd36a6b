// Draws a text at each point, or over each box, on the host.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "actors/video/stages/drawn_items.hpp"

namespace rondo::video {

struct draw_labels : drawn_items<draw_labels, pixels::glyph_shape> {
  using ports = streams::ports<streams::in<"video", image>, streams::optional_in<"points", points>,
                               streams::optional_in<"boxes", boxes>, streams::out<"video", image, "video">>;
  struct options {
    streams::option_text<64> text = "{id}";
    streams::option_text<256> font{};
    std::int32_t size = 0;
    std::int32_t x = 0, y = 0;
    colour_text colour = "#ffffff";
    float opacity = 1;

    void describe(auto& option) {
      option("text", text, "in UTF-8, one line; {id} is the number of the point or the box");
      option.reads("font", font, "font file, such as a .ttf; empty: DejaVu Sans");
      option("size", size, "of the letters, in pixels; 0: a 45th of the picture's height", 0, 1000);
      option("x", x, "pixels from the point, or from the box's left edge, to the text's left edge", -16384,
             16384);
      option("y", y, "pixels from the point, or from the box's upper edge, to the text's lower edge", -16384,
             16384);
      option("colour", colour, "red, green and blue, such as #ff8000");
      option("opacity", opacity, "from 0, which shows nothing, to 1", 0.0F, 1.0F);
    }
  };
  static constexpr auto where = streams::works::on_host;
  static constexpr std::uint32_t most_letters = 64;  // of a label
  static void spec(options const& o, streams::spec_of<draw_labels>& s);
  class host {
   public:
    host(options const& o, streams::spec_of<draw_labels> const& s);
    ~host();

   private:
    friend draw_labels;
    std::unique_ptr<class glyph_atlas> atlas_;
    std::vector<pixels::glyph_shape> letters_;  // of the picture in hand
    std::uint32_t most_ = 0;
  };

  void take(streams::stage_context<draw_labels>& ctx, streams::tick const&, image const& on);
  std::uint32_t count() const noexcept { return static_cast<std::uint32_t>(host_->letters_.size()); }
  std::uint32_t most() const noexcept { return host_->most_; }
  static std::uint32_t shapes_of_item(options const&) noexcept { return 1; }
  void make(options const&, std::uint32_t n, pixels::glyph_shape* to) const noexcept {
    *to = host_->letters_[n];
  }
  pixels::lettering how() const noexcept;

 private:
  host* host_;
  pixels::ink colour_;
};

}  // namespace rondo::video
