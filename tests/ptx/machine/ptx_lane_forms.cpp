// What lanes do together: shuffles, votes, matches, reductions, barriers.
#include <algorithm>

#include "tests/ptx/machine/ptx_lanes.hpp"

namespace ptx {

namespace {

using u32 = std::uint32_t;
using u64 = std::uint64_t;

enum shuffle_mode : std::uint8_t { shuffle_up, shuffle_down, shuffle_bfly, shuffle_idx };

/// The source lane, and whether it is in range (PTX ISA, shfl.sync).
template <int Mode>
std::pair<u32, bool> source_of(u32 lane, u32 b, u32 c) {
  auto const segments = c >> 8 & 31, distance = b & 31, clamp = c & 31;
  auto const last = (lane & segments) | (clamp & ~segments), first = lane & segments;
  auto const from = Mode == shuffle_up ? static_cast<std::int32_t>(lane) - static_cast<std::int32_t>(distance)
                    : Mode == shuffle_down ? static_cast<std::int32_t>(lane + distance)
                    : Mode == shuffle_bfly ? static_cast<std::int32_t>(lane ^ distance)
                                           : static_cast<std::int32_t>(first | (distance & ~segments));
  bool const inside =
      Mode == shuffle_up ? from >= static_cast<std::int32_t>(last) : from <= static_cast<std::int32_t>(last);
  return {inside ? static_cast<u32>(from) : lane, inside};
}

template <int Mode>
void shuffle(warp& w, u32 lanes) {
  std::array<u64, warp_lanes> values{};
  for_each_lane(lanes, [&](u32 lane) { values[lane] = w.get(lane, w.at(lane).o[1]); });
  for_each_lane(lanes, [&](u32 lane) {
    auto const& i = w.at(lane);
    auto const [from, inside] =
        source_of<Mode>(lane, static_cast<u32>(w.get(lane, i.o[2])), static_cast<u32>(w.get(lane, i.o[3])));
    if ((lanes >> from & 1) == 0)
      w.fail(i, lane, "reads lane " + std::to_string(from) + ", which does not take part");
    w.set(lane, i.o[5], inside);
    w.set(lane, i.o[0], static_cast<u32>(values[from]));
  });
}

/// The lanes whose predicate holds; `sub` 4: is negated.
u32 votes(warp& w, u32 lanes) {
  u32 yes = 0;
  for_each_lane(lanes, [&](u32 lane) {
    auto const& i = w.at(lane);
    if ((w.get(lane, i.o[1]) != 0) != ((i.sub & 4) != 0)) yes |= 1u << lane;
  });
  return yes;
}

template <class Op>
void vote(warp& w, u32 lanes) {
  auto const result = Op{}(votes(w, lanes), lanes);
  for_each_lane(lanes, [&](u32 lane) { w.set(lane, w.at(lane).o[0], static_cast<u32>(result)); });
}

template <class T>
void match_any(warp& w, u32 lanes) {
  std::array<u32, warp_lanes> same{};
  for_each_lane(lanes, [&](u32 a) {
    for_each_lane(lanes, [&](u32 b) {
      if (as<T>(w.get(a, w.at(a).o[1])) == as<T>(w.get(b, w.at(b).o[1]))) same[a] |= 1u << b;
    });
  });
  for_each_lane(lanes, [&](u32 lane) { w.set(lane, w.at(lane).o[0], same[lane]); });
}

template <class T>
void match_all(warp& w, u32 lanes) {
  auto const first = static_cast<u32>(std::countr_zero(lanes));
  bool all = true;
  for_each_lane(lanes, [&](u32 lane) {
    all = all && as<T>(w.get(lane, w.at(lane).o[1])) == as<T>(w.get(first, w.at(first).o[1]));
  });
  for_each_lane(lanes, [&](u32 lane) {
    w.set(lane, w.at(lane).o[5], all);
    w.set(lane, w.at(lane).o[0], all ? lanes : 0);
  });
}

template <class T, class Op>
void reduce(warp& w, u32 lanes) {
  bool begun = false;
  T result{};
  for_each_lane(lanes, [&](u32 lane) {
    auto const value = as<T>(w.get(lane, w.at(lane).o[1]));
    result = begun ? Op{}(result, value) : value;
    begun = true;
  });
  for_each_lane(lanes, [&](u32 lane) { w.set(lane, w.at(lane).o[0], bits_of(result)); });
}

/// Any lane may be elected: the lowest.
void elect(warp& w, u32 lanes) {
  auto const first = static_cast<u32>(std::countr_zero(lanes));
  for_each_lane(lanes, [&](u32 lane) {
    w.set(lane, w.at(lane).o[5], lane == first);
    w.set(lane, w.at(lane).o[0], first);
  });
}

void join(warp& w, u32 lanes) { w.join_memory(lanes); }

template <warp::lanes_act Act>
flow meet(warp& w, instruction const& i, u32 lanes) {
  return w.meet(i, lanes, Act);
}

template <bool Aligned>
flow meet_block(warp& w, instruction const& i, u32 lanes) {
  return w.meet_block(i, lanes, Aligned);
}

template <class Op>
void add_vote(form_table& all, std::string const& name, Op) {
  add_own(all, name, "d0n1s4", &meet<&vote<Op>>);
}
template <class T, class Op>
void add_reduction(form_table& all, std::string const& name, Op) {
  add_own(all, name, "d0s1s4", &meet<&reduce<T, Op>>);
}

flow active_mask(warp& w, instruction const& i, u32 lanes) {
  for_each_lane(lanes, [&](u32 lane) { w.set(lane, i.o[0], lanes); });
  return flow::next;
}

}  // namespace

void add_lane_forms(form_table& all) {
  add_own(all, "shfl.sync.up.b32", "x0s1s2s3s4", &meet<&shuffle<shuffle_up>>);
  add_own(all, "shfl.sync.down.b32", "x0s1s2s3s4", &meet<&shuffle<shuffle_down>>);
  add_own(all, "shfl.sync.bfly.b32", "x0s1s2s3s4", &meet<&shuffle<shuffle_bfly>>);
  add_own(all, "shfl.sync.idx.b32", "x0s1s2s3s4", &meet<&shuffle<shuffle_idx>>);
  add_vote(all, "vote.sync.ballot.b32", [](u32 yes, u32) { return yes; });
  add_vote(all, "vote.sync.any.pred", [](u32 yes, u32) { return yes != 0; });
  add_vote(all, "vote.sync.all.pred", [](u32 yes, u32 of) { return yes == of; });
  add_vote(all, "vote.sync.uni.pred", [](u32 yes, u32 of) { return yes == of || yes == 0; });
  add_own(all, "match.any.sync.b32", "d0s1s4", &meet<&match_any<u32>>);
  add_own(all, "match.any.sync.b64", "d0s1s4", &meet<&match_any<u64>>);
  add_own(all, "match.all.sync.b32", "x0s1s4", &meet<&match_all<u32>>);
  add_own(all, "match.all.sync.b64", "x0s1s4", &meet<&match_all<u64>>);
  add_reduction<u32>(all, "redux.sync.add.u32", [](u32 a, u32 b) { return a + b; });
  add_reduction<u32>(all, "redux.sync.add.s32", [](u32 a, u32 b) { return a + b; });
  add_reduction<u32>(all, "redux.sync.min.u32", [](u32 a, u32 b) { return std::min(a, b); });
  add_reduction<u32>(all, "redux.sync.max.u32", [](u32 a, u32 b) { return std::max(a, b); });
  add_reduction<std::int32_t>(all, "redux.sync.min.s32",
                              [](std::int32_t a, std::int32_t b) { return std::min(a, b); });
  add_reduction<std::int32_t>(all, "redux.sync.max.s32",
                              [](std::int32_t a, std::int32_t b) { return std::max(a, b); });
  add_reduction<u32>(all, "redux.sync.and.b32", [](u32 a, u32 b) { return a & b; });
  add_reduction<u32>(all, "redux.sync.or.b32", [](u32 a, u32 b) { return a | b; });
  add_reduction<u32>(all, "redux.sync.xor.b32", [](u32 a, u32 b) { return a ^ b; });
  add_own(all, "elect.sync", "x0s4", &meet<&elect>);
  add_own(all, "bar.warp.sync", "s4", &meet<&join>);
  add_own(all, "activemask.b32", "d0", &active_mask);
  // The one with a count of threads has another form, because its operands differ.
  for (std::string const cta : {"", ".cta"}) {
    add_own(all, "bar" + cta + ".sync", "s0", &meet_block<true>);
    add_own(all, "barrier" + cta + ".sync.aligned", "s0", &meet_block<true>);
    add_own(all, "barrier" + cta + ".sync", "s0", &meet_block<false>);
    add_own(all, "bar" + cta + ".sync/2", "s0s1", &meet_block<true>, 1);
    add_own(all, "barrier" + cta + ".sync.aligned/2", "s0s1", &meet_block<true>, 1);
    add_own(all, "barrier" + cta + ".sync/2", "s0s1", &meet_block<false>, 1);
  }
}

}  // namespace ptx
