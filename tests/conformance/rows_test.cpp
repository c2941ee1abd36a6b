// A message may lie at any address that its type allows.
#include "tests/conformance/harness.hpp"

using namespace conformance;

// Regression: planted in copy_words, a load wider than the address allows escaped, because all messages happened to lie
// well.
TEST_CASE("messages arrive whole from wherever they lie in their sender's state", "[G1][G2]") {
  auto const v = GENERATE(from_range(variants()));
  bool const pinned = GENERATE(false, true);
  INFO(v.name << (pinned ? ", pinned" : ""));
  auto const rt = start(v.settings);
  auto const actor = rt->launch<table_of_rows>("table", {.pinned = pinned});
  REQUIRE_FALSE(tell(actor, send_rows{}));
  REQUIRE(eventually([&] { return ask(actor, read_rows{}).value().all == table_of_rows::count; }));
  CHECK(ask(actor, read_rows{}).value().whole == table_of_rows::count);
  CHECK(at_rest(*rt).conserved());
}
