// docs/actors.md, "Logging".
#include <future>

#include "runtime/runtime.hpp"
#include "tests/consumer/actors/check.hpp"

using namespace std::chrono_literals;

struct fill { std::uint32_t units; };

struct tank {
  using messages = rondo::messages<fill>;
  std::uint32_t units = 0;

  RONDO_HD void on(rondo::context& ctx, fill const& m) {
    units += m.units;
    ctx.log(rondo::log_level::debug, "filled with {}", m.units);  // below the default level: not sent
    if (units > 90) ctx.log(rondo::log_level::warning, "{} units, {} percent", units, units / 1.2);
  }
};
RONDO_MODULE(tanks, tank)

int main() {
  rondo::runtime rt{rondo::use<tanks>, {.log_level = rondo::log_level::info}};
  std::promise<rondo::log_line> first;
  auto const subscription = rt.on_log([&](rondo::log_line const& line) { first.set_value(line); });
  auto const t = rt.launch<tank>("east");
  check(!t.try_tell(fill{60}));
  check(!t.try_tell(fill{42}));
  rondo::log_line const line = first.get_future().get();
  check(line.text == "102 units, 85 percent" && line.level == rondo::log_level::warning);
  check(line.actor_name == "east" && line.behaviour == "tank" && line.device == 0);
  check(to_text(line) == "[warning] tank 'east': 102 units, 85 percent");
}
