// docs/actors.md, "Buffers in handlers".
#include <algorithm>

#include "runtime/memory/unified_buffer.hpp"
#include "runtime/runtime.hpp"
#include "tests/consumer/actors/check.hpp"

using namespace std::chrono_literals;

struct scale {
  rondo::buffer_ref field;
  float by;
};
struct scaled { rondo::errc status; };

struct amplifier {
  using messages = rondo::messages<rondo::ask<scale, scaled>>;

  RONDO_HD void on(rondo::context& ctx, scale const& m) {
    rondo::write_lease<float> field{ctx.buffers(), m.field};  // read_lease<float> if it only reads
    auto const status = field.status();
    for (float& x : field.view()) x *= m.by;  // the view is empty if there is no lease
    field.end();                              // before the reply: the asker may use the buffer at once
    ctx.reply(scaled{status});
  }
};
RONDO_MODULE(amplifiers, amplifier)

int main() {
  rondo::runtime rt{rondo::use<amplifiers>};
  auto const a = rt.launch<amplifier>("a");
  rondo::unified_buffer<float> field(rt.memory(), {1000});
  std::ranges::fill(field.overwrite().value(), 1.5f);  // on the host
  scale const m{field.device_for_writing().value(), 2};
  check(a.ask(m, 1min, rondo::block).value().status == rondo::errc::ok);
  check(field.host().value()[999] == 3.0f);

  scale const wrong{m.field.slice(0, 5000), 2};
  check(a.ask(wrong, 1min, rondo::block).value().status == rondo::errc::buffer_out_of_bounds);
}
