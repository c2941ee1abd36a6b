// A message: a 28-byte header and at most 96 bytes of trivially copyable payload.
//
// A message type is any trivially copyable struct. Its identity is the hash of its qualified name (type_name.hpp),
// which is the same in every module, process, and device. Larger data travels as a buffer handle
// (kernels/buffers/buffer.hpp).
#pragma once

#include <compare>
#include <span>
#include <type_traits>

#include "kernels/base/portable.hpp"
#include "kernels/base/type_name.hpp"

namespace rondo {

inline constexpr std::size_t max_payload_bytes = 96;   // of a message
inline constexpr std::uint8_t default_priority = 128;  // of messages whose sender chooses none

/// Names one actor, or one pending ask of the host: an index, and a generation that tells its successive users apart.
struct actor_id {
  std::uint32_t index = ~0u;     // the place
  std::uint32_t generation = 0;  // counts the users of the place

  RONDO_HD friend constexpr bool operator==(actor_id a, actor_id b) noexcept {
    return a.index == b.index && a.generation == b.generation;
  }
  /// By index, then by generation.
  friend constexpr std::strong_ordering operator<=>(actor_id a, actor_id b) noexcept {
    return a.index != b.index ? a.index <=> b.index : a.generation <=> b.generation;
  }
  /// True for an id that was assigned. Its actor may have terminated since.
  RONDO_HD constexpr bool valid() const noexcept { return index != ~0u; }
};

// -- for the runtime

/// The same id, written as one word: a processor waits before it can load a whole id that was just stored as two.
RONDO_HD inline actor_id id_in_one_word(std::uint32_t index, std::uint32_t generation) noexcept {
  std::uint64_t const word = std::uint64_t{generation} << 32 | index;
  actor_id id;
  __builtin_memcpy(static_cast<void*>(&id), &word, sizeof id);
  return id;
}

// -- for programs

/// Asks of the host are addressed like actors, in an index range of their own.
inline constexpr std::uint32_t host_ask_bit = 0x8000'0000u;

/// An actor's index holds its cell in the device's arena in the low bits, and the device's number in the runtime above.
inline constexpr int device_shift = 24;
inline constexpr std::uint32_t max_devices = host_ask_bit >> device_shift;  // of one runtime
/// The number of the device where the actor lives.
RONDO_HD constexpr std::uint32_t device_of(actor_id id) noexcept { return id.index >> device_shift; }
/// The actor's cell in that device's arena.
RONDO_HD constexpr std::uint32_t cell_of(actor_id id) noexcept {
  return id.index & ((1u << device_shift) - 1);
}

/// The flags of a header.
enum message_flags : std::uint8_t {
  flag_wants_reply = 1,  // the sender waits for an answer at `reply_to`
  flag_is_reply = 2,     // this answers an earlier message; `correlation` says which
  flag_traced = 4,       // a trace_tag follows the payload: kernels/mail/trace.hpp
  flag_sampled = 8,      // this message's latency is recorded
};
/// The bits above the flags count how often the message has failed its actor; the count saturates.
inline constexpr int attempts_shift = 4;
inline constexpr std::uint32_t max_attempts = 15;  // that are counted

/// The fields that travel with a payload. Times are in nanoseconds of the device's clock.
struct message_header {
  std::uint32_t type = 0;         // the message's type_id
  std::uint32_t correlation = 0;  // chosen by the sender; a reply repeats it
  actor_id reply_to{};            // who gets the answer
  std::uint32_t deadline = 0;     // see set_deadline; 0: none
  std::uint32_t sent_low = 0;   // 48 bits of nanoseconds with sent_high: wraps after 78 hours; 0: not stamped
  std::uint16_t sent_high = 0;  // see sent_low
  std::uint8_t priority = default_priority;  // 255 is handled first
  std::uint8_t flags = 0;                    // message_flags, and the attempts above them

