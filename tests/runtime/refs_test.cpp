// Refs: order and hash, and refs that name messages instead of a behaviour.
#include "runtime/messaging/messages_ref.hpp"

#include <boost/asio/use_future.hpp>
#include <set>
#include <unordered_set>

#include "runtime/lifecycle.hpp"
#include "tests/runtime/counter_fixture.hpp"

using namespace rondo_test;

namespace {

using summing = rondo::messages_ref<add, rondo::ask<get, total>>;
using waiting = rondo::messages_ref<rondo::ask<later, total>>;

std::uint64_t add_and_get(summing to, std::uint64_t amount) {
  REQUIRE_FALSE(to.try_tell(add{amount}));
  to.tell(add{amount}, {}, boost::asio::use_future).get();
  return to.ask(get{}, patience, rondo::block).value().value;
}

}  // namespace

static_assert(std::is_convertible_v<rondo::actor_ref<counter>, summing>);
static_assert(std::is_convertible_v<rondo::actor_ref<idler>, waiting>);
static_assert(std::is_convertible_v<summing, rondo::messages_ref<add>>, "it takes fewer messages");
static_assert(std::is_convertible_v<summing, rondo::messages_ref<get>>, "an ask may also be told");
static_assert(!std::is_convertible_v<rondo::actor_ref<idler>, summing>, "an idler does not add");
static_assert(!std::is_convertible_v<rondo::messages_ref<add>, summing>, "it may not take `get`");
static_assert(!std::is_convertible_v<rondo::actor_ref<counter>, rondo::messages_ref<rondo::ask<get, add>>>,
              "another reply");
static_assert(!std::is_convertible_v<rondo::actor_ref<counter>, rondo::actor_ref<idler>>);
static_assert(!std::is_convertible_v<summing, rondo::actor_ref<counter>>);
static_assert(sizeof(summing) == sizeof(rondo::actor_ref<counter>));

TEST_CASE("a ref that names messages sends them to an actor of any behaviour that takes them", "[refs]") {
  auto const rt = start();
  auto const c = rt->launch<counter>("c");
  CHECK(add_and_get(c, 21) == 42);
  std::vector<waiting> all{c, rt->launch<idler>("i")};
  CHECK(all[1].ask(later{}, patience, rondo::block).value().value == 1);
  summing const s = c;
  CHECK(s.id() == c.id());
  CHECK(all[0].id() == s.id());
  CHECK_FALSE(rondo::terminate(c, rondo::termination::drain, rondo::block));
  CHECK(s.try_tell(add{1}) == errc::actor_gone);
}

TEST_CASE("refs can be keys of ordered and unordered containers", "[refs]") {
  auto const rt = start();
  auto const a = rt->launch<counter>("a"), b = rt->launch<counter>("b");
  std::set<rondo::actor_ref<counter>> const ordered{b, a, b};
  REQUIRE(ordered.size() == 2);
  CHECK(*ordered.begin() == a);
  std::unordered_set<rondo::actor_ref<counter>> const hashed{a, b, a};
  CHECK(hashed.size() == 2);
  CHECK(hashed.contains(b));
  std::set<rondo::any_ref> const untyped{*rt->find_any("a"), *rt->find_any("b"), *rt->at(a.id())};
  CHECK(untyped.size() == 2);
  CHECK(std::hash<rondo::any_ref>{}(*rt->find_any("a")) == std::hash<rondo::actor_ref<counter>>{}(a));
  // A successor in the same place is another actor.
  CHECK_FALSE(rondo::terminate(b, rondo::termination::drain, rondo::block));
  auto const next = rt->launch<counter>("next");
  CHECK(next.id().index == b.id().index);
  CHECK(next != b);
  CHECK(b < next);
  CHECK_FALSE(hashed.contains(next));
}
