// Channels: the program receives what actors send, each message once and in order, and what it does not receive waits.
#include "runtime/channel_reader.hpp"

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/io_context.hpp>

#include "runtime/checkpoint.hpp"
#include "tests/conformance/crew.hpp"

using namespace conformance;

namespace {

using tick_reader = rondo::channel_reader<tick_news>;

void send_tick(rondo::actor_ref<tick_channel> const& to, std::uint32_t number,
               rondo::tell_options options = {}) {
  REQUIRE_FALSE(tell(to, tick_news{0, number}, options));
}
std::uint32_t receive_tick(tick_reader const& reader) { return reader.receive(patience).value().number; }

std::vector<std::uint32_t> receive_ticks(tick_reader const& reader, std::uint32_t count) {
  std::vector<std::uint32_t> got;
  while (got.size() < count) got.push_back(receive_tick(reader));
  return got;
}

/// Receives `count` messages with `receive(reader)`, and checks the order of each sender and priority.
template <class Receive>
void check_all_come(std::uint32_t senders, std::uint32_t count, bool uneven, Receive const& receive) {
  std::vector<std::vector<std::uint32_t>> next(senders, {0, 1, 2});  // of each priority
  if (!uneven) next.assign(senders, {0, 0, 0});
  std::uint32_t disorder = 0;
  for (std::uint32_t i = 0; i < senders * count; ++i) {
    tick_news const m = receive();
    auto& due = next.at(m.sender)[uneven ? m.number % 3 : 0];
    disorder += due == m.number ? 0 : 1;
    due = m.number + (uneven ? 3 : 1);
  }
  CHECK(disorder == 0);
}

}  // namespace

TEST_CASE("a channel gives what waits by priority and in the order sent, then what comes", "[G1][G2][G3]") {
  auto const v = GENERATE(from_range(variants()));
  bool const pinned = GENERATE(false, true);
  INFO(v.name << (pinned ? ", pinned" : ""));
  auto const rt = start(v.settings);
  auto const actor = rt->launch<tick_channel>("ticks", rondo::channel_options(16, {.pinned = pinned}));
  for (std::uint32_t i = 1; i <= 3; ++i) send_tick(actor, i);
  for (std::uint32_t i = 4; i <= 5; ++i) send_tick(actor, i, {.priority = 200});
  send_tick(actor, 6);
  CHECK(at_rest(*rt, 6).conserved());
  tick_reader const reader{actor};
  CHECK(receive_ticks(reader, 3) == counts{4, 5, 1});
  send_tick(actor, 7, {.priority = 254});
  CHECK(receive_ticks(reader, 4) == counts{7, 2, 3, 6});
  for (std::uint32_t i = 8; i <= 12; ++i) {
    pending<tick_news> next;
    reader.async_receive(next.handler());
    send_tick(actor, i);
    CHECK_FALSE(next.wait());
    CHECK(next.reply->number == i);
  }
  CHECK(reader.got() == 12);
  auto const t = at_rest(*rt);
  CHECK(t.conserved());
  CHECK(t.dead_letters == 0);
}

TEST_CASE("a channel that is full refuses messages, and senders that wait for room lose none",
          "[G1][G2][G5][G13]") {
  auto const v = GENERATE(from_range(variants()));
  bool const pinned = GENERATE(false, true);
  bool const uneven = GENERATE(false, true);
  INFO(v.name << (pinned ? ", pinned" : "") << (uneven ? ", uneven" : ""));
  auto const rt = start(v.settings);
  auto const actor = rt->launch<tick_channel>("ticks", rondo::channel_options(4, {.pinned = pinned}));
  tick_reader const reader{actor};
  for (std::uint32_t i = 0; i < 4; ++i) send_tick(actor, i);
  CHECK(tell(actor, tick_news{0, 99}) == errc::mailbox_full);
  CHECK(receive_ticks(reader, 4) == counts{0, 1, 2, 3});

  std::uint32_t const count = few_on_ptx(v, 20, 300);
  auto const first = rt->launch<tick_source>("first"), second = rt->launch<tick_source>("second");
  REQUIRE_FALSE(tell(first, send_ticks{actor.where(), 0, count, uneven}));
  REQUIRE_FALSE(tell(second, send_ticks{actor.where(), 1, count, uneven}));
  CHECK(eventually([&] { return ask(first, read_ticks{}).value().times_full != 0; }));
  CHECK(inspect(actor).now.waiting <= 4);
  check_all_come(2, count, uneven, [&] { return reader.receive(patience).value(); });
  CHECK(ask(first, read_ticks{}).value().times_refused == 0);
  auto const t = at_rest(*rt);
  CHECK(t.conserved());
  CHECK(t.dead_letters == 0);
}

