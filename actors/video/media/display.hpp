// Shows pictures in a window.
#pragma once

#include <memory>
#include <string>

#include "actors/video/pixels/image.hpp"
#include "kernels/streams/fault.hpp"
#include "kernels/streams/option_text.hpp"
#include "kernels/streams/stage.hpp"

namespace rondo::video {

struct display {
  using ports = streams::ports<streams::in<"video", image, streams::delivery::latest>>;
  struct options {
    streams::option_text<128> title = "Rondo";
    std::int32_t width = 0, height = 0;

    void describe(auto& option) {
      option("title", title, "of the window");
      option("width", width, "of the window, in pixels; 0: the picture's", 0, 16384);
      option("height", height, "likewise", 0, 16384);
    }
  };
  static constexpr auto where = streams::works::on_host;
  static void spec(options const& o, streams::spec_of<display>& s);
  /// The window.
  class host {
   public:
    host(options const& o, streams::spec_of<display> const& s);
    ~host();
    streams::stage_error why_failed() const;

   private:
    friend display;
    std::unique_ptr<class window> window_;
  };

  /// The graph ends at the next picture after the window was closed, also by the keys Escape and q.
  void process(streams::stage_context<display>& ctx, streams::tick const& t);
};

}  // namespace rondo::video
