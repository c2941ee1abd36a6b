// The link to a NATS server: messages, queue groups, headers, errors, and a server that is lost.
#include "runtime/nats/nats_link.hpp"

#include <array>
#include <atomic>
#include <optional>
#include <thread>

#include "tests/forked.hpp"
#include "tests/nats/nats_fixture.hpp"

using namespace rondo::service;
using namespace rondo_test;

TEST_CASE("a message arrives with its payload, its headers and its reply subject", "[nats]") {
  linked at("message");
  auto& link = at.link;
  inbox heard;
  auto const subscription = link.subscribe("rondo.actor.>", "", [&](nats_message m) {
    auto const h = m.headers();
    heard.put(std::string(m.subject()) + " " + text_of(m.payload()) + " " + h.type + " " +
              std::to_string(h.priority) + " " + std::to_string(h.deadline_us));
    if (!m.reply_to().empty()) link.reply(m, bytes_of("pong"), {.type = "rondo.basics.pong"});
  });
  link.publish({"rondo.actor.clicks",
                bytes_of(std::string("a\0b", 3)),
                {.type = "t.add", .priority = 255, .deadline_us = 1500}});
  REQUIRE(heard.wait_for(1));
  CHECK(heard.sorted()[0] == std::string("rondo.actor.clicks a\0b t.add 255 1500", 37));
  auto const answer = link.request({"rondo.actor.echo", bytes_of("ping")}, patience);
  CHECK(text_of(answer.payload()) == "pong");
  CHECK(answer.headers().type == "rondo.basics.pong");
  CHECK(heard.sorted()[1] == "rondo.actor.echo ping  128 0");
}

TEST_CASE("each message reaches one member of a queue group", "[nats]") {
  nats_server const server("group");
  nats_link one({.url = server.url()}), other({.url = server.url()});
  inbox heard;
  auto const put = [&](nats_message const& m) { heard.put(text_of(m.payload())); };
  auto const first = one.subscribe("work", "group", put);
  auto const second = other.subscribe("work", "group", put);
  for (int i = 0; i < 100; ++i) one.publish({"work", bytes_of(std::to_string(1000 + i))});
  REQUIRE(heard.wait_for(100));
  one.flush(patience);
  other.flush(patience);
  auto const all = heard.sorted();
  REQUIRE(all.size() == 100);
  CHECK(std::adjacent_find(all.begin(), all.end()) == all.end());
}

TEST_CASE(
    "what a forked child destroys of a link to NATS stays whole in the parent, and a link of its own is "
    "refused in words",
    "[nats][fork]") {
  nats_server const server("fork");
  std::optional<nats_link> link(std::in_place, nats_link_options{.url = server.url()});
  inbox heard;
  nats_subscription subscription =
      link->subscribe("work", "", [&](nats_message const& m) { heard.put(text_of(m.payload())); });
  REQUIRE(exit_status_of_child([&] {
            subscription = {};
            link.reset();
            auto const why = refusal([&] { nats_link({.url = server.url()}); });
            return why.find("forked") != why.npos && why.find("exec") != why.npos ? 7 : 1;
          }) == 7);
  link->publish({"work", bytes_of("after")});
  CHECK(heard.wait_for(1));
  CHECK(link->connected());
}

// Regression: run before any connection was made, it crashed.
TEST_CASE("a message can be made, read and destroyed before any connection", "[nats][serverless]") {
  nats_message const m("a", bytes_of("b"), {.type = "t", .priority = 7, .deadline_us = 1ull << 63});
  CHECK(m.headers().type == "t");
  CHECK(m.headers().priority == 7);
  CHECK(m.headers().deadline_us == 1ull << 63);
  CHECK(text_of(m.payload()) == "b");
}

TEST_CASE("headers that are not numbers are refused by name", "[nats][serverless]") {
  nats_message m("a", {});
  for (auto const* const wrong : {"256", "-1", "high", "1.5", "18446744073709551616"}) {
    REQUIRE(natsMsgHeader_Set(m.get(), "Rondo-Priority", wrong) == NATS_OK);
    CHECK(refusal([&] { m.headers(); }) == std::string("a message for a: Rondo-Priority: '") + wrong +
                                               "' is not a whole number from 0 to 255");
  }
}

TEST_CASE("a server that does not answer is an error that names its address", "[nats]") {
  auto const nobody = url_of_nobody();
  auto const text = refusal([&] { nats_link link({.url = nobody}); });
  CHECK(text.find("connecting to NATS at '" + nobody + "': ") == 0);
  CHECK(text.find("is nats-server running there?") != std::string::npos);
}

TEST_CASE("a request to a subject without subscribers fails at once", "[nats]") {
  linked at("nobody");
  auto& link = at.link;
  try {
    link.request({"nobody.here", {}}, patience);
    FAIL("it was answered");
  } catch (nats_error const& e) {
    CHECK(e.status == NATS_NO_RESPONDERS);
  }
  CHECK(refusal([&] {
          link.subscribe("a..b", "", [](nats_message const&) {});
        }).find("subscribing to 'a..b'") == 0);
}

