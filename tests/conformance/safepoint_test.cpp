// G9 and G10: a handler that hangs prevents a checkpoint without harm: the runtime continues, and a later checkpoint
// succeeds.
#include "runtime/checkpoint.hpp"
#include "runtime/observe/telemetry.hpp"
#include "tests/conformance/harness.hpp"

using namespace conformance;
using Catch::Matchers::Contains;

namespace {

std::string why_no_checkpoint(rondo::runtime& rt, std::filesystem::path const& file) {
  try {
    rondo::checkpoint(rt, file);
    return {};
  } catch (std::runtime_error const& e) {
    return e.what();
  }
}

}  // namespace

TEST_CASE("a handler that hangs prevents a checkpoint and nothing else", "[G9][G10]") {
  // Regression: teams that had stopped for the failed checkpoint did not resume.
  auto const v = GENERATE(from_range(variants()));
  bool const pinned = GENERATE(false, true);
  INFO(v.name << (pinned ? ", pinned" : ""));
  scratch_file const file;
  in_reach<gate> const reached;
  gate& at = *reached;
  auto settings = v.settings;
  settings.stop_timeout_ms = 60;
  auto rt = start(settings);
  gate_keeper const keeper{at};
  auto const stubborn = rt->launch<adder>("stubborn", {.pinned = pinned});
  auto const bystander = rt->launch<adder>("bystander", {.pinned = pinned});
  auto const plain = rt->launch<adder>("plain");
  hold_at(stubborn, at);
  REQUIRE_FALSE(stubborn.try_tell(add{5}));  // a pinned team may accept it only after the handler
  for (std::uint64_t attempt = 1; attempt <= 2; ++attempt) {
    auto const why = why_no_checkpoint(*rt, file.path);
    CHECK_THAT(why, Contains("stubborn") && Contains("hold") && Contains("stop_timeout_ms"));
    CHECK_FALSE(std::filesystem::exists(file.path));
    for (auto const& actor : {bystander, plain}) {
      REQUIRE_FALSE(tell(actor, add{1}));
      CHECK(ask(actor, get{}).value().value == attempt);
    }
    auto const another = rt->launch<adder>("another " + std::to_string(attempt), {.pinned = pinned});
    CHECK(ask(another, get{}).value().value == 0);
  }
  keeper.open();
  CHECK(ask(stubborn, get{}).value().value == 5);
  CHECK(at_rest(*rt).conserved());
  REQUIRE(eventually([&] { return why_no_checkpoint(*rt, file.path).empty(); }));
  CHECK(ask(stubborn, get{}).value().value == 5);
  CHECK(ask(bystander, get{}).value().value == 2);

  rt.reset();  // a GPU has memory for a second runtime of this process only once the first has ended
  auto const second = start(v.settings);
  rondo::restore(*second, file.path);
  CHECK(ask(second->find<adder>("stubborn").value(), get{}).value().value == 5);
  CHECK(ask(second->find<adder>("plain").value(), get{}).value().value == 2);
}

// Regression: each waited for the other, until the snapshot gave up after ten seconds and reported no actor.
TEST_CASE("snapshots and checkpoints do not wait for each other", "[G10]") {
  auto const v = GENERATE(from_range(variants()));
  INFO(v.name);
  scratch_file const file;
  auto const rt = start(v.settings);
  auto const actor = rt->launch<adder>("adder");
  REQUIRE_FALSE(tell(actor, add{1}));
  std::atomic<bool> done{false};
  std::atomic<std::uint32_t> empty{0};
  std::thread looks([&] {
    while (!done) empty += rt->snapshot().actors.empty();
  });
  for (int i = 0; i < 20; ++i) CHECK(why_no_checkpoint(*rt, file.path) == "");
  done = true;
  looks.join();
  CHECK(empty == 0);
}
