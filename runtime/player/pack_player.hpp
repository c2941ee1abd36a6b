// The desk of a `cpu` device (kernels/actor/mail_pack.hpp): has packs of mail played by a GPU, and chooses for each
// portable behaviour where its handlers run, by what a message has cost in either place.
//
// The choice: at first mail is packed, then a team handles some, then the cheaper place gets it. Four times a second
// the other place gets one pack, or one turn of an actor, so the choice follows the load. A pack has as many messages
// as are played in 1 ms, but 64 at least; at most five packs are open, played or waiting (most_packs). So urgent mail
// waits some 5 ms at most for the pack that has its actor, and as long for its own, if 64 messages take no more than
// 1 ms.
//
// Threads: `serve` and `set_program` while no team runs; the others any.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "kernels/actor/mail_pack.hpp"
#include "kernels/mail/arena.hpp"
#include "runtime/base/device_report.hpp"
#include "runtime/messaging/obstacles.hpp"
#include "runtime/player/kernel_player.hpp"

namespace rondo {

// -- for the runtime

/// Where the handlers of portable behaviours run.
enum class portable_place : std::uint8_t { cheaper, host, gpu };

class pack_player final : public pack_desk {
 public:
  // -- for the runtime
  /// `player` null: teams handle all. They do, too, if it has no memory for packs.
  pack_player(std::vector<packed_behaviour const*> portable, std::shared_ptr<kernel_player> player,
              portable_place place, arena_ref arena, std::uint32_t teams, pack_room const& room = {});
  /// Precondition: no pack is being played.
  ~pack_player() override;
  pack_player(pack_player const&) = delete;
  pack_player& operator=(pack_player const&) = delete;

  /// `lines`: where messages to the device's actors wait. `report`: gets lines for the log.
  void serve(obstacles const& lines, std::function<void(std::string const&)> report);
  /// The behaviours of another module.
  void set_program(std::vector<packed_behaviour const*> portable);
  /// One for each portable behaviour, if there is a GPU. `name_of` tells the name by the place in the module.
  std::vector<portable_report> reports(std::function<std::string(std::uint32_t)> const& name_of) const;

  bool line_waits(actor_id to) const noexcept override;
  std::uint32_t packs(std::uint16_t behaviour) noexcept override;
  mail_pack* open() noexcept override;
  void play(mail_pack& p) noexcept override;
  mail_pack* take_ended() noexcept override;
  void close(mail_pack& p) noexcept override;
  void note_on_host(std::uint16_t behaviour, std::uint32_t messages, std::uint64_t ns) noexcept override;

 private:
  /// Of one behaviour. Relaxed throughout: each is a statistic of its own.
  struct costs {
    packed_behaviour const* what = nullptr;  // null: not portable
    std::atomic<std::uint64_t> on_gpu{0}, on_host{0}, packs{0};
    std::atomic<double> gpu_ns{0}, host_ns{0};    // of a message; 0: unknown
    std::atomic<std::uint64_t> looks_at_ns{0};    // when the other place gets some again
    std::atomic<std::uint32_t> most_messages{0};  // of a pack
    bool is_missing = false;                      // the GPU has no kernel for it
  };
  struct memory;

  static void learn(std::atomic<double>& ns, double now) noexcept;
  bool can_pack(costs const& c) const noexcept;
  bool is_cheaper_on_gpu(costs const& c) const noexcept;
  void begin(mail_pack& p) noexcept;
  void learn_from(mail_pack const& p, costs& c, std::uint64_t now) noexcept;
  void end(mail_pack& p, error_code why, std::string const& text) noexcept;
  void check(mail_pack& p) noexcept;
  std::string why(costs const& c) const;
  void make_packs();
  void say_what_is_missing() noexcept;
  void say(std::string const& line) noexcept;

  std::shared_ptr<kernel_player> player_;
  portable_place place_;
  arena_ref arena_;
  std::uint32_t teams_;
  pack_room room_;
  std::vector<std::unique_ptr<memory>> memory_;  // empty: nothing is ever packed
  bool has_no_memory_ = false;
  std::vector<std::unique_ptr<costs>> costs_;  // by behaviour
  obstacles const* lines_ = nullptr;
  std::function<void(std::string const&)> report_;
  std::mutex mutex_;              // guards the next six
  mail_pack* free_ = nullptr;     // a stack
  mail_pack* waiting_ = nullptr;  // to be filled by others until the GPU has less to do; opened first, first
  std::uint32_t played_ = 0;      // that the player has
  mail_pack* first_ended_ = nullptr;  // first come, first served
  mail_pack* last_ended_ = nullptr;
  std::uint64_t last_end_ns_ = 0;
  std::atomic<bool> is_lost_{false};
};

}  // namespace rondo
