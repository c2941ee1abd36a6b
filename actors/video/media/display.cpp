#include "actors/video/media/display.hpp"

#include <fmt/format.h>

#include <stdexcept>
#include <system_error>

#include "actors/video/media/window.hpp"
#include "runtime/streams/kinds/stage_spec.hpp"

namespace rondo::video {

void display::spec(options const& o, streams::spec_of<display>& s) {
  if ((o.width == 0) != (o.height == 0))
    s.refuse(fmt::format("the window's size is {}x{}; give both, or 0 for both: the picture's size", o.width,
                         o.height));
}
display::host::host(options const& o, streams::spec_of<display> const& s) {
  auto const& picture = *s.in<"video">();
  try {
    window_ = std::make_unique<window>(o.title.c_str(), o.width != 0 ? o.width : shown_width(picture),
                                       o.height != 0 ? o.height : picture.height, picture);
  } catch (std::system_error const&) {  // no thread
    throw;
  } catch (std::runtime_error const& e) {
    throw streams::stage_error(streams::fault::unavailable, e.what());
  }
}
display::host::~host() = default;
streams::stage_error display::host::why_failed() const {
  return {streams::fault::unavailable, window_->why_failed()};
}
void display::process(streams::stage_context<display>& ctx, streams::tick const&) {
  auto const in = ctx.input<"video">();
  switch (ctx.host().window_->show(in.data)) {
    case window::state::open:
      return;
    case window::state::closed:
      return ctx.end();
    case window::state::failed:
      return ctx.fail_graph();
  }
}

}  // namespace rondo::video
