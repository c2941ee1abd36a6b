#include "actors/video/media/still_sink.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

#include "actors/video/files/still.hpp"
#include "kernels/streams/shapes.hpp"

namespace rondo::video {

/// The names of stills. Threads: the stage's.
struct still_files {
  std::string pattern;
  std::string why;
};

std::shared_ptr<still_files> still_sink::open(options const& o, streams::shapes_of<still_sink> const&) {
  if (o.file.empty()) throw std::invalid_argument("it has no file: name one");
  return std::make_shared<still_files>(still_files{o.file.c_str(), {}});
}
streams::stage_error still_sink::why_failed(still_files const& f) {
  return {streams::fault::output_refused, f.why};
}
void still_sink::process(streams::stage_context<still_sink>& ctx, streams::tick const& t) {
  if (t.number % std::max(ctx.options().every, 1u) != 0) return;
  auto& files = ctx.host_side<still_files>();
  auto const in = ctx.input<"video">();
  std::string name = files.pattern;
  constexpr std::string_view field = "{tick}";
  if (auto const at = name.find(field); at != std::string::npos)
    name.replace(at, field.size(), fmt::format("{:06}", t.number));
  try {
    write_png(name, view_at(in.about, in.data));
  } catch (std::exception const& e) {
    files.why = e.what();
    ctx.fail_graph();
  }
}

}  // namespace rondo::video
