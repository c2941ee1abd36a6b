// Cuts, turns, mirrors and scales pictures, in this order, on the host, by FFmpeg's filters.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "actors/video/pixels/image.hpp"
#include "kernels/streams/fault.hpp"
#include "kernels/streams/stage.hpp"

namespace rondo::video {

struct reshape {
  using ports = streams::ports<streams::in<"video", image>, streams::out<"video", image>>;
  enum class quarter_turns : std::uint32_t { none, right, half, left };
  enum class mirror_of : std::uint32_t { none, sides, top };
  enum class fitting : std::uint32_t { stretch, pad, cut };
  struct options {
    std::int32_t cut_left = 0, cut_right = 0, cut_top = 0, cut_bottom = 0;
    quarter_turns turn = quarter_turns::none;
    mirror_of mirror = mirror_of::none;
    std::int32_t width = 0, height = 0;
    fitting fit = fitting::stretch;

    void describe(auto& option) {
      option("cut_left", cut_left, "columns to cut off, an even number", 0, 16384);
      option("cut_right", cut_right, "likewise, on the right", 0, 16384);
      option("cut_top", cut_top, "rows to cut off, an even number", 0, 16384);
      option("cut_bottom", cut_bottom, "likewise, at the bottom", 0, 16384);
      option.choice("turn", turn, "of what is left: to the right, by a half, or to the left",
                    {"none", "right", "half", "left"});
      option.choice("mirror", mirror, "left becomes right (sides), or top becomes bottom (top)",
                    {"none", "sides", "top"});
      option("width", width, "to which it is scaled, an even number; 0: as the height says, or its own", 0,
             16384);
      option("height", height, "likewise; 0: as the width says, or its own", 0, 16384);
      option.choice("fit", fit,
                    "a picture of another shape is stretched, gets a black margin (of no opacity, if it has "
                    "opacities), or is cut at its sides",
                    {"stretch", "pad", "cut"});
    }
  };
  static constexpr auto where = streams::works::on_host;
  static void spec(options const& o, streams::spec_of<reshape>& s);
  class host {
   public:
    host(options const& o, streams::spec_of<reshape> const& s);
    ~host();
    streams::stage_error why_failed() const { return {streams::fault::stage, why_}; }

   private:
    friend reshape;
    std::unique_ptr<class shaper> shaper_;
    std::string why_;
  };

  void process(streams::stage_context<reshape>& ctx, streams::tick const& t);
};

}  // namespace rondo::video
