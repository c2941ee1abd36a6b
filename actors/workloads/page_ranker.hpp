// PageRank: how important the vertices of a graph are, by the links that lead to them. A vertex has
//
//   rank(v) = (1 - d) / n + d * (sum of rank(u) / links(u) over the links u -> v  +  lost / n)
//
// with n vertices, the damping d, and `lost`, the ranks of vertices without links, which all share. A round computes
// all ranks from those of the round before, until they change by less than a tolerance in all.
//
// The graph is divided into parts with about as many links each. A round is a wide message: teams compute parts side by
// side, each of which leaves its sums for the next round. Between rounds the actor looks at its mail.
#pragma once

#include "kernels/actor/module.hpp"
#include "kernels/buffers/buffer_lease.hpp"

namespace rondo::workloads {

/// The links of a graph by the vertex to which they lead, in one buffer: this header, and behind it, in this order,
/// `offsets`: for each vertex the number of its first link, and that of all (vertices + 1); `degrees`: how many links
/// begin at each vertex; `firsts`: the first vertex of each part, and behind the last one (parts + 1); and `sources`:
/// where each link begins.
struct alignas(16) link_table {
  std::uint32_t vertices, links, parts, unused;

  RONDO_HD std::uint32_t const* offsets() const noexcept {
    return reinterpret_cast<std::uint32_t const*>(this + 1);
  }
  RONDO_HD std::uint32_t const* degrees() const noexcept { return offsets() + vertices + 1; }
  RONDO_HD std::uint32_t const* firsts() const noexcept { return degrees() + vertices; }
  RONDO_HD std::uint32_t const* sources() const noexcept { return firsts() + parts + 1; }
  /// Bytes of all of it.
  RONDO_HD std::uint64_t bytes() const noexcept {
    return sizeof *this + 4 * (2 * std::uint64_t{vertices} + parts + links + 2);
  }
};

/// Ranks, in another buffer: of each vertex its rank, what it gives along each of its links, now and in the next round;
/// then what each part sums up.
struct rank_table {
  struct part_sums {
    double change, lost;
    double unused[6];  // another part's sums are in another cache line
  };
  double* ranks;
  double* gives[2];
  part_sums* sums;

  RONDO_HD rank_table(std::byte* at, link_table const& links) noexcept
      : ranks(reinterpret_cast<double*>(at)),
        gives{ranks + links.vertices, ranks + 2 * std::uint64_t{links.vertices}},
        sums(reinterpret_cast<part_sums*>(ranks + 3 * std::uint64_t{links.vertices})) {}
  RONDO_HD static std::uint64_t bytes(std::uint32_t vertices, std::uint32_t parts) noexcept {
    return 3 * sizeof(double) * std::uint64_t{vertices} + sizeof(part_sums) * std::uint64_t{parts};
  }
};

/// Asks for the ranks of a graph.
struct rank_vertices {
  buffer_ref links;  // a link_table
  buffer_ref ranks;  // a rank_table, which is filled in
  double damping = 0.85, tolerance = 1e-6;
  std::uint32_t most_rounds = 100;
};
/// The end: `status` is ok, or why the buffers cannot be used. `change`: of the last round.
struct ranked {
  errc status = errc::ok;
  std::uint32_t rounds = 0;
  double change = 0;
};
/// Asks how far that is; `rounds` so far.
struct how_far {};
/// A round. The actor sends it to itself.
struct rank_round {};

struct page_ranker {
  using messages =
      rondo::messages<rondo::ask<rank_vertices, ranked>, rank_round, again, rondo::ask<how_far, ranked>>;
  static constexpr auto width = rondo::width::whole_team;
  static constexpr bool holds_addresses = true;  // of the buffers, during the rounds

  RONDO_HD void on(context& ctx, rank_vertices const& m) {
    auto const status = ctx.team().broadcast(ctx.team().leader() ? begin(ctx, m) : errc::ok);
    if (status == errc::wrong_state) return ctx.reject(status);  // one graph at a time
    if (status != errc::ok) return static_cast<void>(ctx.reply(ranked{status}));
    auto const asker = ctx.defer();
    if (ctx.team().leader()) asker_ = asker;
    share_evenly(ctx);
    ctx.again();
  }
  /// The next round waits in the mailbox behind the mail that came meanwhile.
  RONDO_HD void on(context& ctx, again const&) {
    if (links_ != nullptr && ctx.tell(ctx.self_as<page_ranker>(), rank_round{}) != errc::ok) ctx.again();
  }
  RONDO_HD ranked on(context&, how_far const&) { return so_far_; }

