// JetStream: stored messages, redelivery, duplicates, and streams with other settings.
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
                               .ack_wait = 60s};

/// A server, a link, and the stream `work`.
struct working : linked {
  explicit working(std::string const& name, nats_stream_options const& options = work)
      : linked(name), stream(link, options, patience) {}
  nats_stream stream;
};

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
  CHECK(stream.publish({"rondo.actor.a", bytes_of("one"), {.type = "t.add", .priority = 7}}, patience) == 1);
  CHECK(stream.publish({"rondo.actor.b", bytes_of("two")}, patience) == 2);
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
  stream.publish({"rondo.actor.a", bytes_of("x")}, patience);
  for (std::uint64_t time = 1; time <= 3; ++time) {
    auto m = fetch_one(stream);
    CHECK(m.sequence() == 1);
    CHECK(m.deliveries() == time);
    if (time == 3) ack_and_wait(m, at.link);
  }
  stream.publish({"rondo.actor.a", bytes_of("bad")}, patience);
  fetch_one(stream).term();
  stream.publish({"rondo.actor.a", bytes_of("next")}, patience);
  CHECK(text_of(fetch_one(stream).payload()) == "next");
}

TEST_CASE("a message id is stored once", "[nats]") {
  working at("once");
  auto& stream = at.stream;
  CHECK(stream.publish({"rondo.actor.a", bytes_of("x")}, patience, "id-1") == 1);
  CHECK(stream.publish({"rondo.actor.a", bytes_of("x")}, patience, "id-1") == 1);
  CHECK(stream.publish({"rondo.actor.a", bytes_of("y")}, patience, "id-2") == 2);
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
      natsConnection_PublishString(at.link.get(), "rondo.actor.a", "x");
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

TEST_CASE("fetchers of one durable name share the messages, up to the limit of pending ones", "[nats]") {
  working at("share");
  nats_link other({.url = at.server.url()});
  nats_stream second(other, work, patience);
  auto& first = at.stream;
  for (int i = 0; i < 40; ++i) first.publish({"rondo.actor.a", bytes_of(std::to_string(i))}, patience);
  std::vector<stored_message> out;
  while (out.size() < 16)
    for (auto* const stream : {&first, &second})
      for (auto& m : stream->fetch(4, patience)) out.push_back(std::move(m));
  CHECK(out.size() == 16);
  CHECK(first.fetch(1, 100ms).empty());  // max_ack_pending messages are unacknowledged
  std::set<std::uint64_t> seen;
  while (!out.empty()) {
    for (auto& m : out) {
      CHECK(seen.insert(m.sequence()).second);
      ack_and_wait(m, at.link);
    }
    out = seen.size() < 40 ? second.fetch(16, patience) : std::vector<stored_message>{};
  }
  CHECK(seen.size() == 40);
}

TEST_CASE("messages survive the server's crash, and the consumer continues", "[nats]") {
  linked at("crash", {.reconnect_wait = 20ms});
  auto& [server, link] = at;
  nats_stream stream(link, work, patience);
  stream.publish({"rondo.actor.a", bytes_of("handled")}, patience);
  stream.publish({"rondo.actor.a", bytes_of("waits")}, patience);
  ack_and_wait(fetch_one(stream), link);
  server.kill();
  CHECK(stream.fetch(1, 50ms).empty());
  server.start();
  REQUIRE(link.wait_connected(patience));
  // JetStream recovers a moment after the server accepts connections. It writes acknowledgements to disk a little later than
  // it confirms them, so handled messages may be redelivered under their old sequence.
  std::string waits;
  for (int attempt = 0; waits.empty() && attempt < 100; ++attempt)
    for (auto& m : stream.fetch(1, 1s)) {
      if (m.sequence() != 1) waits = text_of(m.payload());
      ack_and_wait(m, at.link);
    }
  CHECK(waits == "waits");
}

TEST_CASE("a stream or consumer with other settings is refused with the difference", "[nats]") {
  linked at("otherwise");
  auto& link = at.link;
  { nats_stream const made(link, work, patience); }
  { nats_stream const again(link, work, patience); }
  auto options = work;
  options.max_ack_pending = 5;
  CHECK(refusal([&] { nats_stream s(link, options, patience); }) ==
        "the consumer 'service' of the stream 'rondo': exists with max_ack_pending = 16, expected 5; remove "
        "it, "
        "or use its settings");
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

TEST_CASE("storing a message that no stream accepts is an error", "[nats]") {
  working at("no_stream");
  auto& stream = at.stream;
  CHECK(refusal([&] {
          stream.publish({"elsewhere", bytes_of("x")}, patience);
        }).find("storing a message for 'elsewhere'") == 0);
}
