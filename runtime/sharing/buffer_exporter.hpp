// The exporter lets other processes of this user read buffers in place, through a Unix socket and shared memory
// (export_table.hpp).
//
//   auto const shared = exporter.export_buffer(pool, b.ref());     // leased for reading from now on
//   exporter.announce(*shared, frame_number);                      // importers get a lease and the number
//   b.release();                                                   // the bytes stay until they are withdrawn
//   exporter.withdraw(*shared);                                    // ... and no longer leased
//
// An announcement grants each importer a lease, so the buffer may be withdrawn at once. Each importer chooses how many
// announced buffers it has at most, and what follows when it has them:
//
//   latest     the newest announcement waits here, and replaces the one before it, which is counted
//   every      the announcement is dropped for this importer, and counted
//   lossless   `announce` fails with no_room, and announces to nobody
//
// `freed` changes whenever an importer has given something back. So a program that finds no room, no slot or no block
// need not poll:
//
//   auto const seen = exporter.freed();                            // before it looks
//   if (exporter.announce(*shared, n).error() == errc::no_room) exporter.wait_freed(seen, 1s);
//
// An importer sends a hello and gets a welcome with the descriptors of the shared memory, or a refusal with the reason,
// which both sides report. When a process dies, the kernel closes its socket, which ends all its leases. An importer
// that sends no heartbeat for `lease_timeout` (stopped, or hung as a whole) is cut off in the same way. So is one that
// still leases a withdrawn buffer after `keep_timeout`: no importer can block the exporter forever. `importers` lists
// who holds what.
//
// **Threads**: all functions from any thread; none waits for another process. The exporter's own thread serves the
// socket. **Lifetime**: must not outlive the memory and the pools. Its destruction cuts off all importers.
#pragma once

#include <chrono>
#include <filesystem>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "runtime/memory/buffer_pool.hpp"
#include "runtime/os/made_here.hpp"
#include "runtime/sharing/memfd_resource.hpp"
#include "runtime/sharing/share_packets.hpp"

namespace rondo {

/// How an exporter is made.
struct buffer_exporter_options {
  std::filesystem::path path = {};  // of the socket; at most 107 bytes
  std::uint32_t slots = 256;     // buffers exported at once, including withdrawn ones that are still leased
  std::uint32_t importers = 16;  // maximum number at once
  std::chrono::milliseconds lease_timeout{5000};  // how long an importer may send no heartbeat
  /// How long an importer may still lease a withdrawn buffer; it must copy data that it needs longer. max(): forever.
  std::chrono::milliseconds keep_timeout{60'000};
  std::uint64_t copies_bytes = 1ull << 30;  // cap on the copies of buffers that cannot be shared in place
  /// Buffers in this device's memory are also shared in place with importers that can open it. Must outlive the
  /// exporter.
  buffer_home* device = nullptr;
  /// Gets a line for each importer that is refused or cut off, and one for the first copy of each kind of buffer.
  /// Called from any thread; must not throw. Empty: standard error.
  std::function<void(std::string const&)> report = {};
  /// Gets the number of each welcomed importer, on the exporter's own thread, to announce existing buffers to it. Must
  /// not throw or destroy the exporter.
  std::function<void(std::uint64_t importer)> joined = {};
  /// Called whenever `freed` has changed because of an importer, on the exporter's own thread. Must not throw or
  /// destroy the exporter.
  std::function<void()> changed = {};
};

/// What an exporter has done, and what importers hold.
struct buffer_exporter_statistics {
  std::uint32_t importers = 0;  // connected now
  std::uint32_t exported = 0;   // slots open for leases
  std::uint32_t closing = 0;    // withdrawn but still leased
  std::uint64_t leases = 0;     // that importers hold now
  std::uint64_t copies = 0;     // exports that were copies
  std::uint64_t announced = 0;  // to each importer: those that it gets, and those that were replaced
  std::uint64_t dropped = 0;    // announcements to importers with `every` that had no room
  std::uint64_t replaced = 0;   // those to importers with `latest` that a newer one replaced here
  std::uint64_t departed = 0;   // importers that have left or died
  std::uint64_t cut_off = 0;    // importers without heartbeat, that kept buffers too long, or were evicted
  std::uint64_t refused = 0;    // connections without a welcome
};

/// What one importer holds now.
struct importer_holding {
  std::uint64_t importer = 0;           // its number
  pid_t process = 0;                    // its id
  std::uint64_t leases = 0;             // that it holds
  std::uint32_t kept = 0;               // withdrawn buffers that it still leases
  std::uint64_t kept_bytes = 0;         // bytes of these
  std::chrono::nanoseconds kept_for{};  // since the first of these was withdrawn
  delivery how{};                       // of its announcements
  std::uint64_t unreturned = 0;         // announced buffers that it has not given back
  std::uint64_t dropped = 0;            // as in the exporter's statistics
  std::uint64_t replaced = 0;           // likewise
};

class buffer_exporter {
 public:
  /// Throws std::invalid_argument for invalid options, naming them; std::runtime_error if the socket cannot be created
  /// at `path` or the system has no shared memory.
  buffer_exporter(memfd_resource& memory, buffer_exporter_options options);
  /// Cuts off all importers. A forked child's copy does nothing.
  ~buffer_exporter();

