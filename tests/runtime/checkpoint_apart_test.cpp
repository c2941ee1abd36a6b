// Actors that no file may have: those that hold addresses are refused by name, and those that are saved apart are left
// out, as if they had ended.
#include <array>
#include <boost/asio/use_future.hpp>
#include <future>

#include "runtime/checkpoint.hpp"
#include "runtime/lifecycle.hpp"
#include "runtime/population/refs_of.hpp"
#include "runtime/recording.hpp"
#include "runtime/replay.hpp"
#include "runtime/state/checkpoint_file.hpp"
#include "tests/runtime/checkpoint_fixture.hpp"

using Catch::Matchers::Contains;
using checkpoint_test::at_rest;
using checkpoint_test::error_of;
using checkpoint_test::eventually;
using checkpoint_test::scratch;

using namespace std::chrono_literals;

namespace addresses {

struct note {
  std::uint32_t value;
};
struct question {};
struct answer {
  std::uint32_t value;
};
struct look {};
/// What a correspondent has got.
struct got {
  std::uint32_t answers, rejections, ends, notes;
  rondo::errc why, why_ended;
};
/// Whom a correspondent is to watch, ask, and tell.
struct write_to {
  rondo::actor_id whom;
};

/// Takes notes; its state is of any kind.
template <class State>
struct taker {
  using messages = rondo::messages<note, rondo::ask<question, answer>>;
  State state{};
  std::uint32_t notes = 0;
  RONDO_HD void on(rondo::context&, note const& m) { notes += m.value; }
  RONDO_HD answer on(rondo::context&, question const&) { return {notes}; }
};

struct nested {
  std::uint32_t before[40] = {};
  struct {
    std::uint64_t number;
    void (*call)();
  } calls[2] = {};
};
enum class no_address : std::uint8_t { none };
struct many_kinds {
  std::uint32_t rows[16][4] = {};
  std::array<double, 8> values{};
  rondo::actor_id other{};
  rondo::reply_token asker{};
  no_address kind{};
  std::uint32_t few : 3 = 0;
  bool is_open = false;
};

struct pointer_of_aggregate {
  using messages = rondo::messages<note>;
  std::uint32_t notes = 0;
  char const* text = nullptr;
  RONDO_HD void on(rondo::context&, note const&) {}
};
struct launched_with {
  using messages = rondo::messages<note>;
  struct arguments {
    std::uint32_t const* from = nullptr;
  };
  std::uint32_t notes = 0;
  RONDO_HD void on_start(rondo::context&, arguments const& a) { notes = a.from == nullptr ? 0 : *a.from; }
  RONDO_HD void on(rondo::context&, note const&) {}
};
/// Its address is a number.
struct says_so {
  using messages = rondo::messages<note>;
  static constexpr bool holds_addresses = true;
  std::uint64_t address = 0;
  RONDO_HD void on(rondo::context&, note const&) {}
};
struct harmless {
  using messages = rondo::messages<note, rondo::ask<question, answer>>;
  static constexpr bool holds_addresses = false;
  char const* cache = nullptr;  // made again when it is needed
  std::uint32_t notes = 0;
  RONDO_HD void on(rondo::context&, note const& m) { notes += m.value; }
  RONDO_HD answer on(rondo::context&, question const&) { return {notes}; }
};
struct apart : taker<std::uint32_t> {
  static constexpr bool saved_apart = true;
};
using plain = taker<many_kinds>;
using deep = taker<nested>;
using in_array = taker<std::array<int*, 3>>;

/// Watches, asks and tells another actor.
struct correspondent {
  using messages =
      rondo::messages<write_to, note, answer, rondo::rejected, rondo::ended, rondo::ask<look, got>>;
  got so_far{};
  rondo::actor_id whom{};
  RONDO_HD void on(rondo::context& ctx, write_to const& m) {
    whom = m.whom;
    ctx.watch(whom);
    static_cast<void>(ctx.ask(rondo::address<apart>{whom}, question{}, 1));
  }
  RONDO_HD void on(rondo::context& ctx, note const& m) {
    static_cast<void>(ctx.tell(rondo::address<apart>{whom}, m));
    ++so_far.notes;
  }
  RONDO_HD void on(rondo::context&, answer const&) { ++so_far.answers; }
  RONDO_HD void on(rondo::context&, rondo::rejected const& m) { ++so_far.rejections, so_far.why = m.reason; }
  RONDO_HD void on(rondo::context&, rondo::ended const& m) { ++so_far.ends, so_far.why_ended = m.reason; }
  RONDO_HD got on(rondo::context&, look const&) { return so_far; }
};

RONDO_MODULE(cast, plain, deep, in_array, pointer_of_aggregate, launched_with, says_so, harmless, apart,
             correspondent)

std::unique_ptr<rondo::runtime> begin() {
  return std::make_unique<rondo::runtime>(rondo::use<cast>, rondo::config{.device = "cpu", .teams = 1});
}
got got_by(rondo::actor_ref<correspondent> const& c) { return c.ask(look{}, 10s, rondo::block).value(); }

}  // namespace addresses

