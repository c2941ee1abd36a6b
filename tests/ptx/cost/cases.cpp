#include "tests/ptx/cost/cases.hpp"

#include <algorithm>
#include <numeric>
#include <stdexcept>
#include <vector>

#include "tests/ptx/cost/actors.hpp"
#include "tests/ptx/cost/bed.hpp"
#include "tests/ptx/cost/lane_actors.hpp"

namespace ptx_cost {

namespace {

using namespace behaviours;
using samples_of_case = std::vector<sample>;

void expect(bool holds, char const* what) {
  if (!holds) throw std::runtime_error(std::string("the grid gave a wrong answer: ") + what);
}

/// Before each case, and not counted: the first messages go to a mailbox without a ring, and wake what has gone to
/// rest.
constexpr std::uint32_t warm_up = 2;

template <class Work>
samples_of_case repeat(bed& b, std::uint32_t samples, Work const& one) {
  samples_of_case all;
  for (std::uint32_t n = 0; n < warm_up + samples; ++n) {
    b.think();
    b.grid().forget_logs();
    auto const s = one(n);
    if (n >= warm_up) all.push_back(s);
  }
  return all;
}

template <bool Pinned>
samples_of_case ask(ptx::module const& code, costs const& c, std::uint32_t samples, std::uint64_t seed) {
  bed b(code, {.seed = seed}, c);
  auto const to = b.launch(cost_actors::index_of<echo>(), Pinned);
  return repeat(b, samples, [&](std::uint64_t n) {
    auto const began = b.ask(to, small_ping{small_ping::of(n)});
    rondo::device_event event;
    auto const seen = b.wait_for_event(event);
    expect(event.kind == rondo::event_kind::reply && event.reason == rondo::errc::ok &&
               reinterpret_cast<small_pong const*>(event.body.payload)->holds(n + 1),
           "an echo");
    return sample{seen.ps - began, trace_path(b.grid().logs(), seen.where)};
  });
}

samples_of_case tell(ptx::module const& code, costs const& c, std::uint32_t samples, std::uint64_t seed) {
  bed b(code, {.seed = seed}, c);
  auto const to = b.launch(cost_actors::index_of<consumer>(), true);
  auto const& counted = b.state_of<consumer>(to).so_far;
  return repeat(b, samples, [&](std::uint64_t n) {
    parcel const p{1, {}};
    auto const began = b.tell(to, &p);
    auto const seen = b.wait_until([&] { return counted.sum == n + 1; });
    return sample{seen.ps - began, trace_path(b.grid().logs(), seen.where)};
  });
}

constexpr std::uint32_t batch_messages = 16;

samples_of_case batch(ptx::module const& code, costs const& c, std::uint32_t samples, std::uint64_t seed) {
  bed b(code, {.seed = seed}, c);
  auto const to = b.launch(cost_actors::index_of<batch_consumer>(), true);
  auto const& counted = b.state_of<batch_consumer>(to).so_far;
  return repeat(b, samples, [&](std::uint64_t n) {
    std::array<parcel, batch_messages> all{};
    for (auto& p : all) p.value = 1;
    auto const began = b.tell(to, all.data(), batch_messages);
    auto const seen = b.wait_until([&] { return counted.sum == (n + 1) * batch_messages; });
    return sample{seen.ps - began, trace_path(b.grid().logs(), seen.where)};
  });
}

/// What waits in a ring, or in several: `each` groups of `Batch` messages for each of `Actors` actors, fewer than a
/// mailbox holds.
template <class Consumer, std::uint32_t Actors, std::uint32_t Each, std::uint32_t Batch>
samples_of_case stream(ptx::module const& code, costs const& c, std::uint32_t samples, std::uint64_t seed) {
  bed b(code, {.pinned_teams = std::max(2u, Actors), .capacity = std::max(32u, Each * Batch), .seed = seed},
        c);
  std::vector<rondo::actor_id> to;
  for (std::uint32_t a = 0; a < Actors; ++a) to.push_back(b.launch(cost_actors::index_of<Consumer>(), true));
  std::array<parcel, Batch> some{};
  for (auto& p : some) p.value = 1;
  return repeat(b, samples, [&](std::uint64_t n) {
    auto const began = b.tell(to[0], some.data(), Batch);
    for (std::uint32_t i = 1; i < Actors * Each; ++i) b.tell(to[i % Actors], some.data(), Batch, false);
    auto const seen = b.wait_until([&] {
      return std::ranges::all_of(
          to, [&](auto id) { return b.state_of<Consumer>(id).so_far.sum == (n + 1) * Each * Batch; });
    });
    return sample{seen.ps - began, trace_path(b.grid().logs(), seen.where)};
  });
}

/// What a pinned team does that has nothing to do, for `idle_us`, after it has been so for `patience_us`.
constexpr std::uint32_t idle_us = 50;
template <std::uint32_t PatienceUs>
samples_of_case idle(ptx::module const& code, costs const& c, std::uint32_t samples, std::uint64_t seed) {
  bed b(code, {.seed = seed}, c);
  auto const to = b.launch(cost_actors::index_of<consumer>(), true);
  auto const& counted = b.state_of<consumer>(to).so_far;
  parcel const p{1, {}};
  b.tell(to, &p);
  auto const team = b.wait_until([&] { return counted.sum == 1; }).where.warp;
  constexpr std::uint64_t span = std::uint64_t{idle_us} * 1'000'000;
  for (std::uint32_t us = 0; us < PatienceUs; us += idle_us) b.pass(span), b.grid().forget_logs();
  return repeat(b, samples, [&](std::uint64_t) {
    auto const began = b.grid().now_ps();
    b.pass(span);
    auto const& logs = b.grid().logs();
    return sample{span, trace_path(logs, mark{team, logs[team].end()}, began)};
  });
}

template <bool Pinned>
samples_of_case hop(ptx::module const& code, costs const& c, std::uint32_t samples, std::uint64_t seed) {
  bed b(code, {.seed = seed}, c);
  auto const first = b.launch(cost_actors::index_of<player>(), Pinned),
             second = b.launch(cost_actors::index_of<player>(), Pinned);
  b.think();
  rondo::device_event event;
  b.ask(second, player::serve{{first}, 0});
  b.wait_for_event(event);
  b.ask(first, player::serve{{second}, warm_up + samples + 1});
  auto const& left = b.state_of<player>(first).left;
  samples_of_case all;
  sighting before;
  for (std::uint64_t n = 0; n <= warm_up + samples; ++n) {
    auto const seen = b.wait_until([&] { return left == warm_up + samples - n; });
    if (n > warm_up) all.push_back({seen.ps - before.ps, trace_path(b.grid().logs(), seen.where, before.ps)});
    before = seen;
  }
  b.wait_for_event(event);
  expect(event.kind == rondo::event_kind::reply && event.reason == rondo::errc::ok, "a match");
  return all;
}

/// As many pairs as a warp has lanes, all of which play at once, with one team. A sample is a round of each pair.
constexpr std::uint32_t pairs = 32;
samples_of_case hop_of_all(ptx::module const& code, costs const& c, std::uint32_t samples,
                           std::uint64_t seed) {
  bed b(code, {.teams = 1, .seed = seed}, c);
  std::vector<rondo::actor_id> first, second;
  for (std::uint32_t p = 0; p < pairs; ++p) {
    first.push_back(b.launch(cost_actors::index_of<player>(), false));
    second.push_back(b.launch(cost_actors::index_of<player>(), false));
  }
  rondo::device_event event;
  for (std::uint32_t p = 0; p < pairs; ++p) b.ask(second[p], player::serve{{first[p]}, 0});
  for (std::uint32_t p = 0; p < pairs; ++p) b.wait_for_event(event);
  auto const rounds = warm_up + samples + 1000;  // the first have played some when the last begins
  for (std::uint32_t p = 0; p < pairs; ++p) b.ask(first[p], player::serve{{second[p]}, rounds});
  auto const left_of = [&](rondo::actor_id id) { return b.state_of<player>(id).left; };
  b.wait_until([&] { return std::ranges::all_of(first, [&](auto id) { return left_of(id) != 0; }); });
  auto const left = [&] {
    return std::accumulate(first.begin(), first.end(), std::uint64_t{0},
                           [&](std::uint64_t sum, auto id) { return sum + left_of(id); });
  };
  samples_of_case all;
  sighting before;
  auto next = left();
  for (std::uint64_t n = 0; n <= warm_up + samples; ++n) {
    next -= pairs;
    auto const seen = b.wait_until([&] { return left() <= next; });
    if (n > warm_up) all.push_back({seen.ps - before.ps, trace_path(b.grid().logs(), seen.where, before.ps)});
    before = seen;
  }
  return all;
}

/// Actors that are run by lanes, on 8 multiprocessors with 8 teams each: each message goes on to one of them at random.
/// As many messages are under way as there are lanes.
constexpr std::uint32_t wanderers = 2048, under_way = 2048, wanderer_teams = 64, visits_per_sample = 4096,
                        visits_for_sectors = 256;  // few actors are visited twice
samples_of_case wander(ptx::module const& code, costs const& c, std::uint32_t samples, std::uint64_t seed) {
  bed b(code, {.teams = wanderer_teams, .capacity = 4, .actors = wanderers + 64, .seed = seed}, c);
  std::vector<rondo::actor_id> all;
  for (std::uint32_t n = 0; n < wanderers; ++n)
    all.push_back(b.launch(lane_actors::index_of<wanderer>(), false));
  auto const visits = [&] {
    return std::accumulate(all.begin(), all.end(), std::uint64_t{0},
                           [&](std::uint64_t sum, auto id) { return sum + b.state_of<wanderer>(id).visits; });
  };
  auto const await_visits = [&](std::uint64_t most) {
    while (visits() < most) b.pass(1'000'000);
  };
  for (std::uint32_t n = 0; n < under_way; ++n) {
    visit const first{all[0].index, wanderers, (n + 1) * 0x9e37'79b9};
    b.tell(all[n * (wanderers / under_way)], &first);
    if (n % 256 == 255) b.pass(400'000'000);  // until they are out of the queue
  }
  await_visits(10 * under_way);
  samples_of_case of_all;
  for (std::uint32_t n = 0; n < samples; ++n) {
    std::unordered_set<std::uint64_t> sectors;
    b.grid().forget_logs();
    b.grid().collect_sectors(&sectors);
    auto const began_ps = b.grid().now_ps();
    auto const before = visits();
    await_visits(before + visits_for_sectors);
    b.grid().collect_sectors(nullptr);
    auto const of_sectors = visits() - before;
    await_visits(before + visits_per_sample);
    // Of so many visits as a sample has: what came after the last one is left out.
    auto const share = [](std::uint64_t of, std::uint64_t seen) {
      return static_cast<std::uint64_t>(static_cast<double>(of) * visits_per_sample /
                                        static_cast<double>(seen));
    };
    of_all.push_back({share(b.grid().now_ps() - began_ps, visits() - before),
                      trace_path(b.grid().logs(), b.grid().last_step(), began_ps),
                      share(sectors.size(), of_sectors)});
  }
  return of_all;
}

/// Of a case with many producers a sample has fewer messages of each, because the machine executes all of them.
constexpr std::uint32_t parcels_of(std::uint32_t producers) { return producers == 4 ? 24 : 1024 / producers; }
/// Each sample leaves out the beginning, while the producers are told and the mailbox is still filling.
constexpr std::uint32_t fan_in_skips = 32;
constexpr std::uint32_t fan_in_messages(std::uint32_t producers) {
  return producers * parcels_of(producers) - fan_in_skips;
}

template <class Consumer, std::uint32_t Producers>
samples_of_case fan_in(ptx::module const& code, costs const& c, std::uint32_t samples, std::uint64_t seed) {
  constexpr auto all = Producers * parcels_of(Producers);
  bed b(code, {.pinned_teams = Producers + 1, .capacity = Producers == 4 ? 32u : 1024u, .seed = seed}, c);
  auto const to = b.launch(cost_actors::index_of<Consumer>(), true);
  std::vector<rondo::actor_id> from;
  for (std::uint32_t p = 0; p < Producers; ++p)
    from.push_back(b.launch(cost_actors::index_of<producer>(), true));
  auto const& counted = b.state_of<Consumer>(to).so_far;
  return repeat(b, samples, [&](std::uint64_t n) {
    for (auto const id : from) b.ask(id, producer::produce{{to}, parcels_of(Producers)});
    auto const before = n * all;
    auto const began = b.wait_until([&] { return counted.messages >= before + fan_in_skips; });
    auto const skipped = counted.messages - before;  // a batch may have brought more
    auto const seen = b.wait_until([&] { return counted.messages == before + all; });
    sample const s{(seen.ps - began.ps) * fan_in_messages(Producers) / (all - skipped),
                   trace_path(b.grid().logs(), seen.where, began.ps)};
    rondo::device_event event;
    for (std::uint32_t p = 0; p < Producers; ++p) {
      b.wait_for_event(event);
      expect(event.kind == rondo::event_kind::reply && event.reason == rondo::errc::ok, "a producer's end");
    }
    return s;
  });
}

// Traders on 8 multiprocessors, 4 on each, of which each sends to all others in turn.
constexpr std::uint32_t traders = 32, trades_each = 2 * (traders - 1),
                        all_to_all_messages = traders * trades_each;

samples_of_case all_to_all(ptx::module const& code, costs const& c, std::uint32_t samples,
                           std::uint64_t seed) {
  bed b(code, {.pinned_teams = traders, .capacity = 256, .seed = seed}, c);
  std::vector<rondo::actor_id> all;
  for (std::uint32_t t = 0; t < traders; ++t) all.push_back(b.launch(cost_actors::index_of<trader>(), true));
  std::uint64_t before = 0;
  return repeat(b, samples, [&](std::uint64_t) {
    for (auto const id : all) b.ask(id, trader::trade{all[0], traders, trades_each});
    auto const received = [&] {
      std::uint64_t sum = 0;
      for (auto const id : all) sum += b.state_of<trader>(id).so_far.messages;
      return sum;
    };
    auto const began = b.wait_until([&] { return received() > before; });
    before += all_to_all_messages;
    auto const seen = b.wait_until([&] { return received() == before; });
    sample const s{seen.ps - began.ps, trace_path(b.grid().logs(), seen.where, began.ps)};
    rondo::device_event event;
    for (std::uint32_t t = 0; t < traders; ++t) {
      b.wait_for_event(event);
      expect(event.kind == rondo::event_kind::reply && event.reason == rondo::errc::ok, "a trader's end");
    }
    return s;
  });
}

constexpr cost_case all_cases[] = {
    {"ask", "a round trip of 32 bytes to a pinned actor", 1, 200, &ask<true>},
    {"ask_pooled", "the same, to an actor that any team may run", 1, 200, &ask<false>},
    {"tell", "32 bytes to a pinned actor, until its handler has stored", 1, 200, &tell},
    {"batch", "16 messages of 32 bytes in one batch, per message, until the last is handled", batch_messages,
     200, &batch},
    {"stream", "24 tells that wait in the ring of one pinned actor, per message", 24, 200,
     &stream<consumer, 1, 24, 1>},
    {"stream_long", "256 tells that wait there, per message", 256, 20, &stream<consumer, 1, 256, 1>},
    {"stream_batches", "16 batches of 16 that wait there, per message", 256, 20,
     &stream<batch_consumer, 1, 16, 16>},
    {"spread", "24 tells that wait in the rings of 8 pinned actors, per message", 24, 200,
     &stream<consumer, 8, 3, 1>},
    {"spread_batches", "64 batches of 16 that wait there, per message", 1024, 10,
     &stream<batch_consumer, 8, 8, 16>},
    {"idle", "a pinned actor that has nothing to do, per us; a PCIe trip is 328 bytes", idle_us, 20,
     &idle<0>},
    {"idle_long", "the same after 10 ms", idle_us, 20, &idle<10'000>},
    {"hop", "from one pinned actor to another", 2, 200, &hop<true>},
    {"hop_pooled", "the same, between actors that any team may run", 2, 200, &hop<false>},
    {"hop_of_all", "between the actors of 32 such pairs, with one team, per message of all", 2 * pairs, 50,
     &hop_of_all},
    {"hop_of_all_lanes", "the same, in `width::lane`", 2 * pairs, 50, &hop_of_all,
     cost_case::module_kind::lanes},
    {"wander",
     "2048 actors of `width::lane` on 8 multiprocessors, with 8 teams each, send on what they get, at "
     "random, per message of all",
     visits_per_sample, 3, &wander, cost_case::module_kind::lanes},
    {"fan_in", "4 pinned producers to one pinned actor, per message", fan_in_messages(4), 200,
     &fan_in<consumer, 4>},
    {"fan_in_64", "64 pinned producers", fan_in_messages(64), 2, &fan_in<consumer, 64>},
    {"fan_in_64_batches", "64 pinned producers, to an actor that takes batches", fan_in_messages(64), 2,
     &fan_in<batch_consumer, 64>},
    {"fan_in_256", "256 pinned producers", fan_in_messages(256), 1, &fan_in<consumer, 256>},
    {"all_to_all", "32 pinned actors on 8 multiprocessors send to each other, per message of all",
     all_to_all_messages, 2, &all_to_all},
};

}  // namespace

std::span<cost_case const> cost_cases() { return all_cases; }

}  // namespace ptx_cost
