// Publish and subscribe: one publisher, two topics with 4 subscribers each. The publisher goes on when all subscribers
// have seen the last 1,000 prices.
#include <chrono>
#include <cstdio>
#include <vector>

#include "actors/routing/topics.hpp"
#include "runtime/runtime.hpp"

using namespace std::chrono_literals;

constexpr std::uint64_t prices = 2'000'000, at_once = 1000, subscribers = 8;
constexpr auto deliveries = prices * subscribers / 2;

struct price {
  std::uint64_t cents;
};
struct seen {};
struct read_count {};
struct count {
  std::uint64_t prices, sum;
};
struct market : rondo::topics<price> {};

struct publisher;
struct subscriber {
  struct arguments {
    rondo::address<publisher> from;
  };
  using messages = rondo::messages<price, rondo::ask<read_count, count>>;
  rondo::address<publisher> from{};
  count so_far{};

  RONDO_HD void on_start(rondo::context&, arguments const& a) { from = a.from; }
  RONDO_HD void on(rondo::context& ctx, price const& m);
  RONDO_HD count on(rondo::context&, read_count const&) { return so_far; }
};

struct begin {
  rondo::address<market> to;
};
struct done {};

struct publisher {
  using messages = rondo::messages<rondo::ask<begin, done>, seen>;
  rondo::address<market> to{};
  rondo::reply_token asker{};
  std::uint64_t published = 0, acknowledged = 0;

  RONDO_HD void on(rondo::context& ctx, begin const& m) {
    to = m.to;
    asker = ctx.defer();
    publish(ctx);
  }
  RONDO_HD void on(rondo::context& ctx, seen const&) {
    if (++acknowledged % subscribers != 0) return;
    if (published == prices)
      ctx.reply_to(asker, done{});
    else
      publish(ctx);
  }
  RONDO_HD void publish(rondo::context& ctx) {
    for (std::uint64_t i = 0; i < at_once; ++i, ++published)
      ctx.tell(to, rondo::publish<price>{published % 2, {published}});
  }
};
RONDO_HD inline void subscriber::on(rondo::context& ctx, price const& m) {
  so_far.sum += m.cents;
  if (++so_far.prices % (at_once / 2) == 0) ctx.tell(from, seen{});
}
RONDO_MODULE(exchange, market, publisher, subscriber)

int main() {
  rondo::runtime rt{rondo::use<exchange>, {.device = "cpu", .teams = 2, .default_capacity = 2 * at_once}};
  auto const m = rt.launch<market>("market");
  auto const p = rt.launch<publisher>("publisher");
  std::vector<rondo::actor_ref<subscriber>> all;
  for (std::uint64_t i = 0; i < subscribers; ++i) {
    all.push_back(rt.launch<subscriber>("", {}, {p.where()}));
    m.ask(rondo::subscribe<price>{i % 2, all.back().where()}, 1s, rondo::block).value();
  }
  auto const begun = std::chrono::steady_clock::now();
  p.ask(begin{m.where()}, 1min, rondo::block).value();
  std::chrono::duration<double> const took = std::chrono::steady_clock::now() - begun;
  std::printf("%.0f deliveries/s\n", static_cast<double>(deliveries) / took.count());
  count total{};
  for (auto const& s : all) {
    auto const one = s.ask(read_count{}, 1s, rondo::block).value();
    total.prices += one.prices, total.sum += one.sum;
  }
  return total.prices == deliveries && total.sum == deliveries * (prices - 1) / 2 ? 0 : 1;
}
