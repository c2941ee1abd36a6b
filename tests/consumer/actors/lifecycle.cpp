// docs/actors.md, "Lifecycle".
#include "runtime/lifecycle.hpp"

#include "tests/consumer/actors/check.hpp"
#include "tests/consumer/actors/journal.hpp"

using namespace std::chrono_literals;

int main() {
  rondo::runtime rt{rondo::use<journals>};
  auto const j = rt.launch<journal>("j");
  check(!rondo::deactivate(j, rondo::block));  // from now on it keeps its mail
  check(!j.try_tell(line{1}));
  check(!j.try_tell(line{2}, {.priority = 200}));

  rondo::inspection const found = rondo::inspect(j, rondo::block).value();
  check(found.now.state == rondo::lifecycle::deactivated && found.now.waiting == 2);
  check(found.depths.front().priority == 200 && found.depths.front().messages == 1);

  check(!rondo::terminate(rt.find_any("j").value(), rondo::termination::drain, rondo::block));
  check(j.try_tell(line{3}) == rondo::errc::actor_gone);
  check(rt.snapshot().retired.handled == 2);  // draining handled the mail
  auto const next = rt.launch<journal>("j");  // the name is free again
  check(next != j);                           // but j does not name the successor
  check(rondo::activate(j, rondo::block) == rondo::errc::actor_gone);
}
