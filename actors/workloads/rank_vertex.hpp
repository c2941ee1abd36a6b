// PageRank (page_ranker.hpp) with an actor for each vertex, as one would write it first: a vertex sends a share of its
// rank along each of its links, adds up the shares that come, and knows how many there are. It shows what messages
// cost: each link is one, in each round. A page_ranker does the same with a wide message for all links, and is faster.
//
// In a round each vertex gets a rank_round_begins, computes its rank from the shares of the round before, and sends
// those of this one. When it has sent and got all, it tells its collector; when all collectors have heard from all
// their vertices, the host begins the next round. So a share that is early is of this round, or of none.
#pragma once

#include "actors/workloads/page_ranker.hpp"

namespace rondo::workloads {

struct rank_vertex;

/// To each vertex, once a round. Ranks are `from_all` + `damping` * the sum of the shares of the round before.
struct rank_round_begins {
  buffer_ref targets;  // address<rank_vertex>: to where each link leads, by the vertex where it begins
  double from_all, damping;
  std::uint32_t round;
  bool is_last;  // nothing is sent any more
};
struct rank_share {
  double value;
  std::uint32_t round;
};
/// A vertex has sent and got all shares, or cannot. `lost`: its rank, if it has no links.
struct vertex_done {
  double change, lost;
  errc failure = errc::ok;
};
/// Asks for the sums of a round, which are answered at its end, or once a vertex has failed.
struct end_of_round {};
struct round_sums {
  double change = 0, lost = 0;
  errc failure = errc::ok;
};

struct rank_collector {
  struct arguments {
    std::uint32_t vertices = 0;
  };
  using messages = rondo::messages<vertex_done, rondo::ask<end_of_round, round_sums>>;

  RONDO_HD void on_start(context&, arguments const& a) { left_ = vertices_ = a.vertices; }
  RONDO_HD void on(context& ctx, batch<vertex_done> const& some) {
    for (auto const& v : some) {
      sums_.change += v.change, sums_.lost += v.lost;
      if (v.failure != errc::ok) sums_.failure = v.failure;
    }
    left_ -= some.size();
    answer(ctx);
  }
  RONDO_HD void on(context& ctx, end_of_round const&) {
    asker_ = ctx.defer();
    is_asked_ = true;
    answer(ctx);
  }

 private:
  RONDO_HD void answer(context& ctx) {
    if ((left_ != 0 && sums_.failure == errc::ok) || !is_asked_) return;
    left_ = vertices_;
    is_asked_ = false;
    ctx.reply_to(asker_, sums_);
    sums_ = {};
  }

  std::uint32_t vertices_ = 0, left_ = 0;
  bool is_asked_ = false;
  reply_token asker_{};
  round_sums sums_{};
};

struct rank_vertex {
  struct arguments {
    address<rank_collector> collector{};
    std::uint32_t first = 0, links = 0, links_to_it = 0;  // its links are links from `first` on
  };
  using messages = rondo::messages<rank_round_begins, rank_share, again>;
  static constexpr auto width = rondo::width::lane;  // there are many, and they do the same

  RONDO_HD double rank() const noexcept { return rank_; }

  RONDO_HD void on_start(context&, arguments const& a) { about_ = a; }
  RONDO_HD void on(context& ctx, rank_round_begins const& m) {
    now_ = m;
    auto const rank = m.from_all + m.damping * sums_[(m.round + 1) % 2];
    sums_[(m.round + 1) % 2] = 0;
    change_ = rank < rank_ ? rank_ - rank : rank - rank_;
    rank_ = rank;
    sent_ = m.is_last ? about_.links : 0;
    is_done_ = false;
    if (m.is_last) got_ = about_.links_to_it;
    go_on(ctx);
  }
  RONDO_HD void on(context& ctx, rank_share const& m) {
    sums_[m.round % 2] += m.value;
    ++got_;
    if (sent_ == about_.links && !is_done_) end_round(ctx);
  }
  RONDO_HD void on(context& ctx, again const&) {
    if (failure_ != errc::ok) return give_up(ctx, failure_);
    if (!is_done_) go_on(ctx);
  }

 private:
  static constexpr std::uint32_t most_at_once = 64;  // a hub lets others have their turn

  RONDO_HD void go_on(context& ctx) {
    if (sent_ != about_.links) {
      auto const left = about_.links - sent_, some = left < most_at_once ? left : most_at_once;
      constexpr std::uint64_t size = sizeof(address<rank_vertex>);
      read_lease<address<rank_vertex>> const targets(
          ctx.buffers(), now_.targets.slice((std::uint64_t{about_.first} + sent_) * size, some * size));
      if (!targets) return give_up(ctx, targets.status());
      rank_share const share{rank_ / about_.links, now_.round};
      for (auto const& to : targets.view()) {
        if (!send(ctx, to, share)) return;
        ++sent_;
      }
      if (sent_ != about_.links) return ctx.again();
    }
    end_round(ctx);
  }
  RONDO_HD void end_round(context& ctx) {
    if (got_ != about_.links_to_it) return;
    if (!send(ctx, about_.collector, vertex_done{change_, about_.links == 0 ? rank_ : 0})) return;
    got_ = 0;
    is_done_ = true;
  }
  /// False: there was no room, and the vertex goes on when others have had their turn; or it has given up.
  template <class To, class Message>
  RONDO_HD bool send(context& ctx, address<To> to, Message const& m) {
    auto const e = ctx.tell(to, m);
    if (e == errc::mailbox_full || e == errc::arena_full)
      ctx.again();
    else if (e != errc::ok)
      give_up(ctx, e);
    return e == errc::ok;
  }
  /// The host hears of it, and ends the ranking. If it does not, the failure is at least counted.
  RONDO_HD void give_up(context& ctx, errc why) {
    is_done_ = true;
    failure_ = why;
    auto const e = ctx.tell(about_.collector, vertex_done{0, 0, why});
    if (e == errc::mailbox_full || e == errc::arena_full) return ctx.again();
    failure_ = errc::ok;
    if (e != errc::ok) ctx.fail(why);
  }

  arguments about_{};
  rank_round_begins now_{};
  double rank_ = 0, change_ = 0;
  double sums_[2] = {};               // of the shares of even rounds, and of odd ones
  std::uint32_t sent_ = 0, got_ = 0;  // shares of this round
  bool is_done_ = true;               // with this round
  errc failure_ = errc::ok;           // that the collector has not heard of yet
};

}  // namespace rondo::workloads
