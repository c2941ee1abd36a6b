// The tables that all clients of a service share: how many places are taken, and who may take one more.
//
// A peer is all clients of one address with one token, or of one user of this machine. No peer may keep the others out,
// so it takes a place only while it holds fewer than are free: one peer alone gets half of a table, the next one a
// quarter, and so on. The last sixteenth is reserved for operators: clients whose token has the role admin. The owner,
// on the Unix socket, may take every place. docs/security.md lists the tables and their limits.
//
// Threads: any. Relaxed throughout: numbers that are compared with limits, in no order with anything else. Two threads
// that compete for the last place may both be refused.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <utility>

namespace rondo::service {

enum class table : std::uint8_t {
  strangers,       // connections that have not said hello
  connections,     // that have
  asks,            // that wait for an answer
  waiting_tells,   // that wait for room in a mailbox
  controls,        // lifecycle operations and inspections in progress
  actors,          // of the runtime, which keeps this table and the next
  actor_bytes,     // of their states and large mailboxes
  pinned_teams,    // of the runtime: each serves one pinned actor
  mail_rings,      // of the runtime: clients' actors that share them
  keys,            // remembered
  key_sessions,    // with keys
  response_bytes,  // that clients have not read
  traces,          // messages that clients had traced in the last second
};
inline constexpr std::size_t table_count = 13;

/// As in the source: a label of the metrics.
constexpr char const* name_of(table t) noexcept {
  constexpr char const* names[table_count] = {
      "strangers",    "connections", "asks", "waiting_tells", "controls",       "actors", "actor_bytes",
      "pinned_teams", "mail_rings",  "keys", "key_sessions",  "response_bytes", "traces"};
  return names[static_cast<std::size_t>(t)];
}

/// Which places of a table a client may take.
enum class standing : std::uint8_t {
  client,    // its share, without the reserve
  operates,  // its share, with the reserve: a token with the role admin
  owns,      // every place: this user, on the Unix socket, or anybody if there are no tokens
};

class quotas {
 public:
  static constexpr std::uint64_t reserved_part = 16;  // one place in so many is for operators

  /// What the clients of one peer hold.
  class peer {
   public:
    peer(quotas& all, std::string name, standing who) : name_(std::move(name)), who_(who), all_(all) {}
    /// Its address or user, for human readers.
    std::string const& name() const noexcept { return name_; }
    standing who() const noexcept { return who_; }
    std::uint64_t held(table t) const noexcept {
      return held_[static_cast<std::size_t>(t)].load(std::memory_order_relaxed);
    }
    /// Takes `n` places, if it may.
    bool take(table t, std::uint64_t n = 1) noexcept;
    /// Counts them without asking.
    void add(table t, std::uint64_t n = 1) noexcept;
    void give_back(table t, std::uint64_t n = 1) noexcept;
    /// For a table of which a client may take more than is left: whether it may begin to. What clients take does not
    /// keep operators out.
    bool has_room(table t) const noexcept;
    /// Of one that `has_room` has turned away.
    void count_refusal(table t) noexcept { all_.count_refusal(t); }
    /// Why it got no place, for the client.
    std::string why_refused(table t) const;

   private:
    std::string const name_;
    standing const who_;
    quotas& all_;
    std::array<std::atomic<std::uint64_t>, table_count> held_{};
  };

  /// The peer of that name and standing. `token` tells the clients of one address apart. The quotas outlive it.
  std::shared_ptr<peer> of(std::string const& name, std::uint64_t token, standing who);

  /// Whether a peer that holds `held` may take `n` more places of `limit`, of which `used` are taken.
  static constexpr bool admits(standing who, std::uint64_t held, std::uint64_t used, std::uint64_t limit,
                               std::uint64_t n = 1) noexcept {
    auto const taken = used + (who == standing::client ? limit / reserved_part : 0);
    if (who == standing::owns) return used + n <= limit;
    return taken < limit && held + n <= limit - taken;
  }

  /// The numbers of one table.
  struct use {
    std::uint64_t used = 0, limit = 0, refused = 0;
  };
  use read(table t) const noexcept;
  void set_limit(table t, std::uint64_t n) noexcept;
  /// For a table that somebody else keeps.
  void set_used(table t, std::uint64_t n) noexcept;
  void count_refusal(table t) noexcept { at(t).refused.fetch_add(1, std::memory_order_relaxed); }
  /// Gives all places of a table back, of all peers: of one that holds events of the last second.
  void clear(table t);

 private:
  struct places {
    std::atomic<std::uint64_t> used{0}, limit{~std::uint64_t{0}}, refused{0};
  };
  places& at(table t) noexcept { return tables_[static_cast<std::size_t>(t)]; }
  places const& at(table t) const noexcept { return tables_[static_cast<std::size_t>(t)]; }

  std::array<places, table_count> tables_;
  std::mutex mutex_;  // guards the members below
  std::unordered_map<std::string, std::weak_ptr<peer>> peers_;
  std::size_t next_look_ = 64;  // with so many peers, those that are gone are forgotten
};

using quota_peer = std::shared_ptr<quotas::peer>;

/// A place in a table, given back at its end. Empty if it was refused.
class quota_place {
 public:
  quota_place() = default;
  quota_place(quota_peer const& of, table t) : peer_(of->take(t) ? of : nullptr), table_(t) {}
  /// Counts one without asking.
  static quota_place counted(quota_peer const& of, table t) {
    of->add(t);
    quota_place p;
    p.peer_ = of;
    p.table_ = t;
    return p;
  }
  quota_place(quota_place&& other) noexcept : peer_(std::move(other.peer_)), table_(other.table_) {}
  quota_place& operator=(quota_place&& other) noexcept {
    give_back();
    peer_ = std::move(other.peer_);
    table_ = other.table_;
    return *this;
  }
  ~quota_place() { give_back(); }
  explicit operator bool() const noexcept { return peer_ != nullptr; }
  void give_back() noexcept {
    if (auto const of = std::exchange(peer_, nullptr)) of->give_back(table_);
  }

 private:
  quota_peer peer_;
  table table_{};
};

}  // namespace rondo::service
