// Operations on actors that do not come to them: the table of those in progress (runtime/service/net/quotas.hpp).
#include <sys/stat.h>

#include <atomic>
#include <fstream>
#include <thread>

#include "runtime/service/monitor/report.hpp"
#include "tests/catch.hpp"
#include "tests/eventually.hpp"
#include "tests/service/guest_client.hpp"
#include "tests/service/service_fixture.hpp"

using namespace rondo_test;
using rondo::endpoint;
using rondo::service::role;

namespace controls_test {

std::atomic<bool> is_plodding{false}, may_stop_plodding{false};

struct plod {};
struct plodder {
  using messages = rondo::messages<plod>;
  void on(rondo::context&, plod const&) {
    is_plodding = true;
    while (!may_stop_plodding) std::this_thread::yield();
  }
};
RONDO_MODULE(plodding_module, plodder)

struct stops_plodding {
  ~stops_plodding() { may_stop_plodding = true; }
};

std::string verdict_on_inspect(guest_client& who, char const* actor) {
  who.request(2, [&](auto& b) { return wire::Createinspect(b, b.CreateString(actor)); });
  return who.verdict();
}

}  // namespace controls_test
using namespace controls_test;

TEST_CASE("clients that fill the table of operations in progress keep nobody else out",
          "[service][limits][quotas]") {
  is_plodding = may_stop_plodding = false;
  scratch_directory const folder("controls");
  rondo::service::service_config c;
  c.listen = {{true, (folder.directory / "socket").string(), 0}, endpoint::parse("tcp:127.0.0.1:0", "test")};
  for (auto const r : {role::control, role::admin}) {
    auto const file = folder.directory / std::to_string(static_cast<int>(r));
    std::ofstream(file) << "the word of the role " << static_cast<int>(r);
    REQUIRE(::chmod(file.c_str(), 0600) == 0);
    c.tokens.push_back({file, {r, "*"}});
  }
  auto const word = [](role r) { return "the word of the role " + std::to_string(static_cast<int>(r)); };
  c.runtime.device = "cpu";
  c.runtime.teams = 1;
  c.runtime.guest_teams = 0;  // the service's thread runs no handler
  c.runtime.asks = 64;
  rondo::runtime rt(rondo::use<plodding_module>, c.runtime);
  stops_plodding const at_the_end;
  rondo::service::service s(rt, c, {});
  s.start();
  auto const port = s.listens_at()[1];
  rt.launch<plodder>("idle");
  REQUIRE_FALSE(rt.launch<plodder>("busy", {.pinned = true}).try_tell(plod{}));
  REQUIRE(eventually([] { return is_plodding.load(); }));
  auto const table = [&] {
    for (auto const& t : s.watcher().gather().tables)
      if (t->name == "controls") return *t;
    return rondo::reports::shared_tableT();
  };

  std::vector<std::unique_ptr<guest_client>> fillers;
  for (auto const from : {std::uint8_t{1}, std::uint8_t{2}}) {
    auto& f = *fillers.emplace_back(std::make_unique<guest_client>(port, word(role::control), from));
    for (int i = 0; i < 64; ++i)
      f.request(2, [](auto& b) { return wire::Createinspect(b, b.CreateString("busy")); });
    f.request(99, [](auto& b) { return wire::Createfind(b, b.CreateString("nobody")); });
    int refused = 0;
    for (auto const* r = f.receive(); r != nullptr && r->id() != 99; r = f.receive(), ++refused)
      CHECK(says(r->body_as_outcome()->reason()->str(), "operations on actors"));
    CHECK(refused > 0);
  }
  CHECK(table().limit == 64);
  CHECK(table().used > 32);
  CHECK(table().used < 64);
  guest_client other(port, word(role::control), 9), with_token(port, word(role::admin)),
      on_socket(s.listens_at()[0]);
  for (auto* const who : {&other, &with_token, &on_socket}) CHECK(verdict_on_inspect(*who, "idle") == "ok");
  // An operation outlives its client, and so does its place.
  fillers.clear();
  REQUIRE(eventually([&] { return s.connections() == 3; }));
  CHECK(table().used > 32);
  may_stop_plodding = true;
  CHECK(eventually([&] { return table().used == 0; }));
}