  /// When it was sent, modulo 2^48; 0: not stamped.
  RONDO_HD constexpr std::uint64_t sent_ns() const noexcept {
    return std::uint64_t{sent_high} << 32 | sent_low;
  }
  /// Whether a trace_tag follows the payload.
  RONDO_HD constexpr bool traced() const noexcept { return (flags & flag_traced) != 0; }
  /// Whether the header says when it was sent.
  RONDO_HD constexpr bool stamped() const noexcept { return sent_ns() != 0; }
  /// Sets the time of sending.
  RONDO_HD constexpr void stamp(std::uint64_t now_ns) noexcept {
    sent_low = static_cast<std::uint32_t>(now_ns);
    sent_high = static_cast<std::uint16_t>(now_ns >> 32);
    if (!stamped()) sent_low = 1;
  }
  /// Nanoseconds from sending to `now_ns`. Precondition: stamped less than 39 hours ago.
  RONDO_HD constexpr std::uint64_t age_ns(std::uint64_t now_ns) const noexcept {
    auto const age = (now_ns - sent_ns()) & 0xffff'ffff'ffffull;
    return age >> 47 == 0 ? age : 0;  // the sender's clock may be a little ahead
  }
  /// How often the message has failed its actor; at most max_attempts.
  RONDO_HD constexpr std::uint32_t attempts() const noexcept { return flags >> attempts_shift; }
  /// Counts one more failure.
  RONDO_HD constexpr void count_attempt() noexcept {
    if (attempts() < max_attempts) flags = static_cast<std::uint8_t>(flags + (1u << attempts_shift));
  }
  /// `us`: after `sent`; 0: none. Up to 35 minutes in microseconds, above that in milliseconds, rounded up. Above
  /// longest_deadline_us the deadline becomes refused_deadline, and the message is not to be sent.
  RONDO_HD constexpr void set_deadline(std::uint64_t us) noexcept {
    deadline = us < in_milliseconds       ? static_cast<std::uint32_t>(us)
               : us > longest_deadline_us ? refused_deadline
                                          : in_milliseconds | static_cast<std::uint32_t>((us + 999) / 1000);
  }
  /// Nanoseconds from sending to the deadline; 0: none.
  RONDO_HD constexpr std::uint64_t deadline_ns() const noexcept {
    auto const units = deadline & ~in_milliseconds;
    return std::uint64_t{units} * ((deadline & in_milliseconds) != 0 ? 1'000'000 : 1000);
  }
  /// Whether its deadline has passed.
  RONDO_HD constexpr bool expired(std::uint64_t now_ns) const noexcept {
    return deadline != 0 && age_ns(now_ns) > deadline_ns();
  }

  static constexpr std::uint64_t longest_deadline_us =
      86'400'000'000;                                     // a day: half of what a stamp can tell
  static constexpr std::uint32_t refused_deadline = ~0u;  // of a message that is not to be sent

