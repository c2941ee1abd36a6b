#include "actors/video/media/still_sink.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "actors/video/files/still.hpp"
#include "runtime/streams/kinds/stage_spec.hpp"
#include "runtime/text/named_field.hpp"

namespace rondo::video {

void still_sink::spec(options const& o, streams::spec_of<still_sink>& s) {
  if (o.file.empty()) return s.refuse("it has no file: name one");
  if (auto const why = why_no_still(o.file.c_str()); !why.empty()) s.refuse(why);
}
void still_sink::process(streams::stage_context<still_sink>& ctx, streams::tick const& t) {
  auto const& o = ctx.options();
  auto& host = ctx.host();
  bool const is_in_turn = t.number >= o.first && (t.number - o.first) % std::max(o.every, 1u) == 0;
  if (o.on_request ? !host.is_asked.exchange(false, std::memory_order_relaxed) : !is_in_turn) return;
  if (o.most != 0 && host.written == o.most) return;
  auto const in = ctx.input<"video">();
  auto const name = with_field(o.file.c_str(), "tick", fmt::format("{:06}", t.number));
  try {
    write_still(name, in.about, in.data);
    ++host.written;
    if (o.on_request) host.link.log(log_level::info, fmt::format("wrote {}", name).c_str());
  } catch (std::exception const& e) {
    host.why = e.what();
    ctx.fail_graph();
  }
}

}  // namespace rondo::video
