// Outcomes of keyed messages, so that a message that a client resends after losing its connection is handled only once.
//
// The cache lives as long as the service. A session's records are kept while the client may still ask for them: until it
// settles them (`settled_below`), or until nothing was heard from it for `forget_after`. A record that may still be asked
// for is never evicted: new keys beyond a limit are refused. A peer (all clients of one address or one user) gets at most
// half of the cache.
//
// Threads: any; one mutex.
#pragma once

#include <chrono>
#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "runtime/messaging/completions.hpp"

namespace rondo::service {

class session;

/// A request that waits for an outcome. Its connection may be gone.
struct key_waiter {
  std::weak_ptr<session> connection;
  std::uint64_t request = 0;
};

class dedup_cache {
 public:
  static constexpr std::size_t keys_per_session = 4096;
  static constexpr std::size_t sessions_limit = 65'536;
  static constexpr std::size_t keys_limit = 131'072;  // of all sessions together, about 400 bytes each
  static constexpr std::chrono::minutes forget_after{10};

  enum class entry {
    fresh,         // a new key: the caller sends the message and calls `settle` with its outcome
    pending,       // sent before and not done: the waiter gets its outcome
    known,         // sent before and done: `outcome` is set
    settled,       // the client has settled this key
    session_full,  // the session has too many unsettled keys
    peer_full,     // the peer has too many keys or sessions
    full,          // the service has too many keys or sessions
  };
  /// Opens `key` in `session_id`, and forgets that session's keys below `settled_below`.
  entry open(std::uint64_t session_id, std::uint64_t key, std::uint64_t settled_below,
             std::string const& peer, key_waiter waiter, answer& outcome);
  /// Records which ask a fresh key's message became. The ask may have completed already.
  void note_ask(std::uint64_t session_id, std::uint64_t key, actor_id ask);
  /// Records a message's outcome. Returns the requests that wait for it.
  std::vector<key_waiter> settle(std::uint64_t session_id, std::uint64_t key, answer const& outcome);
  /// Forgets sessions that have been silent for `forget_after`; does not visit the others. Returns their asks that still
  /// wait, for the caller to cancel: nobody wants the answers.
  std::vector<actor_id> sweep(std::chrono::steady_clock::time_point now);

 private:
  struct record {
    bool done = false;
    answer outcome;
    actor_id ask{};
    std::vector<key_waiter> waiters;
  };
  struct share {
    std::size_t sessions = 0, keys = 0;
  };
  struct client {
    std::uint64_t session_id = 0;
    std::map<std::uint64_t, record> known;
    std::uint64_t settled_below = 0;
    std::size_t pending = 0;
    std::string peer;  // the first peer that used the session
    std::chrono::steady_clock::time_point heard{};
  };
  using records = std::map<std::uint64_t, record>;
  /// Finds or adds the session's client, and moves it to the end of `clients_`. Null if there are too many: `why` is the
  /// reason.
  client* heard_of(std::uint64_t session_id, std::string const& peer,
                   std::chrono::steady_clock::time_point now, entry& why);
  records::iterator forget(client& c, records::iterator at);

  std::mutex mutex_;
  std::list<client> clients_;  // least recently heard from first
  std::unordered_map<std::uint64_t, std::list<client>::iterator> by_session_;
  std::unordered_map<std::string, share> by_peer_;
  std::size_t keys_ = 0;
};

}  // namespace rondo::service
