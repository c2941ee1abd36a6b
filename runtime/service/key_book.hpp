// What became of the messages that clients gave a key: so that one which is sent again, because its response was lost with
// a connection, is not handled again.
//
// The book belongs to one life of the service. A session's records are kept while the client may still ask for them: until
// it says that it has their outcome (`settled_below`), or until it has not been heard of for `forget_after`.
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

#include "runtime/completions.hpp"

namespace rondo::service {

class session;

/// Who waits for an outcome: a request of a connection, which may be gone.
struct key_waiter {
  std::weak_ptr<session> connection;
  std::uint64_t request = 0;
};

class key_book {
 public:
  static constexpr std::size_t keys_per_session = 4096;
  static constexpr std::size_t sessions_limit = 65'536;
  static constexpr std::chrono::minutes forget_after{10};

  enum class entry {
    fresh,    // the caller sends the message, and calls `settle` with its outcome
    pending,  // it was sent before: the waiter hears of its outcome
    known,    // `outcome` is that of the message sent before
    settled,  // the client has said that it needs this key no more
    full,     // too many keys, or sessions, are open
  };
  /// Opens `key` in `session_id`, and forgets that session's keys below `settled_below`.
  entry open(std::uint64_t session_id, std::uint64_t key, std::uint64_t settled_below, key_waiter waiter,
             answer& outcome);
  /// The message has its outcome; those who wait for it.
  std::vector<key_waiter> settle(std::uint64_t session_id, std::uint64_t key, answer const& outcome);
  /// Forgets sessions that nothing was heard of; looks at no others.
  void sweep(std::chrono::steady_clock::time_point now);

 private:
  struct record {
    bool done = false;
    answer outcome;
    std::vector<key_waiter> waiters;
  };
  struct client {
    std::uint64_t session_id = 0;
    std::map<std::uint64_t, record> records;
    std::uint64_t settled_below = 0;
    std::size_t pending = 0;
    std::chrono::steady_clock::time_point heard{};
  };
  /// The client of that session, new if need be, now the last one of all; null when there are too many.
  client* heard_of(std::uint64_t session_id, std::chrono::steady_clock::time_point now);

  std::mutex mutex_;
  std::list<client> clients_;  // the one that was heard of longest ago first
  std::unordered_map<std::uint64_t, std::list<client>::iterator> by_session_;
};

}  // namespace rondo::service
