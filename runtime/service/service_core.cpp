#include "runtime/service/service_core.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <utility>

#include "kernels/base/exceptions.hpp"
#include "runtime/service/session.hpp"

namespace rondo::service {

void service_core::set_limits(client_limits const& wanted) {
  limits = wanted;
  auto const asks = rt.settings().asks;
  tables.set_limit(table::connections, limits.clients);
  tables.set_limit(table::strangers, std::max(limits.clients / 4, std::min(limits.clients, 16u)));
  tables.set_limit(table::asks, asks);
  tables.set_limit(table::waiting_tells, asks);
  tables.set_limit(table::controls, asks);
  std::uint64_t rings = 0;
  for (std::uint32_t d = 0; d < rt.device_count(); ++d) rings += rt.room(d).rings;
  tables.set_limit(table::mail_rings, rings);
  tables.set_limit(table::keys, limits.keys);
  tables.set_limit(table::key_sessions, limits.keys / 2);
  tables.set_limit(table::response_bytes, limits.response_bytes);
  tables.set_limit(table::traces, std::max(rt.settings().trace_hops / 16, 16u));
}

bool service_core::take_turns() {
  auto const waited = std::exchange(unfinished, {});
  bool const came = readable.poll();
  for (auto const& s : waited) s->take_requests();
  return came || !waited.empty();
}

void service_core::look_at_clock(clock::time_point time) {
  auto const all = sessions;  // a copy: dropped sessions leave the set
  for (auto const& s : all) s->check_time(time);
  for (auto const ask : keys.sweep(time)) rt.cancel(ask);
  for (std::size_t why = 0; why < drop_reasons; ++why)
    if (auto const n = drops_logged[why].take_left_out(time); n != 0)
      log(fmt::format("{} more clients were dropped ({})", n, name_of(static_cast<drop_reason>(why))));
  if (others_ask != 0) --others_ask;
  if (time - traces_cleared >= std::chrono::seconds(1)) tables.clear(table::traces), traces_cleared = time;
}

void service_core::log_drop(drop_reason why, std::string const& line) {
  counters.count_drop(why);
  if (drops_logged[static_cast<std::size_t>(why)].admits(now())) log(line);
}

void service_core::log_to(std::function<void(std::string const&)> write) {
  log = [write = std::move(write)](std::string const& line) {
    auto const on_throw = [&line](char const* text) {
      std::fprintf(stderr, "rondo: the service's log threw an exception: %s; the line was: %s\n", text,
                   line.c_str());
    };
    if (write) call_caught([&] { write(line); }, on_throw);
  };
}

std::uint64_t service_core::abandon_all() {
  std::uint64_t left = 0;
  auto const all = sessions;
  for (auto const& s : all) left += s->abandon();
  unfinished.clear();
  return left;
}

}  // namespace rondo::service