  /// Lets importers lease the range for reading. Until it is withdrawn and no longer leased, writes fail with
  /// buffer_in_use. A buffer outside the exporter's memory is copied into it, in its current state. A buffer in a
  /// device's memory is shared in place if the device is options.device and all importers can open it; otherwise it is
  /// copied. Precondition for a device's buffer: the caller owns it, and it is not written until it is withdrawn, or
  /// while it is copied. Errors: those of a read; slots_exhausted, pool_exhausted (copies_bytes), out_of_memory (the
  /// shared memory is full), device_lost.
  result<shared_buffer_ref> export_buffer(buffer_pool& pool, buffer_ref ref);
  /// The same for bytes in the exporter's memory that no pool knows of. `keeps` is destroyed, on any thread, when they
  /// are withdrawn and no longer leased; until then they must not be written. Errors: buffer_elsewhere (they lie
  /// outside), slots_exhausted.
  result<shared_buffer_ref> export_bytes(std::span<std::byte const> bytes, std::shared_ptr<void> keeps);

  /// Refuses new leases; existing and announced leases stay valid. Errors: double_release, stale_buffer (never exported
  /// here).
  errc withdraw(shared_buffer_ref ref);

  /// Sends a lease, the caller's number and its note to all importers; how many get it, see above. Never waits. Errors:
  /// no_room (an importer with `lossless` has none, and nobody gets it), stale_buffer (not exported, or withdrawn).
  result<std::uint32_t> announce(shared_buffer_ref ref, std::uint64_t tag,
                                 announcement_note const& note = {});
  /// The same to one importer. Errors: no_room also with `every`, where it counts as dropped; peer_gone; stale_buffer.
  errc announce_to(std::uint64_t importer, shared_buffer_ref ref, std::uint64_t tag,
                   announcement_note const& note = {});

  /// A number that changes whenever there may be room where there was none: importers have ended leases, given
  /// announced buffers back, or left; a buffer was withdrawn.
  std::uint64_t freed() const;
  /// Waits until `freed` is not `seen`. Errors: timed_out; would_deadlock on the exporter's own thread, and after a
  /// fork.
  errc wait_freed(std::uint64_t seen, std::chrono::nanoseconds timeout);

  /// The current numbers.
  buffer_exporter_statistics statistics() const;
  /// All connected importers, by number.
  std::vector<importer_holding> importers() const;
  /// Ends all leases of an importer and its connection; it may reconnect. Errors: peer_gone.
  errc evict(std::uint64_t importer);

 private:
  struct state;
  process_ptr<state> state_;
};

}  // namespace rondo
