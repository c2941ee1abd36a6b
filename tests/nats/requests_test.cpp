// Actors that answer NATS requests: replies, refusals, limits, and sharing the load.
#include <csignal>

#include "runtime/lifecycle.hpp"
#include "runtime/nats/nats_requests.hpp"
#include "runtime/nats/nats_service.hpp"
#include "tests/nats/nats_fixture.hpp"
#include "tests/service/service_fixture.hpp"

using namespace rondo::service;
using namespace rondo_test;

namespace {

rondo::config small() {
  rondo::config c;
  c.device = "cpu";
  c.teams = 1;
  return c;
}

/// Actors in this process that answer on `rondo.demo.*`.
struct answering {
  explicit answering(nats_link& link, std::uint32_t open_limit = nats_requests::default_open_limit)
      : rt(start_basics(small())),
        it(
            *rt, link, "demo", [this](std::string const& line) { log.put(line); }, counters, tables,
            open_limit) {
    rt->launch<basics::counter>("clicks");
    rt->launch<basics::echo>("mirror");
  }
  inbox log;
  nats_counters counters;
  std::shared_ptr<quotas> tables = std::make_shared<quotas>();  // without limits, until a test sets them
  std::unique_ptr<rondo::runtime> rt;
  nats_requests it;
};

}  // namespace

TEST_CASE("an actor answers its subject with the reply's bytes, type and status", "[nats]") {
  linked at("requests");
  auto& link = at.link;
  answering const service(link);
  auto const pong =
      link.request({"rondo.demo.mirror", bytes(basics::ping{7}), {.type = "rondo.basics.ping"}}, patience);
  CHECK(as<basics::pong>(pong).number == 7);
  CHECK(pong.headers().status == 0u);
  CHECK(pong.headers().type == std::to_string(rondo::type_id<basics::pong>));
  // A type by its number, or as C++ spells it; a message without a reply is answered when the mailbox has accepted it.
  auto const type = std::to_string(rondo::type_id<basics::add>);
  auto const told =
      link.request({"rondo.demo.clicks", bytes(basics::add{5}), {.type = type, .priority = 255}}, patience);
  CHECK(told.headers().status == 0u);
  CHECK(told.payload().empty());
  link.publish({"rondo.demo.clicks", bytes(basics::add{6}), {.type = "rondo::basics::add"}});
  auto const total = link.request({"rondo.demo.clicks",
                                   bytes(basics::get{}),
                                   {.type = "rondo.basics.get", .priority = 0, .deadline_us = 30'000'000}},
                                  patience);
  CHECK(as<basics::total>(total).value == 11);
}

TEST_CASE("an actor that is launched later can be reached", "[nats]") {
  linked at("later");
  auto& link = at.link;
  answering const service(link);
  auto const ask = [&] {
    return link.request({"rondo.demo.late", bytes(basics::ping{1}), {.type = "rondo.basics.ping"}}, patience);
  };
  CHECK(ask().headers().status == static_cast<std::uint32_t>(errc::not_found));
  service.rt->launch<basics::echo>("late");
  CHECK(ask().headers().status == 0u);
}

