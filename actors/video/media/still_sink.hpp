// Writes pictures as files, PNG or others by their ending, to look at them.
#pragma once

#include <atomic>
#include <memory>
#include <string>

#include "actors/video/pixels/image.hpp"
#include "kernels/streams/fault.hpp"
#include "kernels/streams/option_text.hpp"
#include "kernels/streams/stage.hpp"

namespace rondo::video {

struct still_sink {
  using ports = streams::ports<streams::in<"video", image>>;
  struct options {
    streams::option_text<1024> file = "still-{tick}.png";
    std::uint32_t every = 1, first = 0, most = 0;
    bool on_request = false;

    void describe(auto& option) {
      option.writes("file", file,
                    "picture to write, or to replace: .png, .jpg, .bmp, .tiff or .ppm; {tick} in it is the "
                    "number of the tick");
      option("every", every, "writes the pictures of ticks first, first + every, first + 2 every, and so on",
             1, 1'000'000);
      option("first", first, "the tick of the first picture", 0, 1'000'000'000);
      option("most", most, "writes so many pictures, and then no more; 0: as many as there are", 0,
             1'000'000);
      option("on_request", on_request,
             "instead writes the next picture whenever the program asks for one: `rondo` at SIGUSR1, and at "
             "s and "
             "Enter");
    }
  };
  static bool takes(image const& about) { return !about.is_layer(); }
  static constexpr auto where = streams::works::on_host;
  static void spec(options const& o, streams::spec_of<still_sink>& s);
  struct host {
    explicit host(options const&, streams::spec_of<still_sink> const&, streams::host_link& l) : link(l) {}
    streams::stage_error why_failed() const { return {streams::fault::output_refused, why}; }
    /// With `on_request`: the next picture is written. Threads: any.
    void trigger() noexcept { is_asked.store(true, std::memory_order_relaxed); }  // relaxed: only the request

    streams::host_link& link;
    std::atomic<bool> is_asked{false};
    std::uint32_t written = 0;
    std::string why{};
  };

  /// The graph fails if a file cannot be written.
  void process(streams::stage_context<still_sink>& ctx, streams::tick const& t);
};

}  // namespace rondo::video
