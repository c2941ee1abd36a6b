// The exporter's side of the shared words: which buffers are out, who may read them, and who still does.
//
// **Threads**: one at a time (the exporter's mutex); importers look on and count in their rows meanwhile.
// **Invariants**
//  T1 A slot is free, open or closing. Its generation grows when it becomes free; at the last one it is retired.
//  T2 What a slot keeps (a lease, or a copy) is let go only when the slot is closed and no row counts a lease of it.
//  T3 A row counts only while its owner stands in the directory. Taking the owner away ends all its leases.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <variant>
#include <vector>

#include "kernels/buffers/buffer_lease.hpp"
#include "runtime/base/errc.hpp"
#include "runtime/memory/buffer.hpp"
#include "runtime/sharing/memfd.hpp"
#include "runtime/sharing/share_packets.hpp"
#include "runtime/sharing/share_words.hpp"

namespace rondo {

class export_table {
 public:
  /// What keeps the exported bytes as they are: a lease of the buffer, or a copy of its own.
  using keeper = std::variant<std::monostate, read_lease<>, buffer>;

  /// Throws std::system_error when there is no shared memory for it.
  export_table(std::uint64_t data_bytes, std::uint32_t slots, std::uint32_t rows);
  export_table(export_table const&) = delete;
  export_table& operator=(export_table const&) = delete;
  /// Cuts all importers off before it lets go what the slots keep.
  ~export_table();

  std::uint64_t share() const noexcept { return share_; }
  /// The directory, for importers to map for reading.
  int fd() const noexcept { return fd_.get(); }

  /// Errors: pool_exhausted when no slot is free.
  result<shared_buffer_ref> open(std::uint64_t offset, std::uint64_t bytes, keeper keeps);
  /// No new leases; the slot is free at once, or when the last lease ends. Errors: double_release, stale_buffer.
  errc close(shared_buffer_ref ref);
  bool is_open(shared_buffer_ref ref) const noexcept;
  /// Frees the closing slots that nobody leases any more.
  void sweep();

  /// A row for a new importer, whose descriptor the importer gets; none when all are taken. Throws std::system_error.
  std::optional<std::uint32_t> admit(std::uint64_t importer, owned_fd& row);
  /// Ends all leases of this row (T3), and sweeps.
  void drop(std::uint32_t row);
  /// The importer's heartbeat; any value that changes.
  std::uint64_t beat(std::uint32_t row) const noexcept;
  /// The exporter's own.
  void beat() noexcept { directory_.beat().add_single_writer(1); }

  std::uint32_t open_slots() const noexcept { return open_; }
  std::uint32_t closing_slots() const noexcept { return static_cast<std::uint32_t>(closing_.size()); }
  /// How many leases an importer has, as it says; reads all slots.
  std::uint64_t leases(std::uint32_t row) const noexcept;
  /// What an importer leases of the withdrawn slots; reads these only.
  struct keeping {
    std::uint32_t slots = 0;
    std::uint64_t bytes = 0;
    std::chrono::nanoseconds since_first{};  // since the first of them was withdrawn
  };
  keeping kept_by(std::uint32_t row) const noexcept;

 private:
  enum class phase : std::uint8_t { free, open, closing };
  struct slot_book {
    std::uint32_t generation = 1;
    phase now = phase::free;
    keeper keeps;
    std::chrono::steady_clock::time_point withdrawn{};
  };

  bool leased(std::uint32_t slot) const noexcept;
  void free(std::uint32_t slot);

  std::uint64_t share_;
  std::uint32_t open_ = 0;
  owned_fd fd_;
  shared_mapping mapping_;
  share::directory directory_;
  std::vector<shared_mapping> rows_;  // empty ones are free
  std::vector<slot_book> slots_;
  std::vector<std::uint32_t> free_, closing_;
};

}  // namespace rondo
