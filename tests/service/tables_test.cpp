// Clients fill each table that all clients share (runtime/service/net/quotas.hpp), from two addresses, as far as their
// tokens let them. Then another client with the same token, an operator with a token, and one on the Unix socket are
// all served.
#include <sys/stat.h>

#include <fstream>
#include <functional>

#include "runtime/lifecycle.hpp"
#include "runtime/messaging/trace_log.hpp"
#include "runtime/service/monitor/report.hpp"
#include "tests/catch.hpp"
#include "tests/eventually.hpp"
#include "tests/service/guest_client.hpp"
#include "tests/service/service_fixture.hpp"

using namespace rondo_test;
using rondo::endpoint;
using rondo::service::drop_reason;
using rondo::service::role;

namespace {

constexpr std::uint8_t two_addresses[] = {1, 2};

/// A service with small tables and a token for each role.
struct site {
  explicit site(std::uint32_t mail_blocks = 0, std::uint32_t clients = 96)
      : s(configuration(mail_blocks, clients)) {}

  scratch_directory folder{"tables"};
  served s;
  endpoint local = s.it->listens_at()[0], port = s.it->listens_at()[1];

  static std::string word(role r) {
    return "the word for the role " + std::string(rondo::service::role_names[static_cast<std::size_t>(r)]);
  }
  rondo::service::service_config configuration(std::uint32_t mail_blocks, std::uint32_t clients) const {
    auto c = with_limits(
        {.clients = clients, .open_requests = 1024, .response_bytes = 1 << 20, .keys = 64, .reading = 1h});
    c.listen = {{true, (folder.directory / "socket").string(), 0},
                endpoint::parse("tcp:127.0.0.1:0", "test")};
    for (auto const r : {role::read, role::send, role::launch, role::control, role::admin}) {
      auto const file = folder.directory / std::to_string(static_cast<int>(r));
      std::ofstream(file) << word(r);
      REQUIRE(::chmod(file.c_str(), 0600) == 0);
      c.tokens.push_back({file, {r, "*"}});
    }
    c.actors = {{"mirror", "echo"},
                {"silent", "counter", {.capacity = 2048, .active = false}},
                {"full", "counter", {.capacity = 1, .active = false}}};
    c.runtime.asks = 256;
    c.runtime.actors = 64;
    c.runtime.mail_blocks = mail_blocks;
    c.runtime.state_bytes = 4 << 20;
    c.runtime.trace_hops = 1024;
    return c;
  }
  rondo::reports::shared_tableT table(std::string const& name) {
    for (auto const& t : s.it->watcher().gather().tables)
      if (t->name == name) return *t;
    FAIL("no table " << name);
    return {};
  }
  /// Everybody but those who fill: another address, and operators on the port and on the Unix socket.
  void for_others(role of_clients, std::function<void(guest_client&)> const& serves) {
    guest_client other(port, word(of_clients), 9), with_token(port, word(role::admin)), on_socket(local);
    for (auto* const who : {&other, &with_token, &on_socket}) serves(*who);
  }
  void require_full(std::string const& name) {
    auto const t = table(name);
    INFO(name << ": " << t.used << " of " << t.limit);
    CHECK(t.refused > 0);
    CHECK(t.used >= t.limit / 2);
    CHECK(t.used < t.limit);
  }
};

/// Sends the frames at once. Returns how many were refused; the others get no answer.
int refusals(guest_client& who, int frames, std::function<std::string(int)> const& frame) {
  std::string all;
  for (int i = 0; i < frames; ++i) all += frame(i);
  REQUIRE(who.send(all));
  who.request(99'999, [](auto& b) { return wire::Createfind(b, b.CreateString("nobody")); });
  int refused = 0;
  while (auto const* const r = who.receive()) {
    if (r->id() == 99'999) break;
    REQUIRE(r->body_as_outcome()->status() != 0);
    ++refused;
  }
  return refused;
}

std::string ask(guest_client& who, char const* actor = "mirror") {
  REQUIRE(who.send(who.frame_for(2, actor, basics::ping{1}, true)));
  return who.verdict();
}

}  // namespace

TEST_CASE("clients that fill the tables of asks and waiting tells keep nobody else out",
          "[service][limits][quotas]") {
  site all;
  REQUIRE_FALSE(all.s.rt->find<basics::counter>("full").value().try_tell(basics::add{1}));
  std::vector<std::unique_ptr<guest_client>> fillers;
  for (auto const from : two_addresses)
    fillers.push_back(std::make_unique<guest_client>(all.port, site::word(role::control), from));
  for (auto& f : fillers) {
    CHECK(refusals(*f, 300, [&](int i) {
            return f->frame_for(static_cast<std::uint64_t>(i) + 2, "silent", basics::get{}, true);
          }) > 0);
    CHECK(refusals(*f, 300, [&](int i) {
            return f->frame_for(static_cast<std::uint64_t>(i) + 2, "full", basics::add{1}, false, 0, true);
          }) > 0);
  }
  all.require_full("asks");
  all.require_full("waiting_tells");
  all.for_others(role::control, [](guest_client& who) {
    CHECK(ask(who) == "ok");
    // A tell that waits gets a place; it is accepted at once.
    REQUIRE(who.send(who.frame_for(3, "silent", basics::add{1}, false, 0, true)));
    CHECK(who.verdict() == "ok");
  });
  // All places come back.
  fillers.clear();
  REQUIRE_FALSE(
      rondo::terminate(all.s.rt->find_any("full").value(), rondo::termination::discard, rondo::block));
  REQUIRE_FALSE(
      rondo::terminate(all.s.rt->find_any("silent").value(), rondo::termination::discard, rondo::block));
  for (auto const* const name : {"asks", "waiting_tells", "controls"})
    CHECK(eventually([&] { return all.table(name).used == 0; }));
}

TEST_CASE("clients that fill the tables of keys and their sessions keep nobody else out",
          "[service][limits][quotas]") {
  site all;
  auto const keyed = [](guest_client& who, std::uint64_t key) {
    REQUIRE(who.send(who.frame_for(2, "mirror", basics::ping{1}, true, key)));
    return who.verdict();
  };
  std::uint64_t session = 0;
  for (auto const from : two_addresses) {
    guest_client one(all.port, site::word(role::send), from, ++session);
    std::uint64_t key = 0;
    while (keyed(one, ++key) == "ok") REQUIRE(key < 64);
    REQUIRE(says(keyed(one, key), "remembered keys"));
  }
  all.require_full("keys");
  {
    guest_client other(all.port, site::word(role::send), 9, ++session),
        with_token(all.port, site::word(role::admin), 1, ++session), on_socket(all.local, {}, 1, ++session);
    for (auto* const who : {&other, &with_token, &on_socket}) CHECK(keyed(*who, 1) == "ok");
    // A key that is known is answered, however full the table is; with another token the same session is another one.
    CHECK(keyed(other, 1) == "ok");
  }
  site more;
  session = 0;
  for (auto const from : two_addresses) {
    std::string said;
    while ((said = keyed(*std::make_unique<guest_client>(more.port, site::word(role::send), from, ++session),
                         1)) == "ok")
      REQUIRE(session < 64);
    REQUIRE(says(said, "sessions with keys"));
  }
  guest_client other(more.port, site::word(role::send), 9, ++session),
      with_token(more.port, site::word(role::admin), 1, ++session), on_socket(more.local, {}, 1, ++session);
  for (auto* const who : {&other, &with_token, &on_socket}) CHECK(keyed(*who, 1) == "ok");
}

TEST_CASE("clients that fill the table of actors, or their memory, keep nobody else out",
          "[service][limits][quotas]") {
  auto const capacity = GENERATE(0u, 2048u);  // the latter take more memory than there is for 64
  CAPTURE(capacity);
  site all;
  int n = 0;
  auto const launch = [&](guest_client& who) { return who.launch("a" + std::to_string(++n), capacity); };
  std::vector<std::string> mine;
  for (auto const from : two_addresses) {
    guest_client who(all.port, site::word(role::control), from);
    std::string said;
    while ((said = launch(who)) == "ok") REQUIRE(n < 64);
    INFO(said);
    REQUIRE(says(said, "nobody gets more than are free"));
    // One that has been terminated makes room for another one at once.
    if (from != 1) continue;
    REQUIRE(who.terminate("a1") == "ok");
    CHECK(launch(who) == "ok");
  }
  CHECK(all.table(capacity == 0 ? "actors" : "actor_bytes").refused > 0);
  CHECK(all.table("actors").used < all.table("actors").limit);
  CHECK(all.table("actor_bytes").used < all.table("actor_bytes").limit);
  all.for_others(role::launch, [&](guest_client& who) { CHECK(launch(who) == "ok"); });
}

TEST_CASE("clients that fill the teams of pinned actors keep nobody else out", "[service][limits][quotas]") {
  site all;
  int n = 0;
  auto const launch = [&](guest_client& who) {
    who.request(9, [&](auto& b) {
      auto const actor = b.CreateString("p" + std::to_string(++n)), behaviour = b.CreateString("counter");
      return wire::Createlaunch(b, actor, behaviour, 0, 0, true);
    });
    return who.verdict();
  };
  for (auto const from : two_addresses) {
    guest_client who(all.port, site::word(role::control), from);
    std::string said;
    while ((said = launch(who)) == "ok") REQUIRE(n < 32);
    INFO(said);
    REQUIRE(says(said, "pinned actors that fit"));
    if (from != 1) continue;
    REQUIRE(who.terminate("p1") == "ok");
    CHECK(launch(who) == "ok");
  }
  all.require_full("pinned_teams");
  all.for_others(role::launch, [&](guest_client& who) { CHECK(launch(who) == "ok"); });
}

TEST_CASE("clients whose actors all have mail leave mail rings for the mail of others",
          "[service][limits][quotas]") {
  site all(32);
  int n = 0;
  auto const launch = [&](guest_client& who, bool active) {
    who.request(9, [&](auto& b) {
      auto const actor = b.CreateString("r" + std::to_string(++n)), behaviour = b.CreateString("counter");
      return wire::Createlaunch(b, actor, behaviour, 0, 0, false, active);
    });
    return who.verdict();
  };
  for (auto const from : two_addresses) {
    guest_client who(all.port, site::word(role::control), from);
    std::string said;
    while ((said = launch(who, false)) == "ok") {
      REQUIRE(n < 64);
      auto const name = "r" + std::to_string(n);
      REQUIRE(who.send(who.frame_for(2, name.c_str(), basics::add{1}, false)));
      REQUIRE(who.verdict() == "ok");
    }
    INFO(said);
    REQUIRE(says(said, "runtime.mail_blocks"));
    if (from != 1) continue;
    REQUIRE(who.terminate("r1") == "ok");
    CHECK(launch(who, false) == "ok");
  }
  all.require_full("mail_rings");
  all.for_others(role::launch, [&](guest_client& who) {
    CHECK(ask(who) == "ok");
    CHECK(launch(who, true) == "ok");
    auto const name = "r" + std::to_string(n);
    REQUIRE(who.send(who.frame_for(2, name.c_str(), basics::get{}, true)));
    CHECK(who.verdict() == "ok");
  });
}

TEST_CASE("clients that fill the table of connections, with or without hello, keep nobody else out",
          "[service][limits][quotas]") {
  site all;
  std::vector<std::unique_ptr<raw_client>> crowd;
  for (auto const from : two_addresses)
    for (bool refused = false; !refused;) {
      REQUIRE(crowd.size() < 96);
      auto& c = *crowd.emplace_back(std::make_unique<raw_client>(all.port, from));
      c.hello(0, site::word(role::read));
      auto const* const r = c.receive();
      refused = r == nullptr || r->body_as_welcome() == nullptr;
    }
  all.require_full("connections");
  all.for_others(role::send, [](guest_client& who) { CHECK(ask(who) == "ok"); });
  // Strangers of one address take each other's places.
  raw_client patient(all.port, 9);
  REQUIRE(eventually([&] { return all.table("strangers").used == 1; }));
  std::vector<std::unique_ptr<raw_client>> silent;
  for (int i = 0; i < 200; ++i) silent.push_back(std::make_unique<raw_client>(all.port, 1));
  REQUIRE(eventually([&] {
    return all.s.it->counters().dropped[static_cast<std::size_t>(drop_reason::idle)].load() > 100;
  }));
  CHECK(all.table("strangers").refused > 100);
  patient.hello(0, site::word(role::send));
  auto const* const r = patient.receive();
  REQUIRE(r != nullptr);
  CHECK(r->body_as_welcome() != nullptr);
  all.for_others(role::send, [](guest_client& who) { CHECK(ask(who) == "ok"); });
}

// Regression: the system took megabytes for each client, which no limit counted, before the first response was unread.
TEST_CASE("clients that leave responses unread are refused themselves, and nobody else",
          "[service][limits][quotas]") {
  site all(0, 400);
  for (int i = 0; i < 50; ++i)  // so that a report is long
    REQUIRE(all.s.rt->try_launch<basics::counter>(std::string(240, 'x') + std::to_string(i)).has_value());
  auto const watch = [](guest_client& who) { who.request(2, [](auto& b) { return wire::Createwatch(b); }); };
  guest_client probe(all.port, site::word(role::read));
  std::vector<std::unique_ptr<guest_client>> takers_of_nothing;
  REQUIRE(eventually([&] {
    if (takers_of_nothing.size() < 160) {  // each is made to wait after one long response
      auto& c =
          *takers_of_nothing.emplace_back(std::make_unique<guest_client>(all.port, site::word(role::read)));
      c.leave_unread();
      for (int k = 0; k < 60; ++k) watch(c);  // a megabyte of responses
    }
    watch(probe);
    return says(probe.verdict(), "limits.response_bytes");
  }));
  CHECK(all.table("response_bytes").refused > 0);
  all.for_others(role::read, [&](guest_client& who) {
    watch(who);
    CHECK(who.verdict() == "ok");
  });
}

TEST_CASE("clients that trace all their messages leave traces for others", "[service][limits][quotas]") {
  site all;
  guest_client filler(all.port, site::word(role::send));
  std::uint64_t trace = 1000;
  auto const traced = [](guest_client& who, std::uint64_t number) {
    REQUIRE(who.send(who.frame_for(2, "mirror", basics::ping{1}, true, 0, false, number)));
    return who.verdict();
  };
  REQUIRE(eventually([&] {
    CHECK(traced(filler, ++trace) == "ok");  // the message is sent in any case
    return all.table("traces").refused > 0;
  }));
  all.for_others(role::send, [&](guest_client& who) {
    CHECK(traced(who, ++trace) == "ok");
    CHECK(eventually([&] { return !all.s.rt->traces().read(trace).empty(); }));
  });
}
