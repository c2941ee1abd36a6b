// docs/actors.md, "Options of an actor".
#include "runtime/runtime.hpp"
#include "tests/consumer/actors/check.hpp"
#include "tests/consumer/actors/journal.hpp"

using namespace std::chrono_literals;

void many() {
  rondo::runtime rt{rondo::use<journals>, {.device = "cpu", .actors = 100'000}};
  auto const crowd = rt.launch_many<journal>(100'000, {.capacity = 4});
  check(crowd[99'999].try_tell(line{1}) == rondo::errc::ok);
}

int main() {
  rondo::runtime rt{rondo::use<journals>, {.device = "cpu", .pinned_teams = 1}};
  rondo::actor_options const all{.device = 0, .capacity = 1000, .pinned = true, .active = true, .batch = 16,
                                 .supervise = {.rule = rondo::on_failure::restart, .poison_after = 3,
                                               .max_restarts = 8, .within_ms = 1000}};
  auto const j = rt.launch<journal>("j", all);
  check(rt.listed(j.id()).value().options.capacity == 1000);
  auto const another = rt.try_launch<journal>("k", {.pinned = true});
  check(another.error() == rondo::errc::actor_limit);  // the only team for pinned actors is taken
  many();
}
