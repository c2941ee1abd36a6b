#include "tests/ptx/cost/cases.hpp"

#include <algorithm>
#include <stdexcept>
#include <vector>

#include "tests/ptx/cost/actors.hpp"
#include "tests/ptx/cost/bed.hpp"

namespace ptx_cost {

namespace {

using namespace behaviours;
using samples_of_case = std::vector<sample>;

void expect(bool holds, char const* what) {
  if (!holds) throw std::runtime_error(std::string("the grid gave a wrong answer: ") + what);
}

/// Before each case, and not counted: the first messages go to a mailbox without a ring, and wake what has gone to
/// rest.
constexpr std::uint32_t warm_up = 4;

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

constexpr std::uint32_t stream_messages = 24;  // fewer than a mailbox holds

samples_of_case stream(ptx::module const& code, costs const& c, std::uint32_t samples, std::uint64_t seed) {
  bed b(code, {.seed = seed}, c);
  auto const to = b.launch(cost_actors::index_of<consumer>(), true);
  auto const& counted = b.state_of<consumer>(to).so_far;
  return repeat(b, samples, [&](std::uint64_t n) {
    parcel const p{1, {}};
    auto const began = b.tell(to, &p);
    for (std::uint32_t i = 1; i < stream_messages; ++i) b.tell(to, &p, 1, false);
    auto const seen = b.wait_until([&] { return counted.sum == (n + 1) * stream_messages; });
    return sample{seen.ps - began, trace_path(b.grid().logs(), seen.where)};
  });
}

constexpr std::uint32_t spread_actors = 8, spread_each = 3;

samples_of_case spread(ptx::module const& code, costs const& c, std::uint32_t samples, std::uint64_t seed) {
  bed b(code, {.pinned_teams = spread_actors, .seed = seed}, c);
  std::vector<rondo::actor_id> to;
  for (std::uint32_t a = 0; a < spread_actors; ++a)
    to.push_back(b.launch(cost_actors::index_of<consumer>(), true));
  return repeat(b, samples, [&](std::uint64_t n) {
    parcel const p{1, {}};
    auto const began = b.tell(to[0], &p);
    for (std::uint32_t i = 1; i < spread_actors * spread_each; ++i)
      b.tell(to[i % spread_actors], &p, 1, false);
    auto const seen = b.wait_until([&] {
      return std::ranges::all_of(
          to, [&](auto id) { return b.state_of<consumer>(id).so_far.sum == (n + 1) * spread_each; });
    });
    return sample{seen.ps - began, trace_path(b.grid().logs(), seen.where)};
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

// Each sample leaves out the beginning, while the producers are told and the mailbox is still filling.
constexpr std::uint32_t producers = 4, parcels_each = 24, fan_in_skips = 32,
                        fan_in_messages = producers * parcels_each - fan_in_skips;

samples_of_case fan_in(ptx::module const& code, costs const& c, std::uint32_t samples, std::uint64_t seed) {
  bed b(code, {.pinned_teams = producers + 1, .seed = seed}, c);
  auto const to = b.launch(cost_actors::index_of<consumer>(), true);
  std::vector<rondo::actor_id> from;
  for (std::uint32_t p = 0; p < producers; ++p)
    from.push_back(b.launch(cost_actors::index_of<producer>(), true));
  auto const& counted = b.state_of<consumer>(to).so_far;
  return repeat(b, samples, [&](std::uint64_t n) {
    for (auto const id : from) b.ask(id, producer::produce{{to}, parcels_each});
    auto const before = n * producers * parcels_each;
    auto const began = b.wait_until([&] { return counted.messages == before + fan_in_skips; });
    auto const seen =
        b.wait_until([&] { return counted.messages == before + fan_in_skips + fan_in_messages; });
    sample const s{seen.ps - began.ps, trace_path(b.grid().logs(), seen.where, began.ps)};
    rondo::device_event event;
    for (std::uint32_t p = 0; p < producers; ++p) {
      b.wait_for_event(event);
      expect(event.kind == rondo::event_kind::reply && event.reason == rondo::errc::ok, "a producer's end");
    }
    return s;
  });
}

constexpr cost_case all_cases[] = {
    {"ask", "a round trip of 32 bytes to a pinned actor", 1, &ask<true>},
    {"ask_pooled", "the same, to an actor that any team may run", 1, &ask<false>},
    {"tell", "32 bytes to a pinned actor, until its handler has stored", 1, &tell},
    {"batch", "16 messages of 32 bytes in one batch, per message, until the last is handled", batch_messages,
     &batch},
    {"stream", "24 tells that wait in the ring, per message, until the last is handled", stream_messages,
     &stream},
    {"spread", "24 tells that wait in the ring for 8 pinned actors, per message, until the last is handled",
     spread_actors* spread_each, &spread},
    {"fan_in", "4 pinned producers to one pinned actor, per message", fan_in_messages, &fan_in},
    {"hop", "from one pinned actor to another", 2, &hop<true>},
    {"hop_pooled", "the same, between actors that any team may run", 2, &hop<false>},
};

}  // namespace

std::span<cost_case const> cost_cases() { return all_cases; }

}  // namespace ptx_cost