TEST_CASE("a link survives the loss of its server and uses the next one", "[nats]") {
  inbox events, heard;
  linked at("restart", {.reconnect_wait = 20ms, .changed = [&](nats_obstacle const& now) {
                          events.put(now.why.empty() ? "2 again" : "1 " + now.why);
                        }});
  auto& [server, link] = at;
  auto const subscription =
      link.subscribe("s", "", [&](nats_message const& m) { heard.put(text_of(m.payload())); });
  server.kill();
  REQUIRE(events.wait_for(1));
  CHECK_FALSE(link.connected());
  link.publish({"s", bytes_of("sent while it was away")});
  server.start();
  REQUIRE(events.wait_for(2));
  CHECK(events.sorted() == std::vector<std::string>{"1 the connection is lost", "2 again"});
  REQUIRE(link.wait_connected(patience));
  REQUIRE(heard.wait_for(1));
  CHECK(heard.sorted()[0] == "sent while it was away");
}

TEST_CASE("a patient link can be created before its server starts", "[nats]") {
  nats_server server("patient");
  inbox events;
  auto const changed = [&](nats_obstacle const& now) {
    if (now.why.empty()) events.put("there");
  };
  {
    nats_link const link({.url = server.url(), .patient = true, .changed = changed});
    CHECK(link.wait_connected(patience));
  }
  auto const before = events.size();
  server.kill();
  nats_link link({.url = server.url(), .reconnect_wait = 20ms, .patient = true, .changed = changed});
  CHECK_FALSE(link.connected());
  inbox heard;
  auto const subscription =
      link.subscribe("s", "", [&](nats_message const& m) { heard.put(text_of(m.payload())); });
  server.start();
  REQUIRE(link.wait_connected(patience));
  REQUIRE(events.wait_for(before + 1));
  link.publish({"s", bytes_of("x")});
  CHECK(heard.wait_for(1));
}

TEST_CASE("a patient link can be destroyed before its server starts", "[nats]") {
  nats_link const link({.url = url_of_nobody(), .patient = true});
  CHECK_FALSE(link.connected());
}

TEST_CASE("an exception of a callback is reported, and the next message arrives", "[nats]") {
  inbox told, heard;
  linked at("throws", {.trouble = [&](std::string const& text) { told.put(text); }});
  auto& link = at.link;
  auto const subscription = link.subscribe("s", "", [&](nats_message const& m) {
    if (m.payload().empty()) throw std::runtime_error("nothing in it");
    heard.put(text_of(m.payload()));
  });
  link.publish({"s", {}});
  link.publish({"s", bytes_of("x")});
  REQUIRE(told.wait_for(1));
  CHECK(told.sorted()[0] == "s: nothing in it");
  CHECK(heard.wait_for(1));
}

TEST_CASE("a subscription that is destroyed makes no more calls", "[nats]") {
  constexpr int rounds = 50, messages = 100;
  linked at("destroyed");
  auto& link = at.link;
  inbox all;
  auto const witness = link.subscribe("s", "", [&](nats_message const&) { all.put({}); });
  std::array<std::atomic<int>, rounds> running{};  // calls, per subscription; outlives late calls
  std::atomic<int> late = 0;
  for (auto& calls : running) {
    inbox heard;
    auto subscription = link.subscribe("s", "", [&](nats_message const&) {
      if (calls.fetch_add(1) < 0) return void(++late);
      heard.put({});
      std::this_thread::yield();
      --calls;
    });
    for (int i = 0; i < messages; ++i) link.publish({"s", {}});
    REQUIRE(heard.wait_for(1));  // so it is in the middle of processing them
    subscription = {};
    CHECK(calls.exchange(-2 * messages) == 0);  // none is still running in it
  }
  REQUIRE(all.wait_for(rounds * messages));
  CHECK(late == 0);
}

TEST_CASE("a link that its server refuses more than once comes back with its subscriptions when it is let in",
          "[nats]") {
  inbox heard, refused;
  linked at("refuses", {.reconnect_wait = 20ms, .changed = [&](nats_obstacle const& now) {
                          if (now.is_refusal) refused.put(now.why);
                        }});
  auto& [server, link] = at;
  auto const subscription =
      link.subscribe("s", "group", [&](nats_message const& m) { heard.put(text_of(m.payload())); });
  auto const works = [&](std::string const& text) {
    link.publish({"s", bytes_of(text)});
    return heard.wait_for(heard.size() + 1) && heard.sorted().back() == text;
  };
  REQUIRE(works("1 before"));
  server.kill();
  server.start({"--user", "u", "--pass", "p"});
  REQUIRE(refused.wait_for(1));
  REQUIRE(eventually([&] { return natsConnection_IsClosed(link.get().get()); }));  // by cnats, for good
  CHECK_FALSE(link.connected());
  CHECK(link.obstacle().is_refusal);
  CHECK(refused.sorted()[0].find("refuses the login") != std::string::npos);
  CHECK(refused.size() == 1);  // told once, not with each attempt
  server.kill();
  server.start();
  REQUIRE(link.wait_connected(patience));
  CHECK(link.obstacle().why == "");
  CHECK(works("2 after"));
}