TEST_CASE("invalid messages are answered with the reason", "[nats]") {
  linked at("wrong");
  auto& link = at.link;
  answering service(link);
  auto const refusal = [&](nats_message const& m) {
    auto const h = link.request(m, patience).headers();
    REQUIRE(h.status);
    return std::pair(static_cast<errc>(*h.status), h.reason);
  };
  using reason = std::pair<errc, std::string>;
  CHECK(refusal({"rondo.demo.nobody", {}, {.type = "rondo.basics.ping"}}) ==
        reason(errc::not_found, "this service has no actor 'nobody'"));
  CHECK(
      refusal({"rondo.demo.mirror", bytes(basics::ping{})}) ==
      reason(errc::unknown_message, "the header Rondo-Type is missing; 'mirror' accepts rondo.basics.ping"));
  CHECK(refusal({"rondo.demo.mirror", {}, {.type = "rondo.basics.add"}}) ==
        reason(errc::unknown_message,
               "'mirror' does not accept rondo.basics.add; it accepts rondo.basics.ping"));
  CHECK(refusal({"rondo.demo.mirror", {}, {.type = "12"}}).first == errc::unknown_message);
  CHECK(refusal({"rondo.demo.mirror", bytes_of("abc"), {.type = "rondo.basics.ping"}}) ==
        reason(errc::wrong_size, "a message rondo.basics.ping must have 8 bytes; it has 3"));
  nats_message odd("rondo.demo.mirror", bytes(basics::ping{}), {.type = "rondo.basics.ping"});
  REQUIRE(natsMsgHeader_Set(odd.get(), "Rondo-Priority", "high") == NATS_OK);
  CHECK(refusal(odd).second.find("Rondo-Priority: 'high' is not a whole number") != std::string::npos);
  // Without a reply subject the reason is logged.
  link.publish({"rondo.demo.mirror", bytes_of("abc"), {.type = "rondo.basics.ping"}});
  REQUIRE(service.log.wait_for(1));
  CHECK(service.log.sorted()[0] ==
        "NATS: refused a message for rondo.demo.mirror: a message rondo.basics.ping must have 8 bytes; it "
        "has 3");
  CHECK(service.counters.requests == 7);
  CHECK(service.counters.requests_refused == 7);
}

TEST_CASE("each deadline that is too long is refused as that, and a day is not", "[nats]") {
  linked at("deadlines");
  answering const service(at.link);
  auto const status_of = [&](std::uint64_t deadline_us) {
    return static_cast<errc>(*at.link
                                  .request({"rondo.demo.mirror",
                                            bytes(basics::ping{1}),
                                            {.type = "rondo.basics.ping", .deadline_us = deadline_us}},
                                           patience)
                                  .headers()
                                  .status);
  };
  constexpr std::uint64_t day_us = 86'400'000'000;
  CHECK(status_of(day_us) == errc::ok);
  for (auto const us : {day_us + 1, std::uint64_t{1} << 63, ~std::uint64_t{0}})
    CHECK(status_of(us) == errc::deadline_too_long);
}

TEST_CASE("requests beyond the limit are refused, and none is left open at the end", "[nats]") {
  linked at("limit");
  nats_link other({.url = at.server.url()});
  answering service(at.link, 2);
  auto const mirror = service.rt->find<basics::echo>("mirror").value();
  REQUIRE_FALSE(rondo::deactivate(mirror, rondo::block));  // so that it keeps its mail
  inbox heard;
  auto const replies = other.subscribe(
      "replies", "", [&](nats_message const& m) { heard.put(std::to_string(m.headers().status.value())); });
  for (int i = 0; i < 5; ++i)
    other.publish({"rondo.demo.mirror", bytes(basics::ping{}), {.type = "rondo.basics.ping"}, "replies"});
  REQUIRE(heard.wait_for(3));
  CHECK(heard.sorted() == std::vector<std::string>(3, std::to_string(static_cast<int>(errc::ask_limit))));
  CHECK(service.it.drain(20ms) == 2);
  REQUIRE_FALSE(rondo::activate(mirror, rondo::block));
  CHECK(service.it.drain(patience) == 0);
  REQUIRE(heard.wait_for(5));
  CHECK(heard.sorted()[1] == "0");
}

