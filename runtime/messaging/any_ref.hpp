// A reference to an actor whose behaviour is known only at run time: a message is a type id and bytes. For sockets and
// scripts; C++ code that knows the behaviour uses actor_ref.
//
// A ref is three words, does not own the actor, and must not outlive its runtime. Threads: any.
#pragma once

#include <span>

#include "runtime/base/module_info.hpp"
#include "runtime/messaging/actor_ref.hpp"

namespace rondo {

class any_ref {
 public:
  /// For the runtime.
  any_ref(messenger& m, actor_id id, behaviour_info const& behaviour) noexcept
      : messenger_(&m), id_(id), behaviour_(&behaviour) {}

  /// Names this life of the actor.
  actor_id id() const noexcept { return id_; }
  /// Its behaviour in the module in which it was looked up.
  behaviour_info const& behaviour() const noexcept { return *behaviour_; }
  /// As for actor_ref.
  friend bool operator==(any_ref const& a, any_ref const& b) noexcept {
    return a.id_ == b.id_ && a.messenger_ == b.messenger_;
  }
  friend std::strong_ordering operator<=>(any_ref const& a, any_ref const& b) noexcept {
    auto const by_place = a.id_ <=> b.id_;
    return by_place != 0 ? by_place : std::compare_three_way{}(a.messenger_, b.messenger_);
  }
  /// For operations with their own headers, such as runtime/lifecycle.hpp.
  messenger& mail() const noexcept { return *messenger_; }

  /// The actor's message with this type id; null if it does not take it.
  message_info const* find_message(std::uint32_t type) const noexcept;
  /// ok if a message of `bytes` bytes may be sent; otherwise unknown_message or wrong_size.
  errc check(std::uint32_t type, std::size_t bytes) const noexcept;

  /// Whether try_tell's outcome is final: the actor's device shares the memory of this process.
  bool is_near() const noexcept { return messenger_->is_near(); }
  /// As actor_ref::try_tell; may also fail as `check`.
  errc try_tell(std::uint32_t type, std::span<std::byte const> payload, tell_options options = {}) const;
  /// As actor_ref::tell; `handler` gets the outcome. May also fail as `check`.
  void tell(std::uint32_t type, std::span<std::byte const> payload, tell_options options,
            answer_handler handler) const;
  /// As actor_ref::ask; `handler` gets the untyped reply. May also fail as `check`, and with no_reply for a message
  /// without a reply. Returns the ask's id for runtime::cancel; an invalid id if no ask was opened.
  actor_id ask(std::uint32_t type, std::span<std::byte const> payload, ask_options options,
               answer_handler handler) const;

 private:
  messenger* messenger_;
  actor_id id_;
  behaviour_info const* behaviour_;
};

}  // namespace rondo

// -- for the standard library

template <>
struct std::hash<rondo::any_ref> {
  std::size_t operator()(rondo::any_ref const& ref) const noexcept {
    return std::hash<rondo::actor_id>{}(ref.id());
  }
};
