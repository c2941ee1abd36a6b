// A pack: the next mail of many actors, for a GPU that runs their handlers in one go
// (kernels/portable/pack_layout.hpp). And the desk, at which the teams of a `cpu` device get packs, have them played,
// and take them back.
//
// A team *packs* an actor that it owns: it copies the state and the next messages, which stay in the mailbox, and then
// the actor belongs to no team. Once the pack has been played, some team ends it: it delivers what the handlers have
// sent, and takes each actor over, which gets its state, and gives back its messages. If a pack fails, nothing of it
// has happened: its actors' mail is handled by the team.
//
// Threads: a pack belongs to one thread at a time. The desk: any.
#pragma once

#include "kernels/base/atomic.hpp"
#include "kernels/base/message.hpp"
#include "kernels/base/portable.hpp"
#include "kernels/mail/mail_run.hpp"
#include "kernels/portable/kernel.hpp"
#include "kernels/portable/pack_layout.hpp"

namespace rondo {

// -- for the runtime

/// A message that a portable behaviour takes.
struct packed_entry {
  std::uint32_t type, bytes;  // its type_id and its size
  std::uint32_t reply;        // type_id of its answer; 0: none
};

/// A portable behaviour, as packs need it.
struct packed_behaviour {
  kernel_entry const* kernel;
  std::uint32_t state_bytes;
  std::span<packed_entry const> takes;
  std::span<std::uint32_t const> sends;  // type_ids
};

/// The most that a pack holds.
struct pack_room {
  std::uint32_t runs = 1024;
  std::uint32_t messages = 16384;
  std::uint32_t state_bytes = 512 << 10;
  std::uint32_t payload_bytes = 1 << 20;
  std::uint32_t sends = 32768;

  constexpr std::size_t states_at() const noexcept { return runs * sizeof(packed_run); }
  constexpr std::size_t payloads_at() const noexcept { return messages * sizeof(packed_message); }
  /// Of the three buffers.
  constexpr std::size_t bytes(int buffer) const noexcept {
    return buffer == 0   ? states_at() + state_bytes
           : buffer == 1 ? payloads_at() + payload_bytes + max_payload_bytes  // see mail_pack::add
                         : sizeof(send_list) + sends * sizeof(packed_send);
  }
};

class mail_pack {
 public:
  /// Where an actor's run comes from.
  struct part {
    std::uint32_t actor;   // its index
    std::uint32_t ticket;  // of its first message
    bool is_run;           // the messages lie in the mailbox as a run (mail_run.hpp)
  };

  /// `parts`: room.runs.
  mail_pack(pack_room const& room, part* parts) noexcept : room_(room), parts_(parts) {}
  /// Buffer `i` of three, of room.bytes(i), aligned to 64 bytes.
  void place(int i, std::byte* buffer) noexcept { buffers_[i] = buffer; }

  bool empty() const noexcept { return runs_ == 0; }
  /// Whether the next actor may find no room.
  bool is_full() const noexcept {
    return runs_ == room_.runs || messages_ >= most_messages ||
           room_.payload_bytes - payload_bytes_ < longest_run * max_payload_bytes;
  }
  std::uint32_t runs() const noexcept { return runs_; }
  std::uint32_t messages() const noexcept { return messages_; }
  pack_room const& room() const noexcept { return room_; }
  std::byte* buffer(int i) const noexcept { return buffers_[i]; }

  void clear() noexcept {
    runs_ = messages_ = state_bytes_ = payload_bytes_ = 0;
    behaviours_ = 0;
    most_messages = room_.messages;
    failure = errc::ok;
    auto& sends = *reinterpret_cast<send_list*>(buffers_[2]);
    sends.count = sends.misfit = 0;
  }

