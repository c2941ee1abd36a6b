// A CAF actor system with a chosen number of workers that ends its actors on destruction.
#pragma once

#include <caf/all.hpp>
#include <cstdint>
#include <semaphore>
#include <string>
#include <vector>

namespace rondo::bench {

using start_atom = caf::atom_constant<caf::atom("start")>;
using urgent_atom = caf::atom_constant<caf::atom("urgent")>;
using next_atom = caf::atom_constant<caf::atom("next")>;

class caf_system {
 public:
  explicit caf_system(std::size_t workers, std::string const& policy = "stealing")
      : config_(workers, policy), system_(config_) {}

  /// CAF waits for its actors in the destructor, and actors that reference each other never end by themselves.
  ~caf_system() {
    for (auto const& actor : actors_) caf::anon_send_exit(actor, caf::exit_reason::user_shutdown);
  }
  caf_system(caf_system const&) = delete;
  caf_system& operator=(caf_system const&) = delete;

  template <caf::spawn_options Options = caf::no_spawn_options, class Behaviour, class... Args>
  caf::actor spawn(Behaviour behaviour, Args&&... args) {
    actors_.push_back(system_.spawn<Options>(std::move(behaviour), std::forward<Args>(args)...));
    return actors_.back();
  }

  caf::actor_system& system() { return system_; }
  std::vector<caf::actor>& actors() { return actors_; }

 private:
  struct config : caf::actor_system_config {
    config(std::size_t workers, std::string const& policy) {
      set("scheduler.max-threads", workers);
      set("scheduler.policy", caf::atom_from_string(policy));
    }
  };
  config config_;
  caf::actor_system system_;
  std::vector<caf::actor> actors_;
};

/// Counts the messages that an actor received; the thread that started the work waits for the last one.
class caf_tally {
 public:
  void expect(std::uint64_t messages) {
    left_ = messages;
    sum_ = 0;
  }
  /// Called by the one actor that counts. Returns false on the last expected message.
  bool count(std::uint64_t value) {
    sum_ += value;
    if (--left_ > 0) return true;
    done_.release();
    return false;
  }
  std::uint64_t wait() {
    done_.acquire();
    return sum_;
  }

 private:
  std::uint64_t left_ = 0;
  std::uint64_t sum_ = 0;
  std::binary_semaphore done_{0};
};

}  // namespace rondo::bench
