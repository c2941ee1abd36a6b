// How long a function takes that draws a frame on one thread.
#pragma once

#include "bench/render/scene.hpp"
#include "bench/streams/work.hpp"

namespace render_bench {

/// After a frame that does not count.
template <class Draw>
outcome time_frames(std::uint32_t frames, Draw const& draw) {
  using clock = std::chrono::steady_clock;
  draw();
  outcome o;
  auto const cpu = streams_bench::cpu_now();
  for (std::uint32_t n = 0; n < frames; ++n) {
    auto const begun = clock::now();
    draw();
    o.ms.push_back(std::chrono::duration<double, std::milli>(clock::now() - begun).count());
  }
  o.cpu_ms = (streams_bench::cpu_now() - cpu) * 1e3 / frames;
  return o;
}

}  // namespace render_bench
