// docs/actors.md, "Deadlines".
#include <future>

#include "runtime/lifecycle.hpp"
#include "runtime/runtime.hpp"
#include "tests/consumer/actors/check.hpp"
#include "tests/consumer/actors/journal.hpp"

using namespace std::chrono_literals;

int main() {
  rondo::runtime rt{rondo::use<journals>};
  std::promise<rondo::errc> why;
  auto const subscription = rt.on_dead_letter([&](rondo::dead_letter const& d) { why.set_value(d.reason); });
  auto const j = rt.launch<journal>("j", {.active = false});
  check(!j.try_tell(line{1}, {.deadline = 1ms}));
  check(!j.try_tell(line{2}, {.deadline = 1h}));
  check(j.ask(read_lines{}, 10ms, rondo::block).error() == rondo::errc::timed_out);
  check(!rondo::activate(j, rondo::block));
  check(j.ask(read_lines{}, 1min, rondo::block).value().list() == numbers{2});
  check(why.get_future().get() == rondo::errc::timed_out);  // line 1 became a dead letter
}
