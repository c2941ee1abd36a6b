#include "tools/overlay/overlay_explain.hpp"

#include "runtime/memory/buffer_pool.hpp"
#include "runtime/memory/unified_buffer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

namespace rondo::tools {

namespace {

double per_frame(std::uint64_t copies, std::int64_t frames) {
  return static_cast<double>(copies) / static_cast<double>(std::max<std::int64_t>(1, frames));
}

std::uint64_t beyond(std::uint64_t measured, std::uint64_t least) {
  return measured > least ? measured - least : 0;
}

std::string step(std::string_view what, std::string_view where, std::string_view least,
                 std::string_view measured, std::string_view why) {
  return fmt::format("  {:<20} {:<20} {:>6} {:>9}  {}\n", what, where, least, measured, why);
}

}  // namespace

std::string explain_copies(copy_account const& a) {
  auto const least_down = a.one_memory ? 0 : static_cast<std::uint64_t>(a.sent);
  auto const least_up = a.one_memory ? 0 : static_cast<std::uint64_t>(a.looked_at);
  auto const number = [&](std::uint64_t copies) { return fmt::format("{:.2f}", per_frame(copies, a.sent)); };
  auto const way = [&](std::string_view from, std::string_view to) {
    return a.one_memory ? fmt::format("host = {}", a.device) : fmt::format("{} -> {}", from, to);
  };
  auto const seen = fmt::format("{} of {} frames were encoded or written as a picture", a.looked_at, a.sent);
  auto text = fmt::format("copies per frame between the host and {}\n", a.device);
  text += step("step", "where", "least", "measured", "why");
  text += step("decode", "host", "0.00", "", "into the frame's buffer there");
  text += step("to the camera", way("host", a.device), number(least_down), number(a.measured.to_device),
               a.one_memory ? "one memory" : "decoded on one side, looked at on the other");
  text += step("detect, label, draw", a.device, "0.00", "", "a message carries the buffer's handle");
  text += step("to the encoder", way(a.device, "host"), number(least_up), number(a.measured.to_host),
               a.one_memory ? "one memory" : seen);
  text += step("encode", "host", "0.00", "", "from the frame's buffer there");
  text += fmt::format("  beyond the least: {} to the device, {} to the host\n",
                      beyond(a.measured.to_device, least_down), beyond(a.measured.to_host, least_up));
  // These copies are not Rondo's; they are listed for readers who add up the bytes.
  return text +
         "  not counted: FFmpeg copies each picture within the host, once at decode and once at encode\n";
}

std::string explain_pool(pool_account const& a) {
  auto const& s = a.at_end;
  auto const waste = s.in_use_bytes == 0
                         ? 0.0
                         : 100.0 * static_cast<double>(s.waste_bytes) / static_cast<double>(s.in_use_bytes);
  return fmt::format(
      "buffers ({}): {} in use, {:.1f} MiB, {:.1f} % of it waste; {} blocks claimed before the first frame, "
      "{} while frames ran\n",
      a.memory, s.buffers_in_use, static_cast<double>(s.in_use_bytes) / (1 << 20), waste, a.claims_before,
      s.misses - a.claims_before);
}

block_claims claims_of(runtime& rt) {
  auto const* const pinned = rt.memory().pinned;
  return {rt.host_buffers().statistics().misses, pinned != nullptr ? pinned->statistics().misses : 0,
          rt.buffers().statistics().misses};
}

std::string explanation(std::vector<std::unique_ptr<camera_feed>> const& feeds, runtime& rt,
                        block_claims const& before) {
  copy_account copies{
      .device = rt.info().name, .one_memory = rt.memory().is_one(), .measured = rt.transfers()};
  for (auto const& f : feeds) {
    auto const p = f->progress();
    copies.sent += p.sent;
    copies.looked_at += p.looked_at;
  }
  auto text = explain_copies(copies) + explain_pool({"host", before.host, rt.host_buffers().statistics()});
  if (auto const* const pinned = rt.memory().pinned; pinned != nullptr)
    text += explain_pool({"pinned host", before.pinned, pinned->statistics()});
  if (!copies.one_memory) text += explain_pool({copies.device, before.device, rt.buffers().statistics()});
  return text;
}

}  // namespace rondo::tools