TEST_CASE("a receive that waits leaves room for a message, however small the channel is", "[G1][G5]") {
  auto const v = GENERATE(from_range(variants()));
  bool const pinned = GENERATE(false, true);
  INFO(v.name << (pinned ? ", pinned" : ""));
  auto const rt = start(v.settings);
  auto const actor = rt->launch<tick_channel>("ticks", rondo::channel_options(1, {.pinned = pinned}));
  tick_reader const reader{actor};
  for (std::uint32_t i = 1; i <= 3; ++i) {
    pending<tick_news> next;
    reader.async_receive(next.handler());
    CHECK(eventually([&] { return inspect(actor).now.waiting == 1; }));
    send_tick(actor, i);
    CHECK_FALSE(next.wait());
    CHECK(next.reply->number == i);
  }
}

TEST_CASE("receives that are cancelled or time out lose nothing, and take up no room", "[G1][G2][G12]") {
  auto const v = GENERATE(from_range(variants()));
  bool const pinned = GENERATE(false, true);
  INFO(v.name << (pinned ? ", pinned" : ""));
  auto const rt = start(v.settings);
  auto const actor = rt->launch<tick_channel>("ticks", rondo::channel_options(4, {.pinned = pinned}));
  tick_reader const reader{actor};
  for (int i = 0; i < 10; ++i) {
    CHECK(reader.receive(1ms).error() == errc::timed_out);
    boost::asio::cancellation_signal stop;
    pending<tick_news> next;
    reader.async_receive(boost::asio::bind_cancellation_slot(stop.slot(), next.handler()));
    stop.emit(boost::asio::cancellation_type::terminal);
    CHECK(next.wait() == errc::cancelled);
  }
  CHECK(eventually([&] { return inspect(actor).now.waiting <= 1; }));
  // The last receive may still be there when they come.
  for (std::uint32_t i = 1; i <= 4; ++i) send_tick(actor, i, {.wait_for_room = true});
  CHECK(receive_ticks(reader, 4) == counts{1, 2, 3, 4});
  CHECK(reader.receive(0s).error() == errc::timed_out);

  std::uint32_t const count = few_on_ptx(v, 10, 200);
  auto const source = rt->launch<tick_source>("source");
  REQUIRE_FALSE(tell(source, send_ticks{actor.where(), 0, count, 0}));
  std::uint32_t tries = 0;
  check_all_come(1, count, false, [&] {
    auto next = reader.receive(1us);
    // Ever longer: however slow the device is, an answer comes before one of them ends.
    for (std::uint32_t longer = 0; !next; longer += 8 + longer / 4)
      next = reader.receive(std::chrono::microseconds(++tries % 64 * 8 + longer));
    return *next;
  });
  CHECK(at_rest(*rt).dead_letters == 0);
}

TEST_CASE("a message whose handler is destroyed before its call is received by the next one", "[G1]") {
  auto const v = GENERATE(from_range(variants()));
  INFO(v.name);
  auto const rt = start(v.settings);
  auto const actor = rt->launch<tick_channel>("ticks", rondo::channel_options(4));
  tick_reader const reader{actor};
  pending<tick_news> next;
  {
    boost::asio::io_context io;
    reader.async_receive(boost::asio::bind_executor(io, next.handler()));
    send_tick(actor, 1);
    CHECK(eventually([&] { return rt->snapshot().asks_waiting == 0; }));
    CHECK(receive_tick(tick_reader{actor}) ==
          1);  // the first answer has reached its executor, which does not run
    send_tick(actor, 2);
  }
  CHECK(receive_ticks(reader, 2) == counts{1, 2});
  CHECK_FALSE(next.is_ready());
}

