// The limits of a service for its clients: connections, memory, asks, actors; and the rights of tokens.
#include <sys/resource.h>
#include <sys/stat.h>

#include <fstream>
#include <latch>
#include <optional>
#include <set>
#include <thread>

#include "runtime/lifecycle.hpp"
#include "runtime/observe/telemetry.hpp"
#include "runtime/service/monitor/report.hpp"
#include "runtime/service/net/descriptor_shares.hpp"
#include "tests/catch.hpp"
#include "tests/eventually.hpp"
#include "tests/service/guest_client.hpp"
#include "tests/service/service_fixture.hpp"

using namespace rondo_test;
using rondo::endpoint;
using rondo::service::drop_reason;

TEST_CASE("a client's asks end with its connection, whether it is being read or not", "[service][limits]") {
  served s(with_limits({.open_requests = 16}));
  auto const clicks = s.rt->find_any("clicks").value();
  REQUIRE_FALSE(rondo::deactivate(clicks, rondo::block));
  for (int const asks : {3, 16}) {
    {
      guest_client leaver(s.it->listens_at().front());
      // One more waits in the socket, which is not read while 16 are open.
      for (int i = 0; i < asks + (asks == 16); ++i)
        REQUIRE(leaver.send(leaver.frame_for(2, "clicks", basics::get{}, true)));
      REQUIRE(eventually([&] { return s.rt->snapshot().asks_waiting == static_cast<std::uint32_t>(asks); }));
    }
    REQUIRE(eventually([&] { return s.it->connections() == 0; }));
    REQUIRE(s.rt->snapshot().asks_waiting == 0);
  }
}

TEST_CASE("a keyed ask outlives its connection, and the next connection gets its answer",
          "[service][limits]") {
  served s;
  auto const clicks = s.rt->find_any("clicks").value();
  REQUIRE_FALSE(rondo::deactivate(clicks, rondo::block));
  auto const at = s.it->listens_at().front();
  {
    raw_client first(at);
    first.hello(7);
    REQUIRE(first.send(first.frame_for(2, "clicks", basics::add_and_get{5}, true, 1)));
    REQUIRE(eventually([&] { return s.rt->snapshot().asks_waiting == 1; }));
  }
  REQUIRE(eventually([&] { return s.it->connections() == 0; }));
  REQUIRE_FALSE(rondo::activate(clicks, rondo::block));
  raw_client again(at);
  again.hello(7);
  REQUIRE(again.send(again.frame_for(2, "clicks", basics::add_and_get{5}, true, 1)));
  REQUIRE(again.receive()->body_as_welcome() != nullptr);
  auto const* const o = again.receive()->body_as_outcome();
  REQUIRE(o->status() == 0);
  basics::total t{};
  std::memcpy(&t, o->payload()->data(), sizeof t);
  REQUIRE(t.value == 5);
}

TEST_CASE("the outcome of a key belongs to the token that sent it, whichever session another one chooses",
          "[service][limits]") {
  scratch_directory const folder("keys");
  rondo::service::service_config c;
  c.listen = {endpoint::parse("tcp:127.0.0.1:0", "test")};
  for (auto const* const who : {"first", "second"}) {
    auto const file = folder.directory / who;
    std::ofstream(file) << "the word of the " << who;
    REQUIRE(::chmod(file.c_str(), 0600) == 0);
    c.tokens.push_back({file, {rondo::service::role::send, "*"}});
  }
  served s(c);
  auto const total = [&](char const* word) {
    guest_client who(s.it->listens_at().front(), word, 1, 77);
    REQUIRE(who.send(who.frame_for(2, "clicks", basics::add_and_get{5}, true, 1)));
    auto const* const o = who.receive()->body_as_outcome();
    REQUIRE(o->status() == 0);
    basics::total t{};
    std::memcpy(&t, o->payload()->data(), sizeof t);
    return t.value;
  };
  CHECK(total("the word of the first") == 5);
  CHECK(total("the word of the first") == 5);
  CHECK(total("the word of the second") == 10);
}

TEST_CASE("silent clients keep nobody out", "[service][limits]") {
  served s(with_limits({.clients = 20, .hello = 1h}));
  auto const at = s.it->listens_at().front();
  std::vector<std::unique_ptr<raw_client>> silent;
  for (int i = 0; i < 100; ++i) silent.push_back(std::make_unique<raw_client>(at));
  REQUIRE(says(silent.front()->last_words(), "its place is needed"));
  guest_client good(at);
  REQUIRE(good.launch("new") == "ok");
  REQUIRE(s.it->connections() <= 20);
}