  /// Begins an actor's run. False: it is full.
  bool begin(actor_id self, std::uint16_t behaviour, void const* state, std::uint32_t state_bytes,
             part const& from) noexcept {
    auto const bytes = static_cast<std::uint32_t>(align_up(state_bytes, 16));
    if (runs_ == room_.runs || messages_ >= most_messages || bytes > room_.state_bytes - state_bytes_)
      return false;
    run(runs_) = {behaviour, state_bytes_, messages_, 0, self, 0, 0};
    behaviours_ |= 1ull << (behaviour & 63);
    __builtin_memcpy(states() + state_bytes_, state, state_bytes);
    state_bytes_ += bytes;
    parts_[runs_++] = from;
    return true;
  }
  /// Adds `count` messages of one type, whose payloads follow each other without gaps from where this returns on. What
  /// is written behind them does no harm, up to a whole payload. Null: there is no room. Precondition: `begin`.
  std::byte* add(std::uint32_t entry, std::uint32_t bytes, bool asked, std::uint32_t count = 1) noexcept {
    auto const all = static_cast<std::uint32_t>(align_up(bytes * count, 16));
    if (count > most_messages - messages_ || all > room_.payload_bytes - payload_bytes_) return nullptr;
    for (std::uint32_t i = 0; i < count; ++i)
      message(messages_ + i) = {entry, payload_bytes_ + i * bytes, asked, 0};
    messages_ += count;
    run(runs_ - 1).count += count;
    auto* const at = buffers_[1] + room_.payloads_at() + payload_bytes_;
    payload_bytes_ += all;
    return at;
  }
  /// Takes the run back that was begun last. Precondition: it has no messages.
  void drop() noexcept { state_bytes_ = run(--runs_).state_at; }

  /// Whether there may be runs of this behaviour.
  bool has(std::uint32_t behaviour) const noexcept { return (behaviours_ >> (behaviour & 63) & 1) != 0; }
  packed_run& run(std::uint32_t i) const noexcept { return reinterpret_cast<packed_run*>(buffers_[0])[i]; }
  part const& from(std::uint32_t i) const noexcept { return parts_[i]; }
  std::byte* states() const noexcept { return buffers_[0] + room_.states_at(); }
  packed_message& message(std::uint32_t i) const noexcept {
    return reinterpret_cast<packed_message*>(buffers_[1])[i];
  }
  send_list& sends() const noexcept { return *reinterpret_cast<send_list*>(buffers_[2]); }
  packed_send const& send(std::uint32_t i) const noexcept {
    return reinterpret_cast<packed_send const*>(buffers_[2] + sizeof(send_list))[i];
  }

  std::uint32_t most_messages = 0;  // at most room().messages; may become fewer than there are
  // On the device's clock:
  std::uint64_t opened_ns = 0;  // when a team got it
  std::uint64_t played_ns = 0;  // when the player got it
  std::uint64_t busy_ns = 0;    // how long it has been the one that was played
  std::uint64_t taken_ns = 0;   // when a team began to end it
  errc failure = errc::ok;      // of the whole pack
  mail_pack* next = nullptr;    // the desk's

 private:
  pack_room room_;
  std::byte* buffers_[3] = {};
  part* parts_;
  std::uint64_t behaviours_ = 0;  // bits of their places, modulo 64
  std::uint32_t runs_ = 0, messages_ = 0, state_bytes_ = 0, payload_bytes_ = 0;
};

class pack_desk {
 public:
  virtual ~pack_desk() = default;
  /// Whether messages to this actor wait for room in the host: what is sent now must not overtake them (G2).
  virtual bool line_waits(actor_id to) const noexcept = 0;
  /// Whether the next mail of this behaviour is to be packed, and then how many messages a pack may have. 0: it is not.
  virtual std::uint32_t packs(std::uint16_t behaviour) noexcept = 0;
  /// An empty pack, or one that waits to be played; null: all are being played.
  virtual mail_pack* open() noexcept = 0;
  /// Has it played; then `ended` counts it. While the GPU has enough to do it waits, and may be opened again: so the
  /// more mail there is, the fewer packs it takes.
  virtual void play(mail_pack& p) noexcept = 0;
  /// One that was played, whose `failure` says with what result; null: none.
  virtual mail_pack* take_ended() noexcept = 0;
  /// It has been ended, or was never played.
  virtual void close(mail_pack& p) noexcept = 0;
  /// A team has handled mail of this behaviour.
  virtual void note_on_host(std::uint16_t behaviour, std::uint32_t messages, std::uint64_t ns) noexcept = 0;

  /// How many packs have been played and wait for a team. Relaxed: a hint; take_ended acquires them.
  std::uint32_t ended() const noexcept { return ended_.load(memory_order::relaxed); }
  /// How many packs were opened and not closed. Relaxed: who wants to see what their teams did waits for those to end.
  std::uint32_t in_play() const noexcept { return in_play_.load(memory_order::relaxed); }

 protected:
  atomic<std::uint32_t> ended_{0}, in_play_{0};
};

}  // namespace rondo
