#include "runtime/messaging/any_ref.hpp"

#include <algorithm>

#include "runtime/messaging/deliver.hpp"
#include "runtime/messaging/typed_answer.hpp"

namespace rondo {

namespace {

message_header header_for(std::uint32_t type, tell_options options) noexcept {
  message_header h = plain_header(options);
  h.type = type;
  return h;
}

outgoing outgoing_for(actor_id to, std::span<std::byte const> payload,
                      message_header const& header) noexcept {
  outgoing o;
  o.to = to;
  o.body.header = header;
  o.body.bytes = static_cast<std::uint32_t>(payload.size());
  __builtin_memcpy(o.body.payload, payload.data(), payload.size());
  return o;
}

}  // namespace

message_info const* any_ref::find_message(std::uint32_t type) const noexcept {
  auto const found = std::ranges::find(behaviour_->messages, type, &message_info::id);
  return found == behaviour_->messages.end() ? nullptr : &*found;
}

errc any_ref::check(std::uint32_t type, std::size_t bytes) const noexcept {
  auto const* const message = find_message(type);
  if (message == nullptr) return errc::unknown_message;
  return message->bytes == bytes ? errc::ok : errc::wrong_size;
}

errc any_ref::try_tell(std::uint32_t type, std::span<std::byte const> payload, tell_options options) const {
  if (auto const refused = check(type, payload.size()); refused != errc::ok) return refused;
  auto const bytes = static_cast<std::uint32_t>(payload.size());
  auto const header = header_for(type, options);
  if (options.trace != 0)
    return messenger_->try_post_traced(id_, header, payload.data(), bytes, options.trace);
  return messenger_->try_post(id_, header, payload.data(), bytes);
}

void any_ref::tell(std::uint32_t type, std::span<std::byte const> payload, tell_options options,
                   answer_handler handler) const {
  if (auto const refused = check(type, payload.size()); refused != errc::ok)
    return deliver_later(messenger_->executor(), detail::with_work(std::move(handler)), answer{refused, {}});
  messenger_->post(outgoing_for(id_, payload, header_for(type, options)), options.wait_for_room,
                   options.trace, detail::with_work(std::move(handler)));
}

actor_id any_ref::ask(std::uint32_t type, std::span<std::byte const> payload, ask_options options,
                      answer_handler handler) const {
  auto refused = check(type, payload.size());
  if (refused == errc::ok && !find_message(type)->has_reply) refused = errc::no_reply;
  if (refused != errc::ok) {
    deliver_later(messenger_->executor(), detail::with_work(std::move(handler)), answer{refused, {}});
    return {};
  }
  return messenger_->ask(outgoing_for(id_, payload, header_for(type, {.priority = options.priority})),
                         options.timeout, options.trace, detail::with_work(std::move(handler)));
}

}  // namespace rondo
