#include "actors/video/media/still_sink.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "actors/video/files/still.hpp"
#include "runtime/streams/kinds/stage_spec.hpp"

namespace rondo::video {

void still_sink::spec(options const& o, streams::spec_of<still_sink>& s) {
  if (o.file.empty()) s.refuse("it has no file: name one");
}
void still_sink::process(streams::stage_context<still_sink>& ctx, streams::tick const& t) {
  if (t.number % std::max(ctx.options().every, 1u) != 0) return;
  auto const in = ctx.input<"video">();
  std::string name = ctx.options().file.c_str();
  constexpr std::string_view field = "{tick}";
  if (auto const at = name.find(field); at != std::string::npos)
    name.replace(at, field.size(), fmt::format("{:06}", t.number));
  try {
    write_png(name, view_at(in.about, in.data));
  } catch (std::exception const& e) {
    ctx.host().why = e.what();
    ctx.fail_graph();
  }
}

}  // namespace rondo::video
