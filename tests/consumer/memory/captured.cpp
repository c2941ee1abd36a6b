// docs/memory.md, "Captured actors".
#include <algorithm>

#include "runtime/capture_graph.hpp"
#include "runtime/device/emulated/emulated_module.hpp"
#include "runtime/graph/stream.hpp"
#include "runtime/memory/buffer_pool.hpp"
#include "runtime/memory/unified_buffer.hpp"
#include "runtime/runtime.hpp"
#include "tests/consumer/actors/check.hpp"

using namespace std::chrono_literals;

struct brighten { float by; };
struct brightened { std::uint32_t pixels; };
struct brightener : rondo::captured<brighten, brightened> {};  // in the module
RONDO_MODULE(pictures, brightener)
RONDO_EMULATED_MODULE(pictures)

constexpr std::uint32_t pixels = 1000;

int main() {
  rondo::runtime rt{rondo::use<pictures>, {.device = "cpu,emulated"}};
  rondo::unified_buffer<float> picture(rt.memory(1), {pixels});
  std::ranges::fill(picture.overwrite().value(), 0.5f);
  auto const without = rt.launch<brightener>("without a graph", {.supervise = {.poison_after = 1}});
  check(without.ask(brighten{1}, 1min, rondo::block).error() == rondo::errc::no_graph);

  auto const bytes = rt.buffers(1).address_of(picture.device_for_writing().value());
  auto* const at = reinterpret_cast<float*>(bytes);
  rondo::capture_graph<brightener>(rt, "b", 1, [=](rondo::stream& s, brighten const* in, brightened* out) {
    s.for_each(pixels, [=] RONDO_HD(std::uint32_t i) { at[i] += in->by; });  // on device 1
    s.for_each(1, [=] RONDO_HD(std::uint32_t) { out->pixels = pixels; });
  });
  auto const b = rt.launch<brightener>("b");  // on device 0, a cpu
  check(b.ask(brighten{0.25f}, 1min, rondo::block).value().pixels == pixels);
  check(picture.host().value()[pixels - 1] == 0.75f);
}
