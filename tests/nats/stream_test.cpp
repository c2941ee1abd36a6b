// JetStream: stored messages, redelivery, and streams with other settings.
#include "runtime/nats/nats_stream.hpp"

#include <set>

#include "tests/nats/nats_fixture.hpp"

using namespace rondo::service;
using namespace rondo_test;

namespace {

nats_stream_options const work{.stream = "rondo",
                               .subjects = {"rondo.actor.>"},
                               .durable = "service",
                               .max_ack_pending = 16,
                               .ack_wait = 60s,
                               .owner = "this test"};

/// A server, a link, and the stream `work`.
struct working : linked {
  explicit working(std::string const& name, nats_stream_options const& options = work)
      : linked(name), stream(link, options, patience) {}
  nats_stream stream;
};

/// Waits until the stream has stored it.
void store(nats_link& link, std::string const& subject, std::string const& text,
           nats_headers const& headers = {}) {
  link.request({subject, bytes_of(text), headers}, patience);
}

stored_message fetch_one(nats_stream& stream) {
  auto messages = stream.fetch(1, patience);
  REQUIRE(messages.size() == 1);
  return std::move(messages[0]);
}

/// Waits until the server has the acknowledgement.
void ack_and_wait(stored_message const& m, nats_link& through) {
  through.request({std::string(m.reply_to()), std::as_bytes(std::span("+ACK", 4))}, patience);
}

}  // namespace

TEST_CASE("a stored message is fetched with its headers, its sequence and its delivery count", "[nats]") {
  working at("stored");
  auto& stream = at.stream;
  store(at.link, "rondo.actor.a", "one", {.type = "t.add", .priority = 7});
  store(at.link, "rondo.actor.b", "two");
  auto messages = stream.fetch(1, patience);
  for (auto& more : stream.fetch(8, patience)) messages.push_back(std::move(more));
  REQUIRE(messages.size() == 2);
  CHECK(messages[0].subject() == "rondo.actor.a");
  CHECK(text_of(messages[0].payload()) == "one");
  CHECK(messages[0].headers().type == "t.add");
  CHECK(messages[0].headers().priority == 7);
  CHECK(messages[0].sequence() == 1);
  CHECK(messages[0].deliveries() == 1);
  CHECK(messages[1].sequence() == 2);
  for (auto& m : messages) ack_and_wait(m, at.link);
  CHECK(stream.fetch(1, 50ms).empty());
}

TEST_CASE("a message is redelivered after ack_wait until it is acknowledged", "[nats]") {
  auto options = work;
  options.ack_wait = 200ms;
  working at("again", options);
  auto& stream = at.stream;
  store(at.link, "rondo.actor.a", "x");
  for (std::uint64_t time = 1; time <= 3; ++time) {
    auto m = fetch_one(stream);
    CHECK(m.sequence() == 1);
    CHECK(m.deliveries() == time);
    if (time == 3) ack_and_wait(m, at.link);
  }
  store(at.link, "rondo.actor.a", "bad");
  fetch_one(stream).term();
  store(at.link, "rondo.actor.a", "next");
  CHECK(text_of(fetch_one(stream).payload()) == "next");
}

TEST_CASE("messages that arrive after a fetch has ended belong to the next one", "[nats]") {
  auto options = work;
  options.max_ack_pending = 1024;
  working at("late", options);
  auto& stream = at.stream;
  std::uint64_t published = 0, fetched = 0;
  // Requests of very different sizes, each of which leaves some of the requested messages in transit.
  for (int round = 0; round < 200; ++round) {
    for (int i = 0; i < 7; ++i, ++published)
      natsConnection_PublishString(at.link.get().get(), "rondo.actor.a", "x");
    for (auto& m : stream.fetch(1 + round % 3 * 100, 1ms)) {
      CHECK(m.sequence() == ++fetched);
      m.ack();
    }
  }
  while (fetched < published) {
    auto rest = stream.fetch(1000, patience);
    REQUIRE(!rest.empty());
    for (auto& m : rest) {
      CHECK(m.sequence() == ++fetched);
      m.ack();
    }
  }
  CHECK(stream.fetch(1, 50ms).empty());
}

TEST_CASE("at most max_ack_pending messages are out at once", "[nats]") {
  working at("pending");
  auto& stream = at.stream;
  for (int i = 0; i < 40; ++i) store(at.link, "rondo.actor.a", std::to_string(i));
  std::vector<stored_message> out;
  while (out.size() < 16)
    for (auto& m : stream.fetch(4, patience)) out.push_back(std::move(m));
  CHECK(out.size() == 16);
  CHECK(stream.fetch(1, 100ms).empty());
  std::set<std::uint64_t> seen;
  while (!out.empty()) {
    for (auto& m : out) {
      CHECK(seen.insert(m.sequence()).second);
      ack_and_wait(m, at.link);
    }
    out = seen.size() < 40 ? stream.fetch(16, patience) : std::vector<stored_message>{};
  }
  CHECK(seen.size() == 40);
}

TEST_CASE("messages survive the server's crash, and the consumer continues", "[nats]") {
  linked at("crash", {.reconnect_wait = 20ms});
  auto& [server, link] = at;
  nats_stream stream(link, work, patience);
  store(link, "rondo.actor.a", "handled");
  store(link, "rondo.actor.a", "waits");
  ack_and_wait(fetch_one(stream), link);
  server.kill();
  CHECK(stream.fetch(1, 50ms).empty());
  server.start();
  REQUIRE(link.wait_connected(patience));
  // JetStream recovers a moment after the server accepts connections. It writes acknowledgements to disk a little later
  // than it confirms them, so handled messages may be redelivered under their old sequence.
  std::string waits;
  for (int attempt = 0; waits.empty() && attempt < 100; ++attempt)
    for (auto& m : stream.fetch(1, 1s)) {
      if (m.sequence() != 1) waits = text_of(m.payload());
      ack_and_wait(m, at.link);
    }
  CHECK(waits == "waits");
}

TEST_CASE("a stream with other settings, or with another's consumer, is refused with the difference",
          "[nats]") {
  linked at("otherwise");
  auto& link = at.link;
  { nats_stream const made(link, work, patience); }
  { nats_stream const again(link, work, patience); }
  auto options = work;
  options.owner = "another";
  options.take_over = false;
  CHECK(refusal([&] { nats_stream s(link, options, patience); }) ==
        "the consumer 'service' of the stream 'rondo': belongs to another process now, 'this test'; only one "
        "process may take messages that its state depends on");
  options = work;
  options.subjects = {"else"};
  CHECK(refusal([&] { nats_stream s(link, options, patience); }).find("does not store 'else'") !=
        std::string::npos);
  options = work;
  options.stream = "second";
  CHECK(refusal([&] { nats_stream s(link, options, patience); }).find("another stream may store them") !=
        std::string::npos);
  options = work;
  options.durable = "other";
  CHECK(refusal([&] { nats_stream s(link, options, patience); }).find("a work queue has one consumer") !=
        std::string::npos);
}
