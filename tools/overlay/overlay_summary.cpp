#include "tools/overlay/overlay_summary.hpp"

#include "runtime/memory/unified_buffer.hpp"
#include "runtime/observe/telemetry.hpp"
#include "runtime/text/clean_text.hpp"
#include "runtime/text/shown_url.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

namespace rondo::tools {

namespace {
double rate(feed_progress const& p) { return p.seconds > 0 ? static_cast<double>(p.done) / p.seconds : 0; }

/// The copies over the bus per frame; empty if there were none.
std::string transfer_text(transfer_counts const& t, std::int64_t frames) {
  if (t.to_device + t.to_host == 0) return {};
  auto const per_frame = [&](std::uint64_t copies) {
    return static_cast<double>(copies) / static_cast<double>(std::max<std::int64_t>(1, frames));
  };
  return fmt::format("copies: {} to the device ({:.2f} per frame), {} back ({:.2f} per frame), {:.1f} MiB\n",
                     t.to_device, per_frame(t.to_device), t.to_host, per_frame(t.to_host),
                     static_cast<double>(t.bytes) / (1 << 20));
}
}  // namespace

void add_progress(std::string& line, camera_feed const& feed) {
  auto const p = feed.progress();
  auto const out = std::back_inserter(line);
  fmt::format_to(out, "camera {}  {}", feed.options().camera, p.done);
  if (p.expected > 0) fmt::format_to(out, "/{}", p.expected);
  fmt::format_to(out, " frames  {:.1f} frames/s", rate(p));
}

std::string conservation_text(telemetry const& now) {
  auto const& a = now.live;
  auto const& b = now.retired;
  return fmt::format("{} accepted {} {} handled + {} rejected + {} dead + {} waiting",
                     a.accepted + b.accepted, now.conserved() ? "=" : "is not", a.handled + b.handled,
                     a.rejected + b.rejected, a.dead + b.dead, now.waiting);
}

std::string summary_text(std::vector<std::unique_ptr<camera_feed>> const& feeds, runtime const& rt,
                         telemetry const& now) {
  std::size_t width = 6;
  for (auto const& f : feeds) width = std::max(width, f->name().size());
  auto text = fmt::format("{:<{}}  {:>7} {:>9} {:>9} {:>5}  output\n", "camera", width, "frames", "seconds",
                          "frames/s", "ids");
  std::int64_t frames = 0;
  double seconds = 0;
  for (auto const& f : feeds) {
    auto const p = f->progress();
    frames += p.done;
    seconds = std::max(seconds, p.seconds);
    text += fmt::format("{:<{}}  {:>7} {:>9.2f} {:>9.1f} {:>5}  {}\n", f->name(), width, p.done, p.seconds,
                        rate(p), p.ids,
                        f->options().output.empty() ? "none" : clean_text(shown_url(f->options().output)));
    if (p.earlier != 0)
      text += fmt::format("{:<{}}  {:>7} frames were done before the checkpoint\n", "", width, p.earlier);
    if (p.overflow != 0)
      text += fmt::format("{:<{}}  {} regions, tracks or parts of them did not fit\n", "", width, p.overflow);
  }
  if (feeds.size() > 1 && seconds > 0)
    text += fmt::format("{:<{}}  {:>7} {:>9.2f} {:>9.1f}\n", "all", width, frames, seconds,
                        static_cast<double>(frames) / seconds);
  return text + "\n" + to_table(now) +
         fmt::format("\nmessages: {}\ndevice {} ({}): {}\n{}", conservation_text(now), rt.info().name,
                     rt.info().description, rt.reason(), transfer_text(rt.transfers(), frames));
}

}  // namespace rondo::tools