TEST_CASE("some places are reserved for clients on this machine", "[service][limits]") {
  auto c = with_limits({.clients = 2});
  scratch_directory const folder("places");
  c.listen = {{true, (folder.directory / "socket").string(), 0}, endpoint::parse("tcp:127.0.0.1:0", "test")};
  served s(c);
  auto const local = s.it->listens_at()[0], port = s.it->listens_at()[1];
  guest_client const first(port), second(port);
  raw_client third(port);
  REQUIRE(says(third.last_words(), "accepts at most 2 connections"));
  guest_client who_looks(local);
  REQUIRE(who_looks.launch("new") == "ok");
}

TEST_CASE("however few files a process may open, clients leave it those that it needs", "[service][limits]") {
  using rondo::service::share_descriptors;
  for (std::uint64_t const limit : {40, 64, 128, 256, 1024, 65'536})
    for (std::uint64_t const open : {6, 15, 40, 900}) {
      CAPTURE(limit, open);
      try {
        auto const s = share_descriptors(limit, open, 1100);
        CHECK(s.clients >= 3);
        CHECK(s.clients <= 1100);
        CHECK(s.local >= 1);
        CHECK(open + s.clients + s.local + rondo::service::http_descriptors(limit) + 4 <= limit);
      } catch (rondo::config_error const& e) {
        CHECK(limit < 2 * open + 28);
        CHECK(says(e.what(), "this process may open only " + std::to_string(limit) + " files"));
      }
    }
}

TEST_CASE("clients on TCP never use up the files that a local client needs", "[service][limits]") {
  rlimit before{};
  REQUIRE(::getrlimit(RLIMIT_NOFILE, &before) == 0);
  auto c = with_limits({});
  scratch_directory const folder("few-files");
  c.listen = {{true, (folder.directory / "socket").string(), 0}, endpoint::parse("tcp:127.0.0.1:0", "test")};
  auto few = before;
  few.rlim_cur = rondo::service::descriptors_open() + 64;
  REQUIRE(::setrlimit(RLIMIT_NOFILE, &few) == 0);
  std::optional<served> s;
  std::exception_ptr failed;
  try {
    s.emplace(c);
  } catch (...) {
    failed = std::current_exception();
  }
  ::setrlimit(RLIMIT_NOFILE, &before);  // the clients below have files of their own
  if (failed) std::rethrow_exception(failed);
  auto const own = rondo::service::descriptors_open();
  std::vector<std::unique_ptr<raw_client>> all;
  for (std::string words; words.empty();) {
    all.push_back(std::make_unique<raw_client>(s->it->listens_at()[1]));
    all.back()->hello();
    auto const* const r = all.back()->receive();
    REQUIRE(r != nullptr);
    if (r->body_as_outcome() == nullptr) continue;
    words = r->body_as_outcome()->reason()->str();
    auto const taken = all.size() - 1;
    CHECK(says(words, "accepts at most " + std::to_string(taken) + " connections"));
    CHECK(says(s->log(), "accepts at most " + std::to_string(taken) + " connections, not " +
                             std::to_string(c.limits.clients)));
    CHECK(own + taken + 2 < few.rlim_cur);
  }
  guest_client who_looks(s->it->listens_at()[0]);
  CHECK(who_looks.launch("new") == "ok");
}

TEST_CASE("a list comes in pages that name every actor once", "[service][limits]") {
  rondo::service::service_config c;
  c.runtime.actors = 8192;
  served s(c);
  std::set<std::string> wanted;
  for (auto const& e : s.rt->list()) wanted.insert(e.name);
  for (int i = 0; i < 5000; ++i) {
    auto const name = std::string(200, 'x') + std::to_string(i);
    REQUIRE(s.rt->try_launch<basics::counter>(name, {.capacity = 1}).has_value());
    wanted.insert(name);
  }
  guest_client who(s.it->listens_at().front());
  std::set<std::string> seen;
  std::uint32_t from = 0;
  int pages = 0;
  do {
    REQUIRE(who.request(2, [&](auto& b) { return wire::Createlist(b, from); }));
    auto const* const page = who.receive()->body_as_actors();
    REQUIRE(page != nullptr);
    std::size_t bytes = 0;
    for (auto const* line : *page->all()) {
      REQUIRE(seen.insert(line->name()->str()).second);
      bytes += line->name()->size();
    }
    REQUIRE(bytes < 300'000);
    from = page->next();
    ++pages;
  } while (from != 0);
  REQUIRE(seen == wanted);
  REQUIRE(pages > 3);
}

TEST_CASE("the number, mailbox capacity and names of launched actors are limited per client",
          "[service][limits]") {
  served s(with_limits({.actors = 3, .capacity = 64}));
  guest_client who(s.it->listens_at().front());
  CHECK(says(who.launch(""), "the actor needs a name"));
  CHECK(says(who.launch("wide", 65), "exceeds the limit of 64"));
  for (auto const* name : {"a", "b", "c"}) REQUIRE(who.launch(name, 64) == "ok");
  CHECK(says(who.launch("d"), "has reached its limit of 3 live actors"));
  // Another connection of the same user shares the limit.
  guest_client other(s.it->listens_at().front());
  CHECK(says(other.launch("d"), "has reached its limit of 3 live actors"));
  REQUIRE(other.terminate("a") == "ok");
  CHECK(who.launch("d") == "ok");
}

TEST_CASE("unread responses are limited for all clients together", "[service][limits]") {
  auto c = with_limits({.response_bytes = 1 << 20, .reading = 1h});
  c.runtime.actors = 8192;
  served s(c);
  for (int i = 0; i < 4000; ++i)
    REQUIRE(s.rt->try_launch<basics::counter>(std::string(200, 'x') + std::to_string(i), {.capacity = 1})
                .has_value());
  auto const at = s.it->listens_at().front();
  std::vector<std::unique_ptr<guest_client>> takers_of_nothing;
  auto const ask_for_all = [](auto& b) { return wire::Createwatch(b); };
  // Each response has about a megabyte, of which a socket takes some hundred kilobytes.
  for (int i = 0; i < 12; ++i) {
    takers_of_nothing.push_back(std::make_unique<guest_client>(at));
    for (int k = 0; k < 50; ++k) takers_of_nothing.back()->request(2, ask_for_all);
  }
  guest_client who(at);
  REQUIRE(eventually([&] {
    who.request(2, ask_for_all);
    return says(who.verdict(), "limits.response_bytes");
  }));
  // Short answers are still given.
  REQUIRE(who.send(who.frame_for(3, "mirror", basics::ping{1}, true)));
  REQUIRE(who.verdict() == "ok");
  takers_of_nothing.clear();
  REQUIRE(eventually([&] {
    who.request(2, ask_for_all);
    return who.verdict() == "ok";
  }));
}

TEST_CASE("one checkpoint serves all requests that arrive before it begins", "[service][limits]") {
  rondo::service::service_config c;
  scratch_directory const folder("coalesced");
  c.checkpoint = folder.directory / "checkpoint";
  served s(c);
  s.it->stop();
  s.it =
      std::make_unique<rondo::service::service>(*s.rt, s.config, std::vector<std::span<std::byte const>>{});
  std::atomic<int> written{0};
  std::latch go(1);
  s.it->checkpoint_with([&] {
    ++written;
    go.wait();
    if (written > 1) throw std::runtime_error("the disk is full");
  });
  s.it->start();
  auto const at = s.it->listens_at().front();
  auto const checkpoint = [](auto& b) { return wire::Createcheckpoint(b); };
  guest_client first(at);
  first.request(2, checkpoint);
  REQUIRE(eventually([&] { return written == 1; }));
  std::vector<std::unique_ptr<guest_client>> all;
  for (int i = 0; i < 10; ++i) {
    all.push_back(std::make_unique<guest_client>(at));
    all.back()->request(2, checkpoint);
  }
  auto const requests = 1 + 1 + 10 * 2;  // each with a hello
  REQUIRE(eventually([&] { return s.it->counters().requests.load() == requests; }));
  go.count_down();
  REQUIRE(first.receive()->body_as_checkpoint_done() != nullptr);
  for (auto& c2 : all) REQUIRE(says(c2->verdict(), "the disk is full"));
  REQUIRE(written == 2);
  REQUIRE(s.it->counters().checkpoints == 1);
  REQUIRE(s.it->counters().checkpoints_failed == 1);
}

TEST_CASE("a service writes one checkpoint at a time, however many threads want one", "[service][limits]") {
  served s(with_limits({}));
  std::atomic<int> writers{0}, together{0}, written{0};
  s.it->checkpoint_with([&] {
    if (++writers > 1) ++together;
    std::this_thread::yield();
    ++written;
    --writers;
  });
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < 4; ++i)
      threads.emplace_back([&] {
        for (int k = 0; k < 100; ++k) s.it->checkpoint();
      });
  }
  CHECK(written == 400);
  CHECK(together == 0);
}

TEST_CASE("a checkpoint that cannot be written is a condition until one is written", "[service][limits]") {
  served s(with_limits({}));
  bool is_full = true;
  s.it->checkpoint_with([&] {
    if (is_full) throw std::runtime_error("the disk is full");
  });
  auto const gauge = [&] { return s.it->watcher().gather().files->checkpoint_failing; };
  CHECK(s.it->conditions().empty());
  CHECK_THROWS(s.it->checkpoint());
  CHECK(s.it->conditions() ==
        std::vector<std::string>{"the last checkpoint could not be written: the disk is full"});
  CHECK(gauge());
  is_full = false;
  s.it->checkpoint();
  CHECK(s.it->conditions().empty());
  CHECK_FALSE(gauge());
}

TEST_CASE("a network thread that hangs is reported", "[service][limits]") {
  served s(with_limits({.hello = 10ms}));
  REQUIRE(s.it->why_not_well().empty());
  // That thread writes the log.
  std::unique_lock held(s.mutex);
  raw_client silent(s.it->listens_at().front());
  REQUIRE(eventually([&] { return says(s.it->why_not_well(300ms), "clients get no answers"); }));
  held.unlock();
  REQUIRE(eventually([&] { return s.it->why_not_well(2s).empty(); }));
}

TEST_CASE("a token allows what its role allows, for the actors of its pattern", "[service][limits]") {
  scratch_directory const folder("roles");
  rondo::service::service_config c;
  c.listen = {{true, (folder.directory / "socket").string(), 0}, endpoint::parse("tcp:127.0.0.1:0", "test")};
  auto const file = [&](std::string const& name, std::string const& word) {
    auto const path = folder.directory / name;
    std::ofstream(path) << word;
    REQUIRE(::chmod(path.c_str(), 0600) == 0);
    return path;
  };
  using rondo::service::role;
  c.token_file = file("all", "the word for everything");
  c.tokens = {{file("r", "the word for reading"), {role::read, "*"}},
              {file("s", "the word for sending"), {role::send, "cl*"}},
              {file("l", "the word for launching"), {role::launch, "new-*"}},
              {file("c", "the word for control"), {role::control, "*"}}};
  c.checkpoint = folder.directory / "checkpoint";
  served s(c);
  auto const at = s.it->listens_at()[1];
  auto const ask = [](guest_client& who, char const* actor) {
    REQUIRE(who.send(who.frame_for(2, actor, basics::ping{1}, true)));
    return who.verdict();
  };
  auto const get = [](guest_client& who) {
    REQUIRE(who.send(who.frame_for(2, "clicks", basics::get{}, true)));
    return who.verdict();
  };
  auto const listed = [](guest_client& who) {
    who.request(2, [](auto& b) { return wire::Createlist(b); });
    return who.receive()->body_as_actors()->all()->size();
  };
  auto const checkpoint = [](guest_client& who) {
    who.request(2, [](auto& b) { return wire::Createcheckpoint(b); });
    return who.verdict();
  };
  auto const watch = [](guest_client& who) {
    who.request(2, [](auto& b) { return wire::Createwatch(b); });
    return who.verdict();
  };
  guest_client reads(at, "the word for reading"), sends(at, "the word for sending"),
      launches(at, "the word for launching"), controls(at, "the word for control"),
      may_all(at, "the word for everything"), local(s.it->listens_at()[0]);
  CHECK(says(get(reads), "this requires the role send; the client's token has read"));
  // What a token does not cover is refused whether it exists or not.
  CHECK(says(ask(reads, "nobody"), "this requires the role send"));
  CHECK(says(ask(sends, "nobody"), "limited to the actors 'cl*'"));
  CHECK(says(ask(sends, "clone"), "not_found"));
  CHECK(listed(reads) == 3);
  CHECK(watch(reads) == "ok");
  CHECK(get(sends) == "ok");
  CHECK(says(ask(sends, "mirror"), "limited to the actors 'cl*'"));
  CHECK(listed(sends) == 1);
  CHECK(says(watch(sends), "this covers all actors"));
  CHECK(says(sends.launch("cl2"), "requires the role launch"));
  CHECK(launches.launch("new-one") == "ok");
  CHECK(says(launches.launch("other"), "limited to the actors 'new-*'"));
  CHECK(says(launches.terminate("new-one"), "requires the role control"));
  CHECK(controls.terminate("new-one") == "ok");
  CHECK(says(checkpoint(controls), "requires the role admin"));
  CHECK(checkpoint(may_all) == "ok");
  CHECK(checkpoint(local) == "ok");
  // Addressing an actor by its number gives no more rights than by its name.
  auto const mirror = s.rt->find_any("mirror").value().id();
  REQUIRE(sends.request(2, [&](auto& b) {
    wire::actor_name const actor(mirror.index, mirror.generation);
    auto const payload = b.CreateVector(std::vector<std::uint8_t>(sizeof(basics::ping)));
    return wire::Createsend(b, &actor, 0, rondo::type_id<basics::ping>, 128, true, false, 0, 0, 0, payload);
  }));
  CHECK(says(sends.verdict(), "limited to the actors 'cl*'"));
  // One token has one role.
  c.tokens.push_back({file("again", "the word for reading"), {role::admin, "*"}});
  CHECK_THROWS_WITH(served(c), Catch::Contains("the same token as another file"));
}

TEST_CASE("a reload reaches connections: a removed token loses them, and a changed one its rights",
          "[service][limits]") {
  scratch_directory const folder("reload");
  rondo::service::service_config c;
  c.listen = {{true, (folder.directory / "socket").string(), 0}, endpoint::parse("tcp:127.0.0.1:0", "test")};
  auto const write = [&](std::string const& name, std::string const& word) {
    auto const path = folder.directory / name;
    std::ofstream(path) << word;
    REQUIRE(::chmod(path.c_str(), 0600) == 0);
    return path;
  };
  using rondo::service::role;
  c.tokens = {{write("one", "the word of the first"), {role::send, "*"}},
              {write("two", "the word of the second"), {role::send, "*"}},
              {write("three", "the word of the third"), {role::send, "*"}}};
  served s(c);
  auto const at = s.it->listens_at()[1];
  guest_client stays(at, "the word of the first"), replaced(at, "the word of the second"),
      removed(at, "the word of the third"), local(s.it->listens_at()[0]);
  auto const ask = [](guest_client& who) {
    REQUIRE(who.send(who.frame_for(2, "mirror", basics::ping{1}, true)));
    return who.verdict();
  };
  write("two", "another word of the second");
  c.tokens.pop_back();
  c.tokens[0].allows = {role::read, "*"};
  s.it->reload(c);
  CHECK(says(removed.last_words(), "its token was removed"));
  CHECK(says(replaced.last_words(), "its token was removed"));
  CHECK(says(ask(stays), "this requires the role send; the client's token has read"));
  CHECK(ask(local) == "ok");
  guest_client again(at, "another word of the second");
  CHECK(ask(again) == "ok");
}

TEST_CASE("a token that no client could send is refused, at start and at a reload", "[service][limits]") {
  scratch_directory const folder("long-token");
  rondo::service::service_config c;
  c.token_file = folder.directory / "token";
  std::ofstream(c.token_file) << std::string(5000, 'x');
  REQUIRE(::chmod(c.token_file.c_str(), 0600) == 0);
  served s(c);
  c.limits.frame_bytes = 5000;
  CHECK_THROWS_WITH(s.it->reload(c), Catch::Contains("the token has 5000 characters") &&
                                         Catch::Contains("limits.frame_bytes is 5000"));
  CHECK_THROWS_WITH(served(c), Catch::Contains("use a shorter token"));
}

TEST_CASE("tokens are read from the configuration", "[service][config]") {
  using rondo::service::parse_service_config;
  auto const c = parse_service_config(
      R"({"tokens": [{"file": "f", "role": "launch", "names": "new-*"}, {"file": "g", "role": "read"}]})",
      "x.json");
  REQUIRE(c.tokens.size() == 2);
  CHECK(c.tokens[0].allows.most == rondo::service::role::launch);
  CHECK(c.tokens[0].allows.names == "new-*");
  CHECK(c.tokens[1].allows.covers_all());
  CHECK_THROWS_WITH(parse_service_config(R"({"tokens": [{"file": "f", "role": "root"}]})", "x.json"),
                    Catch::Contains("role: must be one of read, send, launch, control, admin"));
  CHECK_THROWS_WITH(parse_service_config(R"({"tokens": [{"role": "read"}]})", "x.json"),
                    Catch::Contains("file: is missing"));
}
