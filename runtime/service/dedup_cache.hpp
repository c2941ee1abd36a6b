// Outcomes of keyed messages, so that a message that a client resends after losing its connection is handled only once.
//
// The cache lives as long as the service. A session's records are kept while the client may still ask for them: until
// it settles them (`settled_below`), or until nothing was heard from it for `forget_after`. A record that may still be
// asked for is never evicted: new keys beyond a session's limit or its peer's share (quotas.hpp) are refused. A session
// belongs to one token: a client with another token that chooses the same number has a session of its own.
//
// Threads: any; one mutex.
#pragma once

#include <chrono>
#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "runtime/messaging/completions.hpp"
#include "runtime/service/net/quotas.hpp"

namespace rondo::service {

class session;

/// Names a client across its connections.
struct key_session {
  std::uint64_t id = 0;     // chosen by the client
  std::uint64_t token = 0;  // token::number; 0: it needs none
  bool operator==(key_session const&) const = default;
};

/// A request that waits for an outcome. Its connection may be gone.
struct key_waiter {
  std::weak_ptr<session> connection;
  std::uint64_t request = 0;
};

class dedup_cache {
 public:
  static constexpr std::size_t keys_per_session = 4096;
  static constexpr std::chrono::minutes forget_after{10};

  enum class entry {
    fresh,         // a new key: the caller sends the message and calls `settle` with its outcome
    pending,       // sent before and not done: the waiter gets its outcome
    known,         // sent before and done: `outcome` is set
    settled,       // the client has settled this key
    session_full,  // the session has too many unsettled keys
    no_session,    // the peer gets no more sessions
    no_key,        // the peer gets no more keys
  };
  /// Opens `key` in `session_id`, and forgets that session's keys below `settled_below`.
  entry open(key_session const& who, std::uint64_t key, std::uint64_t settled_below, quota_peer const& peer,
             key_waiter waiter, answer& outcome);
  /// Forgets a fresh key, whose message was not sent.
  void withdraw(key_session const& who, std::uint64_t key);
  /// Records which ask a fresh key's message became. The ask may have completed already.
  void note_ask(key_session const& who, std::uint64_t key, actor_id ask);
  /// Records a message's outcome. Returns the requests that wait for it.
  std::vector<key_waiter> settle(key_session const& who, std::uint64_t key, answer const& outcome);
  /// Forgets sessions that have been silent for `forget_after`; does not visit the others. Returns their asks that
  /// still wait, for the caller to cancel: nobody wants the answers.
  std::vector<actor_id> sweep(std::chrono::steady_clock::time_point now);

 private:
  struct record {
    bool done = false;
    answer outcome;
    actor_id ask{};
    std::vector<key_waiter> waiters;
    std::size_t next_look = 16;  // with so many waiters, those of closed connections are forgotten
  };
  struct client {
    key_session who;
    std::map<std::uint64_t, record> known;
    std::uint64_t settled_below = 0;
    std::size_t pending = 0;
    quota_peer peer;  // the first peer that used the session
    std::chrono::steady_clock::time_point heard{};
  };
  using records = std::map<std::uint64_t, record>;
  struct hash {
    std::size_t operator()(key_session const& s) const noexcept {
      return std::hash<std::uint64_t>()(s.id ^ s.token * 0x9e3779b97f4a7c15ull);
    }
  };
  /// Finds or adds the session's client, and moves it to the end of `clients_`. Null if the peer gets no more.
  client* heard_of(key_session const& who, quota_peer const& peer, std::chrono::steady_clock::time_point now);
  static records::iterator forget(client& c, records::iterator at);

  std::mutex mutex_;
  std::list<client> clients_;  // least recently heard from first
  std::unordered_map<key_session, std::list<client>::iterator, hash> by_session_;
};

}  // namespace rondo::service