TEST_CASE("a second receive ends at once, and another reader takes the first one's place", "[G1]") {
  auto const v = GENERATE(from_range(variants()));
  bool const pinned = GENERATE(false, true);
  INFO(v.name << (pinned ? ", pinned" : ""));
  auto const rt = start(v.settings);
  auto const actor = rt->launch<tick_channel>("ticks", rondo::channel_options(4, {.pinned = pinned}));
  tick_reader const reader{actor};
  pending<tick_news> first, second;
  reader.async_receive(first.handler());
  CHECK(reader.receive(patience).error() == errc::wrong_state);
  reader.async_receive(patience, second.handler());
  CHECK(second.wait() == errc::wrong_state);
  CHECK_FALSE(first.is_ready());

  tick_reader const other{actor};
  pending<tick_news> third;
  other.async_receive(third.handler());
  CHECK(first.wait() == errc::wrong_state);
  send_tick(actor, 1);
  CHECK_FALSE(third.wait());
  CHECK(third.reply->number == 1);
  send_tick(actor, 2);
  CHECK(receive_tick(tick_reader{actor, other.got()}) == 2);
  CHECK(receive_tick(tick_reader{actor}) == 2);  // it does not know what others got

  tick_reader const last{actor, 2};
  pending<tick_news> fourth;
  last.async_receive(fourth.handler());  // says that it was got
  CHECK(eventually([&] { return inspect(actor).now.waiting == 1; }));
  pending<tick_news> fifth;
  tick_reader{actor}.async_receive(fifth.handler());
  CHECK(fourth.wait() == errc::wrong_state);
  send_tick(actor, 3);
  CHECK_FALSE(fifth.wait());
  CHECK(fifth.reply->number == 3);
  CHECK(at_rest(*rt).conserved());
}

TEST_CASE("a checkpoint keeps what waits in a channel, and what was given to nobody", "[G1][G2][G7]") {
  auto const v = GENERATE(from_range(variants()));
  INFO(v.name);
  scratch_file const file;
  std::uint64_t got = 0;
  {
    auto const rt = start(v.settings);
    auto const actor = rt->launch<tick_channel>("ticks", rondo::channel_options(4));
    tick_reader const reader{actor};
    for (std::uint32_t i = 1; i <= 4; ++i) send_tick(actor, i);
    CHECK(receive_ticks(reader, 2) == counts{1, 2});
    got = reader.got();
    rondo::checkpoint(*rt, file.path);
  }
  {
    auto const rt = start(v.settings);
    rondo::restore(*rt, file.path);
    auto const actor = rt->find<tick_channel>("ticks").value();
    CHECK(at_rest(*rt, 2).conserved());
    tick_reader const reader{actor, got};
    CHECK(receive_ticks(reader, 2) == counts{3, 4});
    pending<tick_news> next;
    reader.async_receive(next.handler());
    CHECK(eventually([&] { return inspect(actor).now.waiting == 1; }));
    got = 4;
    rondo::checkpoint(*rt, file.path);
  }
  auto const rt = start(v.settings);
  rondo::restore(*rt, file.path);
  auto const actor = rt->find<tick_channel>("ticks").value();
  send_tick(actor, 5);
  CHECK(receive_tick(tick_reader{actor, got}) == 5);
}

TEST_CASE("a receive ends when its channel ends, and what waits becomes dead letters", "[G1][G8]") {
  auto const v = GENERATE(from_range(variants()));
  bool const pinned = GENERATE(false, true);
  auto const how = GENERATE(rondo::termination::drain, rondo::termination::discard);
  INFO(v.name << (pinned ? ", pinned" : ""));
  overheard w(v);
  auto const actor = w.rt->launch<tick_channel>("ticks", rondo::channel_options(4, {.pinned = pinned}));
  tick_reader const reader{actor};
  pending<tick_news> next;
  reader.async_receive(next.handler());
  CHECK(eventually([&] { return inspect(actor).now.waiting == 1; }));
  REQUIRE_FALSE(terminate(actor, how));
  CHECK(next.wait() == errc::terminated);
  CHECK(reader.receive(patience).error() == errc::actor_gone);

  auto const second = w.rt->launch<tick_channel>("ticks", rondo::channel_options(4, {.pinned = pinned}));
  send_tick(second, 1);
  CHECK(at_rest(*w.rt, 1).conserved());
  REQUIRE_FALSE(terminate(second, how));
  w.check_letter(1, second.id(), errc::terminated);
  CHECK(at_rest(*w.rt).conserved());
}
