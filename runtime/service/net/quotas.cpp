#include "runtime/service/net/quotas.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace rondo::service {

namespace {

/// The places of a table in words, and what to do when a client gets none.
struct words {
  char const *places, *advice;
};
constexpr words words_of[table_count] = {
    {"connections without hello", "say hello"},
    {"connections", "close some, or raise limits.clients"},
    {"open asks", "wait until some are answered, or raise runtime.asks"},
    {"tells that wait for room", "wait until some are accepted, or raise runtime.asks"},
    {"operations on actors", "wait until some are done"},
    {"actors", "terminate some, or raise runtime.actors"},
    {"bytes of actors", "terminate some, launch smaller mailboxes, or raise runtime.state_bytes"},
    {"pinned actors", "terminate some, or raise runtime.pinned_teams"},
    {"actors that share mail rings", "terminate some, or raise runtime.mail_blocks"},
    {"remembered keys", "send settled_below, or raise limits.keys"},
    {"sessions with keys", "use one session per client, or raise limits.keys"},
    {"bytes of unread responses", "read them, or raise limits.response_bytes"},
    {"traced messages of this second", "trace fewer messages"},
};

}  // namespace

bool quotas::peer::take(table t, std::uint64_t n) noexcept {
  auto& all = all_.at(t);
  auto const used = all.used.fetch_add(n, std::memory_order_relaxed);
  auto const held = held_[static_cast<std::size_t>(t)].fetch_add(n, std::memory_order_relaxed);
  if (admits(who_, held, used, all.limit.load(std::memory_order_relaxed), n)) return true;
  give_back(t, n);
  all_.count_refusal(t);
  return false;
}

void quotas::peer::add(table t, std::uint64_t n) noexcept {
  all_.at(t).used.fetch_add(n, std::memory_order_relaxed);
  held_[static_cast<std::size_t>(t)].fetch_add(n, std::memory_order_relaxed);
}

void quotas::peer::give_back(table t, std::uint64_t n) noexcept {
  all_.at(t).used.fetch_sub(n, std::memory_order_relaxed);
  held_[static_cast<std::size_t>(t)].fetch_sub(n, std::memory_order_relaxed);
}

bool quotas::peer::has_room(table t) const noexcept {
  auto const now = all_.read(t);
  return who_ == standing::client ? admits(who_, held(t), now.used, now.limit) : held(t) < now.limit;
}

std::string quotas::peer::why_refused(table t) const {
  auto const now = all_.read(t);
  auto const& w = words_of[static_cast<std::size_t>(t)];
  return fmt::format("{} holds {} of {} {}, {} are free, and nobody gets more than are free{}; {}", name_,
                     held(t), now.limit, w.places, now.limit - std::min(now.limit, now.used),
                     who_ == standing::client ? " without the reserve for operators" : "", w.advice);
}

std::shared_ptr<quotas::peer> quotas::of(std::string const& name, std::uint64_t token, standing who) {
  auto const key = fmt::format("{} {} {}", static_cast<int>(who), token, name);
  std::lock_guard lock(mutex_);
  auto& known = peers_[key];
  if (auto const there = known.lock()) return there;
  auto const made = std::make_shared<peer>(*this, name, who);
  known = made;
  if (peers_.size() >= next_look_) {
    std::erase_if(peers_, [](auto const& p) { return p.second.expired(); });
    next_look_ = 2 * peers_.size() + 64;
  }
  return made;
}

quotas::use quotas::read(table t) const noexcept {
  auto const& p = at(t);
  return {p.used.load(std::memory_order_relaxed), p.limit.load(std::memory_order_relaxed),
          p.refused.load(std::memory_order_relaxed)};
}
void quotas::set_limit(table t, std::uint64_t n) noexcept { at(t).limit.store(n, std::memory_order_relaxed); }
void quotas::set_used(table t, std::uint64_t n) noexcept { at(t).used.store(n, std::memory_order_relaxed); }

void quotas::clear(table t) {
  std::lock_guard lock(mutex_);
  for (auto const& [key, one] : peers_)
    if (auto const p = one.lock()) p->give_back(t, p->held(t));
}

}  // namespace rondo::service