 private:
  static constexpr std::uint32_t in_milliseconds = 0x8000'0000u;
};
static_assert(sizeof(message_header) == 28 && alignof(message_header) == 4);

/// A whole message outside a mailbox: in flight to or from the host, or stored.
struct message {
  message_header header{};                           // its header
  std::uint32_t bytes = 0;                           // of the payload
  alignas(16) std::byte payload[max_payload_bytes];  // its contents
};
static_assert(sizeof(message) == 128 && std::is_trivially_copyable_v<message>);

/// Words of 4 bytes that a message's payload of `bytes` fills. Never more than there are, even if a broken device wrote
/// `bytes`.
RONDO_HD constexpr std::uint32_t payload_words(std::uint32_t bytes) noexcept {
  return ((bytes < max_payload_bytes ? bytes : static_cast<std::uint32_t>(max_payload_bytes)) + 3) / 4;
}

/// A type that may be a message. The asserts of `checked_message` say which rule a type breaks.
template <class T>
concept message_type = std::is_class_v<T> && std::is_trivially_copyable_v<T> && sizeof(T) <= max_payload_bytes
                       && alignof(T) <= 16;

/// `type` is T, if T may be a message; otherwise an error of the compiler says why not.
template <class T>
struct checked_message {
  static_assert(std::is_class_v<T>, "a message must be a struct");
  static_assert(std::is_trivially_copyable_v<T>,
                "a message must be trivially copyable; put larger data in a buffer");
  static_assert(sizeof(T) <= max_payload_bytes,
                "a message holds at most 96 bytes; put larger data in a buffer");
  static_assert(alignof(T) <= 16, "a message may be aligned to at most 16 bytes");
  /// The message type.
  using type = T;
};

/// In a list of messages: `Request` is answered with `Reply`. A handler that replies with another type fails with
/// wrong_reply.
template <class Request, class Reply>
struct ask {
  /// What is asked.
  using request = typename checked_message<Request>::type;
  /// What is answered.
  using reply = typename checked_message<Reply>::type;
};

/// The messages that a behaviour takes, in the order in which a reader should see them.
template <class... Entries>
struct messages {};

namespace detail {

template <class Entry>
struct entry_traits {
  using request = typename checked_message<Entry>::type;
  using reply = void;
};
template <class Request, class Reply>
struct entry_traits<ask<Request, Reply>> {
  using request = typename ask<Request, Reply>::request;
  using reply = Reply;
};

template <class Message, class List>
struct find_entry;
template <class Message, class... Entries>
struct find_entry<Message, messages<Entries...>> {
  static constexpr bool taken = (std::is_same_v<typename entry_traits<Entries>::request, Message> || ...);
};

template <class Message, class List>
struct reply_of;
template <class Message>
struct reply_of<Message, messages<>> {
  using type = void;
};
template <class Message, class First, class... Rest>
struct reply_of<Message, messages<First, Rest...>> {
  using type = typename std::conditional_t<std::is_same_v<typename entry_traits<First>::request, Message>,
                                           std::type_identity<typename entry_traits<First>::reply>,
                                           reply_of<Message, messages<Rest...>>>::type;
};

}  // namespace detail

/// `Behaviour` lists `Message` among its messages.
template <class Behaviour, class Message>
concept takes = detail::find_entry<Message, typename Behaviour::messages>::taken;

namespace detail {
/// Where a message cannot be sent, the first error of the compiler says why.
template <class Behaviour, class Message>
struct send_check {
  static_assert(takes<Behaviour, typename checked_message<Message>::type>,
                "the actor does not take this message: add it to the `messages` of its behaviour");
  static constexpr bool done = true;
};
template <class Message>
inline constexpr bool is_span = false;
template <class Message, std::size_t Extent>
inline constexpr bool is_span<std::span<Message, Extent>> = true;
}  // namespace detail

/// What functions that send require of `Message`. It is never false for a single message: a message that may not be
/// sent is an error.
template <class Message, class Behaviour>
concept sent_to = !detail::is_span<Message> && detail::send_check<Behaviour, Message>::done;

/// The reply type of an ask, or void for a message without a reply.
template <class Behaviour, class Message>
using reply_to_t = typename detail::reply_of<Message, typename Behaviour::messages>::type;

namespace detail {
template <class Reply>
inline constexpr std::uint32_t reply_id = type_id<Reply>;
template <>
inline constexpr std::uint32_t reply_id<void> = 0;

template <class Behaviour, class Message>
struct ask_check {
  static_assert(send_check<Behaviour, Message>::done && !std::is_void_v<reply_to_t<Behaviour, Message>>,
                "this message has no reply: declare it as rondo::ask<Message, Reply>, or send it with tell");
  static constexpr bool done = true;
};
}  // namespace detail

/// What functions that ask require of `Message`; as sent_to.
template <class Message, class Behaviour>
concept asked_of =
    detail::send_check<Behaviour, Message>::done && detail::ask_check<Behaviour, Message>::done;

/// The type id of the reply of an ask, or 0 for a message without a reply.
template <class Behaviour, class Message>
inline constexpr std::uint32_t reply_id_of = detail::reply_id<reply_to_t<Behaviour, Message>>;

}  // namespace rondo
