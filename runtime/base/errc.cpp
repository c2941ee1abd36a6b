#include "runtime/base/errc.hpp"

#include <array>
#include <string>

namespace rondo {

namespace {

struct entry {
  char const* name;
  char const* text;
};

// In the order of errc.
constexpr std::array entries{
    entry{"ok", "success"},
    entry{"mailbox_full",
          "the actor's mailbox is full: slow down, await room, or launch it with a larger capacity"},
    entry{"arena_full", "no mail block is free for an actor that holds none: raise mail_blocks"},
    entry{"actor_gone", "the actor has terminated: look it up or launch it again"},
    entry{"timed_out", "the deadline passed before the message was answered"},
    entry{"cancelled", "the ask was cancelled by its asker"},
    entry{"handler_failed", "the actor's handler reported an error"},
    entry{"quarantined", "the message failed its actor repeatedly and was set aside"},
    entry{"terminated", "the actor was terminated before it handled this message"},
    entry{"unknown_message", "the actor does not take messages of this type"},
    entry{"no_reply", "the handler returned without a reply: call context::reply or context::defer"},
    entry{
        "device_lost",
        "the device faulted: continue from the last checkpoint in a new runtime, on a GPU in a new process"},
    entry{"stopped", "the runtime has stopped"},
    entry{"device_busy", "the queue to the device is full: try again"},
    entry{"actor_limit",
          "all actor cells or all teams for pinned actors are in use: raise actors or pinned_teams"},
    entry{"out_of_memory",
          "no free memory block of this size: for actors, raise state_bytes; for buffers, enlarge the memory "
          "behind the pool"},
    entry{"name_taken", "another actor has this name"},
    entry{"not_found", "there is no actor of this name and behaviour"},
    entry{"payload_too_large", "a payload holds at most 96 bytes: put larger data in a buffer"},
    entry{"stale_buffer", "the buffer was released; its handle is no longer valid"},
    entry{"buffer_out_of_bounds", "the range lies outside the buffer"},
    entry{"buffer_in_use", "a lease on the buffer forbids this access now"},
    entry{"double_release", "the buffer was already released"},
    entry{"pool_exhausted",
          "the pool's cap of bytes is reached: release buffers, or raise buffer_bytes_cap in the runtime's "
          "configuration (or RONDO_BUFFER_BYTES_CAP; cap_bytes of a pool of your own)"},
    entry{"ask_limit", "too many asks are pending: raise asks"},
    entry{
        "buffer_elsewhere",
        "the buffer is in another device's memory: use one of runtime::buffers(device), or a unified_buffer"},
    entry{"buffer_empty",
          "nothing has been written to the buffer yet: write on one side before reading on the other"},
    entry{"wrong_state", "the actor's state does not allow this"},
    entry{"no_graph",
          "no graph was captured for this actor's name, or the actor is not on a cpu device: call "
          "rondo::capture_graph, before or after a restore"},
    entry{"peer_gone", "the process on the other side has exited or was disconnected: reconnect"},
    entry{"wrong_size",
          "the size of a payload is not that of its type, or the shape of a frame is not the one that its "
          "stage has announced: build both sides from the same schema, and set both shapes alike"},
    entry{"outcome_unknown",
          "the service stopped with the message in flight; it may or may not have been handled"},
    entry{"service_refuses", "the service does not allow this client to do this"},
    entry{"would_deadlock",
          "the calling thread would wait for itself, or for threads that a fork has left behind: in handlers "
          "use "
          "a callback or a coroutine instead of rondo::block; after a fork, make a new runtime or client"},
    entry{"batch_too_large",
          "the batch has more messages than the mailbox, or the queue to the device, ever has room for: send "
          "smaller batches, or raise the mailbox's capacity or submission_slots"},
    entry{"wrong_reply",
          "the handler replied with another type than its message declares: reply with the type that "
          "rondo::ask names"},
    entry{"exception_thrown", "the actor's code threw an exception: the failure report has its text"},
    entry{"unknown_behaviour",
          "the module that this runtime runs does not have this behaviour: add it to RONDO_MODULE"},
    entry{"table_full",
          "the router or the topics have no place left: let some leave, or raise Most of rondo::router or "
          "rondo::topics"},
    entry{"deadline_too_long", "the deadline is more than a day away: use a nearer one, or none"},
    entry{"no_room", "an importer holds as many announced buffers as it may: wait until it gives one back"},
    entry{"too_many_restarts",
          "the supervisor's children failed more often than its strategy allows: their own failure reports "
          "say why"},
    entry{"slots_exhausted",
          "all slots for buffers are in use, whatever their sizes: release buffers, or raise buffer_slots "
          "(slots of a pool or an exporter of your own)"},
};
static_assert(entries.size() == static_cast<std::size_t>(errc::slots_exhausted) + 1);

entry const& entry_of(int value) noexcept {
  static constexpr entry unknown{"unknown", "unknown error"};
  return value >= 0 && static_cast<std::size_t>(value) < entries.size()
             ? entries[static_cast<std::size_t>(value)]
             : unknown;
}

// Boost's base has no virtual destructor; this object is never destroyed through its base.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wnon-virtual-dtor"
class category final : public boost::system::error_category {
 public:
  char const* name() const noexcept override { return "rondo"; }
  std::string message(int value) const override { return entry_of(value).text; }
};

}  // namespace

boost::system::error_category const& error_category() noexcept {
  static category const instance;
  return instance;
}

char const* name_of(errc e) noexcept { return entry_of(static_cast<int>(e)).name; }

}  // namespace rondo
