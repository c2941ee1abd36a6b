// The exporter's side of the shared words: which buffers are exported, who may read them, and who still does.
//
// **Threads**: one at a time (the exporter's mutex). Importers concurrently read the directory and count in their rows.
// **Invariants**
//  T1 A slot is free, open, or closing. Its generation grows when it becomes free; after the last one it is retired.
//  T2 What a slot keeps (a lease or a copy) is released only when the slot is closed and no row counts a lease of it.
//  T3 A row counts only while its owner is in the directory. Removing the owner ends all its leases, granted ones too.
//  T4 A lease is granted only of an open slot. It counts until the importer has ended it, or the exporter takes it back
//     unsent.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
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
  /// Keeps the exported bytes unchanged: a lease of the buffer, or a copy.
  using keeper = std::variant<std::monostate, read_lease<>, buffer, std::shared_ptr<void>>;

  /// Throws std::system_error if there is no shared memory.
  export_table(std::uint64_t data_bytes, std::uint32_t slots, std::uint32_t rows);
  export_table(export_table const&) = delete;
  export_table& operator=(export_table const&) = delete;
  /// Cuts off all importers before it releases what the slots keep.
  ~export_table();

  std::uint64_t share() const noexcept { return share_; }
  /// The directory's descriptor, which importers map for reading.
  int fd() const noexcept { return memory_.fd.get(); }

  /// Exports a range. Errors: slots_exhausted.
  result<shared_buffer_ref> open(std::uint64_t offset, std::uint64_t bytes, keeper keeps);
  /// Refuses new leases; the slot becomes free at once or when its last lease ends. Errors: double_release,
  /// stale_buffer.
  errc close(shared_buffer_ref ref);
  bool is_open(shared_buffer_ref ref) const noexcept;
  /// Counts a lease of the slot for an importer, which an announcement will tell it. Precondition: the slot is open.
  void grant(std::uint32_t row, std::uint32_t slot) noexcept { ++rows_[row].granted[slot]; }
  /// Takes a granted lease back, of which the importer was not told. Frees the slot if that was its last one.
  void take_back(std::uint32_t row, std::uint32_t slot);
  /// How many granted leases the importer says that it has ended.
  std::uint64_t returned(std::uint32_t row) const noexcept;
  /// Frees the closing slots whose last lease an importer has ended. Looks at all of them.
  void sweep();

  /// A row for a new importer, which gets the descriptor `row`; nullopt if all rows are in use. Throws
  /// std::system_error.
  std::optional<std::uint32_t> admit(std::uint64_t importer, owned_fd& row);
  /// Ends all leases of this row (T3) and sweeps.
  void drop(std::uint32_t row);
  /// The importer's heartbeat: any changing value.
  std::uint64_t beat(std::uint32_t row) const noexcept;
  /// Advances the exporter's heartbeat.
  void beat() noexcept { directory_.beat().add_single_writer(1); }

  std::uint32_t open_slots() const noexcept { return open_; }
  std::uint32_t closing_slots() const noexcept { return static_cast<std::uint32_t>(closing_.size()); }
  /// The number of leases in an importer's own row; reads all slots.
  std::uint64_t leases(std::uint32_t row) const noexcept;
  /// The withdrawn slots that an importer still leases; reads only those.
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
    std::uint32_t at = 0;  // while it closes: its place in closing_
    std::chrono::steady_clock::time_point withdrawn{};
  };

  /// An importer's words, and the leases that were granted to it, by slot.
  struct row_book {
    shared_mapping mapping;  // empty: a free row
    std::vector<std::uint32_t> granted;
  };

  bool leased(std::uint32_t slot) const noexcept;
  void free(std::uint32_t slot);
  void free_closing(std::uint32_t slot);

  std::uint64_t share_;
  std::uint32_t open_ = 0;
  own_memory memory_;
  share::directory directory_;
  std::vector<row_book> rows_;
  std::vector<slot_book> slots_;
  std::vector<std::uint32_t> free_, closing_;
};

}  // namespace rondo
