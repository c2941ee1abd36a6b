// docs/actors.md, "Handlers on a GPU".
#include "runtime/device/emulated/emulated_module.hpp"
#include "runtime/runtime.hpp"
#include "tests/consumer/actors/check.hpp"

using namespace std::chrono_literals;

struct count_up {};
struct read_count {};
struct number { std::uint64_t value; };

struct endless {
  using messages = rondo::messages<count_up, rondo::ask<read_count, number>>;
  std::uint64_t n = 0;

  RONDO_HD void on(rondo::context& ctx, count_up const& m) {
    for (int step = 0; step < 1000 && !ctx.should_stop(); ++step) ++n;
    ctx.tell(ctx.self_as<endless>(), m);  // continues later; other messages have their turn in between
  }
  RONDO_HD number on(rondo::context&, read_count const&) { return {n}; }
};
RONDO_MODULE(counting, endless)
RONDO_EMULATED_MODULE(counting)

void try_on(char const* device) {
  rondo::runtime rt{rondo::use<counting>, {.device = device}};
  auto const e = rt.launch<endless>("e");
  check(!e.try_tell(count_up{}));
  check_soon([&] { return e.ask(read_count{}, 1min, rondo::block).value().value > 5000; });
  check(rt.stop().stopped);  // although the actor never rests
}
int main() {
  try_on("cpu");
  try_on("emulated");
}
