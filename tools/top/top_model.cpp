#include "tools/top/top_model.hpp"

#include <algorithm>

#include "tools/top/top_counts.hpp"

namespace rondo::tools {

namespace {

/// 32-bit counters wrap, and their difference does not mind.
latency_counts difference(latency_counts const& now, latency_counts const* before) {
  auto result = now;
  if (before != nullptr)
    for (std::size_t b = 0; b < std::min(result.size(), before->size()); ++b) result[b] -= (*before)[b];
  return result;
}

}  // namespace

void top_model::add(service::report next) {
  bool const follows = has_report_ && next.incarnation == now_.incarnation && next.clock_ns > now_.clock_ns;
  auto const before = std::exchange(now_, std::move(next));
  has_report_ = true;
  if (!now_.live) now_.live = std::make_unique<reports::totalsT>();
  if (!now_.retired) now_.retired = std::make_unique<reports::totalsT>();
  if (!follows) {
    pasts_.clear();
    rates_.clear();
    latencies_.clear();
    totals_ = {};
    seconds_ = 0;
    actors_.clear();
    for (auto const& a : now_.actors) actors_.push_back({.now = a.get()});
    stage_rates_.clear();
    count_graphs(nullptr);
    return;
  }
  seconds_ = static_cast<double>(now_.clock_ns - before.clock_ns) * 1e-9;
  count_actors(before);
  count_totals(before);
  count_graphs(&before);
}

void top_model::count_actors(service::report const& before) {
  std::map<key, reports::actorT const*> old;
  for (auto const& a : before.actors) old.emplace(key{a->index, a->generation}, a.get());
  for (auto& [k, p] : pasts_) p.lives = false;
  actors_.clear();
  latency_counts all(now_.latency_floors_ns.size());
  for (auto const& a : now_.actors) {
    key const k{a->index, a->generation};
    auto const found = old.find(k);
    auto const* const then = found == old.end() ? nullptr : found->second;
    top_actor line{.now = a.get()};
    line.rate = static_cast<double>(grown(a->handled, then == nullptr ? 0 : then->handled)) / seconds_;
    auto const errors_then = then == nullptr ? 0 : then->failures + then->dead + then->rejected;
    line.new_errors = grown(line.errors(), errors_then);
    line.samples = difference(a->latency_counts, then == nullptr ? nullptr : &then->latency_counts);
    line.p50_ns = service::latency_at(line.samples, now_.latency_floors_ns, 0.5);
    line.p99_ns = service::latency_at(line.samples, now_.latency_floors_ns, 0.99);
    for (std::size_t b = 0; b < std::min(all.size(), line.samples.size()); ++b) all[b] += line.samples[b];
    auto at = pasts_.find(k);
    if (at == pasts_.end() && pasts_.size() < top_followed && !a->name.empty())
      at = pasts_.try_emplace(k).first;
    if (at != pasts_.end()) {
      at->second.lives = true;
      keep(at->second.rates, static_cast<float>(line.rate));
      keep(at->second.latencies, line.samples);
      line.rates = &at->second.rates;
      line.latencies = &at->second.latencies;
    }
    actors_.push_back(std::move(line));
  }
  std::erase_if(pasts_, [](auto const& p) { return !p.second.lives; });
  totals_.p50_ns = service::latency_at(all, now_.latency_floors_ns, 0.5);
  totals_.p99_ns = service::latency_at(all, now_.latency_floors_ns, 0.99);
  keep(latencies_, std::move(all));
}

void top_model::count_totals(service::report const& before) {
  auto const per_second = [this](std::uint64_t now, std::uint64_t then) {
    return static_cast<double>(grown(now, then)) / seconds_;
  };
  auto const of_actors = [&](auto field) {
    return per_second((*now_.live).*field + (*now_.retired).*field,
                      (*before.live).*field + (*before.retired).*field);
  };
  using totals = reports::totalsT;
  totals_.handled = of_actors(&totals::handled);
  totals_.accepted = of_actors(&totals::accepted);
  totals_.failures = of_actors(&totals::failures);
  totals_.dead = per_second(now_.dead_letters, before.dead_letters);
  reports::clientsT const none;
  auto const& clients = now_.connections ? *now_.connections : none;
  auto const& clients_before = before.connections ? *before.connections : none;
  totals_.requests = per_second(clients.requests, clients_before.requests);
  totals_.received_bytes = per_second(clients.bytes_in, clients_before.bytes_in);
  totals_.sent_bytes = per_second(clients.bytes_out, clients_before.bytes_out);
  bool const busy = std::ranges::any_of(now_.devices, [](auto const& d) {
    return std::ranges::any_of(d->teams, [](auto const& t) { return t->busy; });
  });
  totals_.at_rest = totals_.accepted == 0 && !busy;
  keep(rates_, static_cast<float>(totals_.handled));
}

}  // namespace rondo::tools
