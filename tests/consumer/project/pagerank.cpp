// PageRank of one graph in four designs, which give the same ranks: an actor that goes on by itself, a wide message,
// lanes that work together, and four actors that exchange ranks through small mailboxes.
#include <boost/asio/use_future.hpp>
#include <cmath>
#include <cstdio>
#include <future>
#include <vector>
#include "runtime/device/emulated/emulated_module.hpp"
#include "runtime/runtime.hpp"

constexpr std::uint32_t vertices = 1000, links = 8, rounds = 20;

/// The source of the k-th link to vertex v.
RONDO_HD constexpr std::uint32_t source_of(std::uint32_t v, std::uint32_t k) noexcept {
  std::uint64_t x = (std::uint64_t{v} * links + k + 1) * 0x9e37'79b9'7f4a'7c15ull;
  x ^= x >> 31;
  return static_cast<std::uint32_t>(x * x % vertices);  // some vertices have many links
}

/// How many links begin at each vertex.
struct graph {
  std::uint32_t degree[vertices] = {};
  RONDO_HD void count() noexcept {
    for (std::uint32_t v = 0; v < vertices; ++v)
      for (std::uint32_t k = 0; k < links; ++k) ++degree[source_of(v, k)];
  }
  RONDO_HD double rank_of(std::uint32_t v, double const* before) const noexcept {
    double sum = 0;
    for (std::uint32_t k = 0; k < links; ++k) sum += before[source_of(v, k)] / degree[source_of(v, k)];
    return 0.15 / vertices + 0.85 * sum;
  }
};
RONDO_HD inline void fill_evenly(double* ranks) noexcept {
  for (std::uint32_t v = 0; v < vertices; ++v) ranks[v] = 1.0 / vertices;
}

struct compute {};
struct done {};
struct read_ranks { std::uint32_t first; };
struct ranks { double of[10]; };
RONDO_HD inline ranks some_of(double const* all, std::uint32_t first) noexcept {
  ranks r{};
  for (std::uint32_t i = 0; i < 10; ++i) r.of[i] = all[first + i];
  return r;
}

// 1. An actor computes a hundred vertices at a time, and goes on.
struct walker {
  using messages = rondo::messages<rondo::ask<compute, done>, rondo::ask<read_ranks, ranks>, rondo::again>;
  graph links_of{};
  double now[vertices], next[vertices];
  std::uint32_t round = 0, v = 0;
  rondo::reply_token asker{};

  RONDO_HD void on_start(rondo::context&) { links_of.count(), fill_evenly(now); }
  RONDO_HD void on(rondo::context& ctx, compute const&) { asker = ctx.defer(), ctx.again(); }
  RONDO_HD void on(rondo::context& ctx, rondo::again const&) {
    for (std::uint32_t const end = v + 100; v < end; ++v) next[v] = links_of.rank_of(v, now);
    if (v < vertices) return ctx.again();
    for (v = vertices; v-- > 0;) now[v] = next[v];
    v = 0;
    if (++round < rounds) return ctx.again();
    ctx.reply_to(asker, done{});
  }
  RONDO_HD ranks on(rondo::context&, read_ranks const& m) { return some_of(now, m.first); }
};

// 2. A round is a wide message of ten tiles, which any team runs.
struct tiler {
  using messages = rondo::messages<rondo::ask<compute, done>, rondo::ask<read_ranks, ranks>>;
  graph links_of{};
  double of[2][vertices];
  std::uint32_t round = 0;

  RONDO_HD void on_start(rondo::context&) { links_of.count(), fill_evenly(of[0]); }
  RONDO_HD std::uint32_t tiles(rondo::context&, compute const&) { return 10; }
  RONDO_HD void tile(rondo::context&, compute const&, std::uint32_t t) {
    for (std::uint32_t v = t * vertices / 10; v < (t + 1) * vertices / 10; ++v)
      of[1 - round % 2][v] = links_of.rank_of(v, of[round % 2]);
  }
  RONDO_HD void finish(rondo::context& ctx, compute const&) { ++round, ctx.reply(done{}); }
  RONDO_HD ranks on(rondo::context&, read_ranks const& m) { return some_of(of[round % 2], m.first); }
};

// 3. All lanes of a team compute each round.
struct crew {
  using messages = rondo::messages<rondo::ask<compute, done>, rondo::ask<read_ranks, ranks>>;
  static constexpr bool cooperative = true;
  graph links_of{};
  double of[2][vertices];

  RONDO_HD void on_start(rondo::context& ctx) {
    if (ctx.team().leader()) links_of.count(), fill_evenly(of[0]);
  }
  RONDO_HD void on(rondo::context& ctx, compute const&) {
    for (std::uint32_t round = 0; round < rounds; ++round) {
      for (auto const v : ctx.lanes(vertices)) of[1 - round % 2][v] = links_of.rank_of(v, of[round % 2]);
      ctx.team().sync();
    }
    ctx.reply(done{});
  }
  RONDO_HD void on(rondo::context& ctx, read_ranks const& m) { ctx.reply(some_of(of[rounds % 2], m.first)); }
};

// 4. Each of four actors has a quarter of the vertices. It sends its ranks to the others after each round; when a
//    mailbox is full, it waits for room.
constexpr std::uint32_t parts = 4, per_part = vertices / parts, per_message = 10;

struct part;
struct neighbours { rondo::address<part> of[parts]; };
struct news { std::uint32_t round, first; double ranks[per_message]; };