TEST_CASE("requests hold places among the asks of all clients, and leave some for others", "[nats][quotas]") {
  linked at("places");
  nats_link other({.url = at.server.url()});
  answering service(at.link);
  service.tables->set_limit(table::asks, 32);
  auto const asks = [&] { return service.tables->read(table::asks); };
  auto const silent = service.rt->find<basics::echo>("mirror").value();
  REQUIRE_FALSE(rondo::deactivate(silent, rondo::block));
  inbox heard;
  auto const replies = other.subscribe("replies", "", [&](nats_message const& m) {
    auto const h = m.headers();
    heard.put(h.status == 0u ? "ok" : h.reason);
  });
  for (int i = 0; i < 40; ++i)
    other.publish({"rondo.demo.mirror", bytes(basics::ping{}), {.type = "rondo.basics.ping"}, "replies"});
  REQUIRE(heard.wait_for(25));
  CHECK(heard.sorted()[0].starts_with("NATS holds 15 of 32 open asks"));
  CHECK(asks().used == 15);
  CHECK(asks().refused == 25);
  auto const owner = service.tables->of("owner", 0, standing::owns);
  CHECK(quota_place(owner, table::asks));
  // A message without a reply takes none, and all come back.
  CHECK(other.request({"rondo.demo.clicks", bytes(basics::add{5}), {.type = "rondo.basics.add"}}, patience)
            .headers()
            .status == 0u);
  REQUIRE_FALSE(rondo::activate(silent, rondo::block));
  REQUIRE(heard.wait_for(40));
  CHECK(asks().used == 0);
}

TEST_CASE("two services of one name share the load of a queue group", "[nats]") {
  nats_site const site("share_load");
  auto const actors = "\"actors\": [{\"name\": \"clicks\", \"behaviour\": \"counter\", \"capacity\": 16384}]";
  std::vector<std::unique_ptr<serve_process>> services;
  for (auto const* const name : {"one", "two"})
    services.push_back(std::make_unique<serve_process>(site.config(name, actors)));
  for (auto& s : services) REQUIRE(s->wait_ready());

  constexpr std::size_t requests = 10'000, at_once = 1000;
  nats_link link({.url = site.server.url()});
  inbox heard;
  auto const replies = link.subscribe(
      "replies", "", [&](nats_message const& m) { heard.put(std::to_string(m.headers().status.value())); });
  for (std::size_t i = 0; i < requests; ++i) {
    link.publish({"rondo.demo.clicks",
                  bytes(basics::add_and_get{1}),
                  {.type = "rondo.basics.add_and_get"},
                  "replies"});
    if (i >= at_once) REQUIRE(heard.wait_for(i - at_once));
  }
  REQUIRE(heard.wait_for(requests));
  CHECK(heard.sorted().back() == "0");  // none was refused
  std::uint64_t sum = 0;
  for (auto const* const name : {"one", "two"}) {
    client with({.at = site.socket_of(name)});
    auto const total =
        with.find<basics::counter>("clicks").value().ask(basics::get{}, patience, rondo::block).value();
    CHECK(total.value > requests * 45 / 100);
    CHECK(total.value < requests * 55 / 100);
    sum += total.value;
  }
  CHECK(sum == requests);
  for (auto& s : services) CHECK(s->end(SIGTERM) == 0);
}

TEST_CASE("a service reports why it cannot use NATS", "[nats]") {
  scratch_directory const folder("nats-why");
  auto const nobody = url_of_nobody();
  serve_process alone(write_config(folder.directory, "alone", nobody, "\"nats_wait_ms\": 100"));
  CHECK_FALSE(alone.wait_ready());
  CHECK(alone.wait() != 0);
  INFO(alone.log());
  CHECK(alone.log().find("NATS at '" + nobody + "': not connected within 100 ms: ") != std::string::npos);
  CHECK(alone.log().find("is nats-server running there?") != std::string::npos);
  auto const durable = "\"actors\": [{\"name\": \"a\", \"behaviour\": \"counter\", \"durable\": true}]";
  serve_process unkept(write_config(folder.directory, "unkept", nobody, durable));
  CHECK(unkept.wait() != 0);
  CHECK(unkept.log().find("actor 'a': durable: needs `checkpoint`") != std::string::npos);
  serve_process unserved(write_config(folder.directory, "unserved", "", durable));
  CHECK(unserved.wait() != 0);
  CHECK(unserved.log().find("actor 'a': durable: needs `nats`") != std::string::npos);
}
