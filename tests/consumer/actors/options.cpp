// docs/actors.md, "Options of an actor".
#include "runtime/population/read_states.hpp"
#include "runtime/population/refs_of.hpp"
#include "runtime/population/tell_all.hpp"
#include "runtime/runtime.hpp"
#include "tests/consumer/actors/check.hpp"
#include "tests/consumer/actors/journal.hpp"

using namespace std::chrono_literals;

void many() {
  rondo::runtime rt{rondo::use<journals>, {.device = "cpu", .actors = 100'000}};
  auto const crowd = rt.launch_many<journal>(100'000, {.capacity = 4});
  check(crowd[99'999].try_tell(line{1}) == rondo::errc::ok);
  rondo::told const t = rondo::tell_all(rt, crowd, line{2}, {}, rondo::block).value();
  check(t.accepted == 100'000 && t.gone == 0);
  std::vector<journal> states(crowd.size());
  check_soon([&] {
    rondo::read_states(rt, crowd, states);
    return states[99'999].seen.count == 2 && states[0].seen.count == 1;
  });
  check(rondo::refs_of<journal>(rt) == crowd);
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