struct part {
  using messages = rondo::messages<neighbours, news, rondo::room, rondo::ask<compute, done>, rondo::ask<read_ranks, ranks>>;
  graph links_of{};
  double now[2][vertices];  // a neighbour may be a round ahead
  neighbours all{};
  std::uint32_t self = 0, round = 0, heard[2] = {}, to = 0, next = 0;
  bool is_begun = false;
  rondo::reply_token asker{};

  RONDO_HD void on_start(rondo::context&) { links_of.count(), fill_evenly(now[0]); }
  RONDO_HD void on(rondo::context& ctx, neighbours const& m) {
    all = m;
    while (!(all.of[self].id == ctx.self())) ++self;
  }
  RONDO_HD void on(rondo::context& ctx, compute const&) {
    asker = ctx.defer();
    is_begun = true;
    work(ctx);
  }
  RONDO_HD void on(rondo::context& ctx, news const& m) {
    for (std::uint32_t i = 0; i < per_message; ++i) now[m.round % 2][m.first + i] = m.ranks[i];
    ++heard[m.round % 2];
    work(ctx);
  }
  RONDO_HD void on(rondo::context& ctx, rondo::room const&) { work(ctx); }
  RONDO_HD ranks on(rondo::context&, read_ranks const& m) { return some_of(now[round % 2], m.first); }

  /// Does what can be done: the ranks of round 0 are known everywhere.
  RONDO_HD void work(rondo::context& ctx) {
    constexpr std::uint32_t all_news = (parts - 1) * per_part / per_message;
    while (is_begun && send(ctx) && (round == 0 || heard[round % 2] == all_news)) {
      if (round == rounds) {
        is_begun = false;
        ctx.reply_to(asker, done{});
        return;
      }
      heard[round % 2] = 0;
      for (std::uint32_t v = self * per_part; v < (self + 1) * per_part; ++v)
        now[1 - round % 2][v] = links_of.rank_of(v, now[round % 2]);
      ++round;
      to = next = 0;
    }
  }
  /// Sends its ranks of this round. False if a mailbox is full.
  RONDO_HD bool send(rondo::context& ctx) {
    for (; round != 0 && to < parts; ++to, next = 0)
      for (; to != self && next < per_part; next += per_message) {
        news m{round, self * per_part + next, {}};
        for (std::uint32_t i = 0; i < per_message; ++i) m.ranks[i] = now[round % 2][m.first + i];
        if (ctx.tell(all.of[to], m) != rondo::errc::ok) return ctx.when_room(all.of[to]), false;
      }
    return true;
  }
};

RONDO_MODULE(pageranks, walker, tiler, crew, part)
RONDO_EMULATED_MODULE(pageranks)

namespace {

constexpr std::chrono::minutes limit{1};

std::vector<double> reference() {
  graph g;
  g.count();
  std::vector<double> now(vertices), next(vertices);
  fill_evenly(now.data());
  for (std::uint32_t round = 0; round < rounds; ++round, now.swap(next))
    for (std::uint32_t v = 0; v < vertices; ++v) next[v] = g.rank_of(v, now.data());
  return now;
}

/// Whether the actor has the right ranks of the vertices from `first` to `end`.
template <class Behaviour>
bool is_right(rondo::actor_ref<Behaviour> const& a, std::vector<double> const& right, std::uint32_t first, std::uint32_t end) {
  double worst = 0;
  for (; first < end; first += 10) {
    auto const got = a.ask(read_ranks{first}, limit, rondo::block).value();
    for (std::uint32_t i = 0; i < 10; ++i) worst = std::max(worst, std::abs(got.of[i] - right[first + i]));
  }
  return worst < 1e-12;
}

template <class Behaviour>
bool compute_by(rondo::runtime& rt, char const* name, std::uint32_t asks, std::vector<double> const& right) {
  auto const a = rt.launch<Behaviour>(name);
  for (std::uint32_t i = 0; i < asks; ++i) a.ask(compute{}, limit, rondo::block).value();
  return is_right(a, right, 0, vertices);
}

bool compute_by_parts(rondo::runtime& rt, std::vector<double> const& right) {
  std::vector<rondo::actor_ref<part>> all;
  neighbours known;
  for (std::uint32_t p = 0; p < parts; ++p) {
    all.push_back(rt.launch<part>("part " + std::to_string(p), {.capacity = 8}));
    known.of[p] = {all[p].id()};
  }
  for (auto const& p : all)
    if (p.tell(known, {.wait_for_room = true}, rondo::block)) return false;
  std::vector<std::future<done>> ends;
  for (auto const& p : all)
    ends.push_back(p.ask(compute{}, {.timeout = limit, .wait_for_room = true}, boost::asio::use_future));
  for (auto& e : ends) e.get();
  for (std::uint32_t p = 0; p < parts; ++p)
    if (!is_right(all[p], right, p * per_part, (p + 1) * per_part)) return false;
  return rt.snapshot().dead_letters == 0;
}

}  // namespace

int main() {
  auto const right = reference();
  for (char const* device : {"cpu", "emulated"}) {
    rondo::runtime rt{rondo::use<pageranks>, {.device = device, .teams = 2, .lanes = device[0] == 'c' ? 1u : 4u}};
    struct design { char const* name; bool works; };
    for (auto const& d : {design{"goes on", compute_by<walker>(rt, "walker", 1, right)},
                          design{"wide", compute_by<tiler>(rt, "tiler", rounds, right)},
                          design{"lanes", compute_by<crew>(rt, "crew", 1, right)},
                          design{"parts", compute_by_parts(rt, right)}}) {
      std::printf("%s on %s: %s\n", d.name, device, d.works ? "right" : "WRONG");
      if (!d.works) return 1;
    }
  }
}
