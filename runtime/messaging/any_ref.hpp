// A reference to an actor whose behaviour is known at run time only: messages are a type's number and bytes. What sockets
// and scripts send through; C++ that knows the behaviour uses actor_ref.
//
// Three words, does not own the actor, and must not outlive its runtime. Threads: any.
#pragma once

#include <span>

#include "runtime/base/module_info.hpp"
#include "runtime/messaging/actor_ref.hpp"

namespace rondo {

class any_ref {
 public:
  any_ref(messenger& m, actor_id id, behaviour_info const& behaviour) noexcept
      : messenger_(&m), id_(id), behaviour_(&behaviour) {}

  actor_id id() const noexcept { return id_; }
  behaviour_info const& behaviour() const noexcept { return *behaviour_; }

  /// The message of this number that the actor takes; null when it takes none.
  message_info const* find_message(std::uint32_t type) const noexcept;
  /// Why a message of `bytes` bytes must not be sent: unknown_message, wrong_size; ok when it may.
  errc check(std::uint32_t type, std::size_t bytes) const noexcept;

  /// Whether try_tell's outcome is the message's fate: the actor's device shares the memory of this process.
  bool is_near() const noexcept { return messenger_->is_near(); }
  /// As actor_ref::try_tell; errors also those of `check`.
  errc try_tell(std::uint32_t type, std::span<std::byte const> payload, tell_options options = {}) const;
  /// As actor_ref::tell; `handler` gets what became of it, errors also those of `check`.
  void tell(std::uint32_t type, std::span<std::byte const> payload, tell_options options,
            answer_handler handler) const;
  /// As actor_ref::ask; `handler` gets the reply as it is, errors also those of `check`, and no_reply for a message that
  /// is only told. Returns the ask's number for runtime::cancel, or no ask's when it was refused at once.
  actor_id ask(std::uint32_t type, std::span<std::byte const> payload, ask_options options,
               answer_handler handler) const;

 private:
  messenger* messenger_;
  actor_id id_;
  behaviour_info const* behaviour_;
};

}  // namespace rondo
