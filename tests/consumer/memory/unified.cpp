// docs/memory.md, "Unified buffers" and "When copies happen".
#include <algorithm>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/use_future.hpp>

#include "runtime/device/emulated/emulated_module.hpp"
#include "runtime/memory/unified_buffer.hpp"
#include "runtime/runtime.hpp"
#include "tests/consumer/actors/check.hpp"

using namespace std::chrono_literals;
namespace asio = boost::asio;

struct scale {
  rondo::buffer_ref field;
  float by;
};
struct scaled {};

struct amplifier {
  using messages = rondo::messages<rondo::ask<scale, scaled>>;

  RONDO_HD void on(rondo::context& ctx, scale const& m) {
    rondo::write_lease<float> field{ctx.buffers(), m.field};
    for (float& x : field.view()) x *= m.by;
    field.end();
    ctx.reply(scaled{});
  }
};
RONDO_MODULE(amplifiers, amplifier)
RONDO_EMULATED_MODULE(amplifiers)

asio::awaitable<float> sum_of_scaled(rondo::runtime& rt, rondo::actor_ref<amplifier> worker) {
  float sum = 0;
  rondo::unified_buffer<float> field(rt.memory(), {480, 640});
  std::ranges::fill(field.overwrite().value(), 1.0f);                       // on the host
  co_await worker.ask(scale{field.device_for_writing().value(), 2}, 1min);  // copied to the device, once
  for (float const x : field.host().value()) sum += x;                      // copied back, once
  co_return sum;
}

void try_on(char const* device, std::uint64_t copies) {
  rondo::runtime rt{rondo::use<amplifiers>, {.device = device}};
  asio::io_context io;
  auto sum = asio::co_spawn(io, sum_of_scaled(rt, rt.launch<amplifier>("worker")), asio::use_future);
  io.run();
  check(sum.get() == 2.0f * 480 * 640);
  check(rt.transfers().to_device == copies && rt.transfers().to_host == copies);

  rondo::unified_buffer<float> field(rt.memory(), {1000});
  check(field.host().error() == rondo::errc::buffer_empty);
  auto const writing = field.overwrite();
  check(field.device().error() == rondo::errc::buffer_in_use);  // while a writing view is alive
}

int main() {
  try_on("cpu", 0);  // host and device share one memory
  try_on("emulated", 1);
}
