// An actor's counters: the seqlock, its version's overflow, the latency histogram.
#include "kernels/base/counters.hpp"

#include <algorithm>
#include <thread>

#include "tests/kernels/arena_fixture.hpp"

using namespace rondo_test;

namespace {

actor_totals totals_of(std::uint32_t n) {
  return {.accepted = n,
          .handled = n,
          .rejected = n,
          .dead = n,
          .failures = n,
          .latency_sum_ns = n,
          .latency_samples = n,
          .peak_depth = n};
}

bool all_are(actor_totals const& t, std::uint64_t n) {
  return t.accepted == n && t.handled == n && t.rejected == n && t.dead == n && t.failures == n &&
         t.latency_sum_ns == n && t.latency_samples == n && t.peak_depth == n;
}

}  // namespace

TEST_CASE("zeroed counters are all zero", "[counters]") {
  published_totals p{};
  actor_totals t = totals_of(9);
  REQUIRE(p.try_read(t));
  CHECK(all_are(t, 0));
  CHECK(all_are(p.own(), 0));
}

TEST_CASE("a read returns the values that were published last, including the peak depth", "[counters]") {
  published_totals p{};
  for (std::uint32_t n : {1u, 2u, 5u, 1u, 0u, ~0u, 8u, 0u}) {
    CAPTURE(n);
    p.publish(totals_of(n));
    actor_totals t;
    REQUIRE(p.try_read(t));
    CHECK(all_are(t, n));
    CHECK(all_are(p.own(), n));
  }
}

TEST_CASE("whoever has handled a message has had one waiting, though its owner notes no depth of one",
          "[counters]") {
  published_totals p{};
  for (std::uint32_t const peak : {0u, 1u, 7u}) {
    CAPTURE(peak);
    p.publish({.accepted = 1, .handled = 1, .peak_depth = peak});
    actor_totals t;
    REQUIRE(p.try_read(t));
    CHECK(t.peak_depth == (rondo::with_telemetry ? std::max(peak, 1u) : peak));
  }
}

TEST_CASE("the version of the counters overflows without touching the peak depth", "[counters]") {
  published_totals p{0xffff'fffc};
  for (std::uint32_t n = 1; n < 8; ++n) {
    p.publish(totals_of(n));
    actor_totals t;
    REQUIRE(p.try_read(t));
    CHECK(all_are(t, n));
  }
}

TEST_CASE("a reader never sees a mix of two published states", "[counters][stress]") {
  published_totals p{};
  std::uint32_t const last = 20'000;
  std::atomic<bool> done{false};
  std::thread owner([&] {
    for (std::uint32_t n = 1; n <= last; ++n) p.publish(totals_of(n));
    done = true;
  });
  std::uint64_t torn = 0, backwards = 0, seen = 0;
  while (!done) {
    actor_totals t;
    if (!p.try_read(t)) continue;
    torn += !all_are(t, t.accepted);
    backwards += t.accepted < seen;
    seen = t.accepted;
  }
  owner.join();
  CHECK(torn == 0);
  CHECK(backwards == 0);
  CHECK(all_are(p.own(), last));
}

TEST_CASE("each duration falls into the bucket that begins at or below it", "[counters]") {
  random_source random;
  CAPTURE(test_seed());
  using histogram = latency_histogram;
  CHECK(histogram::bucket_of(0) == 0);
  CHECK(histogram::bucket_of(~0ull) == histogram::buckets - 1);
  for (int b = 1; b < histogram::buckets; ++b) {
    CHECK(histogram::bucket_of(histogram::floor_ns(b)) == b);
    CHECK(histogram::bucket_of(histogram::floor_ns(b) - 1) == b - 1);
  }
  histogram h{};
  std::uint32_t expected[histogram::buckets] = {};
  for (int i = 0; i < 1000; ++i) {
    std::uint64_t const ns = std::uint64_t{random.below(~0u)} >> random.below(32);
    int b = histogram::buckets - 1;
    while (histogram::floor_ns(b) > ns) --b;
    ++expected[b];
    h.record(ns);
  }
  for (int b = 0; b < histogram::buckets; ++b) CHECK(h.count(b) == expected[b]);
  h.clear();
  for (int b = 0; b < histogram::buckets; ++b) CHECK(h.count(b) == 0);
}
