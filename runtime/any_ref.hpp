// A reference to an actor whose behaviour is known at run time only: messages are a type's number and bytes. What sockets
// and scripts send through; C++ that knows the behaviour uses actor_ref.
//
// Three words, does not own the actor, and must not outlive its runtime. Threads: any.
#pragma once

#include <algorithm>

#include "runtime/actor_ref.hpp"
#include "runtime/deliver.hpp"
#include "runtime/module_info.hpp"

namespace rondo {

class any_ref {
 public:
  any_ref(messenger& m, actor_id id, behaviour_info const& behaviour) noexcept
      : messenger_(&m), id_(id), behaviour_(&behaviour) {}

  actor_id id() const noexcept { return id_; }
  behaviour_info const& behaviour() const noexcept { return *behaviour_; }

  /// The message of this number that the actor takes; null when it takes none.
  message_info const* find_message(std::uint32_t type) const noexcept {
    auto const found = std::ranges::find(behaviour_->messages, type, &message_info::id);
    return found == behaviour_->messages.end() ? nullptr : &*found;
  }
  /// Why a message of `bytes` bytes must not be sent: unknown_message, wrong_size; ok when it may.
  errc check(std::uint32_t type, std::size_t bytes) const noexcept {
    auto const* const message = find_message(type);
    if (message == nullptr) return errc::unknown_message;
    return message->bytes == bytes ? errc::ok : errc::wrong_size;
  }

  /// Whether try_tell's outcome is the message's fate: the actor's device shares the memory of this process.
  bool is_near() const noexcept { return messenger_->shares_memory(); }
  /// As actor_ref::try_tell; errors also those of `check`.
  errc try_tell(std::uint32_t type, std::span<std::byte const> payload, tell_options options = {}) const {
    if (auto const refused = check(type, payload.size()); refused != errc::ok) return refused;
    auto const bytes = static_cast<std::uint32_t>(payload.size());
    auto const header = header_for(type, options);
    if (options.trace != 0)
      return messenger_->try_post_traced(id_, header, payload.data(), bytes, options.trace);
    return messenger_->try_post(id_, header, payload.data(), bytes);
  }
  /// As actor_ref::tell; `handler` gets what became of it, errors also those of `check`.
  void tell(std::uint32_t type, std::span<std::byte const> payload, tell_options options,
            answer_handler handler) const {
    if (auto const refused = check(type, payload.size()); refused != errc::ok)
      return deliver_later(messenger_->executor(), std::move(handler), answer{refused, {}});
    messenger_->post(outgoing_for(payload, header_for(type, options)), options.wait_for_room, options.trace,
                     std::move(handler));
  }
  /// As actor_ref::ask; `handler` gets the reply as it is, errors also those of `check`, and no_reply for a message that
  /// is only told.
  void ask(std::uint32_t type, std::span<std::byte const> payload, ask_options options,
           answer_handler handler) const {
    auto refused = check(type, payload.size());
    if (refused == errc::ok && !find_message(type)->has_reply) refused = errc::no_reply;
    if (refused != errc::ok)
      return deliver_later(messenger_->executor(), std::move(handler), answer{refused, {}});
    messenger_->ask(outgoing_for(payload, header_for(type, {.priority = options.priority})),
                    static_cast<std::uint64_t>(options.timeout.count()), options.trace, std::move(handler));
  }

 private:
  static message_header header_for(std::uint32_t type, tell_options options) noexcept {
    message_header h = plain_header(options);
    h.type = type;
    return h;
  }
  outgoing outgoing_for(std::span<std::byte const> payload, message_header const& header) const noexcept {
    outgoing o;
    o.to = id_;
    o.body.header = header;
    o.body.bytes = static_cast<std::uint32_t>(payload.size());
    __builtin_memcpy(o.body.payload, payload.data(), payload.size());
    return o;
  }

  messenger* messenger_;
  actor_id id_;
  behaviour_info const* behaviour_;
};

}  // namespace rondo