  RONDO_HD std::uint32_t tiles(context&, rank_round const&) { return links_ != nullptr ? links_->parts : 0; }
  RONDO_HD void tile(context& ctx, rank_round const&, std::uint32_t part) {
    auto const& links = *links_;
    rank_table const table(ranks_, links);
    auto const n = static_cast<double>(links.vertices), damping = asked_.damping;
    auto const from_all = (1 - damping) / n + damping * lost_ / n;
    auto const* const offsets = links.offsets();
    auto const* const sources = links.sources();
    auto const* const degrees = links.degrees();
    auto const* const given = table.gives[so_far_.rounds % 2];
    auto* const gives = table.gives[1 - so_far_.rounds % 2];
    auto const first = links.firsts()[part], end = links.firsts()[part + 1];
    double change = 0, lost = 0;
    for (auto const i : ctx.lanes(end - first)) {
      auto const v = first + i;
      double sum = 0;
      for (auto l = offsets[v]; l < offsets[v + 1]; ++l) sum += given[sources[l]];
      auto const rank = from_all + damping * sum;
      change += rank < table.ranks[v] ? table.ranks[v] - rank : rank - table.ranks[v];
      table.ranks[v] = rank;
      gives[v] = degrees[v] != 0 ? rank / degrees[v] : 0;
      if (degrees[v] == 0) lost += rank;
    }
    change = ctx.team().sum(change);
    lost = ctx.team().sum(lost);
    if (ctx.team().leader()) table.sums[part].change = change, table.sums[part].lost = lost;
  }
  RONDO_HD void finish(context& ctx, rank_round const&) {
    if (links_ == nullptr) return;
    bool const goes_on = ctx.team().broadcast(ctx.team().leader() && add_up());
    if (goes_on) return ctx.again();
    if (ctx.team().leader()) end(ctx);  // before the answer: the asker may use the buffers at once
    ctx.reply_to(asker_, so_far_);
  }

 private:
  /// One lane: takes the buffers.
  RONDO_HD errc begin(context& ctx, rank_vertices const& m) noexcept {
    if (links_ != nullptr) return errc::wrong_state;
    buffer_view<std::byte const> links;
    buffer_view<std::byte> ranks;
    if (auto const e = ctx.buffers().try_read(m.links, links); e != errc::ok) return e;
    auto const& table = *reinterpret_cast<link_table const*>(links.data());
    bool const is_whole = links.size() >= sizeof(link_table) && table.vertices != 0 && table.parts != 0 &&
                          links.size() >= table.bytes();
    auto e = is_whole ? ctx.buffers().try_write(m.ranks, ranks) : errc::buffer_out_of_bounds;
    if (e == errc::ok && ranks.size() < rank_table::bytes(table.vertices, table.parts)) {
      ctx.buffers().end_write(m.ranks);
      e = errc::buffer_out_of_bounds;
    }
    if (e != errc::ok) return ctx.buffers().end_read(m.links), e;
    asked_ = m;
    links_ = &table;
    ranks_ = ranks.data();
    so_far_ = {};
    return errc::ok;
  }
  RONDO_HD void share_evenly(context& ctx) noexcept {
    rank_table const table(ranks_, *links_);
    auto const n = links_->vertices;
    double lost = 0;
    for (auto const v : ctx.lanes(n)) {
      auto const degree = links_->degrees()[v];
      table.ranks[v] = 1.0 / n;
      table.gives[0][v] = degree != 0 ? 1.0 / n / degree : 0;
      if (degree == 0) lost += 1.0 / n;
    }
    lost = ctx.team().sum(lost);
    if (ctx.team().leader()) lost_ = lost;
  }
  /// One lane: sums over the parts. Whether there is another round.
  RONDO_HD bool add_up() noexcept {
    rank_table const table(ranks_, *links_);
    so_far_.change = lost_ = 0;
    for (std::uint32_t part = 0; part < links_->parts; ++part) {
      so_far_.change += table.sums[part].change;
      lost_ += table.sums[part].lost;
    }
    return ++so_far_.rounds < asked_.most_rounds && so_far_.change >= asked_.tolerance;
  }
  RONDO_HD void end(context& ctx) noexcept {
    ctx.buffers().end_write(asked_.ranks);
    ctx.buffers().end_read(asked_.links);
    links_ = nullptr;
  }

  rank_vertices asked_{};
  reply_token asker_{};
  link_table const* links_ = nullptr;  // while ranks are computed
  std::byte* ranks_ = nullptr;
  double lost_ = 0;
  ranked so_far_{};
};

}  // namespace rondo::workloads
