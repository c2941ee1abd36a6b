// A launch argument that comes from a client.
#include "generated/basics_schema.hpp"
#include "tests/catch.hpp"
#include "tests/service/guest_client.hpp"
#include "tests/service/programs.hpp"
#include "tests/service/service_fixture.hpp"

using namespace rondo_test;
using Catch::Matchers::Contains;

namespace rondo_test {

/// Starts with the sum that its launch gives it.
struct seeded {
  using arguments = basics::total;
  using messages = rondo::messages<rondo::ask<basics::get, basics::total>>;
  std::uint64_t sum = 0;
  RONDO_HD void on_start(rondo::context&, arguments const& a) { sum = a.value; }
  RONDO_HD void on(rondo::context& ctx, basics::get const&) { ctx.reply(basics::total{sum}); }
};
struct unseeded {
  using messages = rondo::messages<rondo::ask<basics::get, basics::total>>;
  RONDO_HD void on(rondo::context& ctx, basics::get const&) { ctx.reply(basics::total{}); }
};
RONDO_MODULE(argument_module, seeded, unseeded)

}  // namespace rondo_test

TEST_CASE("a client gives an actor its launch argument, as JSON or as bytes", "[service][commands]") {
  scratch_directory const folder("argument");
  rondo::service::service_config c;
  c.listen = {{true, (folder.directory / "socket").string(), 0}};
  c.runtime.device = "cpu";
  c.runtime.teams = 1;
  rondo::runtime rt(rondo::use<argument_module>, c.runtime);
  rondo::service::service s(rt, c, {rondo::generated::basics_schema()});
  s.start();
  auto const command = [&](std::string const& words) {
    auto const [status, said] =
        service_test::run(RONDO_COMMAND " " + words + " --at " + c.listen.front().text());
    return std::pair(status == 0, said);
  };
  auto const [launched, why] = command(R"(launch seven rondo_test::seeded --argument '{"value": 7}')");
  INFO(why);
  REQUIRE(launched);
  CHECK_THAT(command("ask seven get").second, Contains(R"({"value":7})"));
  REQUIRE(command("launch none rondo_test::seeded").first);
  CHECK_THAT(command("ask none get").second, Contains(R"({"value":0})"));
  CHECK_THAT(command("describe").second, Contains("rondo_test::seeded, launched with total {value: ulong}"));
  auto const [taken, refusal] = command(R"(launch other unseeded --argument '{"value": 7}')");
  CHECK_FALSE(taken);
  CHECK_THAT(refusal, Contains("takes no launch argument"));
  CHECK_THAT(command(R"(launch other rondo_test::seeded --argument '{"worth": 7}')").second,
             Contains("worth"));

  guest_client who(s.listens_at().front());
  who.request(2, [](auto& b) {
    auto const name = b.CreateString("short"), behaviour = b.CreateString("rondo_test::seeded");
    return wire::Createlaunch(b, name, behaviour, 0, 0, false, true,
                              b.CreateVector(std::vector<std::uint8_t>(3)));
  });
  CHECK_THAT(who.verdict(), Contains("3 bytes of arguments were given"));
}