using namespace addresses;

TEST_CASE("a checkpoint refuses by name an actor whose state or launch arguments hold addresses",
          "[checkpoint][addresses]") {
  scratch s;
  auto const rt = begin();
  auto const require_refused = [&](std::string const& behaviour) {
    CAPTURE(behaviour);
    auto const why = error_of([&] { rondo::checkpoint(*rt, s.file); });
    CHECK_THAT(why, Contains("'culprit'") && Contains(behaviour) && Contains("holds_addresses"));
    CHECK_FALSE(std::filesystem::exists(s.file));
    auto const not_recorded = error_of([&] { rondo::recording const r(*rt, s.file); });
    CHECK_THAT(not_recorded, Contains("'culprit'") && Contains(behaviour));
  };
  rt->launch<plain>("innocent");
  CHECK(rondo::checkpoint(*rt, s.file).empty());
  std::filesystem::remove(s.file);
  SECTION("a pointer") {
    rt->launch<pointer_of_aggregate>("culprit");
    require_refused("pointer_of_aggregate");
  }
  SECTION("in members of members, and arrays of them") {
    rt->launch<deep>("culprit");
    require_refused("nested");
  }
  SECTION("in a std::array") {
    rt->launch<in_array>("culprit");
    require_refused("array");
  }
  SECTION("in launch arguments") {
    static std::uint32_t const from = 7;
    rt->launch<launched_with>("culprit", {}, {&from});
    require_refused("launched_with");
  }
  SECTION("a number that is an address, as its behaviour says") {
    rt->launch<says_so>("culprit");
    require_refused("says_so");
  }
  SECTION("a pointer that does no harm, as its behaviour says") {
    auto const h = rt->launch<harmless>("harmless");
    REQUIRE_FALSE(h.tell(note{5}, rondo::tell_options{}, rondo::block));
    rondo::checkpoint(*rt, s.file);
    auto const next = begin();
    rondo::restore(*next, s.file);
    CHECK(next->find<harmless>("harmless").value().ask(question{}, 10s, rondo::block).value().value == 5);
  }
}

TEST_CASE("a file with an actor that holds addresses, as an older version wrote it, is refused by name",
          "[checkpoint][addresses]") {
  scratch s;
  auto const module = rondo::module_describer<cast>::describe();
  {
    auto const rt = begin();
    rt->launch<plain>("culprit");
    rondo::checkpoint(*rt, s.file);
  }
  for (std::string const behaviour : {"says_so", "apart"}) {
    auto image = rondo::read_checkpoint(s.file, module);
    auto const b = std::ranges::find_if(
        module, [&](rondo::behaviour_info const& i) { return i.name.ends_with(behaviour); });
    image.actors.front().behaviour = static_cast<std::uint16_t>(b - module.begin());
    image.actors.front().state_bytes.resize(b->state_bytes);
    auto const old = s.directory / "old";
    rondo::write_checkpoint(old, image, module);
    auto const rt = begin();
    CHECK_THAT(error_of([&] { rondo::restore(*rt, old); }), Contains("'culprit'") && Contains(behaviour));
    CHECK(rt->list().empty());
  }
}

TEST_CASE("to the actors of a checkpoint, those that are saved apart have ended",
          "[checkpoint][addresses][G1][G7]") {
  scratch s;
  rondo::actor_id gone;
  {
    auto const rt = begin();
    auto const asleep = rt->launch<apart>("apart", {.active = false});
    auto const c = rt->launch<correspondent>("correspondent");
    gone = asleep.id();
    for (std::uint32_t n = 0; n < 3; ++n)
      REQUIRE_FALSE(asleep.tell(note{n}, rondo::tell_options{}, rondo::block));
    REQUIRE_FALSE(c.tell(write_to{gone}, rondo::tell_options{}, rondo::block));
    REQUIRE(eventually([&] { return rondo::inspect(asleep, rondo::block).value().now.waiting == 4; }));
    CHECK(rondo::checkpoint(*rt, s.file) == std::vector<std::string>{"apart"});
    CHECK(got_by(c).rejections == 0);  // the runtime itself goes on
    REQUIRE_FALSE(rondo::activate(asleep, rondo::block));
    REQUIRE(eventually([&] { return got_by(c).answers == 1; }));
  }
  auto const rt = begin();
  rondo::restore(*rt, s.file);
  CHECK(rt->list().size() == 1);
  auto const c = rt->find<correspondent>("correspondent").value();
  REQUIRE(eventually([&] { return got_by(c).rejections == 1 && got_by(c).ends == 1; }));
  CHECK(got_by(c).why == rondo::errc::actor_gone);
  CHECK(got_by(c).why_ended == rondo::errc::actor_gone);
  auto const t = at_rest(*rt);
  CHECK(t.dead_letters == 3);
  CHECK(t.retired.dead == 3);
  CHECK(t.retired.rejected == 1);
  CHECK(t.retired.accepted == 4);

  // Its id is not used again: a successor in its place gets nothing.
  auto const successor = rt->launch<apart>("apart");
  CHECK(successor.id().index == gone.index);
  CHECK_FALSE(successor.id() == gone);
  REQUIRE_FALSE(c.tell(note{9}, rondo::tell_options{}, rondo::block));
  REQUIRE(eventually([&] { return got_by(c).notes == 1; }));
  CHECK(successor.ask(question{}, 10s, rondo::block).value().value == 0);
}

