// The outcomes of messages that clients gave a key: so that one which is sent again, because its response was lost with
// a connection, is not handled again.
//
// The book belongs to one life of the service. A session's records are kept while the client may still ask for them: until
// it says that it has their outcome (`settled_below`), or until it has not been heard of for `forget_after`. An outcome that
// may still be asked for is never given up for room: what is beyond a limit is refused. No peer, which is all clients of one
// address or one user, takes more than half of the book.
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

/// Who waits for an outcome: a request of a connection, which may be gone.
struct key_waiter {
  std::weak_ptr<session> connection;
  std::uint64_t request = 0;
};

class dedup_cache {
 public:
  static constexpr std::size_t keys_per_session = 4096;
  static constexpr std::size_t sessions_limit = 65'536;
  static constexpr std::size_t keys_limit = 131'072;  // of all sessions, of some 400 bytes each
  static constexpr std::chrono::minutes forget_after{10};

  enum class entry {
    fresh,         // the caller sends the message, and calls `settle` with its outcome
    pending,       // it was sent before: the waiter hears of its outcome
    known,         // `outcome` is that of the message sent before
    settled,       // the client has said that it needs this key no more
    session_full,  // too many keys of this session are not settled
    peer_full,     // too many keys or sessions of this peer are remembered
    full,          // or of all together
  };
  /// Opens `key` in `session_id`, and forgets that session's keys below `settled_below`.
  entry open(std::uint64_t session_id, std::uint64_t key, std::uint64_t settled_below,
             std::string const& peer, key_waiter waiter, answer& outcome);
  /// The message of a fresh key is this ask; it may have its outcome already.
  void note_ask(std::uint64_t session_id, std::uint64_t key, actor_id ask);
  /// The message has its outcome; those who wait for it.
  std::vector<key_waiter> settle(std::uint64_t session_id, std::uint64_t key, answer const& outcome);
  /// Forgets sessions that nothing was heard of; looks at no others. Returns those of their asks that still wait, to be
  /// cancelled: nobody will want their answers.
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
    std::string peer;  // the first that used the session
    std::chrono::steady_clock::time_point heard{};
  };
  using records = std::map<std::uint64_t, record>;
  /// The client of that session, new if need be, now the last one of all; null when there are too many, and why.
  client* heard_of(std::uint64_t session_id, std::string const& peer,
                   std::chrono::steady_clock::time_point now, entry& why);
  records::iterator forget(client& c, records::iterator at);

  std::mutex mutex_;
  std::list<client> clients_;  // the one that was heard of longest ago first
  std::unordered_map<std::uint64_t, std::list<client>::iterator> by_session_;
  std::unordered_map<std::string, share> by_peer_;
  std::size_t keys_ = 0;
};

}  // namespace rondo::service
