// docs/actors.md, "Priorities".
#include "runtime/lifecycle.hpp"
#include "runtime/runtime.hpp"
#include "tests/consumer/actors/check.hpp"
#include "tests/consumer/actors/journal.hpp"

using namespace std::chrono_literals;

numbers order_of(rondo::actor_ref<journal> const& j) {
  check(!rondo::activate(j, rondo::block));
  return j.ask(read_lines{}, {.priority = 0}, rondo::block).value().list();  // after all others
}

int main() {
  rondo::runtime rt{rondo::use<journals>, {.starvation_limit = 2}};
  auto const j = rt.launch<journal>("j", {.active = false});  // keeps its mail for now
  check(!j.try_tell(line{1}));
  check(!j.try_tell(line{2}));
  check(!j.try_tell(line{3}, {.priority = 255}));
  check(order_of(j) == numbers{3, 1, 2});

  auto const k = rt.launch<journal>("k", {.active = false});
  check(!k.try_tell(line{0}, {.priority = 10}));
  for (std::uint32_t n = 1; n <= 4; ++n) check(!k.try_tell(line{n}, {.priority = 200}));
  check(order_of(k) == numbers{1, 2, 0, 3, 4});  // 0 was overtaken twice, then it had its turn
}