TEST_CASE("one of a population that has asked an actor that is left out hears of its end",
          "[checkpoint][addresses]") {
  scratch s;
  {
    auto const rt = begin();
    auto const asleep = rt->launch<apart>("apart", {.active = false});
    auto const crowd = rt->launch_many<correspondent>(9);
    REQUIRE_FALSE(crowd[4].tell(write_to{asleep.id()}, rondo::tell_options{}, rondo::block));
    REQUIRE(eventually([&] { return rondo::inspect(asleep, rondo::block).value().now.waiting == 1; }));
    rondo::checkpoint(*rt, s.file);
  }
  auto const rt = begin();
  rondo::restore(*rt, s.file);
  auto const crowd = rondo::refs_of<correspondent>(*rt);
  REQUIRE(crowd.size() == 9);
  REQUIRE(eventually([&] { return got_by(crowd[4]).rejections == 1 && got_by(crowd[4]).ends == 1; }));
  CHECK(got_by(crowd[3]).rejections == 0);
  CHECK(at_rest(*rt).dead_letters == 0);
}

// Regression: cells that were free when the checkpoint was written began again at the first generation.
TEST_CASE("an id of an actor that had ended before the checkpoint reaches nobody after it",
          "[checkpoint][G7]") {
  scratch s;
  rondo::actor_ref<plain> past;
  {
    auto const rt = begin();
    past = rt->launch<plain>("past");
    auto const c = rt->launch<correspondent>("correspondent");
    REQUIRE_FALSE(rondo::terminate(past, rondo::termination::drain, rondo::block));
    REQUIRE_FALSE(c.tell(write_to{past.id()}, rondo::tell_options{}, rondo::block));
    REQUIRE(eventually([&] { return got_by(c).ends == 1; }));
    rondo::checkpoint(*rt, s.file);
  }
  auto const rt = begin();
  rondo::restore(*rt, s.file);
  auto const successor = rt->launch<apart>("successor");
  CHECK(successor.id().index == past.id().index);
  CHECK_FALSE(successor.id() == past.id());
  auto const c = rt->find<correspondent>("correspondent").value();
  REQUIRE_FALSE(c.tell(note{9}, rondo::tell_options{}, rondo::block));
  REQUIRE(eventually([&] { return got_by(c).notes == 1; }));
  CHECK(successor.ask(question{}, 10s, rondo::block).value().value == 0);
}

TEST_CASE("a checkpoint whose caller does not wait reports by name what it leaves out",
          "[checkpoint][addresses]") {
  scratch s;
  auto const rt = begin();
  rt->launch<apart>("apart");
  std::promise<std::string> said;
  auto const listening = rt->on_failure_report([&](std::string const& text) { said.set_value(text); });
  rondo::checkpoint(*rt, s.file, boost::asio::use_future).get();
  auto heard = said.get_future();
  REQUIRE(heard.wait_for(60s) == std::future_status::ready);
  CHECK_THAT(heard.get(), Contains(s.file.string()) && Contains("leaves out") && Contains("apart"));
}

TEST_CASE("a recording leaves out actors that hold addresses, and can be replayed",
          "[recording][addresses]") {
  scratch s;
  auto const file = s.directory / "run";
  std::vector<std::string> reports;
  {
    auto const rt = begin();
    auto const listening = rt->on_failure_report([&](std::string const& text) { reports.push_back(text); });
    rt->launch<apart>("before");
    auto const p = rt->launch<plain>("plain");
    rondo::recording r(*rt, file);
    auto const culprit = rt->launch<says_so>("culprit");
    auto const during = rt->launch<apart>("during");
    REQUIRE_FALSE(culprit.tell(note{1}, rondo::tell_options{}, rondo::block));
    REQUIRE_FALSE(during.tell(note{1}, rondo::tell_options{}, rondo::block));
    REQUIRE_FALSE(p.tell(note{4}, rondo::tell_options{}, rondo::block));
    CHECK(p.ask(question{}, 10s, rondo::block).value().value == 4);
    REQUIRE_FALSE(rondo::terminate(during, rondo::termination::drain, rondo::block));
    at_rest(*rt);
    r.end();
    REQUIRE(eventually([&] { return !reports.empty(); }));
  }
  REQUIRE(reports.size() == 1);
  CHECK_THAT(reports.front(), Contains("'culprit'") && Contains("says_so"));
  auto const rt = begin();
  auto const report = rondo::replay(*rt, file);
  CHECK(report.launched == 1);
  CHECK(report.messages == 2);
  CHECK(report.differing == 0);
  CHECK(rt->find<plain>("plain").value().ask(question{}, 10s, rondo::block).value().value == 4);
}
