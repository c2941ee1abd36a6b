// Lets other processes of this user read buffers in place: a Unix socket, and what export_table.hpp says.
//
//   auto const shared = exporter.export_buffer(pool, b.ref());     // leased for reading from now on
//   exporter.announce(*shared, frame_number);                      // importers get the handle and the number
//   b.release();                                                   // its bytes stay until they are withdrawn
//   exporter.withdraw(*shared);                                    // and nobody reads them any more
//
// An importer says hello, and gets a welcome with the descriptors of the shared memory, or a refusal that says why; both
// sides report it. When a process dies the kernel closes its socket, and all its leases have ended. One that does
// not beat for `lease_timeout` (stopped, or hung as a whole) is cut off likewise, and so is one that still leases after
// `keep_timeout` what was withdrawn: no importer stops the exporter for good. `importers` says who holds what.
//
// **Threads**: all functions from any thread; none waits for another process. A thread of its own serves the socket.
// **Lifetime**: shorter than the memory's and the pools'. Its end cuts all importers off.
#pragma once

#include <chrono>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "runtime/memory/buffer_pool.hpp"
#include "runtime/sharing/memfd_resource.hpp"
#include "runtime/sharing/share_packets.hpp"

namespace rondo {

struct buffer_exporter_options {
  std::filesystem::path path = {};  // of the socket; at most 107 bytes
  std::uint32_t slots = 256;        // buffers exported at once, those withdrawn and still leased included
  std::uint32_t importers = 16;     // at once
  std::chrono::milliseconds lease_timeout{5000};
  /// How long an importer may go on leasing what was withdrawn; it copies what it needs for longer. max(): for ever.
  std::chrono::milliseconds keep_timeout{60'000};
  std::uint64_t copies_bytes = 1ull << 30;  // cap of the copies of buffers that lie elsewhere
  /// Buffers of this device's memory are shared in place, too, with importers that can open it; outlives the exporter.
  buffer_home* device = nullptr;
  /// Gets a line for each importer that is refused or cut off, and one for each kind of buffer that had to be copied,
  /// the first time. From any thread; must not throw. Empty: standard error.
  std::function<void(std::string const&)> report = {};
  /// Gets the number of each importer that was welcomed, on the exporter's own thread: to announce what is there
  /// already. Must not throw, nor destroy the exporter.
  std::function<void(std::uint64_t importer)> joined = {};
};

struct buffer_exporter_statistics {
  std::uint32_t importers = 0;
  std::uint32_t exported = 0;  // slots open for leases
  std::uint32_t closing = 0;   // withdrawn, and still leased
  std::uint64_t leases = 0;    // that importers have now
  std::uint64_t copies = 0;    // exports that were a copy
  std::uint64_t departed = 0;  // importers that have left, or died
  std::uint64_t cut_off = 0;   // that did not beat, kept too long what was withdrawn, or were evicted
  std::uint64_t refused = 0;   // connections that got no welcome
};

/// What one importer holds now.
struct importer_holding {
  std::uint64_t importer = 0;  // its number
  pid_t process = 0;
  std::uint64_t leases = 0;
  std::uint32_t kept = 0;               // buffers that are withdrawn, and that it leases still
  std::uint64_t kept_bytes = 0;         // of these
  std::chrono::nanoseconds kept_for{};  // since the first of these was withdrawn
};

class buffer_exporter {
 public:
  /// Throws std::invalid_argument on options that cannot work, naming them; std::runtime_error when the socket cannot be
  /// put at `path`, and when the system has no shared memory.
  buffer_exporter(memfd_resource& memory, buffer_exporter_options options);
  ~buffer_exporter();

  /// Lets importers lease the range for reading; until it is withdrawn and leased no more, writing it is refused with
  /// buffer_in_use. A buffer that does not lie in the exporter's memory is copied into it, as it is now. One in a device's memory is
  /// shared in place if that is options.device and all importers can open it, else copied; the caller owns it, and nobody
  /// writes it until it is withdrawn, or while it is copied. Errors: those of a read;
  /// pool_exhausted (slots, or copies_bytes), out_of_memory (the shared memory is full), device_lost.
  result<shared_buffer_ref> export_buffer(buffer_pool& pool, buffer_ref ref);

  /// No new leases; those that are out stay good. Errors: double_release, stale_buffer (never exported here).
  errc withdraw(shared_buffer_ref ref);

  /// Sends the handle and a number of the caller's to all importers, and returns how many it went to: one that does not
  /// keep up gets nothing.
  std::uint32_t announce(shared_buffer_ref ref, std::uint64_t tag);
  /// To one. Errors: device_busy (it does not keep up; try again), peer_gone.
  errc announce_to(std::uint64_t importer, shared_buffer_ref ref, std::uint64_t tag);

  buffer_exporter_statistics statistics() const;
  /// All that were welcomed and are here, by number.
  std::vector<importer_holding> importers() const;
  /// Ends all leases of an importer, and its connection; it may come again. Errors: peer_gone.
  errc evict(std::uint64_t importer);

 private:
  struct state;
  std::unique_ptr<state> state_;
};

}  // namespace rondo
