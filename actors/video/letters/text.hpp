// Draws a text over pictures, on the host.
#pragma once

#include <memory>
#include <string>

#include "actors/video/pixels/image.hpp"
#include "kernels/streams/option_text.hpp"
#include "kernels/streams/stage.hpp"

namespace rondo::video {

struct text {
  using ports = streams::ports<streams::in<"video", image>, streams::out<"video", image, "video">>;
  struct options {
    streams::option_text<256> text{};
    streams::option_text<256> font{};
    std::int32_t size = 32;
    std::int32_t x = 16, y = 16;
    streams::option_text<8> colour = "#ffffff";
    float opacity = 1;

    void describe(auto& option) {
      option("text", text,
             "in UTF-8, perhaps of several lines; {tick} and {time} are the tick's number and the picture's "
             "time");
      option.reads("font", font, "font file, such as a .ttf; empty: DejaVu Sans");
      option("size", size, "of the letters, in pixels", 4, 1000);
      option("x", x, "pixels from the picture's left edge to the text's", -16384, 16384);
      option("y", y, "pixels from the picture's upper edge to the text's", -16384, 16384);
      option("colour", colour, "red, green and blue, such as #ff8000");
      option("opacity", opacity, "from 0, which shows nothing, to 1", 0.0F, 1.0F);
    }
  };
  static constexpr auto where = streams::works::on_host;
  static void spec(options const& o, streams::spec_of<text>& s);
  class host {
   public:
    host(options const& o, streams::spec_of<text> const& s);
    ~host();

   private:
    friend text;
    std::unique_ptr<class caption> caption_;
  };

  void process(streams::stage_context<text>& ctx, streams::tick const& t);
};

}  // namespace rondo::video
