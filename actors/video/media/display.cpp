#include "actors/video/media/display.hpp"

#include <fmt/format.h>

#include <stdexcept>
#include <system_error>

#include "actors/video/media/window.hpp"
#include "kernels/streams/shapes.hpp"

namespace rondo::video {

std::string display::shapes(options const& o, streams::shapes_of<display>&) {
  if (o.width < 0 || o.height < 0 || o.width > 16384 || o.height > 16384 || (o.width == 0) != (o.height == 0))
    return fmt::format(
        "the window's size is {}x{}; give 1 to 16384 pixels for both, or 0 for both: the picture's size",
        o.width, o.height);
  return {};
}
std::shared_ptr<window> display::open(options const& o, streams::shapes_of<display> const& s) {
  auto const& picture = *s.in<"video">();
  try {
    return std::make_shared<window>(o.title.c_str(), o.width != 0 ? o.width : picture.width,
                                    o.height != 0 ? o.height : picture.height, picture);
  } catch (std::system_error const&) {  // no thread
    throw;
  } catch (std::runtime_error const& e) {
    throw streams::stage_error(streams::fault::unavailable, e.what());
  }
}
streams::stage_error display::why_failed(window const& w) {
  return {streams::fault::unavailable, w.why_failed()};
}
void display::process(streams::stage_context<display>& ctx, streams::tick const&) {
  auto& shown = ctx.host_side<window>();
  auto const in = ctx.input<"video">();
  switch (shown.show(in.data)) {
    case window::state::open:
      return;
    case window::state::closed:
      return ctx.end();
    case window::state::failed:
      return ctx.fail_graph();
  }
}

}  // namespace rondo::video
